"""Rock Paper Scissors as a plain program, the independent check of gdl_games/rock_paper_scissors."""

from typing import NamedTuple

ROLES = ("red", "blue")
ROUNDS = 10
CHOICES = ("rock", "paper", "scissors")  # each beats the one before it, the first the last


class State(NamedTuple):
    """How many rounds have been played, and how many more of them red has won than blue."""

    played: int
    lead: int


def initial() -> State:
    return State(0, 0)


def legal(state: State) -> list[list[str]]:
    return [sorted(CHOICES), sorted(CHOICES)]


def step(state: State, joint: tuple[str, ...]) -> State:
    red, blue = (CHOICES.index(choice) for choice in joint)
    return State(state.played + 1, state.lead + (0, 1, -1)[(red - blue) % 3])


def terminal(state: State) -> bool:
    return state.played == ROUNDS


def goals(state: State) -> list[int]:
    return [50 + 5 * state.lead, 50 - 5 * state.lead]


def facts(state: State) -> set[str]:
    scores = {f"(score {role} {points})" for role, points in zip(ROLES, goals(state), strict=True)}
    return scores | {f"(round {state.played + 1})"}
