"""Peg solitaire on the English board as a plain program, the independent check of gdl_games/peg_solitaire."""

from functools import cache

ROLES = ("player",)
State = int  # a bit a hole, set where a peg stands
HOLES = [(x, y) for y in range(1, 8) for x in range(1, 8) if 3 <= x <= 5 or 3 <= y <= 5]
BIT = {hole: 1 << i for i, hole in enumerate(HOLES)}
CENTRE = BIT[4, 4]


@cache
def jumps() -> dict[str, tuple[int, int]]:
    """Every jump of the board: the two bits that must be set before it, and the bit that must not."""
    found = {}
    for x, y in HOLES:
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            u, v = x + 2 * dx, y + 2 * dy
            if (u, v) in BIT:
                found[f"(jump {x} {y} {u} {v})"] = (BIT[x, y] | BIT[x + dx, y + dy], BIT[u, v])
    return found


def initial() -> State:
    return sum(BIT.values()) - CENTRE


def legal(state: State) -> list[list[str]]:
    return [sorted(move for move, (pegs, hole) in jumps().items() if state & (pegs | hole) == pegs)]


def step(state: State, joint: tuple[str, ...]) -> State:
    pegs, hole = jumps()[joint[0]]
    return state ^ pegs ^ hole


def terminal(state: State) -> bool:
    return not legal(state)[0]


def goals(state: State) -> list[int]:
    return [100 if state == CENTRE else max(0, 100 - 10 * state.bit_count())]


def facts(state: State) -> set[str]:
    cells = {f"(cell {x} {y} {'peg' if state & bit else 'b'})" for (x, y), bit in BIT.items()}
    return cells | {f"(pegs {state.bit_count()})"}
