"""What is said of where a recipe comes from."""

from __future__ import annotations

import pytest

from fxlsp.ide.trace_view.provenance import readable_recipe
from fxlsp.report.recipes import Recipe


@pytest.mark.parametrize(
    ("init", "read"),
    [
        ("Net(__import__('pkg.parts', fromlist=['Part']).Part(3))", "Net(Part(3))(x)"),
        ("Net(__import__('types').SimpleNamespace(width=3))", "Net(SimpleNamespace(width=3))(x)"),
        ("Net('__import__')", "Net('__import__')(x)"),
    ],
)
def test_names_are_read_without_the_import_that_brings_them(init: str, read: str) -> None:
    assert readable_recipe(Recipe(init, "x", "call-site")) == read
