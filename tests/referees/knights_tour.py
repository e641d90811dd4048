"""An open knight's tour on 5 by 5 squares as a plain program, the independent check of gdl_games/knights_tour."""

ROLES = ("player",)
State = tuple[complex, ...]  # the squares entered so far, column + row * 1j, the knight stands on the last
SQUARES = [complex(x, y) for x in range(1, 6) for y in range(1, 6)]
JUMPS = {turn * jump for turn in (1, 1j, -1, -1j) for jump in (1 + 2j, 2 + 1j)}


def initial() -> State:
    return (1 + 1j,)


def text(square: complex) -> str:
    return f"{square.real:.0f} {square.imag:.0f}"


def legal(state: State) -> list[list[str]]:
    return [sorted(f"(move {text(s)})" for s in SQUARES if s not in state and s - state[-1] in JUMPS)]


def step(state: State, joint: tuple[str, ...]) -> State:
    x, y = joint[0].strip("()").split()[1:]
    return (*state, complex(int(x), int(y)))


def terminal(state: State) -> bool:
    return not legal(state)[0]


def goals(state: State) -> list[int]:
    return [4 * len(state)]


def facts(state: State) -> set[str]:
    cells = {f"(cell {text(s)} {'visited' if s in state else 'b'})" for s in SQUARES if s != state[-1]}
    return cells | {f"(cell {text(state[-1])} knight)", f"(score {4 * len(state)})"}
