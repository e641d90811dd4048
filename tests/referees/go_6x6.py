"""Go on six by six points as a plain program, the independent check of gdl_games/go_6x6."""

from typing import NamedTuple

ROLES = ("black", "white")
SIZE = 6
KOMI = 5.5
LONGEST = 72
POINTS = [(x, y) for x in range(1, SIZE + 1) for y in range(1, SIZE + 1)]
INDEX = {point: index for index, point in enumerate(POINTS)}
NEIGHBOURS = [
    [INDEX[x + dx, y + dy] for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)) if (x + dx, y + dy) in INDEX]
    for x, y in POINTS
]
COLOURS = "XO"


class State(NamedTuple):
    board: str  # one letter a point, in the order of POINTS: X black, O white, . empty
    mover: int
    ko: int | None  # the point the mover may not take
    passes: int
    turn: int


def region(board: str, start: int) -> tuple[set[int], set[int]]:
    """The points of start's colour connected with it, and all other points next to them."""
    inside, rim, todo = {start}, set[int](), [start]
    while todo:
        for point in NEIGHBOURS[todo.pop()]:
            if board[point] != board[start]:
                rim.add(point)
            elif point not in inside:
                inside.add(point)
                todo.append(point)
    return inside, rim


def dead(board: str, point: int) -> set[int]:
    """The chain at the point if it has no liberty."""
    chain, rim = region(board, point)
    return set() if any(board[p] == "." for p in rim) else chain


def play(board: str, point: int, mover: int) -> str | None:
    """The board after a stone is placed and what it captures removed; none if the stone would have no liberty."""
    board = board[:point] + COLOURS[mover] + board[point + 1 :]
    for chain in [dead(board, p) for p in NEIGHBOURS[point] if board[p] == COLOURS[1 - mover]]:
        board = "".join("." if p in chain else piece for p, piece in enumerate(board))
    return None if dead(board, point) else board


def initial() -> State:
    return State("." * len(POINTS), 0, None, 0, 0)


def legal(state: State) -> list[list[str]]:
    moves = [["noop"], ["noop"]]
    free = [p for p, piece in enumerate(state.board) if piece == "." and p != state.ko]
    playable = [POINTS[p] for p in free if play(state.board, p, state.mover)]
    moves[state.mover] = [*(f"(place {x} {y})" for x, y in playable), "pass"]
    return moves


def step(state: State, joint: tuple[str, ...]) -> State:
    move = joint[state.mover]
    rival, turn = 1 - state.mover, state.turn + 1
    if move == "pass":
        return State(state.board, rival, None, state.passes + 1, turn)
    _, x, y = move.strip("()").split()
    board = play(state.board, INDEX[int(x), int(y)], state.mover)
    assert board is not None, move
    emptied = [p for p in range(len(POINTS)) if board[p] == "." != state.board[p]]
    undoing = [p for p in emptied if play(board, p, rival) == state.board]
    return State(board, rival, undoing[0] if undoing else None, 0, turn)


def terminal(state: State) -> bool:
    return state.passes == 2 or state.turn == LONGEST


def goals(state: State) -> list[int]:
    margin = -KOMI
    for point, piece in enumerate(state.board):
        seen = {piece} if piece != "." else {state.board[p] for p in region(state.board, point)[1]}
        margin += (seen == {"X"}) - (seen == {"O"})
    return [100, 0] if margin > 0 else [0, 100]


def facts(state: State) -> set[str]:
    names = {"X": "black", "O": "white", ".": "b"}
    cells = {f"(cell {x} {y} {names[piece]})" for (x, y), piece in zip(POINTS, state.board, strict=True)}
    ko = {"(ko {} {})".format(*POINTS[state.ko])} if state.ko is not None else set()
    passes = {f"(passes {state.passes})"} if state.passes else set()
    return cells | ko | passes | {f"(control {ROLES[state.mover]})", f"(turn {state.turn})"}
