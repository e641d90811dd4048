"""How fast engines play at random, side by side with OpenSpiel in the same run.

A time alone says little on a machine that others use, so rounds of every contestant take turns and the result is a
ratio. OpenSpiel's rate is that of its C++ rollouts: an MCTS bot with a `RandomRolloutEvaluator` of very many rollouts.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from ggp_agent.engine import Engine, Game, PrologEngine
from ggp_agent.engine.games import Shipped
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import ConfigError

ROUNDS = 4
FIRST_BATCH = {"lanes": 2_048, "interpreted": 2_048, "prolog": 4, "open_spiel": 64}  # playouts, enough to be busy


@dataclass(slots=True)
class Meter:
    """Runs batches of playouts for a while, and remembers how many and how long."""

    run: Callable[[int, int], int]  # (playouts, seed) -> steps played
    batch: int
    playouts: int = 0
    steps: int = 0
    seconds: float = 0.0

    def spend(self, seconds: float, seed: int) -> None:
        """One round of about so many seconds, in batches that grow to a fifth of it."""
        end = perf_counter() + seconds
        while (begun := perf_counter()) < end:
            self.steps += self.run(self.batch, seed + self.playouts)
            self.playouts += self.batch
            spent = perf_counter() - begun
            self.seconds += spent
            if spent < seconds / 5:
                self.batch *= 2

    @property
    def per_second(self) -> float:
        return self.playouts / self.seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One engine on one game."""

    game: str
    engine: str  # lanes, interpreted (lanes without machine code), or prolog
    seed: int
    playouts: int
    setup_seconds: float  # from the text of the rules to the end of the first playout
    code_seconds: float | None  # until machine code took over
    gates: int | None
    literals: int | None
    peak_megabytes: float  # of this process so far, or of the child
    playouts_per_second: float
    steps_per_second: float
    mean_plies: float
    open_spiel: str | None = None
    open_spiel_per_second: float | None = None
    ratio: float | None = None  # ours to OpenSpiel's


def engine_meter(engine: Engine, batch: int) -> Meter:
    state = engine.initial()
    return Meter(lambda count, seed: int(engine.playouts(state, count, seed).plies.sum()), batch)


def open_spiel_meter(name: str, seed: int) -> Meter | None:
    """OpenSpiel's rollouts from the initial state; None for games that its MCTS bot does not play.

    It does not tell their lengths.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise ConfigError("OpenSpiel is not installed: pip install 'ggp-agent[bench]'") from error
    game = pyspiel.load_game(name)

    def run(count: int, round_seed: int) -> int:
        # Two simulations: the first one expands the root, and each evaluates its leaf with `count` rollouts.
        evaluator = pyspiel.RandomRolloutEvaluator((count + 1) // 2, round_seed)
        pyspiel.MCTSBot(game, evaluator, 2.0, 2, 100, False, seed, False).step(game.new_initial_state())
        return 0

    try:
        run(1, seed)
    except pyspiel.SpielError:  # simultaneous moves, or rewards before the end
        return None
    return Meter(run, FIRST_BATCH["open_spiel"])


def make_engine(name: str, game: Game) -> Engine:
    if name == "prolog":
        return PrologEngine(game)
    return LanesEngine(game, native=name == "lanes")


def bench(game: Shipped, engine_name: str, *, seconds: float, seed: int, against_open_spiel: bool) -> Result:
    """Playouts a second of one engine on one game."""
    begun = perf_counter()
    with make_engine(engine_name, Game.load(game.rules)) as engine:
        meter = engine_meter(engine, FIRST_BATCH[engine_name])
        meter.run(1, seed)
        setup_seconds = perf_counter() - begun
        code_seconds = gates = literals = None
        if isinstance(engine, LanesEngine):
            gates = engine.circuit.plain_gates
            literals = int(engine.circuit.offsets[gates])
            code_seconds = perf_counter() - begun if engine.wait() else None
        rival = open_spiel_meter(game.open_spiel, seed) if against_open_spiel and game.open_spiel else None
        for round_seed in range(seed, seed + ROUNDS):
            meter.spend(seconds / ROUNDS, round_seed)
            if rival:
                rival.spend(seconds / ROUNDS, round_seed)
    whose = resource.RUSAGE_CHILDREN if isinstance(engine, PrologEngine) else resource.RUSAGE_SELF
    return Result(
        game=game.name,
        engine=engine_name,
        seed=seed,
        playouts=meter.playouts,
        setup_seconds=setup_seconds,
        code_seconds=code_seconds,
        gates=gates,
        literals=literals,
        peak_megabytes=resource.getrusage(whose).ru_maxrss / 1024,
        playouts_per_second=meter.per_second,
        steps_per_second=meter.steps / meter.seconds,
        mean_plies=meter.steps / meter.playouts,
        open_spiel=game.open_spiel if rival else None,
        open_spiel_per_second=rival.per_second if rival else None,
        ratio=meter.per_second / rival.per_second if rival else None,
    )
