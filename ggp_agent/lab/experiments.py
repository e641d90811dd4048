"""All experiments by name."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from ggp_agent.lab.amazons import amazons_experiment
from ggp_agent.lab.bandits import bandit9, bandit27
from ggp_agent.lab.leftrights import leftright_experiment
from ggp_agent.lab.parallel import parallel_experiment
from ggp_agent.lab.pgames import pgame_experiment
from ggp_agent.lab.record import Row, Tell
from ggp_agent.lab.ucd import ggp_experiment, go_experiment, hex_experiment


class Experiment(Protocol):
    """Computes what is not known yet, draws figures into `out`, and returns rows."""

    def __call__(self, out: Path, *, runs: int | None, quick: bool, seed: int, tell: Tell) -> list[Row]: ...


EXPERIMENTS: dict[str, Experiment] = {
    "leftright": leftright_experiment,
    "bandit9": bandit9,
    "bandit27": bandit27,
    "pgame": pgame_experiment,
    "hex": hex_experiment,
    "go": go_experiment,
    "ggp": ggp_experiment,
    "amazons": amazons_experiment,
    "parallel": parallel_experiment,
}
