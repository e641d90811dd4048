"""Results of experiments on disk, and one page of all of them: ours beside theirs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ggp_agent.errors import ConfigError
from ggp_agent.lab.rows import Row

NEAR, FAR = 2.0, 3.0  # standard errors within which two numbers agree, and beyond which they do not
LEGEND = "In tables: ours ± its 95 % interval (theirs; the difference in standard errors of it)."
MOST_NAMED = 8  # numbers that do not agree, named in words
INTRODUCTIONS = {
    "leftright": "LeftRight, 300 steps, 100 playouts a move: the share of steps to the left (Saffidine et al.).",
    "hex": "Hex 5x5 with a stone on b2: UCD against UCT without transpositions (Saffidine et al.).",
    "go": "Go 6x6 with a komi of 5.5: UCD against UCT without transpositions, then RAVE (Saffidine et al.).",
    "ggp": "Ten games: UCD against UCT without transpositions. The paper gave both 10 seconds a move; ours get equal"
    " numbers of simulations (Saffidine et al.).",
    "pgame": "P-games: the error against minimax of transpositions and of move groups (Childs et al.).",
    "bandit9": "Nine moves in groups of three (Van Eyck, chapters 3 and 4).",
    "bandit27": "Twenty-seven moves in groups (Van Eyck, chapter 5).",
    "amazons": "Amazons: moves in three stages against moves at once (Van Eyck, chapter 6).",
    "parallel": "Leaf, root and tree parallelisation (Chaslot et al.); theirs is 13x13 Go on threads, ours Connect Four"
    " on lanes.",
    "defaults": "Settings of the agent, one changed at a time, against the defaults; no paper has this.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """An experiment that was run."""

    name: str
    command: str
    seed: int
    date: str
    rows: tuple[Row, ...]

    def save(self, out: Path) -> None:
        (out / f"{self.name}.json").write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Finished:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**found, "rows": tuple(Row(**row) for row in found["rows"])})
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"{path} is not a result of an experiment: {error}") from error


def report(out: Path, names: Iterable[str]) -> str:
    """The page, in Markdown; pictures are looked for among the results and in a folder `images` beside them."""
    found = [Finished.load(path) for name in names if (path := out / f"{name}.json").exists()]
    if not found:
        raise ConfigError(f"{out} holds no results; run 'ggp lab all --quick --out {out}' first")
    return "\n".join([LEGEND, "", *(line for one in found for line in section(one, out))])


def section(found: Finished, out: Path) -> list[str]:
    lines = [f"## {found.name}", "", INTRODUCTIONS[found.name], ""]
    lines += [f"`{found.command}`, seed {found.seed}, {found.date}", "", verdict(found.rows), ""]
    for table in dict.fromkeys(row.table for row in found.rows):
        lines += [f"**{table}**", "", *grid([row for row in found.rows if row.table == table]), ""]
    folders = (out, out.resolve().parent / "images")
    for picture in sorted({path.stem for folder in folders for path in folder.glob(f"{found.name}*.png")}):
        lines += [f"![{picture}](images/{picture}.png)", ""]
    return lines


def verdict(rows: Sequence[Row]) -> str:
    """In words: where we agree and where not."""
    compared = [row for row in rows if row.errors is not None]
    if not compared:
        return "There are no printed numbers that could be compared one by one."
    near = sum(abs(row.errors or 0) <= NEAR for row in compared)
    far = sorted((row for row in compared if abs(row.errors or 0) > FAR), key=lambda row: -abs(row.errors or 0))
    text = f"Of {len(compared)} numbers that the paper prints, {near} of ours lie within {NEAR:g} standard errors"
    if not far:
        return f"{text}, and none beyond {FAR:g}."
    named = ", ".join(f"{row.row} {row.column}".strip() + f" ({row.errors:+.1f})" for row in far[:MOST_NAMED])
    more = f", and {len(far) - MOST_NAMED} more" if len(far) > MOST_NAMED else ""
    return f"{text}. Beyond {FAR:g} are {len(far)}: {named}{more}."


def grid(rows: Sequence[Row]) -> list[str]:
    """A table of Markdown with the rows and columns of the paper."""
    columns = list(dict.fromkeys(row.column for row in rows))
    cells = {(row.row, row.column): cell(row) for row in rows}
    lines = [f"| | {' | '.join(columns)} |", f"| --- | {' | '.join('---:' for _ in columns)} |"]
    for name in dict.fromkeys(row.row for row in rows):
        lines.append(f"| {name} | {' | '.join(cells.get((name, column), '') for column in columns)} |")
    return lines


def cell(row: Row) -> str:
    """Our number, its interval, theirs, and the difference in standard errors."""
    digits = 1 if abs(row.ours) >= 10 else 3
    text = f"{row.ours:.{digits}f}"
    if row.interval is not None:
        text += f" ± {row.interval:.{digits}f}"
    if row.best:
        text = f"**{text}**"
    if row.theirs is None:
        return text
    errors = "" if row.errors is None else f"; {row.errors:+.1f}"
    return f"{text} ({row.theirs:.{digits}f}{errors})"
