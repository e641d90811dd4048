"""The result of a tournament as numbers: ratings, pairings, games, roles, and the sequential test."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean

from ggp_agent.arena.ratings import rate
from ggp_agent.arena.statistics import Estimate, Verdict, elo, score, superiority
from ggp_agent.arena.tally import Tally, comparisons


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayerLine:
    """A player against all others."""

    player: str
    elo: Estimate  # the mean of all players is 0
    score: Estimate  # mean of set scores
    goal: float | None  # mean
    sets: int
    matches: int
    errors: int  # in matches of this player; whose they were is in the store


@dataclass(frozen=True, kw_only=True, slots=True)
class PairLine:
    """A player against one other."""

    player: str
    opponent: str
    elo: Estimate  # the difference
    score: Estimate
    superiority: float  # likelihood that the player is the stronger one
    sets: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GameLine:
    """A player in one game."""

    game: str
    player: str
    score: Estimate
    goal: float  # mean
    sets: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RoleLine:
    """A player in one role of a game."""

    game: str
    role: str
    player: str
    score: float | None  # mean; None in games of one role, which have no opponents
    goal: float  # mean
    matches: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SprtLine:
    """Where a sequential test stands."""

    elo0: float
    elo1: float
    ratio: float  # log-likelihood ratio
    lower: float  # H0 is accepted here
    upper: float  # H1 is accepted here
    verdict: Verdict | None
    sets: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """The result so far. Only complete sets count, and with a verdict only those that led to it."""

    games: tuple[str, ...]
    kind: str
    opening: int
    seed: int
    sets: int
    all_sets: int
    matches: int
    players: tuple[PlayerLine, ...]  # the strongest first
    bounded: bool  # somebody won or lost everything: ratings would be infinite without imaginary draws
    pairs: tuple[PairLine, ...]
    by_game: tuple[GameLine, ...]
    by_role: tuple[RoleLine, ...]
    test: SprtLine | None


def stand(tally: Tally) -> Standing:
    """The standing of a tournament."""
    tournament = tally.schedule.tournament
    numbers = tally.counted()
    names = [player.name for player in tournament.players]
    players, bounded = player_lines(tally, numbers, names)
    return Standing(
        games=tournament.games,
        kind=tournament.kind,
        opening=tournament.opening,
        seed=tournament.seed,
        sets=len(numbers),
        all_sets=len(tally.schedule),
        matches=sum(len(tally.goals[number]) for number in numbers),
        players=players,
        bounded=bounded,
        pairs=pair_lines(tally, numbers, names),
        by_game=game_lines(tally, numbers, names),
        by_role=role_lines(tally, numbers, names),
        test=sprt_line(tally),
    )


def player_lines(tally: Tally, numbers: list[int], names: list[str]) -> tuple[tuple[PlayerLine, ...], bool]:
    """A line a player, the strongest first, and whether ratings had to be bounded."""
    ratings = rate([tally.scores[number] for number in numbers], len(names))
    made: dict[int, list[float]] = defaultdict(list)  # player -> set scores
    goals: dict[int, list[int]] = defaultdict(list)
    errors: dict[int, int] = defaultdict(int)
    for number in numbers:
        for player, value in means(tally, number).items():
            made[player].append(value)
        for assignment, seats in enumerate(tally.schedule[number].seats):
            for player, goal in zip(seats, tally.goals[number][assignment], strict=True):
                goals[player].append(goal)
            for player in set(seats):
                errors[player] += tally.errors[number][assignment]
    lines = [
        PlayerLine(
            player=name,
            elo=ratings.players[player],
            score=score(made[player]),
            goal=fmean(goals[player]) if goals[player] else None,
            sets=len(made[player]),
            matches=len(goals[player]),
            errors=errors[player],
        )
        for player, name in enumerate(names)
    ]
    return tuple(sorted(lines, key=lambda line: -line.elo.value)), ratings.bounded


def means(tally: Tally, number: int) -> dict[int, float]:
    """What each player of a set made against the others on average."""
    found: dict[int, list[float]] = defaultdict(list)
    for (i, j), value in tally.scores[number].items():
        found[i].append(value)
        found[j].append(1 - value)
    return {player: fmean(values) for player, values in found.items()}


def pair_lines(tally: Tally, numbers: list[int], names: list[str]) -> tuple[PairLine, ...]:
    made: dict[tuple[int, int], list[float]] = defaultdict(list)
    for number in numbers:
        for pair, value in tally.scores[number].items():
            made[pair].append(value)
    return tuple(
        PairLine(
            player=names[i],
            opponent=names[j],
            elo=elo(values),
            score=score(values),
            superiority=superiority(values),
            sets=len(values),
        )
        for (i, j), values in sorted(made.items())
    )


def game_lines(tally: Tally, numbers: list[int], names: list[str]) -> tuple[GameLine, ...]:
    made: dict[tuple[str, int], list[float]] = defaultdict(list)
    goals: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number in numbers:
        rotation = tally.schedule[number]
        for player, value in means(tally, number).items():
            made[rotation.game, player].append(value)
        for assignment, seats in enumerate(rotation.seats):
            for player, goal in zip(seats, tally.goals[number][assignment], strict=True):
                goals[rotation.game, player].append(goal)
    return tuple(
        GameLine(
            game=game,
            player=names[player],
            score=score(made[game, player]),
            goal=fmean(goals[game, player]),
            sets=len(made[game, player]),
        )
        for game in tally.schedule.tournament.games
        for player in range(len(names))
        if made[game, player]
    )


def role_lines(tally: Tally, numbers: list[int], names: list[str]) -> tuple[RoleLine, ...]:
    points: dict[tuple[str, int, int], list[float]] = defaultdict(list)  # (game, role, player) -> one a match
    goals: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for number in numbers:
        rotation = tally.schedule[number]
        for assignment, seats in enumerate(rotation.seats):
            values = tally.goals[number][assignment]
            for role, player in enumerate(seats):
                key = (rotation.game, role, player)
                goals[key].append(values[role])
                points[key] += against(role, seats, values)
    loaded = tally.schedule.tournament.loaded
    return tuple(
        RoleLine(
            game=game,
            role=role_name,
            player=names[player],
            score=fmean(points[key]) if points[key] else None,
            goal=fmean(goals[key]),
            matches=len(goals[key]),
        )
        for game in tally.schedule.tournament.games
        for role, role_name in enumerate(loaded[game].roles)
        for player in range(len(names))
        if goals[key := (game, role, player)]
    )


def against(role: int, seats: tuple[int, ...], goals: tuple[int, ...]) -> list[float]:
    """The mean points of one role in one match against the roles of other players; empty without any."""
    found = []
    for other in range(len(seats)):
        for i, _, points in comparisons((seats[role], seats[other]), (goals[role], goals[other])):
            found.append(points if i == seats[role] else 1 - points)
    return [fmean(found)] if found else []


def sprt_line(tally: Tally) -> SprtLine | None:
    if tally.test is None:
        return None
    lower, upper = tally.test.sprt.bounds
    return SprtLine(
        elo0=tally.test.sprt.elo0,
        elo1=tally.test.sprt.elo1,
        ratio=tally.test.ratio,
        lower=lower,
        upper=upper,
        verdict=tally.verdict,
        sets=tally.test.sets,
    )
