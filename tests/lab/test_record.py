"""What is written down survives, and what is known is not computed again."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ggp_agent.arena.statistics import Z95
from ggp_agent.errors import ConfigError
from ggp_agent.lab.record import Record
from ggp_agent.lab.rows import Row, mean_row, percent_errors, rate_errors, spread


def test_an_interrupted_experiment_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "some.jsonl"
    computed: list[int] = []

    def compute(seed: int) -> dict[str, Any]:
        computed.append(seed)
        return {"value": len(computed)}

    first = Record(path, 1)
    assert [first.get(key, compute)["value"] for key in ("a", "b", "a")] == [1, 2, 1]
    with path.open("a") as file:
        file.write('{"key": "seed 1: c", "val')  # killed while it wrote
    again = Record(path, 1)
    assert [again.get(key, compute)["value"] for key in ("a", "b", "c")] == [1, 2, 3]
    assert len(set(computed)) == 3
    assert [Record(path, 1).get(key, compute)["value"] for key in ("a", "b", "c")] == [1, 2, 3]
    assert Record(path, 2).get("a", compute)["value"] == 4  # another seed is another experiment


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("dear diary\n{}\n")
    with pytest.raises(ConfigError):
        Record(path, 0)


def test_differences_are_in_standard_errors() -> None:
    assert rate_errors(0.5, 100, 0.5, 400) == 0
    assert rate_errors(0.6, 5000, 0.5, 5000) == pytest.approx(10.0, abs=0.1)
    assert rate_errors(1.0, 10, 1.0, 10) == 0
    assert percent_errors(60, 3, 50, 400) == pytest.approx(10 / math.hypot(3, 2.5))
    assert percent_errors(60, 3, None, 400) is None


def test_the_mean_of_independent_scores_is_known_better() -> None:
    rows = [
        Row(table="a", row="b", column=str(k), ours=50 + k, theirs=48 + k, errors=None, interval=4.0) for k in range(4)
    ]
    mean = mean_row(rows, "means", "b", "mean", 100)
    assert (mean.ours, mean.theirs, mean.interval) == pytest.approx((51.5, 49.5, 2.0))
    assert mean.errors == pytest.approx(2.0 / math.hypot(2.0 / Z95, math.sqrt(49.5 * 50.5 / 400)))
    assert mean_row([rows[0], replace(rows[1], theirs=None)], "means", "b", "mean", 100).theirs is None


def test_a_mean_has_an_error_if_there_are_two_values() -> None:
    assert spread([1, 3]) == pytest.approx((2, 1))
    mean, error = spread([0.5])
    assert mean == 0.5 and math.isnan(error)
