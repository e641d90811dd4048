"""The object that a player holds: it thinks about one match, follows its moves, and knows the best one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import product
from math import prod
from random import Random
from time import perf_counter
from typing import Any, Self

from numpy.typing import NDArray

from ggp_agent.engine import Engine, JointMove, Move, State
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import ConfigError, IllegalMove
from ggp_agent.search.analysis import Analysis, Line, Root, ranked_lines, root_value, variation
from ggp_agent.search.config import MAX_LANES, Limit, SearchConfig
from ggp_agent.search.graph import SOLVED
from ggp_agent.search.samples import groups_for
from ggp_agent.search.single import SingleWorker
from ggp_agent.search.table import EDGES, NODES
from ggp_agent.search.workers import MANY, LanesWorker, Worker

TELL_SECONDS = 0.5  # between reports of a search that goes on
MOST_TRIED = 2_000  # joint moves, to find those that led to a state
MOST_FOR_NODE = 1_000  # simulations for each new node that a limit asks for: the game or the memory may have no more


class Searcher:
    """Searches one match. One thread thinks at a time; `stop` may be called from any."""

    def __init__(
        self,
        engine: Engine,
        config: SearchConfig | None = None,
        seed: int = 0,
        *,
        given: NDArray[Any] | None = None,
    ) -> None:
        """`given` is what `groups=prior` or `groups=table` wants to know of the moves; see `make_groups`."""
        self.given = given
        self.engine, self.config, self.seed = engine, config or SearchConfig(), seed
        self.random = Random(seed)
        self.stopping = threading.Event()
        self.simulations, self.seconds = 0, 0.0
        self.workers: list[Worker] = []
        self.start()

    def start(self, state: State | None = None) -> None:
        """Forget everything and begin at a state; without one, where matches begin."""
        self.state = self.engine.initial() if state is None else state
        self.position = self.engine.look(self.state)
        self.level = 0
        self.planned: list[Move] | None = None  # for a single role: the rest of the best game found, its payoff
        self.planned_payoff = -1.0
        self.last_move: Move | None = None
        if not self.workers:
            self.workers = self.make_workers()
        for worker in self.workers:
            worker.pool.clear()
            worker.follow(None)
        self.set_roots()

    def make_workers(self) -> list[Worker]:
        config, engine = self.config, self.engine
        megabytes = config.megabytes / config.workers
        seeds = [self.random.getrandbits(62) for _ in range(config.workers)]
        if isinstance(engine, LanesEngine):
            groups = groups_for(engine, config, self.seed, self.given)
            lanes = config.lanes_for(None)
            return [LanesWorker(engine, config, groups, seed=seed, megabytes=megabytes, lanes=lanes) for seed in seeds]
        return [SingleWorker(engine, config, seed=seeds[0], megabytes=config.megabytes)]

    def set_roots(self) -> None:
        decisive = self.config.decisive and not self.position.terminal
        self.considered = self.engine.considered(self.state) if decisive else ()
        for worker in self.workers:
            worker.set_roots(dict.fromkeys(range(len(worker.pool.block["root"])), self.state), self.level)

    def advance(self, joint: JointMove) -> None:
        """Play a joint move; what can still be reached is kept."""
        roles = self.engine.game.roles
        if self.position.terminal:
            raise IllegalMove(f"{self.engine.game.name}: the game is over, there are no moves")
        if len(joint) != len(roles):
            raise IllegalMove(f"a joint move has {len(roles)} moves, one a role, and not {len(joint)}")
        for role, move in enumerate(joint):
            if move not in self.position.legal[role]:
                raise IllegalMove(f"{self.move_text(role, move)} is not legal for {roles[role]} here")
        state = self.engine.step(self.state, joint)
        position = self.engine.look(state)  # may find the rules broken; then we stay where we are
        self.plan(joint)
        self.state, self.position = state, position
        self.level += 1
        for worker in self.workers:
            worker.follow(joint)
        self.set_roots()

    def go_to(self, state: State) -> None:
        """Go on from a state of the same match, whatever moves led there; what is known of it is kept."""
        if state == self.state:
            return
        if moves := self.moves_to(state):
            for move in moves:
                self.advance((move,))
            return
        self.position = self.engine.look(state)
        joints = self.joints_to(state) if self.config.groups.startswith("near") else None
        self.planned, self.state = None, state
        self.level += 1
        for worker in self.workers:
            if joints is None:
                worker.follow(None)
            for joint in joints or []:
                worker.follow(joint)
        self.set_roots()

    def moves_to(self, state: State) -> list[Move]:
        """For a single role, the moves to a state that begin with its last best one and go on without a choice."""
        if len(self.engine.game.roles) > 1 or self.last_move is None:
            return []
        moves, here = [self.last_move], self.engine.step(self.state, (self.last_move,))
        while here != state:
            position = self.engine.look(here)
            if position.terminal or len(position.legal[0]) > 1:
                return []
            moves.append(position.legal[0][0])
            here = self.engine.step(here, (moves[-1],))
        return moves

    def joints_to(self, state: State) -> list[JointMove] | None:
        """The one or two joint moves that lead to a state; None if there are none, or it would take long to find them.

        If there are two, the first has the last best move.
        """
        tried, here = 0, self.engine.look(self.state)
        if here.terminal or prod(map(len, here.legal)) > MOST_TRIED:
            return None
        first = list(product(*here.legal))
        for joint in first:
            if self.engine.step(self.state, joint) == state:
                return [joint]
        for joint in first:
            if self.last_move not in joint:
                continue
            there = self.engine.step(self.state, joint)
            position = self.engine.look(there)
            tried += prod(map(len, position.legal))
            if position.terminal or tried > MOST_TRIED:
                continue
            for reply in product(*position.legal):
                if self.engine.step(there, reply) == state:
                    return [joint, reply]
        return None

    def move_text(self, role: int, move: Move) -> str:
        known = 0 <= move < len(self.engine.moves[role])
        return str(self.engine.moves[role][move]) if known else f"move {move}"

    def think(self, limit: Limit, tell: Callable[[Analysis], None] | None = None) -> Analysis:
        """Search until the limit is reached, the root is proven, or `stop` is called; `tell` hears how it goes."""
        if self.position.terminal:
            raise ConfigError(f"{self.engine.game.name}: the game is over, there is nothing to think about")
        self.stopping.clear()
        begun = told = perf_counter()
        before = self.ended()

        def go_on() -> bool:
            nonlocal told
            now = perf_counter()
            if tell and now - told >= TELL_SECONDS and threading.current_thread() is thinker:
                told = now
                self.simulations, self.seconds = self.ended() - before, now - begun
                tell(self.analyse())
            return now - begun < limit.seconds and not self.stopping.is_set()

        thinker = threading.current_thread()
        self.run_workers(limit, go_on)
        self.simulations, self.seconds = self.ended() - before, perf_counter() - begun
        return self.analyse()

    def ended(self) -> int:
        return sum(worker.ended() for worker in self.workers)

    def run_workers(self, limit: Limit, go_on: Callable[[], bool]) -> None:
        """All workers at once, each in a thread of its own but the first."""
        count = len(self.workers)
        errors: list[BaseException] = []
        most = self.config.lanes_for(limit.playouts) if self.config.parallel == "tree" else MAX_LANES

        def run(number: int) -> None:
            worker = self.workers[number]
            graphs = len(worker.pool.block["root"])
            left, nodes = share(limit.playouts, count, number), None
            if limit.nodes is not None:
                nodes = share(limit.nodes, count, number)
                left = min(left, MOST_FOR_NODE * nodes)
            try:
                if left and nodes != 0:
                    worker.run([share(left, graphs, graph) for graph in range(graphs)], nodes, go_on, most)
            except BaseException as error:
                errors.append(error)
                self.stopping.set()

        threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(1, count)]
        for thread in threads:
            thread.start()
        run(0)
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def stop(self) -> None:
        """Make a running `think` return as soon as it can, with what it has. Nothing happens if none is running."""
        self.stopping.set()

    # What the graphs know of the root

    def roots(self) -> list[Root]:
        """Every graph of every worker."""
        return [(worker.pool.block, int(root)) for worker in self.workers for root in worker.pool.block["root"]]

    def lines(self, role: int) -> list[Line]:
        """All moves of a role at the root, the one to play first and those that are not considered last."""
        roots, legal = self.roots(), self.position.legal[role]
        first = self.considered[role] if self.considered else legal
        others = sorted(set(legal).difference(first))
        return ranked_lines(roots, first, role) + ranked_lines(roots, others, role)

    def best(self, role: int) -> Move:
        """The move to play: always legal, even if nothing was searched."""
        if self.position.terminal:
            raise ConfigError(f"{self.engine.game.name}: the game is over, there is no move")
        line = self.best_line()
        self.last_move = line[0] if line else self.lines(role)[0].move
        return self.last_move

    def best_line(self) -> list[Move] | None:
        """For a single role, the moves of the best game found, if it is better than what the search expects."""
        if len(self.engine.game.roles) > 1:
            return None
        found = [line for worker in self.workers if (line := worker.best_line()) is not None and line[1]]
        payoff, moves = max(found, default=(-1.0, None), key=lambda line: line[0])
        if self.planned is not None and self.planned_payoff >= payoff:
            payoff, moves = self.planned_payoff, self.planned
        return moves if moves and payoff > self.lines(0)[0].value else None

    def plan(self, joint: JointMove) -> None:
        """Keep to the best game found if this joint move does."""
        found = [line for worker in self.workers if (line := worker.best_line()) is not None]
        found += [(self.planned_payoff, self.planned)] if self.planned else []
        kept = [(payoff, moves[1:]) for payoff, moves in found if moves and moves[0] == joint[0]]
        self.planned_payoff, self.planned = max(kept, default=(-1.0, None), key=lambda line: line[0])

    def analyse(self) -> Analysis:
        """What is known now."""
        roots, roles = self.roots(), range(len(self.engine.game.roles))
        return Analysis(
            simulations=self.simulations,
            seconds=self.seconds,
            nodes=sum(worker.pool.used(NODES) for worker in self.workers),
            edges=sum(worker.pool.used(EDGES) for worker in self.workers),
            fill=max(worker.pool.fill for worker in self.workers),
            value=tuple(root_value(roots, role) for role in roles),
            proven=any(g["flags"][root] & SOLVED for g, root in roots),
            cut=sum(worker.cut for worker in self.workers),
            variation=variation(self.engine, roots[0], self.state, self.position),
            lines=tuple(tuple(self.lines(role)) for role in roles),
        )

    def close(self) -> None:
        """Stop, and give back the memory."""
        self.stop()
        self.workers = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def share(total: int | None, parts: int, number: int) -> int:
    """What one of some equal parts gets of a total."""
    return MANY if total is None else total // parts + (number < total % parts)
