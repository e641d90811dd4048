"""Many matches in a row over HTTP between servers of our own, and how soon these answer INFO while they think.

The servers are processes that live for the whole run; the game master is this one. A role is played by another server
in every match.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from ggp_agent.engine import Engine, games, open_engine
from ggp_agent.net import messages
from ggp_agent.net.client import Address, ConnectionFailure, post
from ggp_agent.net.contenders import Remote
from ggp_agent.net.master import NATURE, Master, Terms
from ggp_agent.net.own_servers import WARM_UP_SECONDS, started
from ggp_agent.net.record import Record
from ggp_agent.net.scramble import Plain
from ggp_agent.play.spec import PlayerSpec

GAMES = (  # one role, three roles, moves at the same time, and every length and size
    "tic_tac_toe", "rock_paper_scissors", "lights_out", "three_player_tic_tac_toe", "connect_four", "goofspiel",
    "peg_solitaire", "hex_5x5", "breakthrough_6x6", "tron", "nim", "quarto", "eight_puzzle", "clobber",
    "dots_and_boxes", "crisscross", "knightthrough", "pentago", "chinese_checkers", "othello",
)  # fmt: skip
INFO_SECONDS = 10.0  # after which a player counts as silent
PAUSE_SECONDS = 0.05  # between one INFO and the next


@dataclass(kw_only=True)
class Figures:
    """What was seen in some matches."""

    matches: int = 0
    plies: int = 0
    cut: int = 0  # matches that were not over after so many plies as were allowed
    errors: list[str] = field(default_factory=list)  # all that went wrong, one text each
    slowest: float = 0.0  # seconds, of the answers to PLAY
    info_seconds: list[float] = field(default_factory=list)  # of each INFO that came during a match

    def add(self, other: Figures) -> None:
        self.matches += other.matches
        self.plies += other.plies
        self.cut += other.cut
        self.errors += other.errors
        self.slowest = max(self.slowest, other.slowest)
        self.info_seconds += other.info_seconds

    def info(self, share: float) -> float:
        """So many of all INFOs were answered within this time, in seconds."""
        ordered = sorted(self.info_seconds)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


Watch = Callable[[str, Figures], None]  # (game, what was seen in one match of it)


def bench(names: Sequence[str], matches: int, playouts: int, terms: Callable[[int], Terms], watch: Watch) -> Figures:
    """Play so many matches, the games in turns; `terms` are those of each match by its number."""
    total = Figures()
    with ExitStack() as stack:
        engines = {name: stack.enter_context(open_engine(games.load(name))) for name in names[:matches]}
        most = max(len(players(engine)) for engine in engines.values())
        limit = f",playouts={playouts}" if playouts else ""
        specs = [PlayerSpec.parse(f"server,name=server{number}{limit}") for number in range(1, most + 1)]
        servers = stack.enter_context(started(specs, terms(0).seed))
        asyncio.run(wait_for(servers))  # all of them, because those that still compile take time from those that play
        for number in range(matches):
            name = names[number % len(names)]
            seats = [servers[(number + role) % most] for role in range(len(players(engines[name])))]
            seen = asyncio.run(play(engines[name], seats, terms(number)))
            total.add(seen)
            watch(name, seen)
    return total


def players(engine: Engine) -> list[str]:
    """The roles that somebody has to play."""
    return [role for role in engine.game.roles if role != NATURE]


async def wait_for(servers: Iterable[PlayerSpec]) -> None:
    await asyncio.gather(*(Remote(spec, Plain()).wait_until_available(WARM_UP_SECONDS) for spec in servers))


async def play(engine: Engine, specs: Sequence[PlayerSpec], terms: Terms) -> Figures:
    """One match, its players being asked for INFO all the time."""
    seen = Figures(matches=1)
    master = Master(engine, specs, terms)
    await wait_for(specs)
    probes = [asyncio.create_task(probe(spec, seen)) for spec in specs]
    try:
        record = await master.run()
    finally:
        for task in probes:
            task.cancel()
        await asyncio.gather(*probes, return_exceptions=True)
    seen.plies = len(record.moves)
    seen.slowest = max((turn.seconds or 0.0 for row in record.turns for turn in row), default=0.0)
    seen.errors += errors(record)
    if record.goals is None:
        seen.cut = 1
    return seen


def errors(record: Record) -> Iterable[str]:
    for step, row in enumerate(record.errors):
        where = f"ply {step}" if step else "START"
        yield from (
            f"{record.match}, {where}, {record.roles[role]}: {error}" for role, error in enumerate(row) if error
        )


async def probe(spec: PlayerSpec, seen: Figures) -> None:
    """Ask one player for INFO again and again; what counts is how long it takes while it is in a match."""
    address = Address.parse(spec.url)
    while True:
        begun = time.monotonic()
        try:
            said = await post(address, messages.write(messages.Info()), INFO_SECONDS)
            if "busy" in said:
                seen.info_seconds.append(time.monotonic() - begun)
        except (ConnectionFailure, TimeoutError) as error:
            seen.errors.append(f"{spec.name}, INFO: {error or f'no answer within {INFO_SECONDS:g} s'}")
        await asyncio.sleep(PAUSE_SECONDS)
