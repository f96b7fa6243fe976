"""Bytecode is read in one folder, so that a new version of Python is checked in one place.

What records a user's program runs in that, imports nothing of the worker, and has a file of its own.
"""

from __future__ import annotations

import pytest

from dev.structure.bytecode import bytecode_uses
from dev.structure.sources import SourceFile, read_sources

PLACE = "tracing/model/locations/bytecode/"
IN_USERS_PROGRAM = "recording/constructor_calls.py"


def test_bytecode_is_read_in_one_folder() -> None:
    sources = [each for each in read_sources() if not each.path.startswith((PLACE, IN_USERS_PROGRAM))]
    found = {each.path: uses for each in sources if (uses := sorted(set(bytecode_uses(each.tree))))}
    assert found == {}


def test_there_it_is_read() -> None:
    sources = read_sources()
    found = {use for each in sources if each.path.startswith(PLACE) for use in bytecode_uses(each.tree)}
    assert {"dis", "f_lasti", "tb_lasti", "co_code", "co_positions"} <= found
    (recorder,) = (each for each in sources if each.path == IN_USERS_PROGRAM)
    assert {"dis", "f_lasti"} <= set(bytecode_uses(recorder.tree))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import dis", ["dis"]),
        ("import os, dis as d", ["dis"]),
        ("def f():\n    from dis import Bytecode", ["dis"]),
        ("from opcode import EXTENDED_ARG", ["opcode"]),
        ("at = frame.f_lasti", ["f_lasti"]),
        ("at = entry.tb_lasti", ["tb_lasti"]),
        ("first = code.co_code[0]", ["co_code"]),
        ("knows = hasattr(code, 'co_positions')", ["co_positions"]),
        ("lines = list(code.co_lines())", ["co_lines"]),
    ],
)
def test_a_reader_of_bytecode_is_found(text: str, found: list[str]) -> None:
    assert list(bytecode_uses(SourceFile("", text).tree)) == found


@pytest.mark.parametrize(
    "text",
    [
        '"""Positions, which ``code.co_positions()`` reports."""',
        "from .bytecode import instruction_of\nat = instruction_of(frame).offset",
        "from .opcode import opcode\nx = node.opcode",
        "names = code.co_names + code.co_varnames",
        "line = frame.f_lineno",
    ],
)
def test_what_reads_no_bytecode_is_not_found(text: str) -> None:
    assert list(bytecode_uses(SourceFile("", text).tree)) == []
