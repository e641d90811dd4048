"""The searcher as players use it: thinking, stopping at any moment, following a match, errors in the middle."""

from __future__ import annotations

import threading
from random import Random
from time import sleep
from typing import Any

import pytest

from ggp_agent.engine import Game, PrologEngine
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import ConfigError, EngineError, IllegalMove
from ggp_agent.search import Analysis, Limit, Searcher
from ggp_agent.search.graph import SOLVED
from ggp_agent.search.table import NODES
from ggp_agent.search.workers import LanesWorker
from tests.search.checks import HOSTILE, all_edges, audit, defined, engine_from, engine_of, small, tried

PARALLEL: list[dict[str, Any]] = [
    {"lanes": 1},
    {"lanes": 100},
    {"lanes": 300, "virtual_loss": 3},
    {"lanes": 70, "parallel": "leaf"},
    {"lanes": 12, "parallel": "root"},
    {"lanes": 64, "workers": 2},
    {"lanes": 64, "transpositions": False},
    {"lanes": 64, "depths": (2, 1, 2)},
]
KINDS = ["connect_four", "tron", "three_player_tic_tac_toe", "knights_tour", "goofspiel", "nim"]

# A game that either role may end: the first move decides, 50 or a long game that is mostly lost.
DRAW_OR_WORSE = """
(role a) (role b)
(<= (base (step ?n)) (step ?n)) (step 0) (<= (step ?n) (succ ?m ?n))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9) (succ 9 10)
(succ 10 11) (succ 11 12) (succ 12 13) (succ 13 14) (succ 14 15) (succ 15 16)
(base even) (base lost)
(init (step 0))
(<= (input a ?m) (choice ?m)) (input b wait) (legal b wait)
(choice draw) (choice left) (choice right) (choice up) (choice down)
(<= (legal a ?m) (choice ?m) (distinct ?m draw))
(<= (legal a draw) (true (step 0)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next even) (does a draw))
(<= (next lost) (true lost))
(<= (next lost) (does a ?m) (distinct ?m left) (distinct ?m draw))
(<= (base (trace ?n ?m)) (step ?n) (choice ?m))
(<= (next (trace ?n ?m)) (true (step ?n)) (does a ?m))
(<= (next (trace ?n ?m)) (true (trace ?n ?m)))
(<= terminal (true even)) (<= terminal (true (step 16)))
(<= (goal ?r 50) (role ?r) (true even))
(<= (goal a 0) (not (true even)) (true lost)) (<= (goal b 100) (not (true even)) (true lost))
(<= (goal a 100) (not (true even)) (not (true lost))) (<= (goal b 0) (not (true even)) (not (true lost)))
"""


@pytest.mark.parametrize("settings", PARALLEL, ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_nothing_stays_on_its_way_and_numbers_add_up(name: str, settings: dict[str, object]) -> None:
    searcher = Searcher(engine_of(name), small(**settings), seed=3)
    random = Random(5)
    for playouts in (1, 3, 200, 2_000):
        found = searcher.think(Limit(playouts=playouts))
        audit(searcher)
        most = playouts if settings.get("parallel") != "leaf" else playouts + 69
        assert found.proven or playouts <= found.simulations <= most
        searcher.advance(tuple(random.choice(moves) for moves in searcher.position.legal))
        audit(searcher)
        if searcher.position.terminal:
            break


@pytest.mark.parametrize("settings", [s for s in PARALLEL if s.get("workers", 1) == 1], ids=str)
@pytest.mark.parametrize("name", ["connect_four", "goofspiel"])
def test_the_same_seed_gives_the_same_graph(name: str, settings: dict[str, object]) -> None:
    graphs = []
    for steps in (1, 4, 64):  # however long the slices are
        searcher = Searcher(engine_of(name), small(megabytes=8, **settings), seed=11)
        for worker in searcher.workers:
            assert isinstance(worker, LanesWorker)
            worker.steps = steps
        found = [searcher.think(Limit(playouts=count)) for count in (700, 5_000)]
        searcher.advance(tuple(moves[-1] for moves in searcher.position.legal))
        searcher.think(Limit(playouts=3_000))
        graphs.append(([a.lines for a in found], tried(searcher.workers[0].pool)))
    assert graphs[0] == graphs[1] == graphs[2]
    assert len(graphs[0][1]) > 40


def test_a_fresh_search_counts_every_simulation_at_its_root() -> None:
    searcher = Searcher(engine_of("connect_four"), small(solve=False), seed=1)
    for playouts in (1, 10, 1_000):
        before = searcher.workers[0].pool.block["counts"][0, 0]
        searcher.think(Limit(playouts=playouts))
        assert sum(line.visits for line in searcher.lines(0)) == before + playouts
        assert searcher.workers[0].pool.block["counts"][0, 0] == before + playouts


def test_short_thinks_do_not_make_slices_long() -> None:
    searcher = Searcher(engine_of("tic_tac_toe"), small(lanes=8), seed=1)
    worker = searcher.workers[0]
    assert isinstance(worker, LanesWorker)
    for _ in range(200):
        searcher.think(Limit(playouts=1))
    assert worker.steps < 10_000
    searcher.think(Limit(playouts=20_000))
    assert worker.steps < 10_000


def test_a_search_in_which_all_is_known_still_looks_at_the_clock() -> None:
    """The draw is proven at once and better than all else: simulations that take it never need the circuit."""
    searcher = Searcher(engine_from(DRAW_OR_WORSE), small(exploration=0.1), seed=1)
    found = searcher.think(Limit(seconds=0.2))
    assert found.seconds < 20 and not found.proven
    assert str(searcher.engine.moves[0][searcher.best(0)]) == "draw"
    audit(searcher)


def stop_later(searcher: Searcher, thinking: threading.Event, seconds: float) -> None:
    sleep(seconds)
    while thinking.is_set():
        searcher.stop()
        sleep(0.0005)


def harass(name: str, settings: dict[str, object], rounds: int, seed: int) -> None:
    """Short thinks that are stopped from another thread or by tiny limits, and moves in between."""
    random = Random(seed)
    searcher = Searcher(engine_of(name), small(**settings), seed=seed)
    for number in range(rounds):
        if searcher.position.terminal:
            searcher.start()
        thinking = threading.Event()
        thinking.set()
        limit = Limit(seconds=60)
        if random.random() < 0.5:
            limit = random.choice([Limit(seconds=random.random() * 0.01), Limit(playouts=random.randint(1, 300))])
        stopper = threading.Thread(target=stop_later, args=(searcher, thinking, random.random() * 0.01))
        stopper.start()
        searcher.think(limit)
        thinking.clear()
        stopper.join()
        for worker in searcher.workers:
            g = worker.pool.block
            assert not g["flying"][all_edges(worker.pool)].any() and not g["running"].any() and not g["length"].any()
        for role, legal in enumerate(searcher.position.legal):
            assert searcher.best(role) in legal
        if number % 20 == 0:
            audit(searcher)
        if random.random() < 0.5:
            searcher.advance(tuple(random.choice(moves) for moves in searcher.position.legal))


@pytest.mark.parametrize("settings", PARALLEL, ids=str)
def test_stops_at_random_moments(settings: dict[str, object]) -> None:
    harass("connect_four", settings, rounds=25, seed=2)
    harass("tron", settings, rounds=15, seed=3)


@pytest.mark.long
@pytest.mark.parametrize("settings", PARALLEL, ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_thousands_of_stops(name: str, settings: dict[str, object]) -> None:
    harass(name, settings, rounds=250, seed=4)


def test_an_error_of_the_listener_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ggp_agent.search.searcher.TELL_SECONDS", 0.0)
    searcher = Searcher(engine_of("connect_four"), small(), seed=1)

    def fail(_: Analysis) -> None:
        if searcher.analyse().nodes > 300:
            raise RuntimeError("listener")

    with pytest.raises(RuntimeError, match="listener"):
        searcher.think(Limit(seconds=60), fail)
    audit(searcher)
    searcher.think(Limit(playouts=500))
    audit(searcher)


@pytest.mark.parametrize("settings", [*PARALLEL[:5], {"lanes": 8}], ids=str)
@pytest.mark.parametrize("name", ["no_moves", "two_goals"])
def test_broken_rules_are_reported_and_nothing_stays_on_its_way(name: str, settings: dict[str, object]) -> None:
    game = Game.load(HOSTILE / f"{name}.kif")
    with LanesEngine(game, native=False) as engine:
        searcher = Searcher(engine, small(**settings))
        for _ in range(3):
            with pytest.raises(EngineError, match=r"no legal move|goals at once"):
                searcher.think(Limit(playouts=2_000))
            audit(searcher)
        joint = tuple(moves[0] for moves in searcher.position.legal)
        with pytest.raises(EngineError):
            searcher.advance(joint)
        audit(searcher)  # it is still where it was
        assert searcher.state == engine.initial()


@pytest.mark.parametrize("name", ["no_moves", "two_goals"])
def test_broken_rules_on_the_reference_engine(name: str) -> None:
    with PrologEngine(Game.load(HOSTILE / f"{name}.kif")) as engine:
        searcher = Searcher(engine, small())
        for _ in range(2):
            with pytest.raises(EngineError):
                searcher.think(Limit(playouts=50))
            audit(searcher)


def test_terminal_positions_without_moves_end_playouts_in_all_kinds_of_parallel_search() -> None:
    """Lanes that wait for others of their block must not go on from the end of their game."""
    for name in ("knights_tour", "watershed", "tron", "peg_solitaire"):
        searcher = Searcher(engine_of(name), small(parallel="leaf", lanes=200), seed=2)
        found = searcher.think(Limit(playouts=2_000))
        assert found.simulations >= 2_000
        audit(searcher)


def test_moves_that_are_not_legal_are_refused() -> None:
    searcher = Searcher(engine_of("tic_tac_toe"), small(), seed=1)
    with pytest.raises(IllegalMove):
        searcher.advance((0,))
    with pytest.raises(IllegalMove):
        searcher.advance((10**6, 0))
    while not searcher.position.terminal:
        searcher.advance(tuple(moves[0] for moves in searcher.position.legal))
    with pytest.raises(ConfigError):
        searcher.think(Limit(playouts=1))
    with pytest.raises(IllegalMove, match="over"):
        searcher.advance(tuple(moves[0] if moves else 0 for moves in searcher.position.legal))


def test_a_limit_in_nodes_ends_when_there_are_no_more() -> None:
    searcher = Searcher(engine_of("rock_paper_scissors"), small(lanes=16), seed=1)
    searcher.think(Limit(playouts=20_000))
    found = searcher.think(Limit(nodes=20))
    assert found.simulations <= 20_000
    searcher = Searcher(engine_of("connect_four"), small(megabytes=1, lanes=16), seed=1)
    found = searcher.think(Limit(nodes=10_000, playouts=30_000))
    assert found.nodes < 10_000


@pytest.mark.parametrize("name", ["connect_four", "three_player_tic_tac_toe", "tron"])
@pytest.mark.parametrize("transpositions", [True, False])
def test_a_move_keeps_what_was_found_below_it(name: str, transpositions: bool) -> None:
    searcher = Searcher(engine_of(name), small(transpositions=transpositions, megabytes=64, ripe=1), seed=6)
    searcher.think(Limit(playouts=6_000))
    for _ in range(3):
        g = searcher.workers[0].pool.block
        joint = tuple(searcher.best(role) for role in range(len(searcher.engine.game.roles)))
        visits = None
        if len([1 for moves in searcher.position.legal if len(moves) > 1]) == 1:
            role = next(role for role, moves in enumerate(searcher.position.legal) if len(moves) > 1)
            visits = next(line.visits for line in searcher.lines(role) if line.move == joint[role])
        used = searcher.workers[0].pool.used(NODES)
        searcher.advance(joint)
        root = int(g["root"][0])
        assert root < used and (visits is None or transpositions or g["counts"][root, 0] >= visits - 1)
        searcher.think(Limit(playouts=500))
        audit(searcher)


def test_following_a_line_of_a_single_role_through_moves_without_a_choice() -> None:
    """A player is not asked where it has no choice; the line that it found must survive that."""
    engine = engine_of("knights_tour")
    searcher = Searcher(engine, small(), seed=5)
    state, payoff = engine.initial(), -1.0
    while not (position := engine.look(state)).terminal:
        if len(position.legal[0]) > 1:
            searcher.go_to(state)
            searcher.think(Limit(playouts=300))
            line = searcher.best_line()
            expected = max(searcher.planned_payoff if searcher.planned else -1.0, searcher.lines(0)[0].value)
            assert line is None or expected >= 0
            assert (searcher.planned_payoff if searcher.planned is not None else payoff) >= payoff - 1e-9
            best = searcher.workers[0].best_line()
            payoff = max(payoff, best[0] if best else -1.0)
            move = searcher.best(0)
            if line is None:
                payoff = -1.0
        else:
            move = position.legal[0][0]
        state = engine.step(state, (move,))
    assert position.goals and position.goals[0] / 100 >= payoff - 1e-9


@pytest.mark.parametrize("lanes", [1, 64, 200])
@pytest.mark.parametrize("parallel", ["tree", "leaf"])
@pytest.mark.parametrize("name", ["knights_tour", "peg_solitaire", "lights_out"])
def test_the_best_line_of_a_single_role_is_what_it_says(name: str, parallel: str, lanes: int) -> None:
    engine = engine_of(name)
    searcher = Searcher(engine, small(parallel=parallel, lanes=lanes), seed=lanes)
    searcher.think(Limit(playouts=1_500))
    line = searcher.workers[0].best_line()
    assert line is not None
    payoff, moves = line
    state = searcher.state
    for move in moves:
        assert move in engine.look(state).legal[0]
        state = engine.step(state, (move,))
    position = engine.look(state)
    assert position.terminal and position.goals == (round(100 * payoff),)


def test_a_game_that_is_cut_off_is_no_line() -> None:
    searcher = Searcher(engine_of("lights_out"), small(max_plies=4, lanes=32), seed=1)
    found = searcher.think(Limit(playouts=500))
    line = searcher.workers[0].best_line()
    assert found.cut > 0 and (line is None or line[0] != 0.5)


def test_depths_are_kept_up_in_parallel_and_after_moves() -> None:
    for settings in ({"lanes": 100}, {"lanes": 50, "parallel": "leaf"}):
        for depths in [(2, 1, 2), (1_000_000, 1_000_000, 1_000_000), (3, 2, 1)]:
            searcher = Searcher(engine_of("connect_four"), small(depths=depths, **settings), seed=4)
            for _ in range(3):
                searcher.think(Limit(playouts=700))
                defined(searcher.workers[0].pool, depths)
                searcher.advance((searcher.best(0), searcher.best(1)))
            assert not searcher.workers[0].pool.block["flags"][0] & SOLVED
