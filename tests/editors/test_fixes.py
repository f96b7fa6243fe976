"""What the editors' tests apply is every quick fix that there is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from fxlsp.ide.fixes.fix import Fix, FixContext
from fxlsp.ide.fixes.ignore import ignore_fix
from fxlsp.ide.fixes.registry import FIXERS, Fixer
from fxlsp.ide.problems import MovedNumber
from fxlsp.source.python.python_tree import PythonTree
from fxlsp.source.text.positions import Span
from tests.editors.fixes import FIXED, Fixed
from tests.ide.builder import document
from tests.ide.fixing import applied, fixers_of_torch_fx


def offers(example: Fixed) -> Iterator[tuple[Fixer | None, Fix]]:
    """What each fixer offers wherever the problem may stand; None is to ignore it."""
    made = document(example.before)
    tree = PythonTree(made)
    number = None if example.number is None else MovedNumber(example.number, Span.of(example.number.location))
    for span in spans(tree):
        for fixer in FIXERS.get(example.code, ()):
            yield from ((fixer, fix) for fix in fixer(FixContext(tree, example.code, span, number)))
        ignored = ignore_fix(made, example.code, span)
        if ignored is not None:
            yield None, ignored


def spans(tree: PythonTree) -> Iterator[Span]:
    for node in ast.walk(tree.module):
        if isinstance(node, ast.stmt | ast.expr):
            yield tree.lines.span(tree.start(node), tree.end(node))


@pytest.mark.parametrize("example", FIXED, ids=lambda example: example.name)
def test_each_example_is_what_its_fix_makes_of_it(example: Fixed) -> None:
    found = {applied(document(example.before), fix) for _, fix in offers(example) if fix.title == example.title}
    assert example.after in found


def test_no_fix_is_missing_from_the_examples() -> None:
    used = {fixer for example in FIXED for fixer, fix in offers(example) if fix.title == example.title}
    assert used == {None, *fixers_of_torch_fx()}
