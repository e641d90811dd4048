"""Simulations one at a time, on any engine: the same graph, walked from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine import Engine, JointMove, Position, State
from ggp_agent.engine.base import NO_GOAL
from ggp_agent.errors import ConfigError
from ggp_agent.search.config import MAX_LANES, SearchConfig
from ggp_agent.search.graph import Pool, new_played
from ggp_agent.search.groups import Tables, expand, make_groups
from ggp_agent.search.lane_rows import DRAW
from ggp_agent.search.ranked import form_groups
from ggp_agent.search.rave import note_played
from ggp_agent.search.squares import ordered_constants
from ggp_agent.search.table import NODES, NONE, hash_state
from ggp_agent.search.ucd import (
    KNOWN,
    MOVES,
    PLAYOUT,
    RANK,
    STEP,
    WALK,
    arrive,
    descend,
    forget_walks,
    is_finished,
    is_ripe,
    leave_groups,
)
from ggp_agent.search.update import update
from ggp_agent.search.workers import Worker

LOOKS = 100_000  # positions whose moves are remembered


class SingleWorker(Worker):
    """Simulations on an engine without lanes. A state is known by a number, in the order of discovery."""

    def __init__(self, engine: Engine, config: SearchConfig, *, seed: int, megabytes: float) -> None:
        self.engine, self.config, self.random = engine, config, Random(seed)
        self.roles = len(engine.game.roles)
        self.states: dict[int, State] = {}
        self.numbers: dict[State, int] = {}
        self.found = 0  # states so far
        self.look: Callable[[int], Position] = lru_cache(LOOKS)(lambda number: engine.look(self.states[number]))
        self.group_numbers: dict[tuple[str, ...], int] = {}
        if config.groups.startswith(("prior", "table")):
            raise ConfigError(f"groups={config.groups} needs an engine that knows all moves beforehand: lanes")
        self.order = ordered_constants(engine.game.rules)
        groups = self.make_groups()
        best = np.ones(self.roles)
        self.pool = Pool(config, groups, best, words=1, graphs=1, walks=1, megabytes=megabytes, seed=seed)

    def make_groups(self) -> Tables:
        texts = [list(map(str, moves)) for moves in self.engine.moves]
        return make_groups(self.config.groups, texts, [], self.group_numbers, order=self.order)

    def pack(self, state: State) -> NDArray[np.uint64]:
        number = self.numbers.setdefault(state, self.found)
        if number == self.found:
            self.states[number] = state
            self.found += 1
        return np.array([number], np.uint64)

    def set_roots(self, states: Mapping[int, State], level: int) -> None:
        super().set_roots(states, level)
        kept = set(self.pool.block["state"][: self.pool.used(NODES), 0].tolist())
        self.states = {number: state for number, state in self.states.items() if number in kept}
        self.numbers = {state: number for number, state in self.states.items()}

    def follow(self, joint: JointMove | None) -> None:
        self.renew_groups()
        super().follow(joint)

    def run(self, left: Sequence[int], nodes: int | None, go_on: Callable[[], bool], lanes: int = MAX_LANES) -> None:
        block = self.pool.block
        most = self.pool.used(NODES) + nodes if nodes is not None else None
        for _ in range(left[0]):
            if (
                is_finished(block, block["root"][0])
                or not go_on()
                or (most is not None and self.pool.used(NODES) >= most)
            ):
                return
            try:
                self.simulate()
            except BaseException:
                forget_walks(block)
                raise
            self.simulations += 1

    def simulate(self) -> None:
        """One simulation."""
        g = self.pool.block
        g["at"][0] = g["root"][0]
        need: Any = WALK
        while need != KNOWN:
            if need == WALK:
                need = descend(g, 0)
            elif need == MOVES:
                need = WALK
                if not self.expand():
                    leave_groups(g, 0)
                    need = PLAYOUT
            elif need == RANK:
                form_groups(g, g["at"][0])
                need = WALK
            elif need == STEP:
                need = self.step()
            else:
                g["payoff"][0] = self.play_out()
                need = KNOWN
        update(g, 0)
        self.make_room()

    def number_at(self, node: int) -> int:
        g = self.pool.block
        return int(g["state"][g["position"][node], 0])

    def expand(self) -> bool:
        legal = self.look(self.number_at(int(self.pool.block["at"][0]))).legal
        self.renew_groups()
        moves = np.zeros((self.roles, max(map(len, legal))), np.int32)
        for role, some in enumerate(legal):
            moves[role, : len(some)] = some
        return bool(expand(self.pool.block, 0, moves, np.array([len(some) for some in legal], np.int32)))

    def renew_groups(self) -> None:
        """Engines may learn of new moves as they go; the tables of groups grow with them."""
        g = self.pool.block
        if g["group_offset"][-1] < sum(map(len, self.engine.moves)):
            for name, value in self.make_groups().items():
                g[name] = value
            g["played"] = new_played(sum(map(len, self.engine.moves)) if self.config.rave else 0)

    def step(self) -> Any:
        """Play the moves at the end of the path, and look at where they lead."""
        g = self.pool.block
        path = g["path"][0, : g["length"][0]]
        node = int(g["origin"][path[-1]])
        number = self.number_at(node)
        joint = [moves[0] for moves in self.look(number).legal]
        for edge in path[::-1]:
            if g["origin"][edge] != node:
                break
            joint[g["role"][edge]] = int(g["move"][edge])
        words = self.pack(self.engine.step(self.states[number], JointMove(joint)))
        self.here = int(words[0])
        position = self.look(self.here)
        if not position.terminal and not is_ripe(g, 0):
            g["at"][0] = NONE
            return PLAYOUT
        payoff = np.array(position.goals if position.terminal else [0] * self.roles, np.float64) / 100
        return arrive(g, 0, words, np.uint64(hash_state(words, 0)), position.terminal, payoff)

    def play_out(self) -> list[float]:
        g = self.pool.block
        if g["at"][0] != NONE:
            self.here = self.number_at(int(g["at"][0]))
        if self.config.rave:
            return self.play_and_note(self.states[self.here])
        playouts = self.engine.playouts(self.states[self.here], 1, self.random.getrandbits(63), self.config.max_plies)
        goals = playouts.goals[0].tolist()
        self.cut += NO_GOAL in goals
        return [DRAW if goal == NO_GOAL else goal / 100 for goal in goals]

    def play_and_note(self, state: State) -> list[float]:
        """A playout whose moves RAVE wants to know, which engines do not tell."""
        made: set[tuple[int, int]] = set()
        position = self.engine.look(state)
        for _ in range(self.config.max_plies):
            if position.terminal:
                break
            joint = JointMove(self.random.choice(moves) for moves in position.legal)
            made.update(enumerate(joint))
            state = self.engine.step(state, joint)
            position = self.engine.look(state)
        self.renew_groups()
        for role, move in made:
            note_played(self.pool.block, role, move)
        if position.goals is None or not position.terminal:
            self.cut += 1
            return [DRAW] * self.roles
        return [goal / 100 for goal in position.goals]
