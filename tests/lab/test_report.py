"""The page of all results."""

from __future__ import annotations

from pathlib import Path

import pytest

from ggp_agent.errors import ConfigError
from ggp_agent.lab.experiments import EXPERIMENTS
from ggp_agent.lab.report import INTRODUCTIONS, Finished, report, verdict
from ggp_agent.lab.rows import Row


def row(name: str, column: str, ours: float, theirs: float | None, errors: float | None, best: bool = False) -> Row:
    return Row(
        table="table 5", row=name, column=column, ours=ours, theirs=theirs, errors=errors, interval=2.5, best=best
    )


ROWS = (
    row("d1 = 0", "d3 = 0", 52.0, 52.2, -0.1),
    row("d1 = 0", "d3 = 1", 61.25, 46.1, 4.2, best=True),
    row("d1 = 1", "d3 = 0", 50.0, None, None),
)


def test_a_page_has_tables_pictures_and_words(tmp_path: Path) -> None:
    finished = Finished(name="ggp", command="ggp lab ggp", seed=3, date="2026-01-02", rows=ROWS)
    finished.save(tmp_path)
    assert Finished.load(tmp_path / "ggp.json") == finished
    (tmp_path / "ggp.png").write_bytes(b"")
    page = report(tmp_path, EXPERIMENTS)
    assert "`ggp lab ggp`, seed 3, 2026-01-02" in page and "![ggp](images/ggp.png)" in page
    assert "| d1 = 0 | 52.0 ± 2.5 (52.2; -0.1) | **61.2 ± 2.5** (46.1; +4.2) |" in page
    assert "| d1 = 1 | 50.0 ± 2.5 |  |" in page
    assert "Of 2 numbers that the paper prints, 1 of ours lie within 2 standard errors" in page
    assert "Beyond 3 are 1: d1 = 0 d3 = 1 (+4.2)." in page


def test_words_when_all_agree_and_when_there_is_nothing_to_compare() -> None:
    assert verdict(ROWS[:1]).endswith("and none beyond 3.")
    assert verdict(ROWS[2:]).startswith("There are no printed numbers")


def test_every_experiment_is_introduced() -> None:
    assert set(INTRODUCTIONS) == set(EXPERIMENTS)


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        report(tmp_path, EXPERIMENTS)
    (tmp_path / "hex.json").write_text("[]")
    with pytest.raises(ConfigError):
        report(tmp_path, EXPERIMENTS)
