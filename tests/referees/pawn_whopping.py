"""Pawn Whopping as a plain program, the independent check of gdl_games/pawn_whopping."""

from typing import NamedTuple

ROLES = ("white", "black")
FILE_A, FILE_H = 0x0101010101010101, 0x8080808080808080
ALL = (1 << 64) - 1


class State(NamedTuple):
    """Bit 8 * row + column of a board is set where that side has a pawn; black's board is kept upside down."""

    pawns: tuple[int, int]
    turn: int


def flip(board: int) -> int:
    """The board seen from the other side: rows in reverse order."""
    return int.from_bytes(board.to_bytes(8, "little"), "big")


def initial() -> State:
    return State((0xFF00, 0xFF00), 0)


def squares(board: int) -> list[int]:
    return [square for square in range(64) if board >> square & 1]


def hops(state: State, side: int) -> list[tuple[int, int]]:
    """The moves of one side as pairs of squares, its own first rank at the bottom."""
    own, other = state.pawns[side], flip(state.pawns[1 - side])
    empty = ALL & ~(own | other)
    single = own << 8 & empty
    double = (single & 0xFF0000) << 8 & empty
    left = (own & ~FILE_A) << 7 & other
    right = (own & ~FILE_H) << 9 & other
    shifts = ((single, 8), (double, 16), (left, 7), (right, 9))
    return [(square - shift, square) for board, shift in shifts for square in squares(board)]


def text(side: int, square: int) -> str:
    row, column = divmod(square, 8)
    return f"{column + 1} {8 - row if side else row + 1}"


def legal(state: State) -> list[list[str]]:
    side = state.turn
    moves = sorted(f"(move {text(side, a)} {text(side, b)})" for a, b in hops(state, side)) or ["noop"]
    return [["noop"], moves] if side else [moves, ["noop"]]


def step(state: State, joint: tuple[str, ...]) -> State:
    side, move = state.turn, joint[state.turn]
    if move == "noop":
        return State(state.pawns, 1 - side)
    start, end = next(hop for hop in hops(state, side) if move == f"(move {text(side, hop[0])} {text(side, hop[1])})")
    own = state.pawns[side] & ~(1 << start) | 1 << end
    other = state.pawns[1 - side] & ~flip(1 << end)
    return State((other, own) if side else (own, other), 1 - side)


def winner(state: State) -> int | None:
    return next((side for side in (0, 1) if state.pawns[side] >> 56), None)


def terminal(state: State) -> bool:
    return winner(state) is not None or not (hops(state, 0) or hops(state, 1))


def goals(state: State) -> list[int]:
    won = winner(state)
    return [50, 50] if won is None else [100 * (won == side) for side in (0, 1)]


def facts(state: State) -> set[str]:
    found = {f"(cell {text(side, square)} {ROLES[side]})" for side in (0, 1) for square in squares(state.pawns[side])}
    empty = ALL & ~(state.pawns[0] | flip(state.pawns[1]))
    return found | {f"(cell {text(0, square)} b)" for square in squares(empty)} | {f"(control {ROLES[state.turn]})"}
