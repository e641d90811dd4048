"""Boards are found among the fluents, and look like boards."""

from __future__ import annotations

import pytest

from ggp_agent.engine import Game, PrologEngine
from ggp_agent.gdl import Term, parse
from ggp_agent.play import Board
from tests.engine.games import SHIPPED


def facts(text: str) -> list[Term]:
    return [statement.head for statement in parse(text).statements]


def test_a_grid_with_contents() -> None:
    cells = " ".join(f"(cell {x} {y} {piece})" for x in (1, 2, 3) for y in (1, 2) for piece in ("b", "red", "yellow"))
    board = Board(facts(cells + "(control red) (control yellow)"), facts("(cell 1 1 b) (cell 1 2 b) (control red)"))
    picture = board.draw(facts("(cell 1 1 red) (cell 3 2 yellow) (cell 2 2 b) (control red)"))
    assert picture.splitlines() == ["2  . . y", "1  r . .", "   1 2 3", "(control red)"]


def test_a_grid_of_marks_and_letters_as_coordinates() -> None:
    possible = facts(" ".join(f"(lit {x} {y})" for x in "abc" for y in (9, 10)))
    board = Board(possible, possible[:2])
    assert board.draw(possible[1:3]).splitlines() == ["10  l . .", " 9  . l .", "    a b c"]


def test_contents_that_begin_alike_are_told_apart() -> None:
    possible = facts("(cell 1 1 black_king) (cell 1 2 black_queen) (cell 2 1 white_king) (cell 2 2 b)")
    board = Board(possible, [])
    assert set(board.short.values()) == {"black_k", "black_q", "white_k"}


def test_games_without_a_board_are_listed() -> None:
    board = Board(facts("(heap a 3) (heap b 5) (turn x)"), facts("(heap a 3) (heap b 5) (turn x)"))
    assert board.draw(facts("(turn x) (heap a 3)")) == "(turn x)  (heap a 3)"
    assert Board([], []).draw([]) == ""


@pytest.mark.parametrize(
    ("name", "columns", "rows"), [("connect_four", 7, 6), ("breakthrough", 8, 8), ("hex_9x9", 9, 9), ("merrills", 7, 7)]
)
def test_the_boards_of_our_games_are_found(name: str, columns: int, rows: int) -> None:
    with PrologEngine(Game.load(SHIPPED[name].rules)) as engine:
        board = Board(engine.possible(), engine.fluents(engine.initial()))
    assert (len(board.columns), len(board.rows)) == (columns, rows)
