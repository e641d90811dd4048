"""Every game we ship: sound, tidy, counted right, and in agreement with a referee written without GDL."""

from __future__ import annotations

import pytest

from ggp_agent.engine import Game, PrologEngine
from ggp_agent.engine.conform import perft
from ggp_agent.engine.ground import check_negation
from ggp_agent.gdl import check, format_text, load
from tests.engine.games import SHIPPED, compare, referee, referee_perft

NAMES = sorted(SHIPPED)

# Joint moves that a test may play to count paths; the counts beyond are left to the long test.
SHORT_PATHS = 3_000
LONG_PATHS = 1_000_000

# Those of the UCD paper, of the other papers, the usual ones, simultaneous moves, three roles, one role.
NEEDED = {
    *("breakthrough", "knightthrough", "pawn_whopping", "capture_the_king", "crisscross"),
    *("connect_four", "merrills", "othello", "pentago", "quarto"),
    *("amazons", "amazons_6x6", "hex_5x5", "hex_9x9", "go_6x6", "leftright"),
    *("tic_tac_toe", "nim", "checkers", "gomoku", "breakthrough_6x6"),
    *("rock_paper_scissors", "tron", "goofspiel"),
    *("three_player_tic_tac_toe", "chinese_checkers"),
    *("eight_puzzle", "lights_out", "peg_solitaire", "knights_tour"),
}


def test_the_games_that_the_papers_and_the_users_need_are_there() -> None:
    assert set(NAMES) >= NEEDED


@pytest.mark.parametrize("name", NAMES)
def test_the_sheet_is_sound_and_tidy(name: str) -> None:
    path = SHIPPED[name].rules
    sheet = load(path)
    allowed = {"name"} if name == "clobber" else set()  # a relation and a function of one name, on purpose
    assert [finding for finding in check(sheet) if finding.code not in allowed] == []
    assert check_negation(Game.load(path)) == []
    assert {"base", "input"} <= {statement.head.name for statement in sheet.statements}
    assert format_text(path.read_text(encoding="utf-8")) == path.read_text(encoding="utf-8")


def counts(name: str, most: int) -> tuple[int, ...]:
    """The counts of meta.toml whose positions can be visited with `most` joint moves."""
    known = SHIPPED[name].perft
    return known[: max(1, sum(before <= most for before in (1, *known[:-1])))]


@pytest.mark.parametrize("name", NAMES)
def test_perft_equals_the_independent_count(name: str) -> None:
    expected = counts(name, SHORT_PATHS // 10)
    with PrologEngine(Game.load(SHIPPED[name].rules), seconds=60) as engine:
        assert tuple(perft(engine, len(expected))) == expected


@pytest.mark.parametrize("name", NAMES)
def test_the_referee_gives_the_counts_of_meta(name: str) -> None:
    expected = counts(name, SHORT_PATHS)
    assert tuple(referee_perft(referee(name), len(expected))) == expected


@pytest.mark.parametrize("name", NAMES)
def test_random_games_agree_with_the_referee(name: str) -> None:
    with PrologEngine(Game.load(SHIPPED[name].rules), seconds=60) as engine:
        assert compare(engine, referee(name), seed=1, max_positions=120) > 3


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_all_perft_counts(name: str) -> None:
    expected = counts(name, LONG_PATHS)
    with PrologEngine(Game.load(SHIPPED[name].rules), seconds=120) as engine:
        assert tuple(perft(engine, len(expected))) == expected


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_many_random_games_agree_with_the_referee(name: str) -> None:
    with PrologEngine(Game.load(SHIPPED[name].rules), seconds=120) as engine:
        positions = seed = 0
        while positions < 1_000:
            positions += compare(engine, referee(name), seed=seed, max_positions=1_000)
            seed += 1
