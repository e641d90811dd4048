"""Goofspiel with six cards as a plain program, the independent check of gdl_games/goofspiel."""

from typing import NamedTuple

ROLES = ("red", "blue")
CARDS = 6


class State(NamedTuple):
    """All bids so far, a pair for each prize: the first for the highest prize."""

    bids: tuple[tuple[int, int], ...]


def initial() -> State:
    return State(())


def hand(state: State, side: int) -> list[int]:
    return sorted(set(range(1, CARDS + 1)) - {bid[side] for bid in state.bids})


def points(state: State, side: int) -> int:
    return sum(CARDS - place for place, bid in enumerate(state.bids) if bid[side] > bid[1 - side])


def legal(state: State) -> list[list[str]]:
    return [[f"(bid {card})" for card in hand(state, side)] for side in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    red, blue = (int(bid.removeprefix("(bid ").removesuffix(")")) for bid in joint)
    return State((*state.bids, (red, blue)))


def terminal(state: State) -> bool:
    return len(state.bids) == CARDS


def goals(state: State) -> list[int]:
    lead = points(state, 0) - points(state, 1)
    return [50 + 50 * sign for sign in ((lead > 0) - (lead < 0), (lead < 0) - (lead > 0))]


def facts(state: State) -> set[str]:
    hands = {f"(hand {role} {card})" for side, role in enumerate(ROLES) for card in hand(state, side)}
    scores = {f"(score {role} {points(state, side)})" for side, role in enumerate(ROLES)}
    return hands | scores | {f"(prize {CARDS - len(state.bids)})"}
