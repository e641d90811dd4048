"""Spare children: the next child of a kind is one that was started before."""

from __future__ import annotations

import select
from collections.abc import Iterator

import pytest

from ggp_agent.engine import child, games, prolog
from ggp_agent.engine.child import SPARES, Child, end_spares, keep_spare, wait_for_spares

KIND = ("ggp_agent.engine.prolog_child", prolog.MEMORY_BYTES)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    end_spares()
    assert not child.SPARES


def test_the_next_child_is_the_spare_one() -> None:
    keep_spare(*KIND)
    keep_spare(*KIND)
    spare = SPARES[KIND].process.pid
    with prolog.PrologEngine(games.load("tic_tac_toe")) as engine:
        assert engine.child is not None and engine.child.pid == spare and not SPARES
        assert len(engine.look(engine.initial()).legal[0]) == 9


def test_other_kinds_are_left_alone() -> None:
    keep_spare(*KIND)
    other = Child(KIND[0], KIND[1] + 1)
    assert KIND in SPARES
    other.kill()


def test_a_spare_that_died_is_not_used() -> None:
    keep_spare(*KIND)
    dead = SPARES[KIND].process
    dead.kill()
    dead.wait()
    with prolog.PrologEngine(games.load("tic_tac_toe")) as engine:
        assert engine.child is not None and engine.child.pid != dead.pid
        assert not engine.look(engine.initial()).terminal


def test_spares_can_be_waited_for() -> None:
    keep_spare(*KIND)
    wait_for_spares(60)
    assert select.select([SPARES[KIND].ready], [], [], 0)[0]
    wait_for_spares(60)  # at once
    SPARES[KIND].process.kill()
    wait_for_spares(60)  # one that died is not waited for
    wait_for_spares(0)
