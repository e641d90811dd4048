"""The lanes engine agrees with the reference, on our games and on games made up at random, and chooses fairly."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ggp_agent.engine import Game, PrologEngine, open_engine
from ggp_agent.engine.base import NO_GOAL
from ggp_agent.engine.circuit_file import load, save
from ggp_agent.engine.conform import conform, perft
from ggp_agent.engine.ground import Limits
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import CannotGround, EngineError, GdlRuleError
from ggp_agent.gdl import Term, parse
from tests.engine.games import SHIPPED, compare, referee
from tests.engine.test_games import counts

NAMES = sorted(SHIPPED)
HOSTILE = Path(__file__).parents[1] / "hostile"


def engine_of(text: str) -> LanesEngine:
    return LanesEngine(Game.from_sheet(parse(text), "test"), native=False)


@pytest.fixture(scope="module")
def connect_four() -> Iterator[LanesEngine]:
    with LanesEngine(Game.load(SHIPPED["connect_four"].rules)) as engine:
        yield engine


# Conformance

SLOW = {"amazons": 6, "othello": 40, "chinese_checkers": 60}  # positions that the reference can do in a test


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_agrees(name: str) -> None:
    game = Game.load(SHIPPED[name].rules)
    with LanesEngine(game, native=False) as lanes, PrologEngine(game, seconds=60) as prolog:
        positions = SLOW.get(name, 100)
        assert conform(lanes, prolog, positions, seed=2, max_steps=positions) >= positions


@pytest.mark.parametrize("name", [name for name in NAMES if name != "amazons"])
def test_random_games_agree_with_the_referee(name: str) -> None:
    with LanesEngine(Game.load(SHIPPED[name].rules), native=False) as engine:
        assert sum(compare(engine, referee(name), seed, max_positions=300) for seed in (3, 4)) > 6


@pytest.mark.parametrize("name", NAMES)
def test_perft_equals_the_independent_count(name: str) -> None:
    expected = counts(name, 2_000 if name != "amazons" else 1)
    with LanesEngine(Game.load(SHIPPED[name].rules), native=False) as engine:
        assert tuple(perft(engine, len(expected))) == expected


@pytest.mark.parametrize("name", ["tic_tac_toe", "tron", "hex_5x5", "three_player_tic_tac_toe", "knights_tour"])
def test_random_play_has_the_same_mean_as_in_prolog(name: str) -> None:
    game = Game.load(SHIPPED[name].rules)
    with LanesEngine(game, native=False) as lanes, PrologEngine(game) as prolog:
        ours = lanes.playouts(lanes.initial(), 100_000, 1)
        theirs = prolog.playouts(prolog.initial(), 1_000, 1)
    mine, other = (np.column_stack([ends.plies, ends.goals]) for ends in (ours, theirs))
    error = other.std(axis=0) / len(other) ** 0.5 + 1e-9
    assert (abs(mine.mean(axis=0) - other.mean(axis=0)) < 4.5 * error).all()


@pytest.mark.parametrize("name", ["connect_four", "hex_5x5", "go_6x6", "amazons_6x6"])
def test_machine_code_computes_what_the_interpreter_computes(name: str) -> None:
    game = Game.load(SHIPPED[name].rules)
    with LanesEngine(game, native=False) as interpreted, LanesEngine(game) as compiled:
        assert compiled.wait()
        one, two = (engine.playouts(engine.initial(), 2_000, 7) for engine in (interpreted, compiled))
        assert (one.plies == two.plies).all() and (one.goals == two.goals).all()
        assert conform(compiled, interpreted, 100) >= 100


# Games made up at random: facts, rules with recursion and negation, over a few constants

CONSTANTS = ("a", "b", "c")
VARIABLES = ("?x", "?y")


@st.composite
def games_at_random(draw: st.DrawFn) -> str:
    def term() -> str:
        return draw(st.sampled_from((*CONSTANTS, *VARIABLES)))

    def literal() -> str:
        kind = draw(st.sampled_from(["true", "true", "p", "q", "e", "not true", "not p", "not q", "distinct"]))
        sentence = {
            "true": lambda: f"(true (f {term()}))",
            "p": lambda: f"(p {term()})",
            "q": lambda: f"(q {term()} {term()})",
            "e": lambda: f"(e {term()} {term()})",
            "distinct": lambda: f"(distinct {term()} {term()})",
        }[kind.removeprefix("not ")]()
        return f"(not {sentence})" if kind.startswith("not ") else sentence

    def rules(head: str) -> list[str]:
        # `d` binds the variables, so that every rule is safe.
        return [
            f"(<= {head} (d ?x) (d ?y) {' '.join(literal() for _ in range(draw(st.integers(1, 3))))})"
            for _ in range(draw(st.integers(1, 3)))
        ]

    lines = [
        "(role r)",
        *(f"(d {c})" for c in CONSTANTS),
        "(legal r (go a))",
        "(e a b)",
        f"(e {term()} b)",
        "(init (n 0))",
    ]
    lines += ["(succ 0 1)", "(succ 1 2)", "(succ 2 3)", "(<= terminal (true (n 3)))", "(goal r 50)"]
    lines += ["(<= (next (n ?j)) (true (n ?i)) (succ ?i ?j))", f"(init (f {draw(st.sampled_from(CONSTANTS))}))"]
    for head in ("(p ?x)", "(q ?x ?y)", "(next (f ?x))"):
        lines += rules(head)
    lines += [
        rule.replace("(<= (next (f ?y))", "(<= (next (f ?y)) (does r (go ?x))") for rule in rules("(next (f ?y))")
    ]
    lines += rules("(legal r (go ?x))")
    return "\n".join(
        line.replace("(e ?x", "(e a").replace("(e ?y", "(e b") if line.startswith("(e") else line for line in lines
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(games_at_random())
def test_games_at_random_agree(text: str) -> None:
    game = Game.from_sheet(parse(text), "random")
    try:
        lanes = LanesEngine(game, native=False)
    except EngineError as error:
        assert "depend on their own negation" in str(error)
        return
    with lanes, PrologEngine(game) as prolog:
        assert conform(lanes, prolog, 20) >= 20


STEP = "(<= (next done) (does r go)) (<= terminal (true done)) (goal r 50) (legal r go)"


@pytest.mark.parametrize(
    "text",
    [
        # where the game begins rests on negation that only ground rules stratify
        f"""(role r) (succ 0 1) (succ 1 2) (succ 2 3) (even 0) (<= (even ?y) (succ ?x ?y) (not (even ?x)))
        (<= (init (e ?x)) (even ?x)) (<= terminal (true (e 3))) {STEP}""",
        # a move that is never possible
        "(role x) (legal x noop) (<= (legal x fire) (true armed)) (<= (next done) (not (does x fire)))"
        "(<= terminal (true done)) (goal x 100)",
        # one value, two spellings
        "(role r) (legal r a) (legal r b) (<= (next (did ?m)) (does r ?m)) (<= terminal (true (did ?m)))"
        "(<= (goal r 1) (true (did a))) (<= (goal r 01) (true (did b)))",
        # goals and moves of somebody who is no role, goals that are none but never hold
        f"""(role r) (init (cell 1 b)) (<= (goal ?w 100) (true (cell 1 ?w))) (who (p q)) (<= (legal ?w go) (who ?w))
        (<= (goal r ?x) (true (score ?x))) (<= (next (score 700)) (true (score 600)))
        (<= (next (score 600)) (true never))
        {STEP}""",
        # roles, fluents and moves in bars; fluents that are constants; frames by a variable; nested terms
        """(role |a b|) (legal |a b| |x y|) (legal |a b| (f (g 1) 2)) (init start) (init (h (g 1)))
        (<= (next ?f) (true ?f) (distinct ?f start)) (<= (next (made ?m)) (does |a b| ?m))
        (<= terminal (true (made |x y|))) (<= (goal |a b| 100) (true (made (f ?x 2))))
        (<= (goal |a b| 0) (not (true (made (f (g 1) 2)))))""",
        # legal in bodies, several rules for one move, goals that are missing before the end
        """(role r) (role s) (init (n 0)) (succ 0 1) (succ 1 2) (<= (next (n ?j)) (true (n ?i)) (succ ?i ?j))
        (<= (legal ?r wait) (role ?r)) (<= (legal r wait) (true (n ?x))) (<= (legal s fast) (legal r wait) (true (n 1)))
        (<= (next (fast)) (does s fast)) (<= terminal (true (n 2))) (<= (goal ?r 10) (role ?r) (true (n 2)))""",
    ],
)
def test_odd_rules_play_alike(text: str) -> None:
    game = Game.from_sheet(parse(text), "odd")
    with LanesEngine(game, native=False) as lanes, PrologEngine(game) as prolog:
        assert conform(lanes, prolog, 12) >= 12


def test_a_goal_that_is_none_matters_when_it_holds() -> None:
    text = f"(role r) {STEP.replace('(goal r 50)', '(<= (goal r ?x) (worth ?x) (true done)) (worth 120)')}"
    game = Game.from_sheet(parse(text), "much")
    with LanesEngine(game, native=False) as lanes, PrologEngine(game) as prolog:
        for engine in (lanes, prolog):
            assert not engine.look(engine.initial()).terminal
            with pytest.raises(EngineError, match="not an integer from 0 to 100"):
                engine.playouts(engine.initial(), 5, 1)


# Choice


def test_moves_are_chosen_uniformly() -> None:
    """Chi-squared over the legal moves of games with 1 to 40 moves, at 0.1 %; the goal tells the move."""
    for count in (2, 3, 7, 8, 9, 17, 40):
        moves = " ".join(f"(legal r {i}) (<= (goal r {i}) (true (did {i})))" for i in range(count))
        with engine_of(f"(role r) {moves} (<= (next (did ?m)) (does r ?m)) (<= terminal (true (did ?m)))") as engine:
            goals = engine.playouts(engine.initial(), 2_000 * count, 5).goals[:, 0]
        found = np.bincount(goals, minlength=count)
        freedom = count - 1
        limit = freedom * (1 - 2 / (9 * freedom) + 3.09 * (2 / (9 * freedom)) ** 0.5) ** 3  # Wilson and Hilferty
        assert ((found - 2000.0) ** 2 / 2000.0).sum() < limit, f"{count} moves: {found}"


def test_every_lane_chooses_by_itself() -> None:
    """The first moves in different lanes are as different as chance makes them."""
    moves = " ".join(f"(legal r {i}) (<= (goal r {i}) (true (did {i})))" for i in range(8))
    with engine_of(f"(role r) {moves} (<= (next (did ?m)) (does r ?m)) (<= terminal (true (did ?m)))") as engine:
        goals = np.stack([engine.playouts(engine.initial(), 512, seed).goals[:, 0] for seed in range(200)])
    same = (goals[:, :-1] == goals[:, 1:]).mean()
    assert abs(same - 1 / 8) < 0.01


def test_playouts_repeat_and_are_cut_off(connect_four: LanesEngine) -> None:
    start = connect_four.initial()
    one, two, other = (connect_four.playouts(start, 3_000, seed) for seed in (1, 1, 2))
    assert (one.plies == two.plies).all() and (one.goals == two.goals).all() and (one.plies != other.plies).any()
    assert (one.goals.sum(axis=1) == 100).all() and one.plies.min() >= 7 and one.plies.max() <= 42
    cut = connect_four.playouts(start, 1_000, 1, max_plies=10)
    over = cut.goals[:, 0] != NO_GOAL
    assert (cut.plies[~over] == 10).all() and (cut.plies[over] <= 10).all() and over.any() and not over.all()


def test_playouts_from_a_state_in_the_middle(connect_four: LanesEngine) -> None:
    state = connect_four.initial()
    for ply, text in enumerate(("(drop 4)", "(drop 1)", "(drop 4)", "(drop 1)", "(drop 4)", "(drop 2)")):
        joint = [connect_four.move(state, role, text if role == ply % 2 else "noop") for role in (0, 1)]
        state = connect_four.step(state, tuple(joint))
    ends = connect_four.playouts(state, 2_000, 1)
    assert (ends.plies == 1).mean() > 0.1  # one drop in seven wins at once
    assert (ends.goals[ends.plies == 1] == [100, 0]).all()


# Bad input


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_moves", r"second has no legal move, .* in the position \(step 2\)"),
        ("two_goals", "robot has 2 goals at once: 0, 100; in the position"),
        ("no_goal", "robot has no goal; in the position"),
    ],
)
def test_broken_positions_are_named(name: str, message: str) -> None:
    with LanesEngine(Game.load(HOSTILE / f"{name}.kif"), native=False) as engine:
        with pytest.raises(EngineError, match=message):
            engine.playouts(engine.initial(), 1_000, 1)
        assert engine.facts(engine.initial())


def test_a_role_without_any_move() -> None:
    with engine_of("(role r) (role s) (legal r a) (goal r 1) (goal s 2) (init x) (<= terminal (true y))") as engine:
        for ask in (lambda: engine.look(engine.initial()), lambda: engine.playouts(engine.initial(), 10, 1)):
            with pytest.raises(EngineError, match="s has no legal move"):
                ask()


def test_games_that_are_over_at_once_and_empty_states() -> None:
    with engine_of("(role r) (legal r a) (goal r 7) (<= terminal (not (true x)))") as engine:
        assert engine.facts(engine.initial()) == []
        ends = engine.playouts(engine.initial(), 2_000, 1)
        assert (ends.plies == 0).all() and (ends.goals == 7).all()


def test_games_that_cannot_be_made_ground_are_played_by_prolog() -> None:
    game = Game.load(HOSTILE / "endless.kif")
    with pytest.raises(CannotGround):
        LanesEngine(game, limits=Limits(seconds=1))
    with pytest.raises(CannotGround, match="more than 100 ground rules"):
        facts = " ".join(f"(p {i})" for i in range(100))
        text = (
            f"(role r) (legal r a) (goal r 0) (<= terminal (p ?x) (q ?x)) {facts} (<= (q ?x) (p ?x) (true ?x)) (init 1)"
        )
        LanesEngine(Game.from_sheet(parse(text), "large"), limits=Limits(rules=100))
    told: list[str] = []
    with open_engine(Game.load(SHIPPED["tic_tac_toe"].rules), "auto", told.append) as engine:
        assert engine.name == "lanes" and not [message for message in told if "Prolog" in message]


def test_negative_cycles_are_named() -> None:
    with pytest.raises(EngineError, match=r"own negation: .*\(win "):
        LanesEngine(Game.load(HOSTILE / "negative_cycle.kif"), native=False)
    with pytest.raises(GdlRuleError):
        engine_of("(role r)")


def test_hostile_names_play_alike() -> None:
    game = Game.load(HOSTILE / "names.kif")
    with LanesEngine(game, native=False) as lanes, PrologEngine(game) as prolog:
        assert conform(lanes, prolog, 100) >= 100


def test_a_damaged_circuit_is_refused(connect_four: LanesEngine, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    save(connect_four.circuit, path)
    circuit = load(path)
    assert circuit.fluents == connect_four.circuit.fluents
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(EngineError, match="is not a circuit"):
        load(path)
    for change in ({"terminal": 10**6}, {"rows": 5}, {"next_start": 0}):
        save(type(circuit)(**{**{name: getattr(circuit, name) for name in circuit.__slots__}, **change}), path)
        with pytest.raises(EngineError, match="do not fit together"):
            load(path)


def test_a_circuit_that_nobody_waits_for_is_given_up() -> None:
    stop = threading.Event()
    stop.set()
    rules = "(role r) (legal r a) (goal r 0) (init (unmade 1)) (<= terminal (true (unmade 1)))"
    with pytest.raises(EngineError, match="nobody waits"):
        LanesEngine(Game.from_sheet(parse(rules), "unmade"), stop=stop)


def test_states_and_moves_from_outside(connect_four: LanesEngine) -> None:
    start = connect_four.initial()
    assert connect_four.state(connect_four.fluents(start)) == start
    with pytest.raises(EngineError, match="no fluent"):
        connect_four.state([Term("xyz")])
    assert {str(term) for term in connect_four.moves[0]} == {"noop", *(f"(drop {i})" for i in range(1, 8))}
    assert len(connect_four.possible()) == 128
    for moves in connect_four.moves:
        assert [moves.index(term) for term in moves] == list(range(len(moves)))
        for absent in (Term("xyz"), "noop"):
            with pytest.raises(ValueError, match="not here"):
                moves.index(absent)


def test_threads_may_share_an_engine(connect_four: LanesEngine) -> None:
    start = connect_four.initial()
    expected = connect_four.playouts(start, 2_000, 3)
    found = []
    threads = [threading.Thread(target=lambda: found.append(connect_four.playouts(start, 2_000, 3))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        assert len(connect_four.look(start).legal[0]) == 7
    for thread in threads:
        thread.join()
    assert all((ends.plies == expected.plies).all() for ends in found) and len(found) == 4


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_positions_agree(name: str) -> None:
    """A thousand random positions of each game; fewer of Amazons, where the reference needs seconds for one."""
    game = Game.load(SHIPPED[name].rules)
    with LanesEngine(game) as lanes, PrologEngine(game, seconds=120) as prolog:
        lanes.wait()
        compared = conform(lanes, prolog, 100 if name == "amazons" else 1_000, seed=11)
        print(f"{name}: {compared} positions agree")
        expected = counts(name, 20_000 if name != "amazons" else 1)
        assert tuple(perft(lanes, len(expected))) == expected
