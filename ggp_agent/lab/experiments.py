"""All experiments by name."""

from __future__ import annotations

from collections.abc import Callable

from ggp_agent.lab.amazons import amazons_experiment
from ggp_agent.lab.bandits import bandit9
from ggp_agent.lab.bandits_27 import bandit27
from ggp_agent.lab.defaults import defaults_experiment
from ggp_agent.lab.leftrights import leftright_experiment
from ggp_agent.lab.parallel import parallel_experiment
from ggp_agent.lab.pgames import pgame_experiment
from ggp_agent.lab.record import Order
from ggp_agent.lab.rows import Row
from ggp_agent.lab.ucd import ggp_experiment, go_experiment, hex_experiment

# Each computes what is not known yet, and draws its figures.
EXPERIMENTS: dict[str, Callable[[Order], list[Row]]] = {
    "leftright": leftright_experiment,
    "bandit9": bandit9,
    "bandit27": bandit27,
    "pgame": pgame_experiment,
    "hex": hex_experiment,
    "go": go_experiment,
    "ggp": ggp_experiment,
    "amazons": amazons_experiment,
    "parallel": parallel_experiment,
    "defaults": defaults_experiment,
}
