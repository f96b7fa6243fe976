"""What instructions do, by their opcodes.

Opcodes change with each CPython. Each function was checked on CPython 3.10 to 3.13, and returns for an opcode that it
does not know what its docstring says. So opcodes are known by whole names, never by a part of one.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

from ..expressions import ByteSpan
from .instructions import Instruction
from .spans import HAS_COLUMNS, byte_span, positions_of

_IS_AT_FIRST_PART = sys.version_info < (3, 11)
"""Whether a frame that runs an instruction with ``EXTENDED_ARG`` is at the first of these; later it is behind them."""
_ITEM_WRITES = frozenset({"STORE_SUBSCR", "STORE_SLICE"})
_STORES_OUTSIDE = _ITEM_WRITES | {"STORE_ATTR", "STORE_GLOBAL", "DELETE_ATTR", "DELETE_SUBSCR"}
_ITEM_ACCESSES = _ITEM_WRITES | {"BINARY_SUBSCR", "DELETE_SUBSCR", "BINARY_SLICE"}
_INDEXING = frozenset({"BINARY_SUBSCR", "STORE_SUBSCR"})
_STORES = frozenset({"STORE_FAST", "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST"})
_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST"})
"""Of local variables. Since 3.13 one instruction may have two of them; the last one that it loads is on top."""
_UNPACKS = frozenset({"UNPACK_SEQUENCE", "UNPACK_EX"})
_ATTRIBUTE_READS = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"})
_OF_CONDITIONAL_JUMPS = """
POP_JUMP_IF_FALSE POP_JUMP_IF_TRUE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP
POP_JUMP_FORWARD_IF_FALSE POP_JUMP_FORWARD_IF_TRUE POP_JUMP_FORWARD_IF_NONE POP_JUMP_FORWARD_IF_NOT_NONE
POP_JUMP_BACKWARD_IF_FALSE POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE
"""
"""Those with a direction are of 3.11."""
_CONDITIONAL_JUMPS = frozenset(_OF_CONDITIONAL_JUMPS.split())
_ENTERS = frozenset({"SETUP_WITH", "BEFORE_WITH"})
"""Of 3.10, and of 3.11 to 3.13."""
_STARTS_OF_LOOPS = frozenset({"GET_ITER", "FOR_ITER", "GET_YIELD_FROM_ITER"})
_REST_OF_CALL = frozenset({"CACHE", "PRECALL", "CALL", "EXTENDED_ARG"})
"""What may be between the instruction of a call and what is done with its result: 3.11 has two for a call."""


def jump_at(code: CodeType, offset: int) -> int | None:
    """Return the offset of an instruction's conditional jump, if any; None for an unknown opcode.

    The instruction is the jump, or since CPython 3.13 the ``TO_BOOL`` before it.
    """
    if _opcode(code, offset) == "TO_BOOL":
        offset += 2
        while dis.opname[code.co_code[offset]] in ("CACHE", "EXTENDED_ARG"):
            offset += 2
    return offset if _opcode(code, offset) in _CONDITIONAL_JUMPS else None


def conditional_jumps(code: CodeType, span: ByteSpan) -> list[int]:
    """Return the offsets of the conditional jumps with a span, in order; none of an unknown opcode.

    Empty before Python 3.11, which has no spans.
    """
    positions = positions_of(code) if HAS_COLUMNS else ()
    wanted = (span.line, span.end_line, span.column, span.end_column)
    names = (dis.opname[each] for each in code.co_code[::2])
    found = enumerate(zip(positions, names, strict=True))
    return [2 * at for at, (each, name) in found if each == wanted and name in _CONDITIONAL_JUMPS]


class LoopStart(NamedTuple):
    """What an instruction that starts a loop or comprehension says of it."""

    number: int
    """Number of loops before it with the same span: until Python 3.12 each of a comprehension has that of the whole."""
    makes_iterator: bool
    """Whether it calls ``iter``: a comprehension that is a function is called with its first iterator."""


def loop_start(code: CodeType, offset: int) -> LoopStart | None:
    """Return which loop an instruction starts: a ``for``, a comprehension or ``yield from``.

    None if it starts none, for an unknown opcode, and where there are no spans, as before Python 3.11.
    """
    raw, opcode = code.co_code, _opcode(code, offset)
    span = byte_span(code, offset) if opcode in _STARTS_OF_LOOPS else None
    if span is None:
        return None
    number = sum(raw[earlier] == raw[offset] and byte_span(code, earlier) == span for earlier in range(0, offset, 2))
    return LoopStart(number, makes_iterator=opcode == "GET_ITER")


def context_entries(code: CodeType) -> list[int]:
    """Return the offsets of the instructions that enter the items of ``with``, in order; none of an unknown opcode.

    They are those of frames that run the instructions. Those of ``async with`` are left out.
    """
    raw = code.co_code
    entries = [offset for offset in range(0, len(raw), 2) if dis.opname[raw[offset]] in _ENTERS]
    return [_first_part(raw, offset) for offset in entries] if _IS_AT_FIRST_PART else entries


def unpacked_count(instruction: Instruction) -> int | None:
    """Return the number of values that an instruction unpacks: 2 for ``a, b = x``.

    None for an unknown opcode, and where several numbers fit: ``a, *b = x``, ``for a in x``, ``f(*x)``.
    """
    code, offset, _ = instruction
    opcode, argument = _operation(code, offset)
    return argument if opcode == "UNPACK_SEQUENCE" else None


@lru_cache(maxsize=64)
def unpacked_variables(instruction: Instruction) -> tuple[str, ...]:
    """Return the local variables into which an instruction unpacks: ``("a", "b")`` for ``a, b = x``.

    Empty for an unknown opcode, where :func:`unpacked_count` is None, and if a target is anything else.
    """
    count = unpacked_count(instruction)
    if count is None:
        return ()
    names: list[str] = []
    dropped = 0
    for each in _instructions_after(instruction):
        if each.opname == "CACHE":
            continue
        if each.opname == "POP_TOP":
            # Python 3.13 drops what the next store, of the same variable, would replace.
            dropped += 1
            continue
        if each.opname not in _STORES or len(names) >= count:
            break
        first, *second = _variables(each)
        names += [first] * (dropped + 1) + ([] if each.opname in _LOADS else second)
        dropped = 0
    # The second variable of the last instruction may be the next target's: ``a, b, c = d = probe``.
    return tuple(names[:count]) if len(names) >= count else ()


@lru_cache(maxsize=64)
def unpacked_from_result(instruction: Instruction) -> int:
    """Return into how many targets the result of a call is unpacked: 2 for ``a, b = f()``.

    A starred target counts as one. 0 if it is not unpacked at once, and for an unknown opcode.
    """
    after = next((each for each in _instructions_after(instruction) if each.opname not in _REST_OF_CALL), None)
    if after is None or after.opname not in _UNPACKS:
        return 0
    # The argument has the numbers of targets before and after the starred one.
    count = after.arg or 0
    return count if after.opname == "UNPACK_SEQUENCE" else (count & 0xFF) + (count >> 8) + 1


def unpacks(instruction: Instruction) -> bool:
    """Return whether an instruction unpacks into targets, starred ones too; False for an unknown opcode."""
    return _opcode_of(instruction) in _UNPACKS


def accesses_item(instruction: Instruction) -> bool:
    """Return whether an instruction reads, writes or deletes an item or slice; False for an unknown opcode."""
    return _opcode_of(instruction) in _ITEM_ACCESSES


def writes_item(instruction: Instruction) -> bool:
    """Return whether an instruction writes an item or slice; False for an unknown opcode."""
    return _opcode_of(instruction) in _ITEM_WRITES


def indexes(instruction: Instruction) -> bool:
    """Return whether an instruction reads or writes ``x[i]``; False for an unknown opcode.

    Until Python 3.11 also if ``i`` is a slice; since 3.12 most slices have instructions of their own, which do not.
    """
    return _opcode_of(instruction) in _INDEXING


def is_raise(instruction: Instruction) -> bool:
    """Return whether an instruction is a ``raise``, and not what re-raises behind ``finally``.

    False for an unknown opcode.
    """
    return _opcode_of(instruction) == "RAISE_VARARGS"


def passes_unpacked_arguments(instruction: Instruction) -> bool:
    """Return whether an instruction calls with ``*args`` or ``**kwargs``; False for an unknown opcode."""
    return _opcode_of(instruction) == "CALL_FUNCTION_EX"


def matches_class(instruction: Instruction) -> bool:
    """Return whether an instruction is that of ``case Class():``; False for an unknown opcode."""
    return _opcode_of(instruction) == "MATCH_CLASS"


def attribute_before(instruction: Instruction) -> tuple[str, str] | None:
    """Return the variable and attribute that were read directly before an instruction.

    ``("self", "act")`` before the second read of ``self.act.weight``. None if anything else, or an unknown opcode, is
    before it.
    """
    code, offset, _ = instruction
    before = [each for each in dis.get_instructions(code) if each.offset < offset][-2:]
    if len(before) < 2 or before[0].opname not in _LOADS or before[1].opname != "LOAD_ATTR":
        return None
    return _variables(before[0])[-1], str(before[1].argval)


def reads_attribute(code: CodeType, name: str, except_own: bool = False) -> bool:
    """Return whether ``code`` reads an attribute of this name; an unknown opcode counts as no read.

    ``except_own`` leaves out reads of its own first argument.
    """
    if name not in code.co_names:
        return False
    own = code.co_varnames[0] if code.co_varnames else None
    of: object = None
    for each in dis.get_instructions(code):
        is_read = each.opname in _ATTRIBUTE_READS
        if is_read and each.argval == name and not (except_own and of == own):
            return True
        of = _variables(each)[-1] if each.opname in _LOADS else None
    return False


def writes_attribute(code: CodeType, name: str) -> bool:
    """Return whether ``code`` sets an attribute of this name; an unknown opcode counts as no write."""
    if name not in code.co_names:
        return False
    return any(each.opname == "STORE_ATTR" and each.argval == name for each in dis.get_instructions(code))


def stores_outside(code: CodeType) -> bool:
    """Return whether ``code`` sets or deletes attributes, items or slices, or sets global variables.

    An unknown opcode counts as none of these, as does the deletion of global variables.
    """
    return any(each.opname in _STORES_OUTSIDE for each in dis.get_instructions(code))


def _opcode_of(instruction: Instruction) -> str:
    return _opcode(instruction.code, instruction.offset)


def _opcode(code: CodeType, offset: int) -> str:
    return _operation(code, offset)[0]


def _operation(code: CodeType, offset: int) -> tuple[str, int]:
    """Return the name of an opcode and its argument; "" before the first instruction, "<7>" if it has no name.

    ``EXTENDED_ARG`` before it has the higher bytes of an argument above 255.
    """
    raw, argument = code.co_code, 0
    if not 0 <= offset < len(raw):
        return "", 0
    offset = _first_part(raw, offset)
    while raw[offset] == dis.EXTENDED_ARG:
        argument = (argument | raw[offset + 1]) << 8
        offset += 2
    return dis.opname[raw[offset]], argument | raw[offset + 1]


def _first_part(raw: bytes, offset: int) -> int:
    """Return the offset of the first ``EXTENDED_ARG`` of an instruction; its own if it has none."""
    while offset >= 2 and raw[offset - 2] == dis.EXTENDED_ARG:
        offset -= 2
    return offset


def _instructions_after(instruction: Instruction) -> Iterator[dis.Instruction]:
    return (each for each in dis.get_instructions(instruction.code) if each.offset > instruction.offset)


def _variables(each: dis.Instruction) -> tuple[str, ...]:
    """Return the variables that an instruction loads or stores: since Python 3.13 one may do so with two."""
    return each.argval if isinstance(each.argval, tuple) else (each.argval,)
