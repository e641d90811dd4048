"""Searches that look two plies ahead in every position: what they consider, and that it helps."""

from __future__ import annotations

from random import Random

import pytest

from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.search import Limit, Searcher
from tests.search.checks import audit, engine_of, small


def play(engine: LanesEngine, searcher: Searcher, moves: list[str]) -> None:
    """Make moves, each by the role that has a choice."""
    for text in moves:
        legal = searcher.position.legal
        role = next(role for role, mine in enumerate(legal) if len(mine) > 1)
        joint = [mine[0] for mine in legal]
        joint[role] = engine.move(searcher.state, role, text)
        searcher.advance(tuple(joint))


def considered(searcher: Searcher) -> set[str]:
    """The moves that the root has edges for, or may get."""
    block, root = searcher.roots()[0]
    role = int(block["mover"][root])
    edges = range(block["first"][root], block["first"][root] + block["edges"][root])
    return {str(searcher.engine.moves[role][block["move"][edge]]) for edge in edges if block["n"][edge]}


THREE_IN_COLUMN_4 = [f"(drop {column})" for column in (4, 3, 4, 3, 4)]


@pytest.mark.parametrize("lanes", [1, 64])
def test_only_the_block_is_considered_and_then_only_the_win(lanes: int) -> None:
    engine = engine_of("connect_four")
    searcher = Searcher(engine, small(lanes=lanes), seed=1)
    play(engine, searcher, THREE_IN_COLUMN_4)
    searcher.think(Limit(playouts=300))
    assert considered(searcher) == {"(drop 4)"}
    assert str(engine.moves[1][searcher.best(1)]) == "(drop 4)"
    play(engine, searcher, ["(drop 1)"])  # what was not considered can be played all the same
    found = searcher.think(Limit(playouts=300))
    assert considered(searcher) == {"(drop 4)"}
    assert str(engine.moves[0][searcher.best(0)]) == "(drop 4)"
    assert found.proven and found.value == (1.0, 0.0) and found.simulations < 100
    assert [str(engine.moves[0][joint[0]]) for joint in found.variation] == ["(drop 4)"]
    audit(searcher)


def test_without_it_all_moves_are_considered() -> None:
    engine = engine_of("connect_four")
    searcher = Searcher(engine, small(decisive=False, solve=False), seed=1)
    play(engine, searcher, THREE_IN_COLUMN_4)
    searcher.think(Limit(playouts=300))
    assert len(considered(searcher)) == 7


@pytest.mark.parametrize("name", ["breakthrough_6x6", "quarto"])
def test_it_wins_at_equal_simulations(name: str) -> None:
    """Two plies more in every position and every playout are worth much."""
    engine = engine_of(name)
    points = 0.0
    for number in range(30):
        random = Random(number)
        players = [Searcher(engine, small(decisive=mine, megabytes=8), seed=number) for mine in (True, False)]
        players = players if number % 2 else players[::-1]
        ply = 0
        while not players[0].position.terminal:
            legal = players[0].position.legal
            if ply < 4:
                joint = tuple(random.choice(moves) for moves in legal)
            else:
                role = next((role for role, moves in enumerate(legal) if len(moves) > 1), 0)
                players[role].think(Limit(playouts=200))
                joint = tuple(players[role].best(role) if one == role else moves[0] for one, moves in enumerate(legal))
            for player in players:
                player.advance(joint)
            ply += 1
        goals = players[0].position.goals
        assert goals is not None
        points += goals[0 if number % 2 else 1] / 100
    assert points >= 18
