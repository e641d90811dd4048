"""Right answers: perfect play, forced wins and blocks, puzzles, games of three roles and of simultaneous moves."""

from __future__ import annotations

from functools import cache
from math import sqrt
from random import Random
from typing import Any

import pytest

from ggp_agent.engine import Engine, Game, PrologEngine, State
from ggp_agent.search import Limit, SearchConfig, Searcher
from tests.engine.games import SHIPPED
from tests.search.checks import engine_of, small
from tests.search.four import Task, tasks

FOUR_PLAYOUTS = 40_000
PROOF_PLAYOUTS = 4_000_000  # that a longer way wins too: one of them takes 2.3 million
WANTED = {"win in 1": 15, "block": 20, "win in 2": 20, "win in 3": 15}

# Tic-tac-toe


@cache
def minimax(state: State) -> int:
    """The goal of the first role under perfect play."""
    engine = engine_of("tic_tac_toe")
    position = engine.look(state)
    if position.terminal:
        assert position.goals
        return position.goals[0]
    values = [minimax(after) for after in following(engine, state).values()]
    return max(values) if mover(engine, state) == 0 else min(values)


def mover(engine: Engine, state: State) -> int:
    """Whose turn it is; `control` tells, also where only one move is left."""
    facts = engine.facts(state)
    return next(role for role, name in enumerate(engine.game.roles) if f"(control {name})" in facts)


def following(engine: Engine, state: State) -> dict[int, State]:
    """The states after every move of the role to move."""
    position, role = engine.look(state), mover(engine, state)
    found = {}
    for move in position.legal[role]:
        joint = [moves[0] for moves in position.legal]
        joint[role] = move
        found[move] = engine.step(state, tuple(joint))
    return found


@cache
def all_states() -> list[State]:
    """Every reachable position of tic-tac-toe in which the game is not over."""
    engine, found = engine_of("tic_tac_toe"), dict.fromkeys([engine_of("tic_tac_toe").initial()])
    for state in (queue := list(found)):
        for after in following(engine, state).values():
            if after not in found:
                found[after] = None
                if not engine.look(after).terminal:
                    queue.append(after)
    return queue


def play_perfectly(states: list[State]) -> None:
    engine = engine_of("tic_tac_toe")
    searcher = Searcher(engine, small(megabytes=4, lanes=64), seed=1)
    for state in states:
        searcher.start(state)
        found = searcher.think(Limit(playouts=2_000))
        role = mover(engine, state)
        assert minimax(following(engine, state)[searcher.best(role)]) == minimax(state), engine.facts(state)
        assert not found.proven or round(100 * found.value[0]) == minimax(state)


def test_tic_tac_toe_is_played_perfectly() -> None:
    states = all_states()
    assert len(states) == 4520  # of 5478 positions 958 are over
    play_perfectly([states[0], *Random(1).sample(states, 300)])


@pytest.mark.long
def test_tic_tac_toe_is_played_perfectly_from_every_position() -> None:
    play_perfectly(all_states())


# Connect Four


@cache
def four_tasks() -> list[Task]:
    return list(tasks(7, WANTED))


def four_state(engine: Engine, columns: tuple[int, ...]) -> State:
    state = engine.initial()
    for ply, column in enumerate(columns):
        legal = engine.look(state).legal
        joint = [legal[0][0], legal[1][0]]
        joint[ply % 2] = engine.move(state, ply % 2, f"(drop {column + 1})")
        state = engine.step(state, tuple(joint))
    return state


def column_of(engine: Engine, role: int, move: int) -> int:
    return int(str(engine.moves[role][move]).strip("()").split()[1]) - 1


def is_won(engine: Engine, columns: tuple[int, ...], role: int) -> bool:
    """Has a role a win that can be proven?"""
    position = engine.look(four_state(engine, columns))
    if position.terminal:
        return position.goals is not None and position.goals[role] == 100
    searcher = Searcher(engine, small(megabytes=1024), seed=2)
    searcher.start(four_state(engine, columns))
    found = searcher.think(Limit(playouts=PROOF_PLAYOUTS))
    return found.proven and found.value[role] == 1.0


@pytest.mark.parametrize("settings", [{}, {"depths": (2, 1, 2)}, {"solve": False}], ids=str)
def test_forced_wins_and_blocks_in_connect_four_are_found(settings: dict[str, Any]) -> None:
    engine = engine_of("connect_four")
    searcher = Searcher(engine, small(megabytes=64, **settings), seed=1)
    wrong = []
    for task in four_tasks():
        searcher.start(four_state(engine, task.columns))
        searcher.think(Limit(playouts=FOUR_PLAYOUTS if searcher.config.solve else 2 * FOUR_PLAYOUTS))
        role = len(task.columns) % 2
        column = column_of(engine, role, searcher.best(role))
        if column not in task.right and not (
            task.kind.startswith("win") and is_won(engine, (*task.columns, column), role)  # a longer way to win
        ):
            wrong.append(task)
    assert len(four_tasks()) == sum(WANTED.values()) >= 50
    assert not wrong


@pytest.mark.long
def test_the_centre_is_the_best_beginning_in_connect_four() -> None:
    engine = engine_of("connect_four")
    for seed in range(3):
        searcher = Searcher(engine, SearchConfig(megabytes=512), seed=seed)
        searcher.think(Limit(playouts=300_000))
        assert column_of(engine, 0, searcher.best(0)) == 3


def test_the_centre_is_played_first_in_connect_four() -> None:
    searcher = Searcher(engine_of("connect_four"), small(megabytes=128), seed=2)
    searcher.think(Limit(playouts=60_000))
    assert column_of(searcher.engine, 0, searcher.best(0)) == 3


# Puzzles


@pytest.mark.parametrize(
    ("name", "playouts", "goal"),
    [("lights_out", 60_000, 100), ("eight_puzzle", 60_000, 100), ("knights_tour", 30_000, 100), ("leftright", 500, 60)],
)
def test_puzzles_are_solved(name: str, playouts: int, goal: int) -> None:
    searcher = Searcher(engine_of(name), small(megabytes=128), seed=4)
    while not searcher.position.terminal:
        searcher.think(Limit(playouts=playouts))
        searcher.advance((searcher.best(0),))
    assert searcher.position.goals and searcher.position.goals[0] >= goal


# Many roles, simultaneous moves


def points_against_random(name: str, games: int, playouts: int, **settings: Any) -> list[int]:
    """What the search gets, in every role in turn, against players that choose at random."""
    engine, found = engine_of(name), []
    searcher = Searcher(engine, small(lanes=32, **settings), seed=5)
    for number in range(games):
        random, role = Random(number), number % len(engine.game.roles)
        searcher.start()
        while not searcher.position.terminal:
            joint = [random.choice(moves) for moves in searcher.position.legal]
            if len(searcher.position.legal[role]) > 1:
                searcher.think(Limit(playouts=playouts))
                joint[role] = searcher.best(role)
            searcher.advance(tuple(joint))
        assert searcher.position.goals
        found.append(searcher.position.goals[role])
    return found


@pytest.mark.parametrize(
    ("name", "games", "least"),
    [("three_player_tic_tac_toe", 24, 85), ("tron", 12, 80), ("goofspiel", 32, 65), ("breakthrough_6x6", 8, 95)],
)
@pytest.mark.parametrize("parallel", ["tree", "root"])
def test_random_players_are_beaten(name: str, games: int, least: int, parallel: str) -> None:
    points = points_against_random(name, games, 400 if parallel == "tree" else 4_000, parallel=parallel)
    assert sum(points) / len(points) >= least


def test_nothing_is_to_be_won_at_rock_paper_scissors_against_random() -> None:
    points = points_against_random("rock_paper_scissors", 20, 200)
    deviation = 5 * sqrt(10 * 2 / 3)  # of one game: ten rounds of -5, 0 or 5
    assert abs(sum(points) / len(points) - 50) < 4 * deviation / sqrt(len(points))


# The reference engine


@pytest.mark.parametrize("settings", [{}, {"depths": (2, 1, 2)}, {"transpositions": False}], ids=str)
def test_the_reference_engine_finds_the_same_moves(settings: dict[str, Any]) -> None:
    game = Game.load(SHIPPED["tic_tac_toe"].rules)
    lanes = engine_of("tic_tac_toe")
    states = [state for state in all_states() if minimax(state) != 50 and len(lanes.look(state).legal[0]) in (1, 5)]
    with PrologEngine(game) as prolog:
        slow = Searcher(prolog, small(megabytes=4, **settings), seed=1)
        fast = Searcher(lanes, small(megabytes=4, **settings), seed=1)
        compared = 0
        for state in Random(3).sample(states, 12):
            best = {move for move, after in following(lanes, state).items() if minimax(after) == minimax(state)}
            if len(best) > 1:
                continue
            role = mover(lanes, state)
            fast.start(state)
            fast.think(Limit(playouts=600))
            slow.start(prolog.state(lanes.fluents(state)))
            slow.think(Limit(playouts=200))
            moves = [str(s.engine.moves[role][s.best(role)]) for s in (fast, slow)]
            assert moves[0] == moves[1] == str(lanes.moves[role][best.pop()])
            compared += 1
        assert compared > 3


def test_the_reference_engine_follows_a_match_and_forgets_states() -> None:
    with PrologEngine(Game.load(SHIPPED["connect_four"].rules)) as engine:
        searcher = Searcher(engine, small(megabytes=1), seed=1)
        worker: Any = searcher.workers[0]
        for _ in range(3):
            searcher.think(Limit(playouts=60))
            searcher.advance((searcher.best(0), searcher.best(1)))
            g = worker.pool.block
            assert not g["flying"].any() and not g["running"].any()
            known = len(worker.states)
            worker.pool.compact()
            worker.set_roots({0: searcher.state}, searcher.level)
            assert len(worker.states) < known
            worker.look.cache_clear()
