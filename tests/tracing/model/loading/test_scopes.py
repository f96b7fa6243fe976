"""Names that code reads from its module."""

from __future__ import annotations

import ast
import inspect
import symtable
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch.fx.graph
import torch.nn.functional
import torch.nn.modules.transformer

from fxlsp.tracing.model.loading.scopes import free_names

OF_THE_COMPILER = {"__class__"}
"""What it adds for ``super()``."""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x, *, y=z, **rest):\n    return x + y + w", {"z", "w"}),
        ("f = lambda x: x + y", {"y"}),
        ("x += 1", {"x"}),
        ("del x", {"x"}),
        ("def f():\n    global x\n    x = 1\n    return x", {"x"}),
        ("def f():\n    import a.b\n    from c import d as e\n    return a, e, d", {"d"}),
        ("def f():\n    try:\n        g()\n    except Error as e:\n        return e", {"g", "Error"}),
        ("@decorated\nclass A(B, metaclass=M):\n    x: int = y", {"decorated", "B", "M", "int", "y"}),
        ("a = [x * y for x in xs if x]", {"xs", "y"}),
        ("sizes = [sizes * 2 for sizes in sizes]", {"sizes"}),
        ("a = {k: v for k, vs in items for v in vs}", {"items"}),
        ("a = [[y for y in x] for x in y]", {"y"}),
        ("def f(x):\n    def g():\n        return x, y\n    return g", {"y"}),
    ],
)
def test_free_names(text: str, names: set[str]) -> None:
    assert free_names(ast.parse(text)) == names


@pytest.mark.parametrize("module", [torch.fx.graph, torch.nn.functional, torch.nn.modules.transformer])
def test_no_name_is_missed_that_the_compiler_finds(module: ModuleType) -> None:
    text = inspect.getsource(module)
    lines = text.splitlines(keepends=True)
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            table = symtable.symtable("".join(lines[first - 1 : node.end_lineno]), "<text>", "exec")
            assert {*globals_of(table)} - OF_THE_COMPILER <= free_names(node)


def globals_of(table: symtable.SymbolTable) -> Iterator[str]:
    """Return the names that the compiler looks up in the module, in all scopes of a text."""
    yield from (each.get_name() for each in table.get_symbols() if each.is_referenced() and each.is_global())
    for child in table.get_children():
        yield from globals_of(child)
