"""LeftRight as a plain program, the independent check of gdl_games/leftright."""

ROLES = ("walker",)
STEPS = 300
State = tuple[int, int]  # steps to the left, steps to the right


def initial() -> State:
    return 0, 0


def legal(state: State) -> list[list[str]]:
    return [["left", "right"]]


def step(state: State, joint: tuple[str, ...]) -> State:
    left, right = state
    return (left + 1, right) if joint[0] == "left" else (left, right + 1)


def terminal(state: State) -> bool:
    return sum(state) == STEPS


def goals(state: State) -> list[int]:
    return [100 * state[0] // STEPS]


def facts(state: State) -> set[str]:
    return {f"(steps {sum(state)})", f"(lefts {state[0]})"}
