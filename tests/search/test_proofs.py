"""Proven values: games small enough to know the truth by brute force."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from ggp_agent.engine import Engine, State
from ggp_agent.search import Limit, Searcher
from ggp_agent.search.analysis import ranked_lines
from ggp_agent.search.graph import PROVEN, SOLVED
from ggp_agent.search.table import NODES
from tests.search.checks import audit, engine_from, engine_of, small

# Three roles move in turn, twice each; every one of the 64 games has its own goals.
THREE = """
(role a) (role b) (role c)
(after a b) (after b c) (after c a)
(base (turn a)) (base (turn b)) (base (turn c))
(<= (base (step ?n)) (succ ?m ?n)) (base (step 0))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6)
(bit 0) (bit 1)
(<= (base (made ?n ?b)) (succ ?n ?m) (bit ?b))
(init (turn a)) (init (step 0))
(<= (input ?r ?b) (role ?r) (bit ?b)) (<= (input ?r wait) (role ?r))
(<= (legal ?r ?b) (true (turn ?r)) (bit ?b))
(<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
(<= (next (turn ?s)) (true (turn ?r)) (after ?r ?s))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (made ?n ?b)) (true (made ?n ?b)))
(<= (next (made ?n ?b)) (true (step ?n)) (true (turn ?r)) (does ?r ?b))
(<= terminal (true (step 6)))
(<= (goal ?r ?v) (true (made 0 ?a)) (true (made 1 ?b)) (true (made 2 ?c)) (true (made 3 ?d)) (true (made 4 ?e))
    (true (made 5 ?f)) (worth ?r ?a ?b ?c ?d ?e ?f ?v))
(<= (goal ?r 0) (role ?r) (not (true (step 6))))
"""

# The only role goes round in a circle as long as it likes; leaving it at the right place wins.
CIRCLE = """
(role robot)
(next_place 1 2) (next_place 2 3) (next_place 3 1)
(<= (base (at ?p)) (next_place ?p ?q)) (base (at home)) (base (at nowhere)) (init (at 1))
(input robot on) (input robot back) (input robot leave)
(legal robot on) (legal robot back) (legal robot leave)
(<= (next (at ?q)) (true (at ?p)) (next_place ?p ?q) (does robot on))
(<= (next (at ?p)) (true (at ?q)) (next_place ?p ?q) (does robot back))
(<= (next (at home)) (true (at 3)) (does robot leave))
(<= (next (at nowhere)) (true (at ?p)) (distinct ?p 3) (does robot leave))
(<= terminal (true (at home))) (<= terminal (true (at nowhere)))
(<= (goal robot 100) (true (at home))) (<= (goal robot 0) (not (true (at home))))
"""


def three(seed: int, values: list[int]) -> str:
    random = Random(seed)
    facts = [
        f"(worth {role} {' '.join(map(str, bits))} {random.choice(values)})"
        for bits in product((0, 1), repeat=6)
        for role in "abc"
    ]
    return THREE + "\n".join(facts)


def outcomes(engine: Engine, state: State, memo: dict[State, set[tuple[int, ...]]]) -> set[tuple[int, ...]]:
    """All goals that play may lead to in which every role always takes a move that makes sure of as much as it can."""
    if state not in memo:
        position = engine.look(state)
        if position.terminal:
            assert position.goals
            memo[state] = {position.goals}
        else:
            below = [outcomes(engine, engine.step(state, joint), memo) for joint in product(*position.legal)]
            mover = max(range(len(position.legal)), key=lambda role: len(position.legal[role]))
            sure = [min(goals[mover] for goals in some) for some in below]
            memo[state] = {
                goals for some, least in zip(below, sure, strict=True) if least == max(sure) for goals in some
            }
    return memo[state]


@pytest.mark.parametrize("values", [[0, 100], [0, 50, 100], [25, 50, 75]], ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_proven_for_three_roles_is_true_whatever_the_others_prefer(seed: int, values: list[int]) -> None:
    engine = engine_from(three(seed, values))
    searcher = Searcher(engine, small(lanes=20, ripe=1), seed=seed)
    searcher.think(Limit(playouts=6_000))
    audit(searcher)
    memo: dict[State, set[tuple[int, ...]]] = {}
    g = searcher.workers[0].pool.block
    solved = 0
    for node in range(searcher.workers[0].pool.used(NODES)):
        if g["flags"][node] & SOLVED:
            state = g["state"][node].tobytes()[: len(engine.initial())]  # type: ignore[arg-type]
            possible = outcomes(engine, state, memo)
            proven = tuple(round(100 * value) for value in g["value"][node])
            assert proven in possible
            assert proven == tuple(min(goals[role] for goals in possible) for role in range(3))
            solved += 1
    assert solved > 4  # some games are solved by then


def test_a_proven_win_is_followed_to_the_end_of_the_game_and_not_round_in_a_circle() -> None:
    engine = engine_from(CIRCLE)
    for seed in range(10):
        searcher = Searcher(engine, small(lanes=7, max_plies=20), seed=seed)
        for _ in range(4):
            if searcher.position.terminal:
                break
            searcher.think(Limit(playouts=400))
            assert searcher.analyse().proven
            audit(searcher)
            searcher.advance((searcher.best(0),))
        assert searcher.position.terminal and searcher.position.goals == (100,)


@pytest.mark.parametrize("name", ["nim", "tic_tac_toe", "hex_5x5"])
def test_play_from_a_proven_position_ends_as_was_proven(name: str) -> None:
    searcher, random, proven = Searcher(engine_of(name), small(megabytes=64), seed=3), Random(2), 0
    for _ in range(4):
        value = None
        searcher.start()
        while not searcher.position.terminal:
            found = searcher.think(Limit(playouts=20_000))
            assert value is None or (found.proven and found.value == value)
            value = found.value if found.proven else None
            proven += value is not None
            any_move = tuple(random.choice(moves) for moves in searcher.position.legal)
            best = tuple(searcher.best(role) for role in range(2))
            searcher.advance(best if value else any_move)
        assert searcher.position.goals
        assert value is None or tuple(goal / 100 for goal in searcher.position.goals) == value
    assert proven > 4


class Line:
    """A node with some edges, as `ranked_lines` reads them."""

    def __init__(self, edges: list[tuple[int, float, bool]]) -> None:
        self.columns: dict[str, Any] = {
            "first": [0],
            "edges": [len(edges)],
            "role": [0] * len(edges),
            "move": list(range(len(edges))),
            "n": [n for n, _, _ in edges],
            "gain": np.array([mean * (1 if proven else n) for n, mean, proven in edges]),
            "trials": np.array([PROVEN if proven else n for n, _, proven in edges]),
            "flying": np.zeros(len(edges)),
            "virtual_loss": 1,
            "rave": 0.0,
        }

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]


@pytest.mark.parametrize(
    ("edges", "best"),
    [
        ([(90, 0.4, False), (10, 1.0, True)], 1),  # a proven win
        ([(90, 0.4, False), (10, 0.5, True)], 1),  # a proven draw that is better than what is hoped for
        ([(90, 0.6, False), (10, 0.5, True)], 0),  # and one that is not
        ([(10, 0.0, True), (5, 0.1, False)], 1),  # a proven loss is played last
        ([(10, 0.0, True), (5, 0.0, False)], 1),  # even if all else has always lost
        ([(10, 0.0, True), (0, 0.0, False)], 1),  # or was never tried
        ([(10, 0.0, True), (5, 0.0, True)], 0),
        ([(3, 0.5, False), (9, 0.4, False)], 1),  # the most visited
    ],
)
def test_the_order_of_moves(edges: list[tuple[int, float, bool]], best: int) -> None:
    root: Any = (Line(edges), 0)
    assert ranked_lines([root], range(len(edges)), 0)[0].move == best
