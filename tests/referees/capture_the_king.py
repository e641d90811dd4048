"""Capture the King as a plain program, the independent check of gdl_games/capture_the_king."""

from typing import NamedTuple

ROLES = ("white", "black")
LIMIT = 200
NAMES = {"K": "wk", "Q": "wq", "R": "wr", "B": "wb", "N": "wn", "P": "wp"}
NAMES |= {letter.lower(): "b" + name[1] for letter, name in NAMES.items()} | {".": "b"}
N, E = 10, 1
ROOK, BISHOP = (N, E, -N, -E), (N + E, N - E, -N + E, -N - E)
KNIGHT = tuple(s * N + t * E for s in (-2, -1, 1, 2) for t in (-2, -1, 1, 2) if abs(s) != abs(t))
LEAPS = {"K": ROOK + BISHOP, "Q": ROOK + BISHOP, "R": ROOK, "B": BISHOP, "N": KNIGHT}


class State(NamedTuple):
    """A board of ten by twelve letters, capitals for white, with a rim of '#', and the number of moves made."""

    board: str
    moves: int


def initial() -> State:
    ranks = ["RNBQKBNR", "P" * 8, *["." * 8] * 4, "p" * 8, "rnbqkbnr"]
    return State("#" * 20 + "".join(f"#{rank}#" for rank in ranks) + "#" * 20, 0)


def targets(board: str, start: int) -> list[int]:
    piece, found = board[start], []
    kind, white = piece.upper(), piece.isupper()
    enemy = str.islower if white else str.isupper
    if kind == "P":
        ahead = N if white else -N
        if board[start + ahead] == ".":
            found.append(start + ahead)
            if board[start + 2 * ahead] == "." and start // 10 == (3 if white else 8):
                found.append(start + 2 * ahead)
        return found + [start + ahead + side for side in (E, -E) if enemy(board[start + ahead + side])]
    for leap in LEAPS[kind]:
        end = start + leap
        while board[end] == "." and kind in "QRB":
            found.append(end)
            end += leap
        if board[end] == "." or enemy(board[end]):
            found.append(end)
    return found


def text(square: int) -> str:
    return f"{square % 10} {square // 10 - 1}"


def hops(state: State) -> dict[str, tuple[int, int]]:
    mine = str.islower if state.moves % 2 else str.isupper
    pairs = [(a, b) for a, piece in enumerate(state.board) if mine(piece) for b in targets(state.board, a)]
    return {f"(move {text(a)} {text(b)})": (a, b) for a, b in pairs}


def legal(state: State) -> list[list[str]]:
    lists = [sorted(hops(state)), ["noop"]]
    return lists[::-1] if state.moves % 2 else lists


def step(state: State, joint: tuple[str, ...]) -> State:
    start, end = hops(state)[joint[state.moves % 2]]
    board = list(state.board)
    board[start], board[end] = ".", board[start]
    return State("".join(board), state.moves + 1)


def terminal(state: State) -> bool:
    return not {"K", "k"} <= set(state.board) or state.moves == LIMIT or not hops(state)


def goals(state: State) -> list[int]:
    white, black = "K" in state.board, "k" in state.board
    return [50 + 50 * (white - black), 50 + 50 * (black - white)]


def facts(state: State) -> set[str]:
    cells = {f"(cell {text(square)} {NAMES[piece]})" for square, piece in enumerate(state.board) if piece != "#"}
    return cells | {f"(control {ROLES[state.moves % 2]})", f"(step {state.moves + 1})"}
