"""Matches side by side: the players of many matches think at once, each in lanes of its own.

All matches go on ply by ply. Whoever searches with the same settings shares a worker, in which every seat has its own
graph. What is drawn at random is drawn for all lanes together, so the matches of a batch depend on each other's seeds:
they are played, and stored, as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ggp_agent.arena.match import Done, MakePlayer, MatchJob, MatchResult, Progress
from ggp_agent.engine import Move
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.play.spec import PlayerSpec

if TYPE_CHECKING:
    from ggp_agent.search.many import Searches

MATCHES = 128  # of a batch: enough to fill lanes, and few enough to lose when a tournament is killed

Stopped = Callable[[], bool]
Seat = tuple[int, int]  # a match of a batch, and a role in it


def never() -> bool:
    return False


def fits(job: MatchJob) -> bool:
    """Can this match be played beside others? Its players must search by a number of simulations, if they search."""
    return len(job.players) > 1 and all(
        player.kind in ("random", "legal") or (player.kind == "ucd" and counts_playouts(player))
        for player in job.players
    )


def counts_playouts(player: PlayerSpec) -> bool:
    limit = player.limit
    return limit is not None and limit.is_counted and player.config.workers == 1


@dataclass(eq=False)
class Crowd:
    """All seats of a batch whose players have the same settings, and who searches for them."""

    searches: Searches
    numbers: dict[Seat, int] = field(default_factory=dict)  # which of the searches is whose


class SideBySide:
    """The runner."""

    def __init__(self, engine: LanesEngine, make_player: MakePlayer, stopped: Stopped = never) -> None:
        """`stopped` is asked before every ply; a batch that is stopped is as if it had not been played."""
        self.engine, self.make_player, self.stopped = engine, make_player, stopped
        self.searches: dict[str, Searches] = {}  # by the text of their player

    def run(self, jobs: Sequence[MatchJob], done: Done) -> None:
        results: list[MatchResult] = []
        for part in self.parts(jobs):
            results += self.play(part)
        done(results)

    def close(self) -> None:
        self.searches = {}

    def parts(self, jobs: Sequence[MatchJob]) -> Iterator[Sequence[MatchJob]]:
        """As many matches at once as there are searches for."""
        from ggp_agent.search.many import Searches  # numba takes a while

        most = len(jobs)
        for player in dict.fromkeys(player for job in jobs for player in job.players):
            if player.kind == "ucd":
                assert player.limit is not None and player.limit.playouts is not None
                seats = max(job.players.count(player) for job in jobs)
                room = Searches.room(self.engine, player.config, player.limit.playouts)
                most = min(most, max(1, room // seats))
        for first in range(0, len(jobs), most):
            yield jobs[first : first + most]

    def crowds(self, jobs: Sequence[MatchJob]) -> dict[Seat, Crowd]:
        """Who thinks for whom."""
        from ggp_agent.search.many import Searches

        seats: dict[PlayerSpec, list[Seat]] = {}
        for match, job in enumerate(jobs):
            for role, player in enumerate(job.players):
                if player.kind == "ucd":
                    seats.setdefault(player, []).append((match, role))
        # Only those that are needed now: the memory of everybody who ever played would be too much.
        self.searches = {player.text: self.searches[player.text] for player in seats if player.text in self.searches}
        found: dict[Seat, Crowd] = {}
        for player, taken in seats.items():
            assert player.limit is not None and player.limit.playouts is not None
            if player.text not in self.searches:
                self.searches[player.text] = Searches(self.engine, player.config, player.limit.playouts)
            match, role = taken[0]
            crowd = Crowd(self.searches[player.text])
            crowd.searches.restart(jobs[match].seeds[role])
            for seat in taken:
                crowd.numbers[seat] = len(crowd.numbers)
                found[seat] = crowd
        return found

    def play(self, jobs: Sequence[MatchJob]) -> list[MatchResult]:
        """Play matches ply by ply until all are over."""
        begun = time.monotonic()
        crowds = self.crowds(jobs)
        matches = [Progress(self.engine, job) for job in jobs]
        others = {
            (match, role): self.make_player(player, self.engine, role, job.seeds[role])
            for match, job in enumerate(jobs)
            for role, player in enumerate(job.players)
            if player.kind != "ucd"
        }
        ply = 0
        while going := [number for number, match in enumerate(matches) if not match.over]:
            if self.stopped():
                raise KeyboardInterrupt
            self.think(matches, crowds, ply)
            for number in going:
                match = matches[number]
                joint: list[Move] = []
                for role, legal in enumerate(match.position.legal):
                    seat = (number, role)
                    if seat in others:
                        joint.append(others[seat].choose(self.engine, match.state, match.position, role))
                    elif len(legal) == 1:
                        joint.append(legal[0])
                    else:
                        joint.append(crowds[seat].searches.best(crowds[seat].numbers[seat], legal, role))
                match.play(joint)
                if match.over:
                    for role in range(len(joint)):
                        if (crowd := crowds.get((number, role))) is not None:
                            crowd.searches.end(crowd.numbers[number, role])
            ply += 1
        seconds = (time.monotonic() - begun) / len(jobs)
        return [match.result(seconds) for match in matches]

    def think(self, matches: Sequence[Progress], crowds: dict[Seat, Crowd], ply: int) -> None:
        """Let everybody think who has a choice."""
        for crowd in dict.fromkeys(crowds.values()):
            states = {
                number: matches[match].state
                for (match, role), number in crowd.numbers.items()
                if not matches[match].over and len(matches[match].position.legal[role]) > 1
            }
            if states:
                crowd.searches.think(states, ply)
