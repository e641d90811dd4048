"""Ground rules from clingo's grounder into arrays, by callbacks in machine code.

clingo tells an observer of every ground rule. In Python that takes several microseconds a rule, which for a game with a
hundred thousand moves is longer than the grounding itself; these callbacks only copy numbers. They are what a C
compiler would make of

    bool rule(bool choice, atom *head, size_t heads, literal *body, size_t size, record *to);
    bool atom(symbol name, atom number, record *to);

and return false, which ends the grounding, when there is no room left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clingo
import llvmlite.binding as llvm
import numpy as np

# The C interface, which the classes of clingo do not show
from clingo._internal import _ffi, _lib  # type: ignore[attr-defined]
from numpy.typing import NDArray

from ggp_agent.errors import CannotGround

MAX_LITERALS = 1 << 28  # memory is taken only as it is filled
MAX_TEXT_BYTES = 1 << 28

# A record is an array of 64-bit numbers: addresses of what comes next, and how much room is left.
HEADS, SIZES, BODIES, RULES_LEFT, LITERALS_LEFT, NUMBERS, TEXTS, TEXT_LEFT = range(8)

PROGRAM = """
target triple = "{triple}"
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define i64 @take(ptr %record, i64 %field, i64 %step) {{
  %slot = getelementptr i64, ptr %record, i64 %field
  %old = load i64, ptr %slot
  %new = add i64 %old, %step
  store i64 %new, ptr %slot
  ret i64 %old
}}

define void @put(ptr %record, i64 %field, i32 %number) {{
  %address = call i64 @take(ptr %record, i64 %field, i64 4)
  %place = inttoptr i64 %address to ptr
  store i32 %number, ptr %place
  ret void
}}

define zeroext i1 @rule(i1 zeroext %choice, ptr %heads, i64 %count, ptr %body, i64 %size, ptr %record) {{
  %rules = call i64 @take(ptr %record, i64 {RULES_LEFT}, i64 -1)
  %step = sub i64 0, %size
  %room = call i64 @take(ptr %record, i64 {LITERALS_LEFT}, i64 %step)
  %some = icmp sgt i64 %rules, 0
  %enough = icmp sge i64 %room, %size
  %fits = and i1 %some, %enough
  br i1 %fits, label %write, label %end
write:
  %head = load i32, ptr %heads
  %negative = sub i32 0, %head
  %signed = select i1 %choice, i32 %negative, i32 %head
  call void @put(ptr %record, i64 {HEADS}, i32 %signed)
  %length = trunc i64 %size to i32
  call void @put(ptr %record, i64 {SIZES}, i32 %length)
  %bytes = mul i64 %size, 4
  %address = call i64 @take(ptr %record, i64 {BODIES}, i64 %bytes)
  %place = inttoptr i64 %address to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %body, i64 %bytes, i1 false)
  br label %end
end:
  ret i1 %fits
}}

define zeroext i1 @atom(i64 %symbol, i32 %number, ptr %record) {{
  %length = alloca i64
  %size_function = inttoptr i64 {size_function} to ptr
  call zeroext i1 %size_function(i64 %symbol, ptr %length)
  %size = load i64, ptr %length
  %step = sub i64 0, %size
  %room = call i64 @take(ptr %record, i64 {TEXT_LEFT}, i64 %step)
  %fits = icmp sge i64 %room, %size
  br i1 %fits, label %write, label %end
write:
  call void @put(ptr %record, i64 {NUMBERS}, i32 %number)
  %address = call i64 @take(ptr %record, i64 {TEXTS}, i64 %size)
  %place = inttoptr i64 %address to ptr
  %text_function = inttoptr i64 {text_function} to ptr
  call zeroext i1 %text_function(i64 %symbol, ptr %place, i64 %size)
  br label %end
end:
  ret i1 %fits
}}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What the grounder found. Atoms are positive integers; in bodies, negative where they must not hold."""

    heads: NDArray[np.int32]  # int32[rules]: negative if the rule is a choice
    sizes: NDArray[np.int32]  # int32[rules]: the literals of its body
    bodies: NDArray[np.int32]  # the literals of all bodies, one after another
    atoms: list[tuple[str, int]]  # the text of every atom that the program shows, and its number; 0 for facts


def address(function: Any) -> int:
    return int(_ffi.cast("uintptr_t", function))


def compile_callbacks() -> Any:
    """LLVM's engine with the callbacks in it. Keep it as long as they are used."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    text = PROGRAM.format(
        **globals(),
        triple=llvm.get_default_triple(),
        size_function=address(_ffi.addressof(_lib, "clingo_symbol_to_string_size")),
        text_function=address(_ffi.addressof(_lib, "clingo_symbol_to_string")),
    )
    machine = llvm.Target.from_default_triple().create_target_machine(opt=1, jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return engine


def ground(control: clingo.Control, program: str, max_rules: int) -> Record:
    """Ground a program. CannotGround if it has too many rules."""
    engine = compile_callbacks()
    heads, sizes, numbers = (np.empty(max_rules, np.int32) for _ in range(3))
    bodies, texts = np.empty(MAX_LITERALS, np.int32), np.empty(MAX_TEXT_BYTES, np.uint8)
    record = np.zeros(8, np.int64)
    for field, array in ((HEADS, heads), (SIZES, sizes), (BODIES, bodies), (NUMBERS, numbers), (TEXTS, texts)):
        record[field] = array.ctypes.data
    record[[RULES_LEFT, LITERALS_LEFT, TEXT_LEFT]] = max_rules, MAX_LITERALS, MAX_TEXT_BYTES
    observer = _ffi.new("clingo_ground_program_observer_t*")
    observer.rule = _ffi.cast(_ffi.typeof(observer.rule), engine.get_function_address("rule"))
    observer.output_atom = _ffi.cast(_ffi.typeof(observer.output_atom), engine.get_function_address("atom"))
    # Nothing is passed on to the solver, which would take more time than the grounder does.
    if not _lib.clingo_control_register_observer(control._rep, observer, True, _ffi.cast("void*", record.ctypes.data)):
        raise MemoryError
    control.add("base", [], program)
    try:
        control.ground([("base", [])])
    except RuntimeError:
        if record[RULES_LEFT] < 0:
            raise CannotGround(f"there are more than {max_rules:,} ground rules") from None
        if record[[LITERALS_LEFT, TEXT_LEFT]].min() < 0:
            raise CannotGround("the ground rules are too long") from None
        raise
    count = max_rules - int(record[RULES_LEFT])
    names = texts[: MAX_TEXT_BYTES - record[TEXT_LEFT]].tobytes().decode().split("\0")[:-1]
    return Record(
        heads=heads[:count],
        sizes=sizes[:count],
        bodies=bodies[: MAX_LITERALS - record[LITERALS_LEFT]],
        atoms=list(zip(names, numbers[: len(names)].tolist(), strict=True)),
    )
