"""What instructions do, on the Python that runs: each source is compiled, and run up to a value that stops it."""

from __future__ import annotations

import dis
import sys
import textwrap
from collections.abc import Callable
from contextlib import nullcontext
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any, NoReturn

import pytest

from fxlsp.tracing.model.locations.bytecode.instructions import (
    Instruction,
    instruction_of,
    raising_instruction,
    traceback_instructions,
)
from fxlsp.tracing.model.locations.bytecode.opcodes import (
    LoopStart,
    accesses_item,
    attribute_before,
    conditional_jumps,
    context_entries,
    indexes,
    is_raise,
    jump_at,
    loop_start,
    matches_class,
    passes_unpacked_arguments,
    reads_attribute,
    stores_outside,
    unpacked_count,
    unpacked_from_result,
    unpacked_variables,
    unpacks,
    writes_attribute,
    writes_item,
)
from fxlsp.tracing.model.locations.bytecode.spans import HAS_COLUMNS, byte_span, line_of, starts_before, with_lines_of
from fxlsp.tracing.model.locations.expressions import ByteSpan

columns = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 knows no columns")
SLICES_ARE_ITEMS = sys.version_info < (3, 12)
"""Whether ``x[a:b]`` has the instruction of ``x[i]``."""
MANY = ", ".join(f"a{number}" for number in range(300))


class Stopped(BaseException):
    """Raised by the first operation on a probe."""

    def __init__(self, instruction: Instruction) -> None:
        super().__init__()
        self.instruction = instruction


def _stop(*args: object, **kwargs: object) -> NoReturn:
    raise Stopped(instruction_of(sys._getframe(1)))


class Probe:
    """Value whose operations stop with the instruction that ran them."""

    __iter__ = __call__ = __bool__ = __hash__ = __enter__ = _stop
    __getitem__ = __setitem__ = __delitem__ = __getattr__ = _stop

    def __exit__(self, *args: object) -> None:
        raise NotImplementedError


class _Kinds(type):
    __instancecheck__ = _stop


class Kind(metaclass=_Kinds):
    """Class that is a probe when something is tested for it."""


class Iterating:
    """Iterator that stops at its first item."""

    __next__ = _stop

    def __iter__(self) -> Iterating:
        return self


def function(source: str) -> FunctionType:
    text = "def function(self, probe, iterator):\n" + textwrap.indent(source, "    ")
    namespace: dict[str, Any] = {"Kind": Kind, "nullcontext": nullcontext}
    exec(compile(text, "source.py", "exec"), namespace)
    made: FunctionType = namespace["function"]
    return made


def stopped(source: str) -> Stopped:
    probe = Probe()
    with pytest.raises(Stopped) as caught:
        # One that yields runs when it is iterated over.
        next(function(source)(SimpleNamespace(act=probe), probe, Iterating()))
    return caught.value


def running(source: str) -> Instruction:
    return stopped(source).instruction


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("a, b = probe", 2),
        ("[a, b, c] = probe", 3),
        ("a, = probe", 1),
        ("a, (b, c) = probe", 2),
        ("for a, b in [probe]: pass", 2),
        ("a, b = c, d = probe", 2),
        pytest.param(f"{MANY} = probe", 300, id="300 targets"),
        ("a, *b = probe", None),
        ("for a in probe: pass", None),
        ("a = [*probe]", None),
        ("print(*probe)", None),
        ("a = list(probe)", None),
        ("a, b = probe()", None),
        ("a, b = probe[0]", None),
    ],
)
def test_values_that_are_unpacked_are_counted(source: str, count: int | None) -> None:
    assert unpacked_count(running(source)) == count


@pytest.mark.parametrize(
    ("source", "does"),
    [("a, b = probe", True), ("a, *b = probe", True), ("for a in probe: pass", False), ("a = [*probe]", False)],
)
def test_what_unpacks_into_targets_does_so_with_a_starred_one_too(source: str, does: bool) -> None:
    assert unpacks(running(source)) == does


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a, b = probe", ("a", "b")),
        ("a, b, c = probe", ("a", "b", "c")),
        ("a, b, c = probe\nd = a", ("a", "b", "c")),
        ("a, b, c = probe; d = a", ("a", "b", "c")),
        ("for a, b, c, d in [probe]: pass", ("a", "b", "c", "d")),
        ("a, _, _, b = probe", ("a", "_", "_", "b")),
        ("_, _, _, a = probe", ("_", "_", "_", "a")),
        ("a, b, b = probe", ("a", "b", "b")),
        ("_, _ = probe", ("_", "_")),
        ("a, b, c = d = probe", ("a", "b", "c")),
        ("a, b = c = d = probe", ("a", "b")),
        ("_, _, b[0] = probe", ()),
        ("a, (b, c) = probe", ()),
        ("a, b[0] = probe", ()),
        ("a, b.c = probe", ()),
        ("a, *b = probe", ()),
        ("a, b = probe\nreturn lambda: a", ()),
        ("a, b = probe()", ()),
        ("for a in probe: pass", ()),
    ],
)
def test_local_variables_that_are_unpacked_into_are_named(source: str, names: tuple[str, ...]) -> None:
    assert unpacked_variables(running(source)) == names


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("a, b = probe()", 2),
        ("a, b, c = probe(1, x=2)", 3),
        ("a, b = probe(*[1])", 2),
        pytest.param(f"{MANY} = probe()", 300, id="300 targets"),
        ("a, *b = probe()", 2),
        ("*a, b, c = probe()", 3),
        ("a = probe()", 0),
        ("probe()", 0),
        ("return probe()", 0),
        ("for a, b in probe(): pass", 0),
    ],
)
def test_targets_of_a_result_are_counted(source: str, count: int) -> None:
    assert unpacked_from_result(running(source)) == count


@pytest.mark.parametrize(
    ("source", "is_accessed", "is_written", "is_indexed"),
    [
        ("probe[0]", True, False, True),
        ("probe[0] = 1", True, True, True),
        ("probe[0] += 1", True, False, True),
        ("del probe[0]", True, False, False),
        ("probe[:1]", True, False, SLICES_ARE_ITEMS),
        ("probe[:1] = 1", True, True, SLICES_ARE_ITEMS),
        ("probe[0:1:2]", True, False, True),
        ("del probe[:1]", True, False, False),
        ("{}[probe]", True, False, True),
        ("{}[probe] = 1", True, True, True),
        ("{probe: 1}", False, False, False),
        ("probe in {}", False, False, False),
        ("probe()", False, False, False),
    ],
)
def test_access_to_items_is_known(source: str, is_accessed: bool, is_written: bool, is_indexed: bool) -> None:
    instruction = running(source)
    assert (accesses_item(instruction), writes_item(instruction)) == (is_accessed, is_written)
    assert indexes(instruction) == is_indexed


@pytest.mark.parametrize(
    ("source", "does"),
    [("match probe:\n    case Kind(): pass", True), ("isinstance(probe, Kind)", False), ("probe()", False)],
)
def test_a_pattern_of_a_class_is_known(source: str, does: bool) -> None:
    assert matches_class(running(source)) == does


@pytest.mark.parametrize(
    ("source", "does"),
    [("probe(*[1])", True), ("probe(**{})", True), ("probe(1)", False), ("probe(x=1)", False), ("probe[0]", False)],
)
def test_a_call_that_unpacks_its_arguments_is_known(source: str, does: bool) -> None:
    assert passes_unpacked_arguments(running(source)) == does


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("self.act.weight", ("self", "act")),
        ("a, b = self.act", ("self", "act")),
        ("a = 1; self.act.weight", ("self", "act")),
        ("print(probe, self.act.weight)", ("self", "act")),
        ("self.act[0]", None),
        ("probe.weight", None),
        ("act = self.act\nact.weight", None),
    ],
)
def test_an_attribute_that_was_read_just_before_is_named(source: str, read: tuple[str, str] | None) -> None:
    assert attribute_before(running(source)) == read


@pytest.mark.parametrize(
    ("source", "loop"),
    [
        ("for a in probe: pass", LoopStart(0, makes_iterator=True)),
        ("for a in iterator: pass", LoopStart(0, makes_iterator=False)),
        ("[a for a in probe]", LoopStart(0, makes_iterator=True)),
        # Before 3.12 a comprehension is a function with an iterator given; since 3.13 each loop has a span of its own.
        ("[b for a in range(1) for b in probe]", LoopStart(int(sys.version_info[:2] == (3, 12)), makes_iterator=True)),
        ("yield from probe", LoopStart(0, makes_iterator=False)),
        ("a, b = probe", None),
        ("list(probe)", None),
    ],
)
def test_the_start_of_a_loop_is_known_where_columns_are(source: str, loop: LoopStart | None) -> None:
    instruction = running(source)
    assert loop_start(instruction.code, instruction.offset) == (loop if HAS_COLUMNS else None)


@pytest.mark.parametrize(
    ("source", "index"),
    [
        ("with probe: pass", 0),
        ("with nullcontext(), probe: pass", 1),
        ("with nullcontext():\n    with nullcontext(), probe: pass", 2),
        pytest.param("with nullcontext():\n    with probe:\n" + 300 * "        self.act\n", 1, id="long block"),
        ("with nullcontext():\n    probe()", None),
        ("probe.__enter__()", None),
    ],
)
def test_the_items_of_with_are_entered_in_order(source: str, index: int | None) -> None:
    instruction = running(source)
    entries = context_entries(instruction.code)
    assert (entries.index(instruction.offset) if instruction.offset in entries else None) == index


@pytest.mark.parametrize(
    ("source", "does"),
    [
        ("if probe:\n    len('')", True),
        ("while probe:\n    len('')", True),
        ("a = 1 if probe else 2", True),
        ("a = probe and 1", True),
        ("assert probe", True),
        ("a = [1 for b in [1] if probe]", True),
        ("not probe", False),
        ("bool(probe)", False),
    ],
)
def test_a_condition_has_a_jump(source: str, does: bool) -> None:
    code, offset, _ = running(source)
    jump = jump_at(code, offset)
    assert (jump is not None) == does
    span = None if jump is None else byte_span(code, jump)
    assert span is None or jump in conditional_jumps(code, span)


@columns
def test_conditional_jumps_are_found_by_their_span() -> None:
    code, offset, _ = running("if probe:\n    len('')")
    jump = jump_at(code, offset)
    span = None if jump is None else byte_span(code, jump)
    assert span is not None
    assert conditional_jumps(code, span) == [jump]
    assert conditional_jumps(code, span._replace(end_column=span.end_column + 1)) == []


@pytest.mark.parametrize(
    ("source", "does"),
    [
        ("raise ValueError", True),
        ("raise ValueError('x') from None", True),
        ("try:\n    raise ValueError\nfinally:\n    len('')", True),
        ("assert not self", True),
        ("1 / 0", False),
        ("int('x')", False),
        ("try:\n    1 / 0\nexcept TypeError:\n    pass", False),
        ("try:\n    1 / 0\nfinally:\n    len('')", False),
    ],
)
def test_a_raise_is_known_from_what_fails(source: str, does: bool) -> None:
    with pytest.raises((ArithmeticError, AssertionError, ValueError)) as caught:
        function(source)(1, 2, 3)
    entry = caught.value.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    assert entry is not None
    assert is_raise(raising_instruction(entry)) == does


@pytest.mark.parametrize("source", ["a, b = probe", "probe()", "probe[0]", "with probe: pass"])
def test_a_traceback_has_the_instruction_that_its_frame_ran(source: str) -> None:
    error = stopped(source)
    assert error.instruction[:2] in traceback_instructions(error.__traceback__)


@pytest.mark.parametrize(
    ("source", "does", "of_another"),
    [
        ("self.act", True, False),
        ("self.act()", True, False),
        ("self.other.act", True, True),
        ("probe.act", True, True),
        ("other = self\nother.act", True, True),
        ("print(probe, self.act)", True, False),
        ("a = 1; self.act", True, False),
        ("a = self; probe.act", True, True),
        ("print(self, probe.act)", True, True),
        ("self.act = 1", False, False),
        ("del self.act", False, False),
        ("act()", False, False),
        ("print(act, 'act')", False, False),
        ("act = 1\nprint(act)", False, False),
    ],
)
def test_reads_of_an_attribute_are_found(source: str, does: bool, of_another: bool) -> None:
    code = function(source).__code__
    assert reads_attribute(code, "act") == does
    assert reads_attribute(code, "act", except_own=True) == of_another


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 a comprehension is a function of its own")
def test_a_read_in_a_comprehension_is_one_of_its_own() -> None:
    assert not reads_attribute(function("[self.act(a) for a in iterator]").__code__, "act", except_own=True)
    assert attribute_before(running("[self.act.weight for a in range(1)]")) == ("self", "act")


def test_a_read_of_an_inherited_attribute_is_found() -> None:
    namespace: dict[str, Any] = {}
    exec("class C:\n    def method(self):\n        return super().act", namespace)
    code = namespace["C"].method.__code__
    assert reads_attribute(code, "act")
    assert not reads_attribute(code, "method")


@pytest.mark.parametrize(
    ("source", "does"),
    [
        ("self.act = 1", True),
        ("self.act += 1", True),
        ("self.act", False),
        ("del self.act", False),
        ("act = 1", False),
        ("self.other = act", False),
    ],
)
def test_writes_of_an_attribute_are_found(source: str, does: bool) -> None:
    assert writes_attribute(function(source).__code__, "act") == does


@pytest.mark.parametrize(
    ("source", "does"),
    [
        ("self.act = 1", True),
        ("del self.act", True),
        ("probe[0] = 1", True),
        ("del probe[0]", True),
        ("probe[:1] = 1", True),
        ("del probe[:1]", True),
        ("global act\nact = 1", True),
        ("act = 1", False),
        ("self.act", False),
        ("probe[0]", False),
        ("probe()", False),
    ],
)
def test_what_stores_outside_of_its_variables_is_found(source: str, does: bool) -> None:
    assert stores_outside(function(source).__code__) == does


def test_an_instruction_has_its_place_in_the_text() -> None:
    code, offset, _ = running("a = 1\n\na, b = probe")
    assert line_of(code, offset) == 4
    assert byte_span(code, offset) == (ByteSpan(4, 4, 4, 8) if HAS_COLUMNS else None)
    assert next(starts_before(code, offset)) == (4, 4 if HAS_COLUMNS else None)
    assert byte_span(code, -1) is None


def test_code_gets_the_lines_of_another() -> None:
    first, moved = function("a = 1\nprint(a)").__code__, function("\n\na = 1\n\nprint(a)").__code__
    lines = [[line for *_, line in code.co_lines()] for code in (first, moved, with_lines_of(first, moved))]
    assert lines[0] != lines[1] == lines[2]


def of_a_later_python(code: CodeType) -> CodeType:
    """Return ``code`` with an opcode in all places that this Python does not have."""
    unknown = next(number for number in range(255, 0, -1) if dis.opname[number] == f"<{number}>")
    return code.replace(co_code=bytes([unknown, 2]) * (len(code.co_code) // 2))


@pytest.mark.parametrize(
    "instruction",
    [
        pytest.param(Instruction(of_a_later_python(function("a, b = self.act").__code__), 4), id="unknown opcode"),
        pytest.param(Instruction(function("a, b = self.act").__code__, -1), id="before the first instruction"),
    ],
)
def test_of_an_unknown_opcode_nothing_is_known(instruction: Instruction) -> None:
    code, offset, _ = instruction
    of_instructions: list[Callable[[Instruction], object]] = [
        accesses_item,
        indexes,
        is_raise,
        matches_class,
        passes_unpacked_arguments,
        unpacks,
        writes_item,
    ]
    assert [each(instruction) for each in of_instructions] == [False] * len(of_instructions)
    assert unpacked_count(instruction) is None
    assert unpacked_variables(instruction) == ()
    assert unpacked_from_result(instruction) == 0
    assert attribute_before(instruction) is None
    assert jump_at(code, offset) is None
    assert loop_start(code, offset) is None


def test_of_code_with_unknown_opcodes_nothing_is_known() -> None:
    code = of_a_later_python(function("with self.act:\n    self.act = 1 if self.act else 2").__code__)
    assert not reads_attribute(code, "act")
    assert not writes_attribute(code, "act")
    assert not stores_outside(code)
    assert context_entries(code) == []
    assert all(conditional_jumps(code, span) == [] for at in range(len(code.co_code)) if (span := byte_span(code, at)))
