"""Who plays what, and in which role: rotation sets.

A rotation set is one game with one opening and one seed under all assignments of roles to some players, so that neither
the first move nor the opening favours anybody. Sets are numbered for good: set 17 has the same matches however many
sets are asked for, which is how a tournament can be resumed, and prolonged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations, islice, permutations, product
from math import factorial

from ggp_agent.arena.match import MatchJob, Opening
from ggp_agent.arena.tournament import Tournament

Seats = tuple[int, ...]  # the player, by number, in each role


@dataclass(frozen=True, kw_only=True, slots=True)
class RotationSet:
    """One set, without its seeds."""

    number: int
    game: str
    players: tuple[int, ...]  # who takes part
    seats: tuple[Seats, ...]  # of each match


class Schedule:
    """All sets of a tournament: one of every pairing in every game, then a second of each, and so on.

    So whenever a tournament is stopped, games and pairings have had their turns alike.
    """

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.roles = {name: len(game.roles) for name, game in tournament.loaded.items()}
        self.pairings = [
            (game, group)
            for game, roles in self.roles.items()
            for group in groups(roles, len(tournament.players), tournament.kind)
        ]

    def __len__(self) -> int:
        """The number of sets."""
        return self.tournament.sets * len(self.pairings)

    def __getitem__(self, number: int) -> RotationSet:
        if not 0 <= number < len(self):
            raise IndexError(number)
        turn, place = divmod(number, len(self.pairings))
        game, group = self.pairings[place]
        seats = tuple(assignments(self.roles[game], group, turn))
        return RotationSet(number=number, game=game, players=group, seats=seats)

    def __iter__(self) -> Iterator[RotationSet]:
        return (self[number] for number in range(len(self)))

    def first_round(self) -> list[RotationSet]:
        """One set of every pairing in every game."""
        return [self[number] for number in range(len(self.pairings))]

    def job(self, rotation: RotationSet, assignment: int) -> MatchJob:
        """One match of a set. In all of them a player in the same role has the same seed."""
        seed, number = self.tournament.seed, rotation.number
        seats = rotation.seats[assignment]
        return MatchJob(
            game=rotation.game,
            players=tuple(self.tournament.players[player] for player in seats),
            seeds=tuple(derive(seed, number, "player", player, role) for role, player in enumerate(seats)),
            opening=Opening(plies=self.tournament.opening, seed=derive(seed, number, "opening")),
            max_plies=self.tournament.max_plies,
            set_number=number,
            assignment=assignment,
            seats=seats,
        )


def groups(roles: int, players: int, kind: str) -> list[tuple[int, ...]]:
    """Who meets whom in a game of so many roles.

    With one role, all play alone and their results are compared. With two, any two meet. With more, as many players
    meet as there are roles, or any two where there are not enough players.
    """
    if roles == 1:
        return [tuple(range(players))]
    size = roles if players >= roles else 2
    return [group for group in combinations(range(players), size) if kind == "round-robin" or 0 in group]


def assignments(roles: int, group: tuple[int, ...], turn: int) -> list[Seats]:
    """The seats in each match of a set; `turn` counts the sets of the same pairing.

    Where every role has a player of its own, they rotate. Three players can sit in two cyclic orders, four in six: the
    sets take turns. Two players in more roles fill them in all ways in which both play.
    """
    if roles == 1:
        return [(player,) for player in group]
    if len(group) == roles:
        first, *others = group
        order = (first, *next(islice(permutations(others), turn % factorial(len(others)), None)))
        return [order[shift:] + order[:shift] for shift in range(roles)]
    return [seats for seats in product(group, repeat=roles) if len(set(seats)) == len(group)]


def derive(*parts: int | str) -> int:
    """A seed of 62 bits from others, the same on every machine."""
    digest = blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 2
