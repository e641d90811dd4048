"""The lanes engine: a circuit that plays hundreds of games at once, one in each bit of machine words.

A state is its fluents as packed bits, in bytes. Single positions are looked at in the first lane; playouts use all.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import cast, overload

import numba
import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine import by_group, cache, kernels
from ggp_agent.engine.base import MAX_PLIES, NO_GOAL, Engine, Game, JointMove, Playouts, Position, State, hash_fact
from ggp_agent.engine.block import Block
from ggp_agent.engine.circuit import BAD_GOAL, DECISIVE, GOALS, NEXT, POSITION, Circuit
from ggp_agent.engine.circuit_file import load
from ggp_agent.engine.ground import USUAL, Limits, make_circuit
from ggp_agent.engine.group_tables import make_groups
from ggp_agent.engine.native import VECTOR, Linked, compile_in_child, function_starts, host, worth_compiling
from ggp_agent.engine.rowops import LANES, ROW_BYTES, WORDS
from ggp_agent.engine.turning import STRIDE
from ggp_agent.errors import EngineError
from ggp_agent.gdl import Term
from ggp_agent.gdl.reader import read
from ggp_agent.gdl.sheet import Builder

SLICE_STEPS = 256  # steps between looks at the clock
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def kernels_are_ready() -> bool:
    """Have the kernels been compiled on this machine before?"""
    return any(Path(numba.config.CACHE_DIR).rglob("kernels.*.nbc"))


def goal_text(value: int) -> str:
    return "other" if value == BAD_GOAL else str(value)


class Texts(Sequence[Term]):
    """Terms that are made from their texts when they are asked for: a game may have a hundred thousand moves."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    @overload
    def __getitem__(self, index: int) -> Term: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Term]: ...
    def __getitem__(self, index: int | slice) -> Term | Sequence[Term]:
        if isinstance(index, slice):
            return Texts(self.texts[index])
        (item,) = read(self.texts[index]).items
        term = Builder("<circuit>", {}).term(item)
        assert isinstance(term, Term)
        return term

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Term]:
        return (self[index] for index in range(len(self)))

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self.texts)}

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """The place of a term, found without making the others."""
        number = self.numbers.get(str(value), -1) if isinstance(value, Term) else -1
        if not start <= number < (len(self) if stop is None else stop):
            raise ValueError(f"{value} is not here")
        return number


class Rows:
    """The memory that kernels work on, and the wiring of a circuit to it."""

    def __init__(self, circuit: Circuit, decisive: bool = False) -> None:
        """With `decisive`, kernels choose among the moves worth considering, if the circuit knows which these are."""
        decisive = decisive and len(circuit.decisive_starts) > 0
        fluents, rows = len(circuit.fluents), circuit.rows
        random, active, ended = rows, rows + 4, rows + 5
        start, choices = rows + 6, rows + 6 + fluents
        forced = choices + len(circuit.roles) + 1
        tree = forced + len(circuit.roles)
        groups = tree + max(kernels.tree_rows(len(moves)) for moves in circuit.moves)
        turned = groups + 2
        total = turned + STRIDE * len(circuit.words)
        memory = np.zeros(total * WORDS + WORDS, np.uint64)
        skip = -memory.ctypes.data % ROW_BYTES // 8  # rows begin at multiples of their size
        self.rows: NDArray[np.uint64] = memory[skip : skip + total * WORDS].reshape(total, WORDS)
        self.rows[0] = ALL
        same = {field: getattr(circuit, field) for field in kernels.Wiring._fields if hasattr(circuit, field)}
        if decisive:
            same["legal_starts"] = circuit.decisive_starts
        wiring = kernels.Wiring(
            **same,
            decisive=int(decisive),
            base=self.rows.ctypes.data,
            state_rows=fluents,
            random=random,
            active=active,
            ended=ended,
            start=start,
            choices=choices,
            forced=forced,
            tree=tree,
            used_bytes=ROW_BYTES,
            code_starts=np.zeros(len(circuit.segments) + 1, np.int64),
            code=np.zeros(1, np.int64),
        )
        self.wire(wiring)
        self.groups = make_groups(circuit, wiring.base, active=active, ended=ended, scratch=groups, turned=turned)

    def wire(self, wiring: kernels.Wiring) -> None:
        """Use another wiring from now on. Kernels that run keep the one they began with."""
        self.wiring, self.wires = wiring, Block(wiring._asdict())  # the same for kernels

    def use(self, addresses: NDArray[np.int64], starts: NDArray[np.int64]) -> None:
        """Compute gates by machine code from now on."""
        self.wire(self.wiring._replace(code=addresses, code_starts=starts))

    def use_lanes(self, lanes: int) -> None:
        """Only the first so many lanes matter from now on: machine code computes no more than these need."""
        self.wire(self.wiring._replace(used_bytes=8 * VECTOR * -(-lanes // (64 * VECTOR))))

    def seed(self, seed: int) -> None:
        """Set the random generators."""
        words = np.random.SeedSequence(seed % 2**64).generate_state(4 * WORDS + 4, np.uint64)
        self.rows[self.wiring.random : self.wiring.random + 4] = words[:-4].reshape(4, WORDS)
        self.groups["generator"][:] = words[-4:]


class LanesEngine(Engine):
    """Plays by circuit. The gates are interpreted until machine code for them is ready, which then takes over."""

    name = "lanes"

    def __init__(
        self,
        game: Game,
        *,
        limits: Limits = USUAL,
        native: bool = True,
        stop: threading.Event | None = None,  # set from another thread, it gives up making the circuit
    ) -> None:
        self.game = game
        self.key = cache.digest(cache.sources(), "\n".join(map(str, game.rules)))
        self.circuit = self.make(limits, stop)
        self.moves = [Texts(moves) for moves in self.circuit.moves]
        self.rows = Rows(self.circuit)
        self.lock = threading.Lock()
        self.closed = threading.Event()
        self.linked: Linked | None = None
        self.compiler = threading.Thread(target=self.compile, name=f"compile {game.name}", daemon=True)
        if native and worth_compiling(self.circuit):
            self.compiler.start()

    def make(self, limits: Limits, stop: threading.Event | None) -> Circuit:
        """The circuit, from the cache if it is there."""
        path = cache.folder() / f"{self.key}.npz"
        if path.exists():
            with contextlib.suppress(EngineError):  # a damaged file is made anew
                return load(path)
        make_circuit(self.game, path, limits, stop)
        cache.shrink()
        return load(path)

    def compile(self) -> None:
        """Get machine code, from the cache or a child process, and swap it in."""
        path = cache.folder() / f"{self.key}.npz"
        code_path = path.with_name(f"{self.key}-{cache.digest(host())}.o")
        starts = function_starts(self.circuit)
        try:
            code = code_path.read_bytes() if code_path.exists() else compile_in_child(path, code_path, self.closed)
            linked = Linked(code, int(starts[-1]))
        except (EngineError, OSError, RuntimeError):
            return  # the interpreter goes on
        self.linked = linked
        self.rows.use(linked.addresses, starts)

    def wait(self) -> bool:
        """Wait until machine code has taken over; false if there will be none."""
        if self.compiler.ident is not None:
            self.compiler.join()
        return self.linked is not None

    # States

    def pack(self, bits: NDArray[np.bool_]) -> bytes:
        return np.packbits(bits, bitorder="little").tobytes()

    def unpack(self, state: State) -> NDArray[np.bool_]:
        packed = np.frombuffer(cast(bytes, state), np.uint8)
        return np.unpackbits(packed, count=len(self.circuit.fluents), bitorder="little").astype(np.bool_)

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {fluent: number for number, fluent in enumerate(self.circuit.fluents)}

    @cached_property
    def fluent_hashes(self) -> NDArray[np.uint64]:
        return np.array([hash_fact(fluent) for fluent in self.circuit.fluents], np.uint64)

    def initial(self) -> State:
        return self.pack(self.circuit.initial)

    def facts(self, state: State) -> list[str]:
        return [self.circuit.fluents[number] for number in np.flatnonzero(self.unpack(state))]

    def fluents(self, state: State) -> list[Term]:
        return list(Texts(self.facts(state)))

    def hash(self, state: State) -> int:
        return int(np.bitwise_xor.reduce(self.fluent_hashes[self.unpack(state)], initial=np.uint64(0)))

    def state(self, fluents: Iterable[Term]) -> State:
        bits = np.zeros(len(self.circuit.fluents), np.bool_)
        for fluent in fluents:
            if str(fluent) not in self.number_of:
                raise EngineError(f"{self.game.name}: {fluent} is no fluent of this game")
            bits[self.number_of[str(fluent)]] = True
        return self.pack(bits)

    def possible(self) -> list[Term]:
        return list(Texts(self.circuit.fluents))

    # Single positions

    def enter(self, state: State) -> None:
        """Make all lanes stand in this state."""
        self.rows.rows[1 : 1 + len(self.circuit.fluents)] = np.where(self.unpack(state), ALL, 0)[:, None]

    def holds(self, literals: NDArray[np.int32]) -> NDArray[np.bool_]:
        """The value of literals in the first lane."""
        bits = self.rows.rows[literals >> 1, 0] & np.uint64(1)
        found: NDArray[np.bool_] = bits != (literals & 1)
        return found

    def row_bits(self, start: int, count: int) -> NDArray[np.bool_]:
        """The bits of some rows in the first lane."""
        return (self.rows.rows[start : start + count, 0] & np.uint64(1)).astype(np.bool_)

    def legal(self) -> list[list[int]]:
        """The legal moves of each role in the first lane."""
        groups, moves = self.rows.groups, self.circuit.moves
        if len(groups["members"]):
            by_group.turn_rows(groups)
            counts = (by_group.legal_moves(groups, role, 0, groups["found"]) for role in range(len(moves)))
            return [sorted(groups["found"][:count].tolist()) for count in counts]
        return self.moves_at(self.circuit.legal_starts)

    def moves_at(self, starts: NDArray[np.int64]) -> list[list[int]]:
        """The moves of each role whose rows, which begin there, are true in the first lane."""
        pairs = zip(starts.tolist(), self.circuit.moves, strict=False)
        return [np.flatnonzero(self.row_bits(start, len(moves))).tolist() for start, moves in pairs]

    def considered(self, state: State) -> tuple[tuple[int, ...], ...]:
        if not len(self.circuit.decisive_starts):
            return ()
        with self.lock:
            self.enter(state)
            kernels.compute(self.rows.wires, POSITION)
            kernels.compute(self.rows.wires, DECISIVE)
            return tuple(map(tuple, self.moves_at(self.circuit.decisive_starts)))

    def look(self, state: State) -> Position:
        circuit = self.circuit
        with self.lock:
            self.enter(state)
            kernels.compute(self.rows.wires, POSITION)
            kernels.compute(self.rows.wires, GOALS)
            legal = self.legal()
            terminal = bool(self.holds(np.array([circuit.terminal], np.int32))[0])
            goals = self.holds(circuit.goal_literals)
        values: list[list[Term]] = [[] for _ in circuit.roles]
        for k in np.flatnonzero(goals):
            values[circuit.goal_roles[k]].append(Term(goal_text(circuit.goal_values[k])))
        return self.position(terminal=terminal, legal=legal, goals=values, state=state)

    def step(self, state: State, joint: JointMove) -> State:
        with self.lock:
            self.enter(state)
            kernels.compute(self.rows.wires, POSITION)
            self.make_moves(joint)
            kernels.compute(self.rows.wires, NEXT)
            return self.pack(self.row_bits(self.circuit.next_start, len(self.circuit.fluents)))

    def make_moves(self, joint: JointMove) -> None:
        """Make all lanes make these moves."""
        groups = self.rows.groups
        if len(groups["members"]):
            groups["chosen"][:] = np.array(joint)[:, None]
            by_group.make_moves(groups)
            return
        for role, move in enumerate(joint):
            start, end = self.rows.wiring.move_starts[role : role + 2]
            self.rows.rows[start:end] = 0
            self.rows.rows[start + move] = ALL

    # Many games at once

    def playouts(self, state: State, count: int, seed: int, max_plies: int = MAX_PLIES) -> Playouts:
        rows, wiring = self.rows.rows, self.rows.wiring
        work = kernels.Work(
            progress=np.zeros(7, np.int64),
            playout=np.where(np.arange(LANES) < count, np.arange(LANES), kernels.NO_PLAYOUT),
            begun=np.zeros(LANES, np.int64),
            max_plies=max_plies,
            goals=np.full((count, len(self.circuit.roles)), NO_GOAL, np.int16),
            plies=np.zeros(count, np.int32),
        )
        work.progress[1], work.progress[6] = min(count, LANES), max_plies
        with self.lock:
            self.rows.seed(seed)
            self.enter(state)
            rows[wiring.start : wiring.start + wiring.state_rows] = rows[1 : 1 + wiring.state_rows]
            active = np.packbits(work.playout >= 0, bitorder="little").view(np.uint64)
            rows[wiring.active] = active
            while work.progress[3] == kernels.RUNNING:
                kernels.run_playouts(self.rows.wires, self.rows.groups, work, rows, SLICE_STEPS)
            if work.progress[3] != kernels.DONE:
                raise self.failure(work.progress, self.rows)
        return Playouts(goals=work.goals, plies=work.plies)

    def failure(self, progress: NDArray[np.int64], rows: Rows) -> EngineError:
        """The error for what a kernel found in some rows, with the position in which it found it."""
        kind, lane, role = (int(number) for number in progress[3:6])
        bits = (rows.rows[1 : 1 + len(self.circuit.fluents), lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1)
        if kind == kernels.NO_MOVE:
            what = f"{self.game.roles[role]} has no legal move, and the game is not over"
        else:
            found = self.goal_values(rows, role, lane)
            count = f"{len(found)} goals at once: {', '.join(map(goal_text, found))}" if found else "no goal"
            if len(found) == 1:
                count = f"the goal {goal_text(found[0])}, which is not an integer from 0 to 100"
            what = f"the game is over, and {self.game.roles[role]} has {count}"
        return self.broken(self.pack(bits.astype(np.bool_)), what)

    def goal_values(self, rows: Rows, role: int, lane: int) -> list[int]:
        literals = self.circuit.goal_literals
        bits = (rows.rows[literals >> 1, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1)
        true = (bits != (literals & 1)) & (self.circuit.goal_roles == role)
        return sorted(map(int, self.circuit.goal_values[true]))

    def close(self) -> None:
        self.closed.set()
