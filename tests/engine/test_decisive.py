"""Moves that win at once, and moves that let another role win, are found by gates where trying all moves finds them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ggp_agent.engine import Game
from ggp_agent.engine.lanes import LanesEngine, Rows
from ggp_agent.gdl import parse
from tests.engine.games import SHIPPED

EXACT = ["tic_tac_toe", "connect_four", "crisscross", "quarto"]
# Here some wins take wide gates, such as one by the last capture, or it would take many gates to avoid all blunders
PARTLY = ["breakthrough", "breakthrough_6x6", "knightthrough", "pawn_whopping", "three_player_tic_tac_toe"]
# Roles move at once, wins are loops or wide gates, or there are too many moves
UNKNOWN = ["rock_paper_scissors", "tron", "goofspiel", "hex_5x5", "go_6x6", "othello", "amazons_6x6"]


def engine_of(name: str) -> LanesEngine:
    return LanesEngine(Game.load(SHIPPED[name].rules), native=False)


def choosing(legal: tuple[tuple[int, ...], ...]) -> list[int]:
    """The roles that have a choice; all if none has."""
    return [role for role, moves in enumerate(legal) if len(moves) > 1] or list(range(len(legal)))


def after(engine: LanesEngine, state: bytes, role: int, move: int) -> bytes:
    legal = engine.look(state).legal
    found = engine.step(state, tuple(move if other == role else moves[0] for other, moves in enumerate(legal)))
    assert isinstance(found, bytes)
    return found


def winning(engine: LanesEngine, state: bytes) -> list[int]:
    """The moves after which the role that moves has its best goal and all others their worst, by trying them."""
    legal = engine.look(state).legal
    values = [engine.circuit.goal_values[engine.circuit.goal_roles == role] for role in range(len(legal))]
    found = []
    for role in choosing(legal):
        wanted = tuple(mine.max() if other == role else mine.min() for other, mine in enumerate(values))
        ends = {move: engine.look(after(engine, state, role, move)) for move in legal[role]}
        found += [move for move, end in ends.items() if end.terminal and end.goals == wanted]
    return found


def blunders(engine: LanesEngine, state: bytes, role: int) -> set[int]:
    """The moves of a role after which another can win at once, by trying all."""
    states = {move: after(engine, state, role, move) for move in engine.look(state).legal[role]}
    return {move for move, there in states.items() if not engine.look(there).terminal and winning(engine, there)}


def compare(engine: LanesEngine, random: Random, games: int, exact: bool = False) -> tuple[int, int]:
    """Play at random, and try all moves where only one role has a choice: how often it could win, or avoid to lose."""
    wins = avoided = 0
    for _ in range(games):
        state = engine.initial()
        for _ in range(300):
            position = engine.look(state)
            if position.terminal:
                break
            assert isinstance(state, bytes)
            considered, movers = engine.considered(state), choosing(position.legal)
            for role, moves in enumerate(position.legal):
                if role not in movers:
                    assert considered[role] == moves
            if len(movers) == 1 and random.random() < 50 / len(position.legal[movers[0]]) ** 2:  # to save time
                legal, mine = set(position.legal[movers[0]]), set(considered[movers[0]])
                won, lost = set(winning(engine, state)), blunders(engine, state, movers[0])
                assert mine
                assert mine <= won or legal - mine <= lost
                if exact:
                    assert mine == (won or legal - lost or legal)
                wins += bool(won) and mine <= won
                avoided += not won and mine < legal
            state = engine.step(state, tuple(random.choice(moves) for moves in position.legal))
    return wins, avoided


@pytest.mark.parametrize("name", EXACT + PARTLY)
def test_moves_that_win_or_lose_are_those_that_trying_finds(name: str) -> None:
    with engine_of(name) as engine:
        wins, avoided = compare(engine, Random(5), games=20, exact=name in EXACT)
    assert wins >= 5
    assert avoided >= 2 or name in ("pawn_whopping", "three_player_tic_tac_toe")


def game_at_random(random: Random) -> str:
    """Two roles set and clear bits in turn; what ends the game, and who has what goal then, are some of them."""

    def some() -> str:
        bits = [f"(true (bit {k}))" for k in random.sample(range(5), random.choice([2, 2, 3]))]
        return " ".join(bit if random.random() < 0.7 else f"(not {bit})" for bit in bits)

    def rules(head: str, count: int) -> list[str]:
        return [f"(<= {head} {some()})" for _ in range(count)]

    lines = """
    (role x) (role o) (init (turn x)) (init (step 0))
    (<= (next (turn o)) (true (turn x))) (<= (next (turn x)) (true (turn o)))
    (<= (legal x wait) (true (turn o))) (<= (legal o wait) (true (turn x)))
    (<= (legal ?r (put ?k)) (true (turn ?r)) (free ?r ?k))
    (<= (legal ?r (drop ?k)) (true (turn ?r)) (true (bit ?k)))
    (<= (legal ?r pass) (true (turn ?r)))
    (<= (next (bit ?k)) (does ?r (put ?k)))
    (<= (next (bit ?k)) (true (bit ?k)) (not (gone ?k))) (<= (gone ?k) (does ?r (drop ?k)))
    (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
    (<= terminal (true (step 9)))
    (<= (goal x ?v) (now ?v)) (<= (goal o 100) (now 0)) (<= (goal o 50) (now 50)) (<= (goal o 0) (now 100))
    (<= (now 100) good) (<= (now 0) bad (not good)) (<= (now 50) (not good) (not bad))
    """.splitlines()
    lines += [f"(after {n} {n + 1})" for n in range(9)]
    lines += [f"(<= (free {role} {k}) {some()})" for role in "xo" for k in range(5) if random.random() < 0.5]
    lines += [f"(free {role} {k})" for role in "xo" for k in range(5)]
    lines += [*rules("good", 2), *rules("bad", 2), *rules("terminal", 2), "(<= terminal good)", "(<= terminal bad)"]
    return "\n".join(lines)


def test_games_at_random_agree() -> None:
    total_wins = total_avoided = 0
    for seed in range(30):
        random = Random(seed)
        with LanesEngine(Game.from_sheet(parse(game_at_random(random)), "random"), native=False) as engine:
            wins, avoided = compare(engine, random, games=10)
        total_wins, total_avoided = total_wins + wins, total_avoided + avoided
    assert total_wins > 100 and total_avoided > 100


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_games_are_left_as_they_are(name: str) -> None:
    with engine_of(name) as engine:
        assert len(engine.circuit.decisive_starts) == 0
        rows = Rows(engine.circuit, decisive=True)
        assert not rows.wiring.decisive
        assert np.array_equal(rows.wiring.legal_starts, engine.circuit.legal_starts)


RULES = """
(role left) (role right) (init (turn left)) (init (count 0))
(<= (legal left (take ?n)) (true (turn left)) (size ?n))
(<= (legal right (take ?n)) (true (turn right)) (size ?n))
(<= (legal right wait) (true (turn left)))
(<= (legal left wait) (true (turn right)))
(size 1) (size 2)
(<= (next (turn right)) (true (turn left)))
(<= (next (turn left)) (true (turn right)))
(add 0 1 1) (add 1 1 2) (add 2 1 3) (add 0 2 2) (add 1 2 3) (add 2 2 4)
(<= (next (count ?k)) (does ?r (take ?n)) (true (count ?m)) (add ?m ?n ?k))
(<= terminal (true (count 3)))
(<= terminal (true (count 4)))
(<= (goal left 100) (true (count 3)) (true (turn right)))
(<= (goal left 0) (not (goal left 100)))
(<= (goal right 100) (not (goal left 100)))
(<= (goal right 0) (goal left 100))
"""


def considered(text: str, moves: list[str]) -> list[set[str]]:
    """The moves of both roles that are considered after some moves."""
    with LanesEngine(Game.from_sheet(parse(text), "test"), native=False) as engine:
        state = engine.initial()
        for move in moves:
            legal = engine.look(state).legal
            names = [[str(engine.moves[role][k]) for k in mine] for role, mine in enumerate(legal)]
            choice = [mine.index(move) if move in mine else 0 for mine in names]
            state = engine.step(state, tuple(mine[k] for mine, k in zip(legal, choice, strict=True)))
        assert isinstance(state, bytes)
        found = engine.considered(state)
        return [{str(engine.moves[role][k]) for k in mine} for role, mine in enumerate(found)]


def test_a_role_that_can_win_has_no_other_moves() -> None:
    assert considered(RULES, []) == [{"(take 1)", "(take 2)"}, {"wait"}]
    assert considered(RULES, ["(take 1)"]) == [{"wait"}, {"(take 2)"}]
    assert considered(RULES, ["(take 1)", "(take 1)"]) == [{"(take 1)"}, {"wait"}]


def test_what_another_role_may_choose_is_not_assumed() -> None:
    """Here right may shout while left takes, and then left does not win."""
    shouting = RULES.replace(
        "(<= (legal right wait) (true (turn left)))",
        "(<= (legal right wait) (true (turn left))) (<= (legal right shout) (true (turn left)))"
        "(<= (next loud) (does right shout))",
    ).replace("(true (turn right)))\n(<= (goal left 0)", "(true (turn right)) (not (true loud)))\n(<= (goal left 0)")
    assert considered(shouting, ["(take 1)", "(take 1)"])[0] == {"(take 1)", "(take 2)"}
    assert considered(shouting, ["(take 1)"])[1] == {"(take 2)"}


def test_conditions_that_share_much_are_looked_at_once() -> None:
    """Every condition rests twice on the one before: there are a million ways to the first."""
    levels = 20
    lines = [f"(<= (r {k + 1}) (s {k}) (t {k}))" for k in range(levels)]
    lines += [
        f"(<= (s {k}) (r {k}) (true (b {2 * k + 1}))) (<= (t {k}) (r {k}) (true (b {2 * k + 2})))"
        for k in range(levels)
    ]
    lines += [f"(idx {k})" for k in range(2 * levels + 1)]
    text = f"""
    (role x) (role o) (init (turn x))
    (<= (next (turn o)) (true (turn x))) (<= (next (turn x)) (true (turn o)))
    (<= (legal x noop) (true (turn o))) (<= (legal o noop) (true (turn x)))
    (<= (legal ?r (set ?k)) (true (turn ?r)) (idx ?k))
    (<= (next (b ?k)) (does ?r (set ?k))) (<= (next (b ?k)) (true (b ?k)))
    (<= (r 0) (true (b 0))) (<= terminal (r {levels})) (<= win (r {levels}))
    (<= (goal x 100) win) (<= (goal x 0) (not win)) (<= (goal o 100) (not win)) (<= (goal o 0) win)
    """
    with LanesEngine(Game.from_sheet(parse(text + " ".join(lines)), "test"), native=False) as engine:
        assert len(engine.look(engine.initial()).legal[0]) == 2 * levels + 1


def test_a_role_that_never_has_a_choice_is_known_to_wait() -> None:
    puppet = """
    (role x) (role o) (legal o wait) (init (n 0)) (size 1) (size 2)
    (<= (legal x (take ?k)) (size ?k))
    (add 0 1 1) (add 1 1 2) (add 2 1 3) (add 0 2 2) (add 1 2 3) (add 2 2 4)
    (<= (next (n ?k)) (does x (take ?j)) (true (n ?i)) (add ?i ?j ?k))
    (<= terminal (true (n 3))) (<= terminal (true (n 4)))
    (<= (goal x 100) (true (n 3))) (<= (goal x 0) (not (true (n 3))))
    (<= (goal o 0) (true (n 3))) (<= (goal o 100) (not (true (n 3))))
    """
    assert considered(puppet, ["(take 1)"]) == [{"(take 2)"}, {"wait"}]
    assert considered(puppet, []) == [{"(take 1)", "(take 2)"}, {"wait"}]
