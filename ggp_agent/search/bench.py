"""Simulations a second, side by side with OpenSpiel's C++ MCTS in the same run.

Both search from the initial position with one random playout a simulation and the same exploration constant, in rounds
of equal time that take turns, so that whatever else the machine does hits both. Every round begins with an empty tree,
and so does a search that follows in the same round because the game was solved before its end. One round before them is
not counted: in it both get their memory from the system, as a player does once in a match.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from ggp_agent.engine import Game, open_engine
from ggp_agent.engine.games import Shipped
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import ConfigError
from ggp_agent.search.config import Limit, SearchConfig
from ggp_agent.search.searcher import Searcher

ROUNDS = 4
WARM_UP = 2_000  # simulations
RANGE = 2  # of payoffs in OpenSpiel, which go from -1 to 1: its constant is so many times ours
MEGABYTES = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One game."""

    game: str
    settings: dict[str, str]
    simulations: int
    seconds: float
    per_second: float
    nodes: int  # at the end of the last round
    open_spiel: str | None = None
    open_spiel_per_second: float | None = None
    ratio: float | None = None  # ours to OpenSpiel's


class Rival:
    """OpenSpiel's MCTS bot on a game."""

    def __init__(self, name: str, exploration: float, seed: int) -> None:
        import pyspiel

        self.pyspiel, self.exploration, self.seed = pyspiel, RANGE * exploration, seed
        self.game = pyspiel.load_game(name)
        self.rate = WARM_UP / self.time(WARM_UP)

    def time(self, simulations: int) -> float:
        evaluator = self.pyspiel.RandomRolloutEvaluator(1, self.seed)
        bot = self.pyspiel.MCTSBot(
            self.game, evaluator, self.exploration, simulations, MEGABYTES, False, self.seed, False
        )
        state = self.game.new_initial_state()
        begun = perf_counter()
        bot.step(state)
        return perf_counter() - begun

    def spend(self, seconds: float) -> tuple[int, float]:
        """Search once for about so many seconds: simulations, and how long they took."""
        simulations = max(1, int(self.rate * seconds))
        return simulations, self.time(simulations)


def open_rival(name: str, exploration: float, seed: int) -> Rival | None:
    """OpenSpiel on this game; None if its bot does not play it (simultaneous moves, or rewards before the end)."""
    try:
        import pyspiel
    except ImportError as error:
        raise ConfigError("OpenSpiel is not installed: pip install 'ggp-agent[bench]'") from error
    try:
        return Rival(name, exploration, seed)
    except pyspiel.SpielError:
        return None


def spend(searcher: Searcher, seconds: float) -> tuple[int, float, int]:
    """Search for so many seconds: simulations, how long they took, and the nodes of the last search."""
    simulations, spent, nodes = 0, 0.0, 0
    while spent < seconds:
        searcher.start()
        found = searcher.think(Limit(seconds=seconds - spent))
        simulations, spent, nodes = simulations + found.simulations, spent + found.seconds, found.nodes
    return simulations, spent, nodes


def bench(game: Shipped, config: SearchConfig, *, seconds: float, seed: int, against_open_spiel: bool) -> Result:
    """Simulations a second on one game, in rounds of `seconds` / ROUNDS."""
    rival = None
    if against_open_spiel and game.open_spiel:
        rival = open_rival(game.open_spiel, config.exploration, seed)
    ours, theirs, nodes = [], [], 0  # rounds: simulations and seconds
    with open_engine(Game.load(game.rules)) as engine:
        if isinstance(engine, LanesEngine):
            engine.wait()
        searcher = Searcher(engine, config, seed)
        searcher.think(Limit(playouts=WARM_UP))
        for _ in range(1 + ROUNDS):
            simulations, spent, nodes = spend(searcher, seconds / ROUNDS)
            ours.append((simulations, spent))
            if rival:
                theirs.append(rival.spend(seconds / ROUNDS))
    simulations, spent = map(sum, zip(*ours[1:], strict=True))
    per_second, their_rate = simulations / spent, None
    if theirs:
        their_simulations, their_seconds = map(sum, zip(*theirs[1:], strict=True))
        their_rate = their_simulations / their_seconds
    return Result(
        game=game.name,
        settings=config.settings(),
        simulations=simulations,
        seconds=spent,
        per_second=per_second,
        nodes=nodes,
        open_spiel=game.open_spiel if rival else None,
        open_spiel_per_second=their_rate,
        ratio=per_second / their_rate if their_rate else None,
    )
