"""Many searches of one game at once, side by side in the lanes of one worker: for tournaments and experiments.

Each search has a graph of its own (or several, if it is parallel at the root), and goes through the same simulations as
it would alone, up to what is drawn at random: the lanes of a worker share one source of random numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ggp_agent.engine import Move, State
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.search.analysis import ranked_lines
from ggp_agent.search.config import MAX_LANES, SearchConfig
from ggp_agent.search.largest import FEW
from ggp_agent.search.samples import groups_for
from ggp_agent.search.searcher import share
from ggp_agent.search.table import NONE
from ggp_agent.search.workers import LanesWorker

EXPANDED_SHARE = 0.5  # of the positions of a graph have edges, or fewer
KEPT = 2.0  # what a graph holds at most, beside what one move adds


class Searches:
    """Searches of so many simulations a move, as many as there is room for."""

    def __init__(self, engine: LanesEngine, config: SearchConfig, playouts: int) -> None:
        self.engine, self.config = engine, config
        self.playouts, self.count = playouts, self.room(engine, config, playouts)
        self.states: dict[int, State] = {}  # where searches stand
        self.lanes = config.lanes_for(playouts)
        self.worker = LanesWorker(
            engine,
            config,
            groups_for(engine, config, seed=0),
            seed=0,
            megabytes=config.megabytes,
            searches=self.count,
            lanes=self.lanes,
        )
        self.graphs = len(self.worker.pool.block["root"]) // self.count  # of each search

    @staticmethod
    def room(engine: LanesEngine, config: SearchConfig, playouts: int) -> int:
        """How many searches find place in the memory. More of them than there are lanes for take turns."""
        branching = max(map(len, engine.look(engine.initial()).legal))
        node, edge, listed = 256, 100, 4  # bytes, roughly
        all_edges = config.rave > 0 or config.groups.startswith("ranked")
        places = branching if all_edges else min(branching, FEW)  # where there are more moves, they are listed
        # The edge that a simulation takes may lie in a place twice as large as it needs.
        need = KEPT * playouts * (node + 2 * edge + EXPANDED_SHARE * (places * edge + branching * listed))
        return max(1, min(MAX_LANES, int(config.megabytes * 2**20 / need)))

    def restart(self, seed: int) -> None:
        """Forget everything; what is drawn from now on depends on the seed alone."""
        self.worker.restart(seed)

    def think(self, states: Mapping[int, State], ply: int) -> None:
        """Let some of the searches, by number, go on at these states; the others rest."""
        self.states.update(states)
        roots = {self.graphs * number + k: state for number, state in states.items() for k in range(self.graphs)}
        self.worker.set_roots(roots, ply)
        searches, at_once = list(states), MAX_LANES // self.lanes
        for first in range(0, len(searches), at_once):
            turn = searches[first : first + at_once]
            left = np.zeros((self.count, self.graphs), np.int64)
            left[turn] = [share(self.playouts, self.graphs, k) for k in range(self.graphs)]
            self.worker.assign(turn)
            self.worker.run(left.ravel().tolist(), None, lambda: True)

    def best(self, number: int, legal: Sequence[Move], role: int) -> Move:
        """The move to play where a search stands."""
        if self.config.decisive and (considered := self.engine.considered(self.states[number])):
            legal = considered[role]
        block = self.worker.pool.block
        first = self.graphs * number
        roots = [(block, int(root)) for root in block["root"][first : first + self.graphs]]
        return ranked_lines(roots, legal, role)[0].move

    def end(self, number: int) -> None:
        """The match of a search is over: its memory can be used by others."""
        first = self.graphs * number
        self.worker.pool.block["root"][first : first + self.graphs] = NONE
