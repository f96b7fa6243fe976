"""The node to which the span of a problem refers, and its offsets."""

from __future__ import annotations

import ast

import pytest

from fxlsp.source.python.python_tree import PythonTree, python_tree
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

TEXT = "é = f(1)\r\nif g(é): h(g(2))\r\n\tk = (l(3)\r\n\t.m())\r\n".replace("\r\n\tk", "\r\nk")


def tree(text: str = TEXT) -> PythonTree:
    found = python_tree(Document("file:///net.py", "/net.py", 1, text))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("span", "kind", "text"),
    [
        (Span(1, 5, 1, 9), ast.Call, "f(1)"),
        (Span(1, 7, 1, 8), ast.Call, "f(1)"),
        (Span(1, 1, 1, 9), ast.Call, "f(1)"),
        (Span(1, 1, 1, 99), ast.Assign, "é = f(1)"),
        (Span(2, 4, 2, 8), ast.Call, "g(é)"),
        (Span(2, 10, 2, 17), ast.Call, "h(g(2))"),
        (Span(2, 4, 2, 8), ast.If, "if g(é): h(g(2))"),
        (Span(3, 5, 4, 7), ast.Call, "l(3)\r\n\t.m()"),
        (Span(2, 1, 2, 17), ast.Call, None),
        (Span(1, 1, 1, 2), ast.Call, None),
    ],
)
def test_a_span_means_the_node_itself_else_the_only_one_in_it_else_the_one_around(
    span: Span, kind: type[ast.stmt] | type[ast.expr], text: str | None
) -> None:
    found = tree().node_at(span, kind)
    assert (None if found is None else tree().text(found)) == text


def test_text_that_does_not_parse_has_no_tree() -> None:
    assert python_tree(Document("file:///net.py", "/net.py", 1, "f(")) is None


def test_a_decorator_belongs_to_its_function() -> None:
    found = tree("@a(1)\n@b\ndef f():\n    pass\n")
    call = found.node_at(Span(1, 2, 1, 6), ast.Call)
    assert call is not None
    assert found.text(call) == "a(1)"


@pytest.mark.parametrize(("text", "newline"), [("a\nb", "\n"), ("a\r\nb", "\r\n"), ("a", "\n"), ("\na\r\n", "\n")])
def test_new_lines_end_as_the_first_one_does(text: str, newline: str) -> None:
    assert tree(text).newline == newline
