"""P-games: what they must be, and that searches of them come to the right move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ggp_agent.lab import pgames
from ggp_agent.lab.pgame import Groups, Searches, good_moves, make_game, make_table
from ggp_agent.lab.pgames import VARIANTS, PGames, ratio
from ggp_agent.lab.record import Record
from ggp_agent.search.config import SearchConfig


@pytest.mark.parametrize("combination", [0.0, 0.2, 0.4])
def test_values_are_those_of_minimax(combination: float) -> None:
    game = make_game(3, 6, combination, 5)
    for level in range(game.plies):
        better = np.max if level % 2 == 0 else np.min
        for node in range(game.starts[level], game.starts[level + 1]):
            children = game.children[node]
            assert len(set(children.tolist())) == 3
            assert (children >= game.starts[level + 1]).all() and (children < game.starts[level + 2]).all()
            assert game.values[node] == better(game.values[children])
    widths = np.diff(game.starts)
    assert (widths[1:] <= 3 * widths[:-1]).all()
    assert (widths[-1] == 3**6) == (combination == 0.0)
    parents = np.bincount(game.children.ravel(), minlength=len(game.values))[1:]
    assert parents.min() == 1 and parents.max() == (1 if combination == 0.0 else 2)


@pytest.mark.parametrize("halves", [False, True])
def test_groups_follow_their_bias(halves: bool) -> None:
    game = make_game(6, 4, 0.0, 3)
    good = good_moves(game, halves)
    for bias in (0.0, 1.0):
        table = make_table(game, Groups(bias, False, halves), 1)
        assert (table.sum(axis=0)[1:] == 1).all() and (good[table[0] == 1] == bias).all()
        if halves:
            assert (table[0][game.children].sum(axis=1) == 3).all()
        assert (make_table(game, Groups(bias, True, halves), 1)[1] == 1).all()


def test_good_moves_win_or_are_the_better_half() -> None:
    game = make_game(6, 4, 0.0, 3)
    wins, better = good_moves(game, False), good_moves(game, True)
    for level in range(game.plies):
        sign = 1 if level % 2 == 0 else -1
        for children in game.children[game.starts[level] : game.starts[level + 1]]:
            assert wins[children].tolist() == [sign * game.scores[child] > 0 for child in children]
            assert better[children].sum() == 3
            worst = min(sign * game.scores[child] for child in children if better[child])
            assert all(sign * game.scores[child] <= worst for child in children if not better[child])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("groups", [None, Groups(0.8, False), Groups(0.8, True)])
def test_errors_vanish(variant: str, groups: Groups | None) -> None:
    config = SearchConfig(solve=False, exploration=0.7, **VARIANTS[variant])
    for seed in range(3):
        game = make_game(3, 4, 0.2 if groups is None else 0.0, seed)
        table = make_table(game, groups, seed) if groups else None
        assert Searches(config, game, 4000, table).errors(game, 5, [8, 4000], seed, table)[-1] == 0


def test_memory_that_was_used_before_changes_nothing() -> None:
    config = SearchConfig(solve=False, **VARIANTS["UCT2"])
    games = [make_game(3, 4, 0.2, seed) for seed in range(4)]
    same = Searches(config, games[0], 64)
    again = [same.errors(game, 20, [4, 16, 64], seed) for seed, game in enumerate(games)]
    fresh = [Searches(config, game, 64).errors(game, 20, [4, 16, 64], seed) for seed, game in enumerate(games)]
    assert again == fresh and len({tuple(wrong) for wrong in again}) > 1


def test_more_searches_repeat_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgames, "GAME_BLOCK", 2)
    monkeypatch.setattr(pgames, "RUN_BLOCK", 2)
    path = tmp_path / "pgame.jsonl"
    few = PGames(Record(path, 1), 3, 4, [4, 16]).rates("UCT2", (3, 4), 0.2)
    first = set(path.read_text().splitlines())
    assert len(first) == 4 and few.shape == (3, 2) and ((few >= 0) & (few <= 1)).all()
    more = PGames(Record(path, 1), 3, 6, [4, 16]).rates("UCT2", (3, 4), 0.2)
    assert set(path.read_text().splitlines()) > first and len(path.read_text().splitlines()) == 6
    assert (np.abs(6 * more - 4 * few) <= 2).all()  # of six searches, four were known


def test_ratios_of_errors_in_the_same_games() -> None:
    some = np.array([[0.2, 0.0], [0.4, 0.0], [0.6, 0.0]])
    (twice, error), (unknown, _) = ratio(2 * some, some)
    assert (twice, error) == pytest.approx((2, 0)) and np.isnan(unknown)
    mean, error = ratio(some, some[::-1])[0]
    assert mean == pytest.approx(1) and error > 0
