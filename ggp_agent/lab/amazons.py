"""Van Eyck's experiments with stages in Amazons (chapter 6): which queen, where to, where to shoot.

His player played 100 games of each kind. It searched a tree, and so does ours here. It evaluated positions after a few
random moves; ours plays them out.
"""

from __future__ import annotations

from ggp_agent.lab.matches import Matches, Pairing, search_player
from ggp_agent.lab.record import Order
from ggp_agent.lab.rows import Row

THEIR_GAMES = 100
# What is fixed for both sides -> games that groups won, of 100; of his four experiments the nearest to ours
PAPER = {"simulations": 54.0, "time": 69.0}
GAMES, QUICK_GAMES = ("amazons_6x6", "amazons"), ("amazons_6x6",)
TREE = "transpositions=off"
MATCHES, QUICK_MATCHES = 100, 10
PLAYOUTS, QUICK_PLAYOUTS = 10_000, 200
SECONDS, QUICK_SECONDS = 1.0, 0.02


def amazons_experiment(order: Order) -> list[Row]:
    """Stages against none, at a fixed number of simulations and at a fixed time."""
    limits = {
        "simulations": f"playouts={order.pick(order.playouts, QUICK_PLAYOUTS, PLAYOUTS)}",
        "time": f"seconds={order.seconds or (QUICK_SECONDS if order.quick else SECONDS):g}",
    }
    pairings = {
        (game, what): Pairing(
            game=game,
            player=search_player(TREE, "groups=stages", limit),
            opponent=search_player(TREE, limit),
            matches=order.pick(order.runs, QUICK_MATCHES, MATCHES),
            opening=2,
        )
        for game in order.games or (QUICK_GAMES if order.quick else GAMES)
        for what, limit in limits.items()
    }
    with Matches(order.record("amazons")) as played:
        scores = played.scores(pairings.values())
    return [
        scores[pairing].row("chapter 6", f"{game}, {limits[what]}", "won, %", PAPER[what], THEIR_GAMES)
        for (game, what), pairing in pairings.items()
    ]
