"""The Eight Puzzle as a plain program, the independent check of gdl_games/eight_puzzle."""

from typing import NamedTuple

ROLES = ("player",)
START, ORDERED, LIMIT = "1367b2548", "12345678b", 40  # the cells in reading order


class State(NamedTuple):
    tiles: str
    moves: int


def initial() -> State:
    return State(START, 0)


def legal(state: State) -> list[list[str]]:
    row, column = divmod(state.tiles.index("b"), 3)
    neighbours = [(column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)]
    return [sorted(f"(slide {x + 1} {y + 1})" for x, y in neighbours if x in range(3) and y in range(3))]


def step(state: State, joint: tuple[str, ...]) -> State:
    _, x, y = joint[0].strip("()").split()
    tile = state.tiles[3 * (int(y) - 1) + int(x) - 1]
    return State(state.tiles.translate(str.maketrans(tile + "b", "b" + tile)), state.moves + 1)


def terminal(state: State) -> bool:
    return state.tiles == ORDERED or state.moves == LIMIT


def goals(state: State) -> list[int]:
    return [100 if state.tiles == ORDERED else 0]


def facts(state: State) -> set[str]:
    cells = {f"(cell {i % 3 + 1} {i // 3 + 1} {tile})" for i, tile in enumerate(state.tiles)}
    return cells | {f"(step {state.moves})"}
