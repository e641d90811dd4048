"""`ggp bench ...`: how fast we are, beside others in the same run."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from ggp_agent.cli.common import cli, json_option, read_settings, seed_option, set_option, tell
from ggp_agent.engine import games
from ggp_agent.errors import ConfigError

SHARES = {"median": 0.5, "99 %": 0.99, "max": 1.0}  # of the times that INFO took


@cli.group("bench")
def bench_group() -> None:
    """Measure speed, as ratios in one run."""


@bench_group.command("playouts")
@click.argument("names", nargs=-1, metavar="[GAME]...")
@click.option(
    "--engine",
    "engine_names",
    type=click.Choice(["lanes", "interpreted", "prolog"]),
    multiple=True,
    default=["lanes"],
    show_default=True,
    help="May be given several times; 'interpreted' is lanes without machine code.",
)
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Write a picture of speed against size.")
@click.option("--against", type=click.Choice(["open_spiel"]), help="Measure this too, in turns, and print the ratio.")
@click.option("--seconds", type=click.FloatRange(0.1), default=4.0, show_default=True, help="For each contestant.")
@seed_option
@json_option
def bench_playouts(
    names: tuple[str, ...],
    engine_names: tuple[str, ...],
    plot: Path | None,
    against: str | None,
    seconds: float,
    seed: int,
    as_json: bool,
) -> None:
    """Random playouts a second on our games (all of them, or those named)."""
    from ggp_agent.engine.bench import bench

    layout = "{:24} {:11} {:>8} {:>7} {:>7} {:>6} {:>12} {:>12} {:>6} {:>11} {:>8}"
    if not as_json:
        titles = ("game", "engine", "set-up s", "code s", "gates", "MB", "playouts/s", "steps/s", "plies")
        click.echo(layout.format(*titles, "OpenSpiel/s", "ratio"))
    results = []
    for game in chosen_games(names):
        for engine_name in engine_names:
            result = bench(game, engine_name, seconds=seconds, seed=seed, against_open_spiel=against is not None)
            results.append(asdict(result))
            if as_json:
                click.echo(json.dumps(results[-1]))
                continue
            numbers = [
                f"{result.setup_seconds:.2f}",
                "-" if result.code_seconds is None else f"{result.code_seconds:.2f}",
                "-" if result.gates is None else f"{result.gates}",
                f"{result.peak_megabytes:.0f}",
                f"{result.playouts_per_second:,.0f}",
                f"{result.steps_per_second:,.0f}",
                f"{result.mean_plies:.1f}",
                "-" if result.open_spiel_per_second is None else f"{result.open_spiel_per_second:,.0f}",
                "-" if result.ratio is None else f"{result.ratio:.4g}",
            ]
            click.echo(layout.format(result.game, result.engine, *numbers))
    if plot is not None:
        from ggp_agent.engine.picture import plot_speed

        plot_speed(results, plot)


@bench_group.command("search")
@click.argument("names", nargs=-1, metavar="[GAME]...")
@set_option
@click.option("--against", type=click.Choice(["open_spiel"]), help="Measure this too, in turns, and print the ratio.")
@click.option("--seconds", type=click.FloatRange(0.1), default=8.0, show_default=True, help="For each contestant.")
@seed_option
@json_option
def bench_search(
    names: tuple[str, ...], settings: tuple[str, ...], against: str | None, seconds: float, seed: int, as_json: bool
) -> None:
    """Simulations a second, tree included, on our games (all of them, or those named)."""
    from ggp_agent.search.bench import bench

    config = read_settings(settings)
    layout = "{:24} {:>12} {:>12} {:>10} {:>12} {:>7}"
    if not as_json:
        click.echo(layout.format("game", "simulations", "a second", "nodes", "OpenSpiel/s", "ratio"))
    for game in chosen_games(names):
        result = bench(game, config, seconds=seconds, seed=seed, against_open_spiel=against is not None)
        if as_json:
            click.echo(json.dumps(asdict(result)))
            continue
        theirs = "-" if result.open_spiel_per_second is None else f"{result.open_spiel_per_second:,.0f}"
        ratio = "-" if result.ratio is None else f"{result.ratio:.2f}"
        numbers = (f"{result.simulations:,}", f"{result.per_second:,.0f}", f"{result.nodes:,}")
        click.echo(layout.format(result.game, *numbers, theirs, ratio))


@bench_group.command("strength")
@click.argument("names", nargs=-1, metavar="[GAME]...")
@set_option
@click.option("--seconds", type=click.FloatRange(0.01), default=0.2, show_default=True, help="For a move of either.")
@click.option("--games", type=click.IntRange(2), default=100, show_default=True, help="Two from every opening.")
@click.option("--opening", type=click.IntRange(0), default=4, show_default=True, help="Random plies before a match.")
@seed_option
@json_option
def bench_strength(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    seconds: float,
    games: int,
    opening: int,
    seed: int,
    as_json: bool,
) -> None:
    """Points against OpenSpiel's MCTS at equal time, with both sides of random openings, on one core.

    An opening is even if it gave each of both one point of two.
    """
    from ggp_agent.arena.strength import NAMES, Contest

    config = read_settings(settings)
    layout = "{:16} {:>5} {:>7} {:>15} {:>6} {:>17} {:>7} {:>7}"
    if not as_json:
        titles = ("score %", "95 % interval", "even %", "simulations/move", "s/move", "theirs")
        click.echo(layout.format("game", "games", *titles))
    for game in chosen_games(names or tuple(NAMES)):
        contest = Contest(game, config, seconds, opening, seed)
        for found in contest.play(games // 2):
            tell(
                f"{game.name}: {2 * len(contest.scores)} games, {found.value:.1%} ({found.low:.1%} to {found.high:.1%})"
            )
        found, mine, other = contest.estimate, contest.ours, contest.theirs
        if as_json:
            spent = {"ours": asdict(mine), "theirs": asdict(other)}
            played = 2 * len(contest.scores)
            line = {"game": game.name, "games": played, "even": contest.even, **asdict(found), **spent}
            click.echo(json.dumps(line))
            continue
        numbers = [f"{100 * found.value:.1f}", f"{100 * found.low:.1f} to {100 * found.high:.1f}"]
        numbers += [f"{100 * contest.even:.0f}", f"{mine.simulations / max(1, mine.moves):,.0f}"]
        numbers += [f"{spent.seconds / max(1, spent.moves):.3f}" for spent in (mine, other)]
        click.echo(layout.format(game.name, 2 * len(contest.scores), *numbers))


@bench_group.command("http")
@click.argument("names", nargs=-1, metavar="[GAME]...")
@click.option("--matches", type=click.IntRange(1), default=20, show_default=True, help="In a row, the games in turns.")
@click.option("--playouts", type=click.IntRange(0), default=0, help="For a move; 0: think until the clock ends.")
@click.option("--start-clock", type=click.IntRange(1), default=1, show_default=True, help="Seconds before the start.")
@click.option("--play-clock", type=click.IntRange(1), default=1, show_default=True, help="Seconds for a move.")
@click.option("--max-steps", type=click.IntRange(1), default=100, show_default=True, help="Joint moves of a match.")
@seed_option
@json_option
def bench_http(
    names: tuple[str, ...],
    matches: int,
    playouts: int,
    start_clock: int,
    play_clock: int,
    max_steps: int,
    seed: int,
    as_json: bool,
) -> int:
    """Matches in a row between servers of our own over HTTP: errors, and how soon INFO is answered meanwhile."""
    from ggp_agent.net.bench import GAMES, Figures, bench
    from ggp_agent.net.master import Terms

    layout = "{:26} {:>7} {:>6} {:>4} {:>6} {:>9} {:>7} {:>9} {:>9} {:>9}"

    def show(name: str, seen: Figures) -> None:
        info = {f"info_{label}_ms": 1000 * seen.info(share) for label, share in SHARES.items()}
        counts = (seen.matches, seen.plies, seen.cut, len(seen.errors))
        if as_json:
            titles = ("matches", "plies", "cut", "errors", "slowest_s", "infos")
            line = dict(zip(titles, (*counts, seen.slowest, len(seen.info_seconds)), strict=True))
            click.echo(json.dumps({"game": name, **line, **info}))
        else:
            rest = (f"{seen.slowest:.2f}", len(seen.info_seconds), *(f"{value:.1f}" for value in info.values()))
            click.echo(layout.format(name, *counts, *rest))
        for error in seen.errors:
            tell(error)

    if not as_json:
        titles = ("matches", "plies", "cut", "errors", "slowest s", "INFOs", *(f"{label} ms" for label in SHARES))
        click.echo(layout.format("game", *titles))
    total = bench(
        [game.name for game in chosen_games(names or GAMES)],
        matches,
        playouts,
        lambda number: Terms(
            start_clock=start_clock, play_clock=play_clock, seed=seed + number, scramble=True, max_steps=max_steps
        ),
        show,
    )
    faults, total.errors = len(total.errors), []  # they were told one by one
    show("all", total)
    tell(f"{faults:,} errors in {total.matches:,} matches")
    return 1 if faults else 0


def chosen_games(names: tuple[str, ...]) -> list[games.Shipped]:
    """The games of ours with these names, or all."""
    known = {game.name: game for game in games.shipped()}
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"{unknown[0]} is not one of our games; 'ggp games' lists them")
    return [known[name] for name in names or known]
