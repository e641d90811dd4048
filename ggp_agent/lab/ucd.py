"""The experiments of Saffidine, Cazenave and Mehat with games: Hex, Go, and ten games of general game playing.

Every setting plays against the same search without transpositions. Searches are sequential, and do not prove values: so
were the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ggp_agent.engine.picture import pyplot, save
from ggp_agent.errors import ConfigError
from ggp_agent.lab import ucd_paper as paper
from ggp_agent.lab.matches import SAME, Matches, Pairing, Score
from ggp_agent.lab.record import Order, Record
from ggp_agent.lab.rows import Row, mean_row
from ggp_agent.lab.transpositions import shared_row
from ggp_agent.search.config import INFINITE, depths_text

HEX_PLAYOUTS, GO_PLAYOUTS, GGP_PLAYOUTS = 1_000, 10_000, 1_000
QUICK_PLAYOUTS, QUICK_MATCHES, QUICK_GAMES = 100, 20, ("connect_four", "pawn_whopping")
QUICK_GO_PLAYOUTS = 10  # games of Go are long
HEX_DEPTHS = (0, 1, 2, 3, INFINITE)
HEX_D2 = (0, 1)
# The best setting of the paper is tried with so many times the simulations too, because there are hardly any
# transpositions with few, and two settings with smaller constants.
HEX_MORE, MORE_TIMES = (0, 1, 2), 10
HEX_TRIED, HEX_CONSTANTS = ((0, 1, 2), (1, 0, 1)), (0.05, 0.15)
HEX_C, GO_C, GGP_C = 0.3, 0.4, 0.4
# So are the three best settings of the paper in Connect Four, where it gains more than we do, and its worst in Go.
GGP_TRIED = {"connect_four": ((1, 0, 0), (2, 1, 2), (2, 2, 2))}
GO_TRIED = ((2, 0, 1), (2, 1, 0))
LONG = {"breakthrough": 300, "knightthrough": 300, "othello": 300}  # simulations in games that take long

Depths = tuple[int, int, int]


def limit(order: Order, playouts: int, quick: int = QUICK_PLAYOUTS) -> str:
    """What a player may spend on a move, as text."""
    if order.seconds is not None:
        return f"seconds={order.seconds:g}"
    return f"playouts={order.pick(order.playouts, quick, playouts)}"


def player(spent: str, c: float, depths: Depths | None, more: str = "") -> str:
    """A player as text; without depths, without transpositions."""
    what = "transpositions=off" if depths is None else f"d={depths_text(depths)}"
    return f"ucd,{what},c={c},{spent},{SAME}{more}"


def shown(depth: int) -> str:
    return "inf" if depth == INFINITE else str(depth)


def hex_experiment(order: Order) -> list[Row]:
    """Figures 5 and 6: Hex 5x5 with a stone on b2."""
    spent = limit(order, HEX_PLAYOUTS)
    depths = (0, 1, INFINITE) if order.quick else HEX_DEPTHS
    matches = order.pick(order.runs, QUICK_MATCHES, paper.HEX_GAMES)
    opponent = player(spent, HEX_C, None)
    settings: dict[str, Depths] = {
        depths_text((d1, d2, d3)): (d1, d2, d3) for d2 in HEX_D2 for d3 in depths for d1 in depths
    }
    pairings = {
        name: Pairing(
            game="hex_5x5",
            player=player(spent, HEX_C, found),
            opponent=opponent,
            matches=matches,
        )
        for name, found in settings.items()
    }
    all_ = player(spent, HEX_C, (0, 0, 0), ",update_all=on")
    pairings["update-all"] = Pairing(game="hex_5x5", player=all_, opponent=opponent, matches=matches)
    if not order.quick:
        pairings |= hex_tests(order, spent, matches)
    record = order.record("hex")
    scores = play(record, pairings.values())
    draw_hex({name: scores[pairing] for name, pairing in pairings.items()}, depths, spent, order.out / "hex.png")
    rows = [
        scores[pairing].row(*hex_place(name, settings.get(name)), paper.HEX.get(name), paper.HEX_GAMES)
        for name, pairing in pairings.items()
    ]
    for d1 in depths:
        same = [row for row in rows if row.row == f"d1 = {shown(d1)}"]
        rows.append(mean_row(same, "all d2 and d3", f"d1 = {shown(d1)}", "mean"))
    playouts = order.pick(order.playouts, QUICK_PLAYOUTS, HEX_PLAYOUTS)
    return [*rows, *(shared_row(record, "hex_5x5", HEX_C, times * playouts) for times in (1, MORE_TIMES))]


def hex_tests(order: Order, spent: str, matches: int) -> dict[str, Pairing]:
    """What might explain why ours differs: more simulations, and smaller constants."""
    more = f"playouts={MORE_TIMES * (order.playouts or HEX_PLAYOUTS)}"
    tests = [
        (HEX_MORE, more, HEX_C, more),
        *((found, spent, c, f"c={c}") for c in HEX_CONSTANTS for found in HEX_TRIED),
    ]
    return {
        f"{depths_text(found)}, {name}": Pairing(
            game="hex_5x5", player=player(budget, c, found), opponent=player(budget, c, None), matches=matches
        )
        for found, budget, c, name in tests
    }


def hex_place(name: str, depths: Depths | None) -> tuple[str, str, str]:
    """Table, row and column of a setting."""
    if depths is None:
        return "section 4.2", name, ""
    d1, d2, d3 = depths
    return f"figure {5 + d2}: d2 = {d2}", f"d1 = {shown(d1)}", f"d3 = {shown(d3)}"


def go_experiment(order: Order) -> list[Row]:
    """Tables 1 and 2: Go 6x6 with a komi of 5.5, and RAVE."""
    spent = limit(order, GO_PLAYOUTS, QUICK_GO_PLAYOUTS)
    matches = order.pick(order.runs, QUICK_MATCHES, paper.GAMES)
    plain = player(spent, GO_C, None)
    cells: dict[tuple[str, str, str], tuple[Pairing, float]] = {}
    for depths, numbers in paper.TABLE_1.items():
        for c, theirs in zip(paper.TABLE_1_CONSTANTS, numbers, strict=True):
            mine = player(spent, c, depths)
            pairing = Pairing(game="go_6x6", player=mine, opponent=plain, matches=matches)
            cells["table 1", depths_text(depths), f"c = {c}"] = pairing, theirs
    for depth, numbers in paper.TABLE_2.items():
        for bias, theirs in zip(paper.TABLE_2_CONSTANTS, numbers, strict=True):
            rave = f",rave={bias}"
            mine = player(spent, GO_C, (1, 0, 1), f"{rave},rave_depth={depth}")
            pairing = Pairing(
                game="go_6x6",
                player=mine,
                opponent=player(spent, GO_C, None, rave),
                matches=matches,
            )
            cells["table 2", f"RAVE {bias}", f"depth {depth}"] = pairing, theirs
    record = order.record("go")
    scores = play(record, [pairing for pairing, _ in cells.values()])
    rows = [scores[pairing].row(*place, theirs, paper.GAMES) for place, (pairing, theirs) in cells.items()]
    for depths in paper.TABLE_1:
        same = [row for row in rows if row.row == depths_text(depths)]
        rows.append(mean_row(same, "table 1: means over constants", depths_text(depths), "mean", paper.GAMES))
    for depth in paper.TABLE_2:
        same = [row for row in rows if row.column == f"depth {depth}"]
        rows.append(mean_row(same, "table 2: means over biases", f"depth {depth}", "mean", paper.GAMES))
    if order.playouts is not None and order.playouts < GO_PLAYOUTS:
        printed = {depths: paper.TABLE_1[depths][paper.TABLE_1_CONSTANTS.index(GO_C)] for depths in GO_TRIED}
        rows += more_rows(record, "go_6x6", GO_C, order.playouts, matches, printed)
    return rows


def ggp_experiment(order: Order) -> list[Row]:
    """Tables 3 to 12: ten games, 27 settings."""
    matches = order.pick(order.runs, QUICK_MATCHES, paper.GAMES)
    record = order.record("ggp")
    rows: list[Row] = []
    means: list[Row] = []
    shared: list[Row] = []
    for game in order.games or (QUICK_GAMES if order.quick else tuple(paper.TABLES)):
        if game not in paper.TABLES:
            raise ConfigError(f"the paper has no table for {game}; it has {', '.join(paper.TABLES)}")
        spent = ggp_spent(order, game)
        pairings = {
            depths: Pairing(
                game=game,
                player=player(spent, GGP_C, depths),
                opponent=player(spent, GGP_C, None),
                matches=matches,
            )
            for depths in paper.SETTINGS
        }
        scores = play(record, pairings.values())
        found = {depths: scores[pairing] for depths, pairing in pairings.items()}
        best = max(found, key=lambda depths: found[depths].percent)
        table = f"table {paper.TABLES[game][0]}: {game}, {spent}"
        first = len(rows)
        for depths in paper.SETTINGS:
            d1, d2, d3 = depths
            place = table, f"d1 = {d1}", f"d2 = {d2}, d3 = {d3}"
            mine = found[depths].row(*place, paper.printed(game, depths), paper.GAMES)
            rows.append(replace(mine, best=depths == best))
        if game in GGP_TRIED and not order.quick and order.seconds is None:
            printed = {depths: paper.printed(game, depths) for depths in GGP_TRIED[game]}
            playouts = order.playouts or LONG.get(game, GGP_PLAYOUTS)
            means += more_rows(record, game, GGP_C, playouts, matches, printed)
        for column in ("d1 = 0", "d1 = 1", "d1 = 2", "all"):
            same = [row for row in rows[first:] if column in (row.row, "all")]
            means.append(mean_row(same, "means over settings", f"{game}, {spent}", column, paper.GAMES))
        playouts = order.pick(order.playouts, QUICK_PLAYOUTS, LONG.get(game, GGP_PLAYOUTS))
        shared.append(shared_row(record, game, GGP_C, playouts))
    draw_ggp(rows, order.out / "ggp.png")
    return rows + means + shared


def more_rows(
    record: Record, game: str, c: float, playouts: int, matches: int, theirs: Mapping[Depths, float | None]
) -> list[Row]:
    """Does the number of simulations explain why ours differ from these numbers of the paper?"""
    spent = f"playouts={MORE_TIMES * playouts}"
    pairings = {
        depths: Pairing(game=game, player=player(spent, c, depths), opponent=player(spent, c, None), matches=matches)
        for depths in theirs
    }
    scores = play(record, pairings.values())
    return [
        scores[pairing].row("more simulations", depths_text(depths), f"{game}, {spent}", theirs[depths], paper.GAMES)
        for depths, pairing in pairings.items()
    ]


def ggp_spent(order: Order, game: str) -> str:
    """What a player may spend on a move of a game; less if the game takes long."""
    return limit(order, LONG.get(game, GGP_PLAYOUTS))


def play(record: Record, pairings: Iterable[Pairing]) -> dict[Pairing, Score]:
    with Matches(record) as matches:
        return matches.scores(pairings)


def draw_hex(scores: Mapping[str, Score], depths: Sequence[int], spent: str, path: Path) -> None:
    """The scores over d1, a line for each d3, a picture for each d2."""
    figure, pictures = pyplot().subplots(1, len(HEX_D2), figsize=(11, 4.5), sharey=True)
    names = [shown(depth) for depth in depths]
    for axes, d2 in zip(pictures, HEX_D2, strict=True):
        for shift, d3 in enumerate(depths):
            found = [scores[depths_text((d1, d2, d3))] for d1 in depths]
            places = [k + 0.06 * (shift - len(depths) / 2) for k in range(len(depths))]  # side by side, not over
            percents, errors = [one.percent for one in found], [one.interval for one in found]
            axes.errorbar(places, percents, yerr=errors, marker="o", capsize=3, label=f"d3 = {names[shift]}")
        axes.axhline(scores["update-all"].percent, color="black", linestyle=":", linewidth=1, label="update-all")
        axes.axhline(50, color="0.6", linewidth=1)
        axes.set_xticks(range(len(depths)), names)
        axes.set_xlabel("d1")
        axes.set_title(f"d2 = {d2}")
        axes.grid(alpha=0.3)
    pictures[0].set_ylabel("games won, %, with 95 % intervals")
    pictures[-1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(f"Hex 5x5: UCD against UCT without transpositions, {spent} a move, c = {HEX_C}")
    save(figure, path)


def draw_ggp(rows: Sequence[Row], path: Path) -> None:
    """Ours over theirs, a point for each setting, a picture for each game; the best of ours stands out."""
    tables = list(dict.fromkeys(row.table for row in rows))
    wide = min(3, len(tables))
    tall = -(-len(tables) // wide)
    figure, grid = pyplot().subplots(tall, wide, figsize=(4.5 * wide, 4.5 * tall), squeeze=False)
    numbers = [number for row in rows for number in (row.ours, row.theirs) if number is not None]
    low, high = min(numbers) - 8, max(numbers) + 8  # with intervals
    for axes, table in zip(grid.flat, tables, strict=False):
        for best, colour in ((False, "tab:blue"), (True, "tab:red")):
            mine = [row for row in rows if row.table == table and row.best == best]
            axes.errorbar(
                [row.theirs for row in mine],
                [row.ours for row in mine],
                yerr=[row.interval for row in mine],
                fmt="o",
                color=colour,
                markersize=4,
                elinewidth=0.7,
                label="our best setting" if best else None,
            )
        axes.plot([low, high], [low, high], color="0.6", linewidth=1)
        axes.axhline(50, color="0.6", linewidth=1, linestyle=":")
        axes.set(xlabel="the paper, % won", ylabel="ours, % won, with 95 % intervals", xlim=(low, high))
        axes.set_ylim(low, high)
        axes.set_title(table.split(": ")[1].replace("playouts=", "simulations a move: "), fontsize=10)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="upper left")
    for axes in grid.flat[len(tables) :]:
        axes.axis("off")
    save(figure, path)
