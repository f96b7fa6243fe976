"""Parts of Python with which a text reads bytecode, or offsets of instructions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

MODULES = frozenset({"dis", "opcode"})
NAMES = frozenset(
    {
        "argval",
        "co_code",
        "co_exceptiontable",
        "co_lines",
        "co_linetable",
        "co_lnotab",
        "co_positions",
        "f_lasti",
        "get_instructions",
        "opmap",
        "opname",
        "tb_lasti",
    }
)
"""Attributes of code, frames, tracebacks and instructions, and functions of ``dis``."""


def bytecode_uses(tree: ast.Module) -> Iterator[str]:
    """Yield each such part that a module names.

    ``f_lasti`` for ``frame.f_lasti``, ``dis`` for ``import dis``, ``co_lines`` for ``hasattr(code, "co_lines")``.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if name in NAMES:
                yield name
            case ast.Constant(value=str(name)) if name in NAMES:
                yield name
            case ast.Import(names=imported):
                yield from (each.name for each in imported if each.name in MODULES)
            case ast.ImportFrom(module=str(module), level=0) if module in MODULES:
                yield module
