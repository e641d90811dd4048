"""Straight-line machine code for the gates of a circuit, by LLVM.

Each function computes some gates of one segment on part of the lanes (VECTOR words of every row), so that
values stay in registers; its argument is the address of the first of these words. Gates that no later function and no
output needs never reach memory. A child process turns the functions into object code, which is kept on disk beside the
circuit; here it is only linked.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine.child import Child, Message, serve
from ggp_agent.engine.circuit import LEGAL, SUMS, Circuit
from ggp_agent.engine.circuit_file import load
from ggp_agent.engine.rowops import ROW_BYTES
from ggp_agent.errors import EngineError, EngineTimeout

MAX_LITERALS = 1500  # of the gates in one function: the time to compile grows faster than the length
MAX_ALL_LITERALS = 200_000  # beyond this, memory is what takes the time, and compiling would take minutes
VECTOR = 4  # words that one call computes: a register of AVX2
MEMORY_BYTES = 4 << 30

TYPE = f"<{VECTOR} x i64>"
ONES = "<" + ", ".join(["i64 -1"] * VECTOR) + ">"


def functions(circuit: Circuit) -> Iterator[tuple[int, int, int]]:
    """Segment, first and last + 1 gate of every function. What playouts leave out is left to the interpreter."""
    for number, (phase, start, last, _, _) in enumerate(circuit.segments.tolist()):
        while start < last and phase not in (LEGAL, SUMS):
            limit = circuit.offsets[start] + MAX_LITERALS
            end = max(start + 1, int(np.searchsorted(circuit.offsets, limit, "right")) - 1)
            yield number, start, min(end, last)
            start = min(end, last)


def worth_compiling(circuit: Circuit) -> bool:
    """Are there few enough literals for it?"""
    spans = (circuit.offsets[last] - circuit.offsets[first] for _, first, last in functions(circuit))
    return bool(sum(spans) <= MAX_ALL_LITERALS)


def function_starts(circuit: Circuit) -> NDArray[np.int64]:
    """int64[segments + 1]: the functions of each segment."""
    counts = np.bincount([segment for segment, _, _ in functions(circuit)], minlength=len(circuit.segments))
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def kept_rows(circuit: Circuit) -> NDArray[np.int64]:
    """int64[rows]: the last function that needs a row in memory; one past all functions for outputs, -1 if none."""
    parts = list(functions(circuit))
    last_use = np.full(circuit.rows, -1, np.int64)
    for number, (segment, first, last) in enumerate(parts):
        used = circuit.literals[circuit.offsets[first] : circuit.offsets[last]] >> 1
        in_loop = circuit.segments[segment, 3] < circuit.segments[segment, 4]
        # What a loop uses may be needed again in its next round by an earlier function.
        last_use[used] = len(parts) if in_loop else np.maximum(last_use[used], number)
    for phase, first, last, _, _ in circuit.segments.tolist():
        if phase in (LEGAL, SUMS):
            last_use[circuit.literals[circuit.offsets[first] : circuit.offsets[last]] >> 1] = len(parts)
    for literals in (circuit.goal_literals, circuit.words.ravel()):
        last_use[literals >> 1] = len(parts)
    last_use[circuit.terminal >> 1] = len(parts)
    last_use[circuit.first_gate : circuit.next_start + len(circuit.fluents)] = len(parts)
    last_use[circuit.decisive_starts.min(initial=circuit.rows) : circuit.decisive_starts.max(initial=0)] = len(parts)
    return last_use


def program(circuit: Circuit) -> str:
    """The functions of a circuit in LLVM's language."""
    last_use = kept_rows(circuit)
    lines = [f'target triple = "{llvm.get_default_triple()}"']
    for number, (_, first, last) in enumerate(functions(circuit)):
        lines += function(circuit, number, first, last, last_use)
    return "\n".join(lines)


def function(circuit: Circuit, number: int, first: int, last: int, last_use: NDArray[np.int64]) -> list[str]:
    lines = [f"define i64 @f{number}(i64 %address) {{", "%base = inttoptr i64 %address to ptr"]
    known: set[int] = set()  # rows whose value is at hand as %v<row>
    changed: list[str] = []

    def load_row(row: int) -> None:
        if row not in known:
            known.add(row)
            lines.append(f"%p{row} = getelementptr i8, ptr %base, i64 {ROW_BYTES * row}")
            lines.append(f"%v{row} = load {TYPE}, ptr %p{row}, align {8 * VECTOR}")

    names = 0

    def name() -> str:
        nonlocal names
        names += 1
        return f"%t{names}"

    latest: dict[int, str] = {}  # latch -> its value after it was renewed

    def value(literal: int) -> str:  # of its row; who asks sees to the negation
        row = literal >> 1
        if row not in latest:
            load_row(row)
        return latest.get(row, f"%v{row}")

    def reduce(operation: str, values: list[str]) -> str:
        """All values joined pairwise: short chains keep the processor's units busy."""
        while len(values) > 1:
            joined = []
            for left, right in zip(values[::2], values[1::2], strict=False):
                joined.append(name())
                lines.append(f"{joined[-1]} = {operation} {TYPE} {left}, {right}")
            values = joined + values[len(values) & ~1 :]
        return values[0]

    def gate_value(literals: list[int]) -> str:
        positive = [value(literal) for literal in literals if not literal & 1]
        negative = [value(literal ^ 1) for literal in literals if literal & 1]
        if not negative:
            return reduce("and", positive)
        neither = name()
        lines.append(f"{neither} = xor {TYPE} {reduce('or', negative)}, {ONES}")
        return reduce("and", [*positive, neither])

    for gate in range(first, last):
        target = int(circuit.targets[gate])
        result = gate_value(circuit.literals[circuit.offsets[gate] : circuit.offsets[gate + 1]].tolist())
        if target < circuit.first_gate:
            old = value(2 * target)
            change = name()
            lines.append(f"{change} = xor {TYPE} {old}, {result}")
            changed.append(change)
        latest[target] = result
        if target < circuit.first_gate or last_use[target] > number:
            pointer = name()
            lines.append(f"{pointer} = getelementptr i8, ptr %base, i64 {ROW_BYTES * target}")
            lines.append(f"store {TYPE} {result}, ptr {pointer}, align {8 * VECTOR}")
    if not changed:
        return [*lines, "ret i64 0", "}"]
    total = changed[0]
    for change in changed[1:]:
        both = name()
        lines.append(f"{both} = or {TYPE} {total}, {change}")
        total = both
    bits = 64 * VECTOR
    lines += [
        f"%wide = bitcast {TYPE} {total} to i{bits}",
        f"%some = icmp ne i{bits} %wide, 0",
        "%flag = zext i1 %some to i64",
        "ret i64 %flag",
        "}",
    ]
    return lines


def target_machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=1, jit=True)


def host() -> str:
    """What object code depends on besides the circuit."""
    return f"{llvm.llvm_version_info} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def compile_object(circuit: Circuit) -> bytes:
    """The functions of a circuit as object code."""
    machine = target_machine()
    module = llvm.parse_assembly(program(circuit))
    code: bytes = machine.emit_object(module)
    return code


class Linked:
    """Object code in memory. Keep this as long as the addresses are used."""

    def __init__(self, code: bytes, count: int) -> None:
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
        self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self.engine.finalize_object()
        self.addresses = np.array([self.engine.get_function_address(f"f{i}") for i in range(count)], np.int64)


def compile_in_child(circuit_path: Path, object_path: Path, stop: threading.Event) -> bytes:
    """Object code for the circuit in a file, compiled by a child and kept in another file; `stop` gives up."""
    child = Child("ggp_agent.engine.native", MEMORY_BYTES)
    try:
        child.send({"circuit": str(circuit_path), "object": str(object_path)})
        while not stop.is_set():
            with contextlib.suppress(EngineTimeout):
                child.receive(seconds=0.2)
                return object_path.read_bytes()
        raise EngineError("nobody waits for the code any more")
    finally:
        child.kill()


def answer(message: Message) -> Iterator[Message]:
    code = compile_object(load(Path(message["circuit"])))
    path = Path(message["object"])
    temporary = path.with_suffix(".part")
    temporary.write_bytes(code)
    temporary.replace(path)
    yield {"object": str(path)}


if __name__ == "__main__":
    serve(answer)
