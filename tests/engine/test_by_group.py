"""Moves in groups: the same moves are legal, the same state follows, and every legal move has the same chance."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from ggp_agent.engine import Game, by_group, group_tables, grouping, kernels, wordops
from ggp_agent.engine.build import build
from ggp_agent.engine.circuit import NEXT, POSITION, Circuit
from ggp_agent.engine.coding import Coder
from ggp_agent.engine.ground import Limits, program_text
from ggp_agent.engine.ground_child import Grounder
from ggp_agent.engine.lanes import ALL, LanesEngine
from ggp_agent.engine.network import Network
from ggp_agent.engine.packing import pack
from ggp_agent.engine.rowops import LANES, WORDS
from ggp_agent.engine.turning import SIDE, STRIDE
from ggp_agent.errors import CannotGround
from ggp_agent.gdl import parse
from tests.engine.games import SHIPPED


class Grouped(LanesEngine):
    """Chooses by groups, however few moves there are and however little they share."""

    def make(self, limits: Limits, stop: threading.Event | None) -> Circuit:
        coder = Coder()
        program = program_text([rule for rule in self.game.rules if rule.head.name != "base"], coder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(grouping, "MANY_MOVES", 0)
            patch.setattr(grouping, "WORTH", 0)
            circuit = build(Grounder(program, coder.names, limits.rules).ground(self.game.roles))
        circuit.validate()
        assert len(circuit.members)
        return circuit


def begin(engine: LanesEngine, seed: int) -> None:
    rows, wiring = engine.rows.rows, engine.rows.wiring
    engine.rows.seed(seed)
    engine.enter(engine.initial())
    rows[wiring.active], rows[wiring.ended] = ALL, 0
    rows[wiring.start : wiring.start + wiring.state_rows] = rows[1 : 1 + wiring.state_rows]


def bits(engine: LanesEngine, start: int, count: int) -> NDArray[np.bool_]:
    """bool[rows, lanes]"""
    rows = np.ascontiguousarray(engine.rows.rows[start : start + count]).view(np.uint8)
    return np.unpackbits(rows, axis=1, bitorder="little").astype(np.bool_)


GAMES = "tic_tac_toe breakthrough_6x6 checkers tron three_player_tic_tac_toe pentago hex_5x5 knights_tour amazons_6x6"


@pytest.mark.parametrize("name", GAMES.split())
def test_groups_say_what_rows_of_moves_say(name: str) -> None:
    with Grouped(Game.load(SHIPPED[name].rules), native=False) as engine:
        begin(engine, 3)
        rows, wiring, groups, circuit = engine.rows.rows, engine.rows.wiring, engine.rows.groups, engine.circuit
        found = np.zeros(max(map(len, circuit.moves)), np.int32)
        for _ in range(30):
            kernels.evaluate(engine.rows.wires, POSITION)
            by_group.turn_rows(groups)
            row = rows[circuit.terminal >> 1]
            rows[wiring.ended] = ~row if circuit.terminal & 1 else row
            assert by_group.choose_by_group(groups) == -1
            playing = bits(engine, groups["playing"], 1)[0]
            for role, moves in enumerate(circuit.moves):
                legal = bits(engine, circuit.legal_starts[role], len(moves))
                for lane in range(0, LANES, 100):
                    count = by_group.legal_moves(groups, role, lane, found)
                    assert sorted(found[:count]) == np.flatnonzero(legal[:, lane]).tolist()
                chosen = groups["chosen"][role]
                assert (chosen[~playing] == by_group.NOTHING).all()
                assert legal[chosen[playing], np.flatnonzero(playing)].all()
            by_group.make_moves(groups)
            kernels.compute(engine.rows.wires, NEXT)
            following = rows[circuit.next_start : circuit.next_start + len(circuit.fluents)].copy()
            for role, start in enumerate(circuit.move_starts[:-1]):
                rows[start : circuit.move_starts[role + 1]] = 0
                for lane in np.flatnonzero(playing).tolist():
                    rows[start + groups["chosen"][role, lane], lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
            kernels.evaluate(engine.rows.wires, NEXT)
            assert (following == rows[circuit.next_start : circuit.next_start + len(circuit.fluents)]).all()
            kernels.commit(engine.rows.wires)


@pytest.mark.parametrize("many", [1, 1000], ids=["tries", "counts"])
def test_moves_are_chosen_uniformly(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of 1 to 9 moves of which some are legal, chi-squared at 0.1 %."""
    monkeypatch.setattr(by_group, "MANY_GROUPS", many)
    monkeypatch.setattr(by_group, "TRIES", 2)
    for kernel in (by_group.list_families, by_group.draw_moves, by_group.choose_by_group):
        monkeypatch.setattr(by_group, kernel.py_func.__name__, njit(nogil=True)(kernel.py_func))
    text = """(role r) (n 1) (n 2) (n 3) (n 4) (n 5) (n 6) (n 7) (n 8) (n 9)
    (init (a 1)) (init (a 2)) (init (a 5)) (init (a 9)) (init (b 2)) (init (b 3)) (init (b 7)) (init (b 8)) (init (b 9))
    (less 1 2) (less 2 3) (less 3 4) (less 4 5) (less 5 6) (less 6 7) (less 7 8) (less 8 9)
    (<= (upto ?x ?x) (n ?x)) (<= (upto ?x ?z) (less ?y ?z) (upto ?x ?y)) (goal r 0)
    (<= (next (a ?x)) (does r (m ?x ?y))) (<= (next (b ?y)) (does r (m ?x ?y))) (<= terminal (not (true (a 1))))
    (<= (legal r (m ?y ?x)) (upto ?x ?y) (true (a ?y)) (true (b ?x)))"""
    with Grouped(Game.from_sheet(parse(text), "test"), native=False) as engine:
        begin(engine, 5)
        groups = engine.rows.groups
        kernels.evaluate(engine.rows.wires, POSITION)
        by_group.turn_rows(groups)
        counts = np.zeros(len(engine.circuit.moves[0]), np.int64)
        for _ in range(200):
            assert by_group.choose_by_group(groups) == -1
            counts += np.bincount(groups["chosen"][0], minlength=len(counts))
        legal = bits(engine, engine.circuit.legal_starts[0], len(counts))[:, 0]
        assert legal.sum() == 8 and not counts[~legal].any()
        expected = counts.sum() / legal.sum()
        assert ((counts[legal] - expected) ** 2 / expected).sum() < 24.3  # 7 degrees of freedom


def test_a_lane_without_luck_counts_its_moves() -> None:
    """One legal move among many that share its guard, and a role without any."""
    numbers = range(200)
    text = f"""(role r) {" ".join(f"(n {i})" for i in numbers)} (init (a 1)) (init (a 2)) (init (b 77)) (goal r 0)
    (<= (next (a ?x)) (n ?x) (does r (m ?y ?x))) (<= (next (b ?y)) (n ?y) (does r (m ?y ?x))) (<= terminal (true (a 0)))
    (<= (legal r (m ?y ?x)) (n ?x) (n ?y) (true (a ?y)) (true (b ?x)))"""
    with Grouped(Game.from_sheet(parse(text), "test"), native=False) as engine:
        begin(engine, 5)
        rows, wiring, groups = engine.rows.rows, engine.rows.wiring, engine.rows.groups
        kernels.evaluate(engine.rows.wires, POSITION)
        by_group.turn_rows(groups)
        assert by_group.choose_by_group(groups) == -1
        assert {engine.circuit.moves[0][move] for move in groups["chosen"][0]} == {"(m 1 77)", "(m 2 77)"}
        rows[1 : 1 + wiring.state_rows] = 0
        kernels.evaluate(engine.rows.wires, POSITION)
        by_group.turn_rows(groups)
        assert by_group.choose_by_group(groups) == 0


def test_turning_is_the_transpose() -> None:
    """Words of lanes have the bits that literals have in those lanes."""
    with Grouped(Game.load(SHIPPED["amazons_6x6"].rules), native=False) as engine:
        rows, groups, words = engine.rows.rows, engine.rows.groups, engine.circuit.words
        rows[1 : groups["turned"]] = np.random.default_rng(1).integers(
            0, 2**64, (groups["turned"] - 1, WORDS), np.uint64
        )
        by_group.turn_rows(groups)
        before = np.unpackbits(rows[words >> 1].view(np.uint8), axis=2, bitorder="little") != (words & 1)[:, :, None]
        for number, expected in enumerate(before):  # bool[bits, lanes]
            turned = rows[groups["turned"] + STRIDE * number :][:SIDE].T.reshape(-1, 1)
            found = np.unpackbits(np.ascontiguousarray(turned).view(np.uint8), axis=1, bitorder="little")
            assert (expected == found.T).all()


@pytest.mark.parametrize("has_deposit", [True, False])
def test_find_bit_is_the_place_of_a_set_bit(has_deposit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordops, "HAS_DEPOSIT", has_deposit and wordops.HAS_DEPOSIT)
    find_bit = njit(lambda word, rank: wordops.find_bit(word, rank))
    for word in np.random.default_rng(2).integers(-(2**63), 2**63, 100).tolist():
        places = [place for place in range(64) if word >> place & 1]
        assert [find_bit(word, rank) for rank in range(len(places))] == places


def test_an_or_is_said_in_fewer_words() -> None:
    """a, or a and b: that is a; but not if neither implies the other."""
    network = Network()
    a, b, c = (network.input() for _ in range(3))
    shorter = grouping.Shorter(network.gates, network.conjunction)
    both = network.conjunction([a, b])
    assert shorter(network.disjunction([a, both])) == a
    assert shorter(network.disjunction([both, network.conjunction([both, c]), c])) == network.disjunction([both, c])
    assert shorter(network.disjunction([c, both])) == network.disjunction([c, both])


def test_packing_keeps_every_move() -> None:
    """Families and groups too large for a word, a rest that many moves have, and pieces in several words."""
    rest = iter(range(2, 100_000, 2))
    shared = [next(rest) for _ in range(150)]
    moves = iter(range(100_000))
    families: grouping.Families = {}
    for size in (1, 70, 130):
        groups = [(next(rest), [(next(moves), literal) for literal in shared[k::3]]) for k in range(3)]
        groups += [(shared[k], [(next(moves), 0)]) for k in range(size)]
        groups.append((0, [(next(moves), literal) for literal in [*shared, *shared[:5], 0, 0]]))
        families[next(rest)] = groups
    packed = pack([families], list)
    found = set()
    for family, (word, mask, number) in enumerate(packed["families"].tolist()):
        for bit in (bit for bit in range(64) if mask >> bit & 1):
            for piece in range(2):
                bits = [k for k in range(64) if int(packed["piece_masks"][number + bit, piece]) >> k & 1]
                start = packed["piece_starts"][number + bit, piece]
                for k, move in zip(bits, packed["members"][start:].tolist(), strict=False):
                    own = packed["words"][packed["piece_words"][number + bit, piece], k]
                    found.add((packed["words"].ravel()[family], packed["words"][word, bit], own, move))
    expected = {(guard, r, own, move) for guard, gs in families.items() for r, ms in gs for move, own in ms}
    assert found == expected and len(packed["members"]) == len(expected)


def test_a_table_that_would_be_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_tables, "MOST_TOUCHED", 10)
    with pytest.raises(CannotGround, match="moves touch up to"):
        Grouped(Game.load(SHIPPED["tic_tac_toe"].rules), native=False)
