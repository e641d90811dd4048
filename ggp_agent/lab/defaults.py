"""Which settings the agent should have when nobody sets them: one of them changed at a time, over many games.

No paper has this table. A player with one other setting meets one with c = 0.5, d = (1,0,1) and ripe = 1, with equal
numbers of simulations, sequential; what changes the speed, and lanes, with equal time. The last column is the mean of
all games.
"""

from __future__ import annotations

from dataclasses import replace

from ggp_agent.lab.matches import Matches, Pairing, search_player
from ggp_agent.lab.record import Order
from ggp_agent.lab.rows import Row, mean_row

GAMES = (
    *("connect_four", "breakthrough", "knightthrough", "othello", "pentago"),
    *("hex_9x9", "go_6x6", "checkers", "quarto", "amazons_6x6"),
)
QUICK_GAMES = GAMES[:2]
PLAYOUTS, QUICK_PLAYOUTS = 1_000, 100
SECONDS, QUICK_SECONDS = 0.1, 0.01
MATCHES, QUICK_MATCHES = 100, 4
TIMED_SHARE = 4  # of these matches, one in so many with time: they cannot be played side by side
OPENING = 2
MEAN = "mean"
SETTINGS = (
    *("c=0.2", "c=0.35", "c=0.7", "c=1"),
    *("transpositions=off", "d=0:0:0", "d=1:0:0", "d=1:1:1", "d=2:1:2", "d=inf:0:1"),
    *("groups=stages", "fpu=1", "ripe=2", "ripe=3", "decisive=on"),
)
FASTER = ("ripe=2", "ripe=3", "decisive=on")
LANES = ("lanes=16", "lanes=64", "lanes=256")  # against one


def defaults_experiment(order: Order) -> list[Row]:
    """Every setting against the defaults, in every game and in all of them."""
    playouts = order.pick(order.playouts, QUICK_PLAYOUTS, PLAYOUTS)
    seconds = order.seconds or (QUICK_SECONDS if order.quick else SECONDS)
    matches = order.pick(order.runs, QUICK_MATCHES, MATCHES)
    timed = max(4, matches // TIMED_SHARE // 2 * 2)
    spent, clock = (f"playouts={playouts}", "lanes=1"), f"seconds={seconds:g}"
    kinds = {
        f"{playouts:,} simulations": (SETTINGS, spent, spent, matches),
        f"{seconds:g} seconds": (FASTER, (clock,), (clock,), timed),
        f"{seconds:g} seconds, against one lane": (LANES, (clock,), (clock, "lanes=1"), timed),
    }
    pairings = {
        (table, setting, game): Pairing(
            game=game,
            player=search_player(setting, *mine),
            opponent=search_player(*theirs),
            matches=count,
            opening=OPENING,
        )
        for table, (settings, mine, theirs, count) in kinds.items()
        for game in order.games or (QUICK_GAMES if order.quick else GAMES)
        for setting in settings
    }
    with Matches(order.record("defaults")) as played:
        scores = played.scores(pairings.values())
    found: dict[tuple[str, str], list[Row]] = {}
    for (table, setting, game), pairing in pairings.items():
        found.setdefault((table, setting), []).append(scores[pairing].row(table, setting, game))
    rows = [one for (table, setting), some in found.items() for one in (*some, mean_row(some, table, setting, MEAN))]
    best = {table: max((one for one in rows if one.table == table), key=rank) for table in kinds}
    return [replace(one, best=one is best[one.table]) for one in rows]


def rank(one: Row) -> float:
    return one.ours if one.column == MEAN else -1.0
