"""The reference engine: its contract, and what it does with rules that are hostile or broken."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ggp_agent.engine import Game, PrologEngine
from ggp_agent.engine.base import NO_GOAL, hash_facts
from ggp_agent.engine.conform import first_policy, perft, trace
from ggp_agent.errors import EngineError, EngineTimeout, IllegalMove
from ggp_agent.gdl import Term, parse
from tests.engine.games import SHIPPED

HOSTILE = Path(__file__).parents[1] / "hostile"


def engine_of(text: str, **settings: float) -> PrologEngine:
    return PrologEngine(Game.from_sheet(parse(text), "test"), **settings)  # type: ignore[arg-type]


def hostile(name: str, seconds: float = 10.0) -> PrologEngine:
    return PrologEngine(Game.load(HOSTILE / f"{name}.kif"), seconds=seconds)


@pytest.fixture(scope="module")
def connect_four() -> Iterator[PrologEngine]:
    with PrologEngine(Game.load(SHIPPED["connect_four"].rules)) as engine:
        yield engine


# The contract


def test_states_are_keys(connect_four: PrologEngine) -> None:
    engine = connect_four
    start = engine.initial()

    def after(*texts: str) -> object:
        state = start
        for number, text in enumerate(texts):
            joint = tuple(
                engine.move(state, role, text if role == number % 2 else "noop")
                for role in range(len(engine.game.roles))
            )
            state = engine.step(state, joint)
        return state

    left = after("(drop 1)", "(drop 2)", "(drop 3)")
    right = after("(drop 3)", "(DROP 2)", "( drop 1 )")
    assert left == right and hash(left) == hash(right) and engine.hash(left) == engine.hash(right)
    assert engine.hash(left) != engine.hash(after("(drop 1)", "(drop 3)", "(drop 2)"))
    assert engine.state(engine.fluents(left)) == left


def test_the_hash_is_the_same_in_every_run() -> None:
    assert hash_facts([]) == 0
    assert hash_facts(["(cell 1 1 b)"]) == 0xF1B72820C7870BCD
    assert hash_facts(["(cell 1 1 b)", "(control red)"]) == hash_facts(["(control red)", "(cell 1 1 b)"])


def test_roles_keep_their_order_and_moves_are_sorted_without_repeats() -> None:
    text = """(role zed) (role amy) (goal zed 7) (goal amy 93) (init a) (<= terminal (true b)) (<= (next b) (true a))
    (legal zed (f 10)) (legal zed (f 9)) (legal zed (f 9 1)) (legal zed stay) (legal amy stay)
    (<= (legal zed (f ?x)) (number ?x)) (number 9) (number 10)"""
    with engine_of(text) as engine:
        position = engine.look(engine.initial())
        assert engine.game.roles == ("zed", "amy")
        assert position.goals == (7, 93)
        assert [str(engine.moves[0][move]) for move in position.legal[0]] == ["(f 10)", "(f 9)", "(f 9 1)", "stay"]
        assert not position.terminal


def test_numbers_are_symbols() -> None:
    text = """(role r) (legal r 1) (legal r 01) (legal r 1.0) (goal r 0) (<= (next (did ?m)) (does r ?m))
    (<= terminal (true (did ?m)) (distinct ?m 1))"""
    with engine_of(text) as engine:
        start = engine.initial()
        assert engine.facts(start) == []
        position = engine.look(start)
        assert [str(engine.moves[0][move]) for move in position.legal[0]] == ["01", "1", "1.0"]
        ends = [engine.look(engine.step(start, (move,))).terminal for move in position.legal[0]]
        assert ends == [True, False, True]


def test_negation_inside_out() -> None:
    """Cases in which the provers of the field differ; ours follows the semantics of GDL."""
    text = """(role r) (legal r go) (goal r 0) (p a) (p (f a)) (init x) (<= terminal (true x))
    (<= (init nor) (not (or q (p b)))) (q c d)
    (<= (init nand) (not (and (p a) (p b))))
    (<= (init (late ?x)) (not (p b)) (distinct ?x a) (p ?x))
    (<= (init conj) (and (p a) (not (p b))))
    (<= (init same) (p ?x) (p ?y) (not (distinct ?x ?y)) (distinct ?y a))"""
    with engine_of(text) as engine:
        assert engine.facts(engine.initial()) == ["(late (f a))", "conj", "nand", "nor", "same", "x"]


def test_positive_cycles_reach_their_fixpoint() -> None:
    text = """(role r) (legal r go) (<= terminal (true (at ?x)) (reach a ?x)) (goal r 0) (init (at d))
    (edge a b) (edge b c) (edge c a) (edge c d) (edge e f)
    (<= (reach ?x ?y) (reach ?x ?z) (reach ?z ?y)) (<= (reach ?x ?y) (edge ?x ?y))
    (<= (next (at f)) (true (at ?x)) (not (reach ?x a)))"""
    with engine_of(text) as engine:
        start = engine.initial()
        assert engine.look(start).terminal
        assert engine.look(engine.state([Term("at", (Term("a"),))])).terminal
        assert not engine.look(engine.state([Term("at", (Term("e"),))])).terminal
        assert engine.facts(engine.step(start, (0,))) == ["(at f)"]
        with pytest.raises(EngineError, match="does not know xyz"):
            engine.state([Term("xyz")])


def test_tables_are_forgotten_when_state_or_moves_change() -> None:
    text = """(role r) (legal r (open a)) (legal r (open b)) (goal r 0) (init (gate a)) (node a) (node b)
    (<= (way ?x) (does r (open ?x))) (<= (way ?x) (way ?y) (link ?y ?x)) (link a b) (link b a)
    (<= (lit ?x) (true (gate ?x))) (<= (lit ?x) (lit ?y) (true (wire ?y ?x)))
    (<= (next (gate ?x)) (way ?x)) (<= terminal (lit b)) (<= (next (wire a b)) (does r (open a)))"""
    with engine_of(text) as engine:
        start = engine.initial()
        position = engine.look(start)
        assert not position.terminal
        nexts = [engine.facts(engine.step(start, (move,))) for move in position.legal[0]]
        assert nexts == [["(gate a)", "(gate b)", "(wire a b)"], ["(gate a)", "(gate b)"]]
        assert engine.look(engine.step(start, (0,))).terminal


def test_playouts_repeat_with_their_seed(connect_four: PrologEngine) -> None:
    start = connect_four.initial()
    one, two, other = (connect_four.playouts(start, 50, seed) for seed in (5, 5, 6))
    assert (one.goals == two.goals).all() and (one.plies == two.plies).all()
    assert (one.plies != other.plies).any()
    assert one.goals.shape == (50, 2) and (one.goals.sum(axis=1) == 100).all()
    assert one.plies.min() >= 7 and one.plies.max() <= 42


def test_playouts_are_cut_off(connect_four: PrologEngine) -> None:
    cut = connect_four.playouts(connect_four.initial(), 5, 1, max_plies=3)
    assert (cut.plies == 3).all() and (cut.goals == NO_GOAL).all()


def test_playouts_choose_uniformly() -> None:
    """A game of one move out of seven, the goal tells which: the counts pass a chi-squared test at 0.1 %."""
    moves = " ".join(f"(legal r {i}) (<= (goal r {i}) (true (did {i})))" for i in range(7))
    with engine_of(f"(role r) {moves} (<= (next (did ?m)) (does r ?m)) (<= terminal (true (did ?m)))") as engine:
        goals = engine.playouts(engine.initial(), 7_000, 3).goals[:, 0]
    counts = np.bincount(goals, minlength=7)
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 22.46  # six degrees of freedom


def test_illegal_moves_are_named(connect_four: PrologEngine) -> None:
    start = connect_four.initial()
    for text in ("(drop 8)", "noop", "(drop", "(drop ?x)", "a b"):
        with pytest.raises(IllegalMove, match="not"):
            connect_four.move(start, 0, text)


# Hostile and broken rules


def test_names_are_only_names() -> None:
    with hostile("names") as engine:
        assert list(perft(engine, 6)) == [2, 4, 8, 16, 32, 64]
        records = list(trace(engine, first_policy, 100))  # one place at a time, along all of them
        assert records[-1]["terminal"] and len(records) == 82
        places = {fact for record in records for fact in record["facts"]}
        assert any("|two words|" in fact for fact in places)


def test_negation_through_a_cycle_is_judged_in_the_ground() -> None:
    with hostile("ground_stratified") as engine:
        assert list(perft(engine, 5)) == [2, 4, 6, 3, 2]
    with hostile("negative_cycle") as engine, pytest.raises(EngineError, match="neither true nor false"):
        engine.look(engine.initial())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_moves", r"second has no legal move, .* in the position \(step 2\)"),
        ("two_goals", "robot has 2 goals at once: 0, 100; in the position"),
        ("no_goal", "the game is over, and robot has no goal; in the position"),
    ],
)
def test_broken_positions_are_named(name: str, message: str) -> None:
    with hostile(name) as engine:
        pid = engine.child and engine.child.pid
        with pytest.raises(EngineError, match=message):
            list(trace(engine, first_policy, 10))
        with pytest.raises(EngineError, match=r"position \("):
            engine.playouts(engine.initial(), 100, 1)
        assert engine.facts(engine.initial())
        assert pid == (engine.child and engine.child.pid)  # the rules are broken, the child is not


@pytest.mark.parametrize("name", ["endless", "looping_next", "memory"])
def test_rules_without_end_cost_a_child_and_nothing_else(name: str) -> None:
    with hostile(name, seconds=1.0) as engine:
        start = engine.initial()
        pid = engine.child and engine.child.pid
        with pytest.raises(EngineError):
            engine.playouts(start, 1, 1)
        assert pid != (engine.child and engine.child.pid)
        assert engine.initial() == start  # a new child is ready


def test_rules_that_need_too_much_memory() -> None:
    with PrologEngine(Game.load(HOSTILE / "memory.kif"), seconds=60, memory_bytes=400 << 20) as engine:
        with pytest.raises(EngineError, match="memory"):
            engine.look(engine.initial())
        assert engine.facts(engine.initial())


def test_a_child_killed_in_the_middle_of_a_playout_is_replaced(connect_four: PrologEngine) -> None:
    start = connect_four.initial()
    before = connect_four.playouts(start, 20, 9)
    for _ in range(3):
        assert connect_four.child is not None
        timer = threading.Timer(0.3, os.kill, (connect_four.child.pid, signal.SIGKILL))
        timer.start()
        with pytest.raises(EngineError, match="ended with code -9"):
            connect_four.playouts(start, 1_000_000, 9)
        timer.join()
        after = connect_four.playouts(start, 20, 9)
        assert (after.plies == before.plies).all() and (after.goals == before.goals).all()


def test_a_timeout_in_the_middle_of_playouts() -> None:
    with PrologEngine(Game.load(SHIPPED["leftright"].rules), seconds=0.001) as engine:
        with pytest.raises(EngineTimeout):
            engine.playouts((), 10, 1)
        engine.seconds = 10
        assert engine.playouts(engine.initial(), 2, 1).plies.tolist() == [300, 300]


def test_a_closed_engine_says_so() -> None:
    engine = hostile("no_goal")
    child = engine.child
    engine.close()
    engine.close()
    assert child is not None and child.process.poll() is not None
    with pytest.raises(EngineError, match="closed"):
        engine.initial()


def resident_kilobytes(engine: PrologEngine) -> int:
    assert engine.child is not None
    status = Path(f"/proc/{engine.child.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def test_steps_leave_nothing_behind(connect_four: PrologEngine) -> None:
    start = connect_four.initial()
    connect_four.playouts(start, 1_000, 1)
    before = resident_kilobytes(connect_four)
    connect_four.playouts(start, 4_000, 2)
    assert resident_kilobytes(connect_four) - before < 5_000


def test_a_child_does_not_outlive_its_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, sys\n"
        "from ggp_agent.engine import Game, PrologEngine\n"
        f"engine = PrologEngine(Game.load({str(HOSTILE / 'endless.kif')!r}), seconds=60)\n"
        "engine.initial()\n"
        "engine.child.send({'ask': 'look([])'})\n"
        "print(engine.child.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    output = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout
    try:
        gone = os.pidfd_open(int(output))
    except ProcessLookupError:
        return  # it has ended already
    ready, _, _ = select.select([gone], [], [], 20)
    os.close(gone)
    assert ready, "the child went on without its parent"
