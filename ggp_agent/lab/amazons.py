"""Van Eyck's experiments with stages in Amazons (chapter 6): which queen, where to, where to shoot.

His player played 100 games of each kind. It evaluated positions after a few random moves; ours plays them out.
"""

from __future__ import annotations

from math import sqrt
from pathlib import Path

from ggp_agent.lab.matches import Matches, Pairing
from ggp_agent.lab.record import Record, Row, Tell

THEIR_GAMES = 100
# What is fixed for both sides -> games that groups won, of 100; of his four experiments the nearest to ours
PAPER = {"simulations": 54.0, "time": 69.0}
GAMES = ("amazons_6x6", "amazons")
PLAYOUTS = {"amazons_6x6": 10_000, "amazons": 10_000}
SECONDS = 1.0
MATCHES = {"amazons_6x6": 600, "amazons": 100}


def amazons_experiment(out: Path, *, runs: int | None, quick: bool, seed: int, tell: Tell) -> list[Row]:
    """Stages against none, at a fixed number of simulations and at a fixed time."""
    wanted = GAMES[:1] if quick else GAMES
    pairings = {}
    for game in wanted:
        matches = runs or (10 if quick else MATCHES[game])
        limits = {
            "simulations": f"playouts={200 if quick else PLAYOUTS[game]}",
            "time": f"seconds={0.02 if quick else SECONDS}",
        }
        for what, limit in limits.items():
            pairings[game, what] = Pairing(
                game=game,
                player=f"ucd,groups=stages,{limit}",
                opponent=f"ucd,{limit}",
                matches=matches,
                opening=2,
            )
    with Matches(Record(out / "amazons.jsonl", seed, tell)) as played:
        scores = played.scores(pairings.values())
    rows = []
    for (game, what), pairing in pairings.items():
        found, theirs = scores[pairing], PAPER[what]
        error = sqrt(found.error**2 + theirs * (100 - theirs) / THEIR_GAMES)
        rows.append(
            Row(
                table="chapter 6",
                row=f"{game}, equal {what}",
                column="won, %",
                ours=found.percent,
                theirs=theirs,
                errors=(found.percent - theirs) / error,
                interval=found.interval,
            )
        )
    return rows
