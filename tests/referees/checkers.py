"""Checkers (English draughts) as a plain program, the independent check of gdl_games/checkers."""

from typing import NamedTuple

ROLES = ("white", "black")
LIMIT = 40
SQUARES = [(x, y) for y in range(1, 9) for x in range(1, 9) if (x + y) % 2 == 0]
INDEX = {square: i for i, square in enumerate(SQUARES)}
FORWARD = {"w": (1,), "b": (-1,), "W": (1, -1), "B": (1, -1)}
NAMES = {"w": "wm", "W": "wk", "b": "bm", "B": "bk", ".": "b"}


class State(NamedTuple):
    board: str = "w" * 12 + "." * 8 + "b" * 12  # square by square in the order of SQUARES, capitals are kings
    side: int = 0
    quiet: int = 0  # moves since the last capture
    chain: tuple[int, int] | None = None  # the piece that must go on jumping


def initial() -> State:
    return State()


def jumps(state: State, square: tuple[int, int]) -> list[str]:
    x, y = square
    piece = state.board[INDEX[square]]
    found = []
    for dx in (-1, 1):
        for dy in FORWARD[piece]:
            over, landing = INDEX.get((x + dx, y + dy)), INDEX.get((x + 2 * dx, y + 2 * dy))
            if over is None or landing is None or state.board[landing] != ".":
                continue
            if state.board[over].lower() == "bw"[state.side]:
                found.append(f"(jump {x} {y} {x + 2 * dx} {y + 2 * dy})")
    return found


def slides(state: State, square: tuple[int, int]) -> list[str]:
    x, y = square
    targets = [(x + dx, y + dy) for dx in (-1, 1) for dy in FORWARD[state.board[INDEX[square]]]]
    return [f"(move {x} {y} {u} {v})" for u, v in targets if (u, v) in INDEX and state.board[INDEX[u, v]] == "."]


def actions(state: State) -> list[str]:
    own = [square for square in SQUARES if state.board[INDEX[square]].lower() == "wb"[state.side]]
    captures = [move for square in ([state.chain] if state.chain else own) for move in jumps(state, square)]
    return sorted(captures or [move for square in own for move in slides(state, square)])


def legal(state: State) -> list[list[str]]:
    return [actions(state) if side == state.side else ["noop"] for side in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    name, *numbers = joint[state.side].strip("()").split()
    x, y, u, v = map(int, numbers)
    board = list(state.board)
    piece, board[INDEX[x, y]] = board[INDEX[x, y]], "."
    crowned = piece.islower() and v == (8, 1)[state.side]
    board[INDEX[u, v]] = piece.upper() if crowned else piece
    if name == "move":
        return State("".join(board), 1 - state.side, state.quiet + 1)
    board[INDEX[(x + u) // 2, (y + v) // 2]] = "."
    after = State("".join(board), state.side, 0, (u, v))
    return after if not crowned and jumps(after, (u, v)) else State(after.board, 1 - state.side)


def terminal(state: State) -> bool:
    return state.quiet == LIMIT or not actions(state)


def goals(state: State) -> list[int]:
    if actions(state):
        return [50, 50]
    return [100 * state.side, 100 - 100 * state.side]


def facts(state: State) -> set[str]:
    known = {f"(cell {x} {y} {NAMES[piece]})" for (x, y), piece in zip(SQUARES, state.board, strict=True)}
    known |= {f"(control {ROLES[state.side]})", f"(quiet {state.quiet})"}
    return known | ({f"(chain {state.chain[0]} {state.chain[1]})"} if state.chain else set())
