"""Compiled kernels are made anew whenever a module changes that has a part in them."""

from __future__ import annotations

import ast
from pathlib import Path

import ggp_agent
from ggp_agent.engine import cache

PACKAGE = Path(ggp_agent.__file__).parent
ROOMS = [PACKAGE / room for room in cache.KERNEL_ROOMS]


def counts(path: Path) -> bool:
    text = path.read_bytes()
    named = str(path.relative_to(PACKAGE)) in cache.KERNEL_CONSTANTS
    return named or any(mark in text for mark in cache.KERNEL_MARKS)


def decorated(path: Path) -> bool:
    """Does a module have functions that numba compiles?"""
    tree = ast.parse(path.read_text())
    names = {
        ast.unparse(decorator).split("(")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
    }
    return bool(names & {"njit", "kernel", "intrinsic"})


def test_all_modules_with_kernels_count() -> None:
    kernels = [path for room in ROOMS for path in room.glob("*.py") if decorated(path)]
    assert {"ucd.py", "update.py", "table.py", "groups.py", "schedule.py", "kernels.py", "block.py"} <= {
        path.name for path in kernels
    }
    assert all(map(counts, kernels))


def test_modules_that_kernels_take_numbers_from_count() -> None:
    for room in ROOMS:
        for path in filter(decorated, room.glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ggp_agent."):
                    source = PACKAGE.parent / (str(node.module).replace(".", "/") + ".py")
                    constants = [name.name for name in node.names if name.name.isupper()]
                    assert not constants or counts(source), (path.name, source.name, constants)
