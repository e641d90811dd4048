"""Workers: a pool of graphs and what plays its simulations.

`LanesWorker` runs them in lanes, hundreds at once; `SingleWorker` in `single.py` one at a time on any engine, with the
same graph code. A worker is used by one thread at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine import JointMove, State
from ggp_agent.engine.kernels import DONE, RUNNING
from ggp_agent.engine.lanes import LanesEngine, Rows
from ggp_agent.engine.rowops import LANES
from ggp_agent.errors import ConfigError
from ggp_agent.search.config import MAX_LANES, MOST_LANES, SearchConfig
from ggp_agent.search.edges import new_position
from ggp_agent.search.graph import NEAR, Pool
from ggp_agent.search.lane_rows import CUT, ENDED, IDLE, make_lanes
from ggp_agent.search.schedule import run_lanes
from ggp_agent.search.table import NODES, NONE, find, find_below, hash_state
from ggp_agent.search.ucd import forget_walks

SLICE_SECONDS = 0.005  # kernels run about so long between looks at the clock
FIRST_STEPS = 4
MANY = 1 << 60  # simulations without a limit


class Worker(ABC):
    """Simulations on one pool of graphs."""

    pool: Pool
    simulations = 0  # ended since the worker was made
    cut = 0  # of them, cut off because the game lasted too long

    def ended(self) -> int:
        """Simulations that have ended so far, those of a run that goes on included."""
        return self.simulations

    @abstractmethod
    def pack(self, state: State) -> NDArray[np.uint64]:
        """A state as the words of a node."""

    @abstractmethod
    def run(self, left: Sequence[int], nodes: int | None, go_on: Callable[[], bool], lanes: int = MAX_LANES) -> None:
        """Let so many simulations begin in each graph; fewer if there are so many new nodes or `go_on` says no.

        At most so many go on at once in a search, where a graph has several lanes.
        """

    def best_line(self) -> tuple[float, list[int]] | None:
        """For a single role, the payoff and the moves from the root of the best game found."""
        return None

    def set_roots(self, states: Mapping[int, State], level: int) -> None:
        """Let some graphs begin at these states; what they know from there on is kept."""
        pool, block = self.pool, self.pool.block
        words = {graph: self.pack(state) for graph, state in states.items()}
        joints = pool.joints()
        for graph in words:
            block["root"][graph] = self.known(graph, words[graph], joints)
        if pool.is_worn or block["wanting"][1]:
            pool.compact()
        if not all(self.add_root(graph, words[graph], level) for graph in words):
            # Not even this helps: forget everything, and begin again where all graphs are.
            roots = {graph: int(node) for graph, node in enumerate(block["root"]) if node != NONE}
            others = {graph: block["state"][node].copy() for graph, node in roots.items() if graph not in words}
            levels = {graph: int(block["level"][node]) for graph, node in roots.items()}
            pool.clear()
            for graph, state in {**others, **words}.items():
                self.add_root(graph, state, levels[graph] if graph in others else level)
        block["wanting"][:] = 0

    def follow(self, joint: JointMove | None) -> None:
        """A joint move of the match was played, or nobody knows which: `near` wants to know where."""
        block = self.pool.block
        if joint is None:
            block["last"][:] = NONE
            return
        for role, move in enumerate(joint if block["group_kind"] == NEAR else ()):
            place = block["group_square"][block["group_offset"][role] + move]
            if place[0] != NONE:
                block["last"][:] = place, block["last"][0].copy()

    def known(self, graph: int, words: NDArray[np.uint64], joints: NDArray[np.int64]) -> int:
        """The node of a position in a graph, or NONE. In a tree it is one below the root."""
        block, root = self.pool.block, self.pool.block["root"][graph]
        hash_value = np.uint64(hash_state(words, graph))
        if block["transpositions"]:
            return int(find(block, hash_value, words, graph))
        return int(find_below(block, root, hash_value, words, joints)) if root != NONE else NONE

    def add_root(self, graph: int, words: NDArray[np.uint64], level: int) -> bool:
        """Give a graph a new root unless it has one; false if there is no room."""
        block, hash_value = self.pool.block, np.uint64(hash_state(words, graph))
        while block["root"][graph] == NONE:
            block["root"][graph] = new_position(block, words, graph, hash_value, level)
            if block["root"][graph] == NONE and not self.pool.grow(NODES):
                return False
        return True

    def make_room(self) -> None:
        """Get the memory that simulations want; if there is none, they go on without."""
        wanting = self.pool.block["wanting"]
        if wanting[0] and not wanting[1] and not self.pool.grow(int(wanting[0]) - 1):
            wanting[1] = 1
        wanting[0] = 0


class LanesWorker(Worker):
    """Simulations in lanes, in rows of its own."""

    def __init__(
        self,
        engine: LanesEngine,
        config: SearchConfig,
        groups: dict[str, Any],
        *,
        seed: int,
        megabytes: float,
        searches: int = 1,
        lanes: int = MOST_LANES,
    ) -> None:
        """So many searches of their own, each in so many lanes at most."""
        circuit = engine.circuit
        self.engine, self.rows = engine, Rows(circuit, config.decisive)
        if config.rave and len(self.rows.groups["members"]):
            raise ConfigError(f"{engine.game.name} has too many moves for rave={config.rave}: they have no rows")
        self.most = lanes
        block = lanes if config.parallel == "leaf" else 1
        graphs = searches * (lanes if config.parallel == "root" else 1)
        best, worst = np.zeros(len(circuit.roles)), np.ones(len(circuit.roles))
        np.maximum.at(best, circuit.goal_roles, circuit.goal_values / 100)
        np.minimum.at(worst, circuit.goal_roles, circuit.goal_values / 100)
        self.words = max(1, -(-len(circuit.fluents) // 64))
        groups = {**groups, "group_mark": groups["group_mark"].copy()}  # scratch is not shared
        self.pool = Pool(
            config,
            groups,
            best,
            words=self.words,
            graphs=graphs,
            walks=LANES,
            megabytes=megabytes,
            seed=seed,
            worst=worst,
        )
        self.rooted = config.parallel == "root"
        self.assign(range(searches))
        self.rows.seed(seed)
        self.steps = FIRST_STEPS
        self.code = self.rows.wiring.code
        self.lanes = make_lanes(
            circuit, self.rows, graphs=graphs, block=block, max_plies=config.max_plies, rave=config.rave > 0
        )

    def assign(self, searches: Sequence[int]) -> None:
        """Give the lanes to these searches, or to as many of them as there are lanes for."""
        mine = np.array(searches[: MAX_LANES // self.most])
        graphs = self.most * mine[:, None] + np.arange(self.most) if self.rooted else np.repeat(mine, self.most)
        self.pool.block["lane_graph"][: graphs.size] = graphs.ravel()
        self.assigned = len(mine)
        self.rows.use_lanes(graphs.size)

    def restart(self, seed: int) -> None:
        """Forget all graphs; what is drawn from now on depends on the seed alone."""
        self.pool.restart(seed)
        self.rows.rows[1:] = 0  # how often lanes draw depends on what all of them hold, those at rest too
        self.rows.seed(seed)

    def pack(self, state: State) -> NDArray[np.uint64]:
        assert isinstance(state, bytes)
        return np.frombuffer(state.ljust(8 * self.words, b"\0"), np.uint64).copy()

    def best_line(self) -> tuple[float, list[int]] | None:
        payoff, length = self.lanes["best"]
        return (float(payoff), self.lanes["line"][: int(length)].tolist()) if payoff >= 0 else None

    def ended(self) -> int:
        return self.simulations + int(self.lanes["progress"][ENDED])

    def set_roots(self, states: Mapping[int, State], level: int) -> None:
        super().set_roots(states, level)
        if states:
            self.lanes["common"][:] = self.pack(next(iter(states.values())))
        self.lanes["best"][:] = -1.0, 0.0

    def run(self, left: Sequence[int], nodes: int | None, go_on: Callable[[], bool], lanes: int = MAX_LANES) -> None:
        block, progress = self.lanes, self.lanes["progress"]
        block["max_nodes"] = MANY if nodes is None else self.pool.used(NODES) + nodes
        block["left"][:] = left
        progress[:] = 0
        progress[6] = block["max_plies"]
        starters = np.zeros(LANES, np.bool_)
        starters[: self.assigned * self.most].reshape(self.assigned, self.most)[:, : lanes : block["block"]] = True
        block["pending"][:] = np.packbits(starters, bitorder="little").view(np.uint64)
        try:
            while progress[3] == RUNNING and go_on():
                self.slice()
        finally:
            self.simulations += int(progress[ENDED])
            self.cut += int(progress[CUT])
            progress[ENDED] = 0
            self.drop()
        if progress[3] not in (RUNNING, DONE):
            raise self.engine.failure(progress, self.rows)

    def slice(self) -> None:
        """Run the kernel for a few milliseconds."""
        theirs, progress = self.engine.rows.wiring, self.lanes["progress"]
        if theirs.code is not self.code:  # machine code is ready
            self.code = theirs.code
            self.rows.use(theirs.code, theirs.code_starts)
        begun, last = perf_counter(), progress[0] + self.steps
        run_lanes(self.rows.wires, self.rows.groups, self.pool.block, self.lanes, self.steps)
        spent = perf_counter() - begun
        self.make_room()
        if spent > 2 * SLICE_SECONDS:
            self.steps = max(1, self.steps // 2)
        elif spent < SLICE_SECONDS / 2 and progress[0] == last:  # and not because there was nothing more to do
            self.steps *= 2

    def drop(self) -> None:
        """Give up the simulations that are still on their way."""
        block, rows, wiring = self.pool.block, self.rows.rows, self.rows.wiring
        forget_walks(block)
        self.lanes["phase"][:] = IDLE
        for name in ("pending", "soon", "planned", "played"):
            self.lanes[name][:] = 0
        rows[wiring.active] = 0
        rows[wiring.forced : wiring.tree] = 0
