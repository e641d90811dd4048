"""What excludes what is proved, not guessed."""

from __future__ import annotations

from ggp_agent.engine import Game
from ggp_agent.engine.coding import Coder
from ggp_agent.engine.ground import program_text
from ggp_agent.engine.ground_child import Grounder
from ggp_agent.gdl import parse
from tests.engine.games import SHIPPED


def groups(game: Game) -> dict[tuple[str, ...], bool]:
    coder = Coder()
    program = program_text([rule for rule in game.rules if rule.head.name != "base"], coder)
    found = Grounder(program, coder.names, 100_000).exclusion()
    return {tuple(sorted(group)): exactly_one for group, exactly_one in found}


def test_a_cell_holds_one_thing_and_one_role_has_the_turn() -> None:
    found = groups(Game.load(SHIPPED["breakthrough_6x6"].rules))
    assert found["(control black)", "(control white)"]
    assert found["(cell 3 3 b)", "(cell 3 3 black)", "(cell 3 3 white)"]
    assert len(found) == 37


def test_what_a_game_can_break_is_not_proved() -> None:
    """Lamps that are switched on and stay on: each excludes nothing. The counter has one value, but may have none."""
    text = """(role r) (init (n 0)) (succ 0 1) (succ 1 2) (lamp a) (lamp b) (goal r 0)
    (<= (legal r (press ?x)) (lamp ?x))
    (<= (next (on ?x)) (does r (press ?x))) (<= (next (on ?x)) (true (on ?x)))
    (<= (next (n ?j)) (true (n ?i)) (succ ?i ?j)) (<= terminal (true (on a)) (true (on b)))"""
    found = groups(Game.from_sheet(parse(text), "lamps"))
    assert found == {("(n 0)", "(n 1)", "(n 2)"): False}


def test_discs_of_connect_four_do_not_exclude_each_other() -> None:
    found = groups(Game.load(SHIPPED["connect_four"].rules))
    assert not any("(cell 1 1 red)" in group and "(cell 2 1 red)" in group for group in found)
