"""The standing of a tournament as text, Markdown, JSON, and a picture."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ggp_agent.arena.standing import PlayerLine, Standing
from ggp_agent.arena.statistics import Estimate
from ggp_agent.engine.picture import pyplot, save

MAX_NAME = 48  # characters of a player's name in tables and pictures
LEFT = frozenset({"player", "opponent", "game", "role"})  # columns of text


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Something to be shown in rows; `note` says how to read it."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def summary(standing: Standing) -> str:
    """One line: what was played."""
    players = f"{len(standing.players)} players, {standing.kind}"
    opening = f", {standing.opening} random plies at the start" if standing.opening else ""
    done = f"{standing.sets:,} of {standing.all_sets:,} sets, {standing.matches:,} matches"
    return f"{', '.join(standing.games)}: {players}, {done}{opening}, seed {standing.seed}"


def verdict(standing: Standing) -> str:
    """One line about the sequential test; empty without one."""
    test = standing.test
    if test is None:
        return ""
    told = {
        "H0": f"H0 accepted: not {test.elo1:+g} Elo stronger",
        "H1": f"H1 accepted: more than {test.elo0:+g} Elo stronger",
        None: "no verdict yet",
    }[test.verdict]
    bounds = f"log-likelihood ratio {test.ratio:+.2f} ({test.lower:+.2f} .. {test.upper:+.2f})"
    return f"SPRT {test.elo0:+g} {test.elo1:+g}: {told}, {bounds}, {test.sets:,} sets"


def notes(standing: Standing) -> list[str]:
    """What a reader must know to read the ratings rightly."""
    found = []
    if standing.bounded and standing.sets:
        text = (
            "Somebody won or lost everything, or has not played: one imaginary draw for every two players is counted."
        )
        found.append(text)
    if any(line.errors for line in standing.players):
        found.append("There were errors in matches: illegal moves, or matches that were not over. The store has them.")
    return found


def tables(standing: Standing, *, brief: bool = False) -> list[Table]:
    """All tables, or only the ratings."""
    found = [ratings_table(standing)]
    if brief:
        return found
    found.append(pairs_table(standing))
    if len(standing.games) > 1:
        found.append(games_table(standing))
    found.append(roles_table(standing))
    return [table for table in found if table.rows]


def ratings_table(standing: Standing) -> Table:
    errors = any(line.errors for line in standing.players)
    return Table(
        title="Ratings",
        note="Elo with 95 % intervals, the mean of all players being 0; score: wins and half of draws",
        columns=("player", "Elo", "95 %", "score", "goal", "sets", "matches", *(["errors"] if errors else [])),
        rows=tuple(
            (
                short(line.player),
                signed(line.elo.value),
                span(line.elo),
                f"{line.score.value:.3f}",
                "-" if line.goal is None else f"{line.goal:.1f}",
                f"{line.sets:,}",
                f"{line.matches:,}",
                *([f"{line.errors:,}"] if errors else []),
            )
            for line in standing.players
        ),
    )


def pairs_table(standing: Standing) -> Table:
    return Table(
        title="Pairings",
        note="Elo difference from the matches of the two alone; LOS: likelihood that the first is the stronger one",
        columns=("player", "opponent", "Elo", "95 %", "score", "LOS", "sets"),
        rows=tuple(
            (
                short(line.player),
                short(line.opponent),
                signed(line.elo.value),
                span(line.elo),
                f"{line.score.value:.3f}",
                percent(line.superiority),
                f"{line.sets:,}",
            )
            for line in standing.pairs
        ),
    )


def games_table(standing: Standing) -> Table:
    return Table(
        title="Games",
        note="score with 95 % interval and mean goal of each player in each game",
        columns=("game", "player", "score", "95 %", "goal", "sets"),
        rows=tuple(
            (
                line.game,
                short(line.player),
                f"{line.score.value:.3f}",
                f"{line.score.low:.3f} .. {line.score.high:.3f}",
                f"{line.goal:.1f}",
                f"{line.sets:,}",
            )
            for line in standing.by_game
        ),
    )


def roles_table(standing: Standing) -> Table:
    return Table(
        title="Roles",
        note="score and mean goal of each player in each role",
        columns=("game", "role", "player", "score", "goal", "matches"),
        rows=tuple(
            (
                line.game,
                line.role,
                short(line.player),
                "-" if line.score is None else f"{line.score:.3f}",
                f"{line.goal:.1f}",
                f"{line.matches:,}",
            )
            for line in standing.by_role
        ),
    )


def short(name: str) -> str:
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 3] + "..."


def signed(elo: float) -> str:
    """An Elo number for a table."""
    return f"{elo:+.0f}" if math.isfinite(elo) else "+inf" if elo > 0 else "-inf"


def percent(chance: float) -> str:
    """A chance for a table, never as certainty."""
    return "> 99.9 %" if chance > 0.999 else "< 0.1 %" if chance < 0.001 else f"{100 * chance:.1f} %"


def span(elo: Estimate) -> str:
    return f"{signed(elo.low)} .. {signed(elo.high)}"


def as_text(standing: Standing, *, brief: bool = False) -> str:
    """For a terminal."""
    parts = ["\n".join(filter(None, [summary(standing), verdict(standing), *notes(standing)]))]
    for table in tables(standing, brief=brief):
        widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if title in LEFT else cell.rjust(width)
                for cell, title, width in zip(row, table.columns, widths, strict=True)
            ).rstrip()
            for row in (table.columns, *table.rows)
        ]
        heading = [] if brief else [f"{table.title}: {table.note}"]
        parts.append("\n".join([*heading, *lines]))
    return "\n\n".join(parts)


def as_markdown(standing: Standing) -> str:
    """For a document."""
    parts = ["# Tournament", *filter(None, [summary(standing), verdict(standing), *notes(standing)])]
    for table in tables(standing):
        rules = [":--" if title in LEFT else "--:" for title in table.columns]
        rows = [table.columns, tuple(rules), *table.rows]
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        parts += [f"## {table.title}", f"{table.note}.", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def as_json(standing: Standing) -> str:
    """For programs: everything, in one line. Infinite numbers become null."""
    return json.dumps(finite(asdict(standing)))


def finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plot(standing: Standing, path: Path) -> None:
    """A picture of the ratings with their intervals, the strongest on top."""
    plt = pyplot()
    lines = standing.players[::-1]
    figure, axes = plt.subplots(figsize=(9, 1.8 + 0.45 * len(lines)))
    for height, line in enumerate(lines):
        draw_player(axes, height, line)
    axes.axvline(0, color="0.8", linewidth=1, zorder=0)
    axes.set_yticks(range(len(lines)), [short(line.player) for line in lines], parse_math=False)
    axes.set_ylim(-0.7, len(lines) - 0.3)
    axes.margins(x=0.12)
    axes.set_xlabel("Elo, with 95 % interval (the mean of all players is 0)")
    axes.grid(True, axis="x", alpha=0.3)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    games = ", ".join(standing.games) if len(standing.games) <= 3 else f"{len(standing.games)} games"
    title = f"{games}: {standing.sets:,} rotation sets, {standing.matches:,} matches"
    axes.set_title(title, loc="left", fontsize=11, parse_math=False)
    save(figure, path)


def draw_player(axes: Any, height: int, line: PlayerLine) -> None:
    known = math.isfinite(line.elo.low)
    if known:
        axes.plot([line.elo.low, line.elo.high], [height, height], color="tab:blue", linewidth=2, solid_capstyle="butt")
    axes.plot([line.elo.value], [height], "o", color="tab:blue", markersize=6)
    half = f" ± {(line.elo.high - line.elo.low) / 2:.0f}" if known else ", not known"
    text = f"{line.elo.value:+.0f}{half}"
    place = (line.elo.value, height)
    axes.annotate(text, place, xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8)
