"""The game master: asks players for moves, keeps the clocks, and writes the record.

What a player does wrong never stops a match. As with ggp-base, a random legal move is made in its place and the record
says why: `TO` for a reply that came too late, `CE` for a connection that failed, `IL move` for a move that is not legal
(`IL null` if the reply was no term at all). A role named `random` is nature: the master plays it and asks nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from ggp_agent.engine import Engine, JointMove, Move, Position, State
from ggp_agent.errors import ConfigError, GdlSyntaxError
from ggp_agent.gdl import Sheet, spaced
from ggp_agent.gdl.reader import Group, read, shorten
from ggp_agent.net import messages
from ggp_agent.net.contenders import Contender, LegalPlayer, Remote, Reply, Simple, Ucd
from ggp_agent.net.record import Record, Turn, now_milliseconds
from ggp_agent.net.scramble import Plain, Scrambler
from ggp_agent.net.search import OpenSearch, open_search
from ggp_agent.play import Player, RandomPlayer
from ggp_agent.play.spec import PlayerSpec

NATURE = "random"
LATENCY_SECONDS = 1.0  # beyond the play clock, for the way there and back
ABORT_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """The conditions of a match."""

    start_clock: int = 10
    play_clock: int = 5
    seed: int = 0
    scramble: bool = False
    max_steps: int = 10_000
    match: str = ""  # an id; made from the game and the time if empty

    def __post_init__(self) -> None:
        if min(self.start_clock, self.play_clock) < 1:
            raise ConfigError("clocks must be 1 second or more")


Show = Callable[[int, State, Position, JointMove | None, Sequence[str]], None]


class Master:
    """One match. `record` is kept as it is played, so that it is there whatever happens."""

    def __init__(
        self,
        engine: Engine,
        specs: Sequence[PlayerSpec],
        terms: Terms,
        *,
        human: Player | None = None,
        open_search: OpenSearch = open_search,
        opening: Sequence[JointMove] = (),
        seeds: Sequence[int] = (),
        show: Show = lambda step, state, position, joint, errors: None,
    ) -> None:
        """`opening` is played whatever the players say; `seeds` are those of the roles, if not made from that of the
        match."""
        game = engine.game
        self.engine, self.sheet, self.terms, self.show = engine, game.sheet, terms, show
        self.opening, self.seeds = opening, seeds
        self.random = Random(terms.seed)
        self.scrambler = Scrambler(terms.seed) if terms.scramble else Plain()
        asked = [role for role, name in enumerate(game.roles) if name != NATURE]
        if len(specs) != len(asked):
            names = ", ".join(game.roles[role] for role in asked)
            raise ConfigError(f"{game.name} needs {len(asked)} players, for {names}; there are {len(specs)}")
        self.contenders: dict[int, Contender] = {}
        for role, spec in zip(asked, specs, strict=True):
            self.contenders[role] = self.enlist(spec, role, human, open_search)
        players = [self.contenders.get(role) for role in range(len(game.roles))]
        self.record = Record(
            match=terms.match or f"ggp_agent.{game.name}.{now_milliseconds()}",
            players=[NATURE if player is None else player.spec.name for player in players],
            human=[player is not None and player.human for player in players],
            start_clock=terms.start_clock,
            play_clock=terms.play_clock,
            scrambled=terms.scramble,
            game=game.name,
            roles=list(game.roles),
            specs=[NATURE if player is None else player.spec.text for player in players],
            seed=terms.seed,
        )

    def enlist(self, spec: PlayerSpec, role: int, human: Player | None, open_search: OpenSearch) -> Contender:
        """Whoever a spec means."""
        seed = self.seeds[role] if self.seeds else Random(f"{self.terms.seed} {role}").getrandbits(32)
        if spec.kind == "http":
            return Remote(spec, self.scrambler)
        if spec.kind == "ucd":
            return Ucd(spec, self.engine, role, seed, open_search)
        if spec.kind == "human" and human is None:
            raise ConfigError("a person can only play in a terminal: use 'ggp match'")
        players: dict[str, Player | None] = {"random": RandomPlayer(seed), "legal": LegalPlayer(), "human": human}
        player = players[spec.kind]
        assert player is not None
        return Simple(spec, self.engine, role, player)

    # The match

    async def run(self, wait_seconds: float = 0.0) -> Record:
        """Play it. Players over HTTP get so many seconds to become available first, if any."""
        contenders = self.contenders.values()
        try:
            await asyncio.gather(*(contender.prepare() for contender in contenders))
            if wait_seconds > 0:
                waits = [c.wait_until_available(wait_seconds) for c in contenders if isinstance(c, Remote)]
                await asyncio.gather(*waits)
            await self.play()
        finally:
            await asyncio.gather(*(contender.close() for contender in contenders))
        return self.record

    async def play(self) -> None:
        try:
            await self.play_to_the_end()
        finally:
            if self.record.goals is None:
                self.record.aborted = True
                await self.tell(messages.Abort(match=self.record.match), ABORT_SECONDS)

    async def play_to_the_end(self) -> None:
        engine, record = self.engine, self.record
        state = engine.initial()
        position = engine.look(state)
        joint: JointMove | None = None
        errors = await self.start()
        for step in range(self.terms.max_steps + 1):
            record.add_state(self.state_text(state), errors)
            self.show(step, state, position, joint, errors)
            if position.terminal:
                assert position.goals is not None, "a position without goals cannot be terminal"
                record.goals = list(position.goals)
                stop = messages.Stop(match=record.match, moves=self.texts(joint))
                await self.tell(stop, self.terms.play_clock)
                return
            if step == self.terms.max_steps:
                return
            joint, errors, turns = await self.turn(position, joint)
            if step < len(self.opening):
                joint = self.opening[step]
            state = engine.step(state, joint)
            position = engine.look(state)
            # Only now, so that a match that breaks here leaves a record whose parts fit together.
            record.moves.append([spaced(engine.moves[role][move]) for role, move in enumerate(joint)])
            record.turns.append(turns)

    async def start(self) -> list[str]:
        """Send START; the errors of each role."""
        rules = rules_text(self.sheet)
        clocks = self.terms.start_clock, self.terms.play_clock
        errors = [""] * len(self.engine.game.roles)

        def message(role: int) -> messages.Start:
            name = self.sheet.spelled(self.sheet.term(self.engine.game.roles[role]))
            return messages.Start(
                match=self.record.match, role=name, rules=rules, start_clock=clocks[0], play_clock=clocks[1]
            )

        for role, reply in (await self.ask(message, clocks[0])).items():
            errors[role] = reply.error
        return errors

    async def turn(self, position: Position, last: JointMove | None) -> tuple[JointMove, list[str], list[Turn]]:
        """Ask for moves; what was moved, the errors of each role, and how each came to its move."""
        roles = range(len(self.engine.game.roles))
        play = messages.Play(match=self.record.match, moves=self.texts(last))
        replies = await self.ask(lambda role: play, self.terms.play_clock + LATENCY_SECONDS)
        moves: list[Move] = []
        errors = [""] * len(roles)
        for role in roles:
            reply = replies.get(role)
            move = None
            if reply is not None:
                move = None if reply.text is None else self.read(role, reply.text, position)
                errors[role] = "" if move is not None else reply.error or f"IL {shorten(reply.text or 'null')}"
            moves.append(self.random.choice(position.legal[role]) if move is None else move)
        return tuple(moves), errors, [replies[role].turn if role in replies else Turn() for role in roles]

    async def ask(self, message: Callable[[int], messages.Message], seconds: float) -> dict[int, Reply]:
        """The replies of all players, asked at the same time; people are asked when the others have answered."""
        replies: dict[int, Reply] = {}
        for human in (False, True):
            asked = {role: c for role, c in self.contenders.items() if c.human is human}
            found = await asyncio.gather(*(c.send(message(role), seconds) for role, c in asked.items()))
            replies.update(zip(asked, found, strict=True))
        return replies

    async def tell(self, message: messages.Message, seconds: float) -> None:
        """Send something to players over HTTP whose answer does not matter."""
        remotes = [c for c in self.contenders.values() if isinstance(c, Remote)]
        await asyncio.gather(*(remote.send(message, seconds) for remote in remotes))

    # Texts

    def read(self, role: int, text: str, position: Position) -> Move | None:
        """The legal move that a reply means; its case must be that of the rules, as it must for ggp-base."""
        try:
            first = canonical(text)
            move = self.engine.moves[role].index(self.sheet.term(first))
        except ValueError:  # no term, or no move: both errors are of this kind
            return None
        return move if move in position.legal[role] and self.spell(role, move) == first else None

    def spell(self, role: int, move: Move) -> str:
        return self.sheet.spelled(self.engine.moves[role][move])

    def texts(self, joint: JointMove | None) -> tuple[str, ...] | None:
        return None if joint is None else tuple(self.spell(role, move) for role, move in enumerate(joint))

    def state_text(self, state: State) -> str:
        return f"( {' '.join(sorted(map(spaced, self.engine.fluents(state))))} )"


def canonical(text: str) -> str:
    """One text for all ways to write the first term of a text; empty if there is none."""
    try:
        items = read(text, "<reply>").items
    except GdlSyntaxError:
        return ""
    if not items:
        return ""
    node = items[0]
    while isinstance(node, Group) and len(node.items) == 1:
        node = node.items[0]
    return str(node)


def rules_text(sheet: Sheet) -> str:
    """A rulesheet as one statement a line, in its own spelling, without comments."""
    lines = []
    for statement in sheet.statements:
        parts = [sheet.spelled(part) for part in (statement.head, *statement.body)]
        lines.append(f"(<= {' '.join(parts)})" if statement.is_rule else parts[0])
    return "\n".join(lines)
