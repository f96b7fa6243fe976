"""Documents: edits, trees, and the digests that identify programs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Node

from fxlsp.source.text.documents import Document, TextEdit, read_document
from fxlsp.source.text.syntax import parse, span_of, walk
from fxlsp.wire.frames import text_digest

FRAGMENTS = [
    "x = f(1)\n",
    "class A(B):\n",
    "    def f(self):\n",
    "        return 'é𝒳'\n",
    "# 中\r\n",
    "(",
    ")",
    '"""',
    "\n",
    "\r",
]
PROGRAMS = st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join)


def document_of(text: str) -> Document:
    return Document("untitled:a", "/untitled/a.py", 1, text)


@st.composite
def edited_programs(draw: st.DrawFn) -> tuple[str, list[list[TextEdit]]]:
    text = first = draw(PROGRAMS)
    changes: list[list[TextEdit]] = []
    for _ in range(draw(st.integers(1, 4))):
        change: list[TextEdit] = []
        for _ in range(draw(st.integers(0, 3))):
            start = draw(st.integers(0, len(text)))
            end = draw(st.integers(start, min(len(text), start + 10)))
            edit = TextEdit(start, end, draw(st.sampled_from([*FRAGMENTS, "", "é", "𝒳y"])))
            text = text[:start] + edit.new_text + text[end:]
            change.append(edit)
        changes.append(change)
    return first, changes


@given(edited_programs(), st.data())
def test_an_edited_document_has_the_text_that_slicing_gives(
    program: tuple[str, list[list[TextEdit]]], data: st.DataObject
) -> None:
    text, changes = program
    document = document_of(text)
    for version, change in enumerate(changes, 2):
        if data.draw(st.booleans()):
            assert document.tree.root_node.type in ("module", "ERROR")  # So that the next tree starts from this one.
        document = document.edited(change, version)
        for edit in change:
            text = text[: edit.start_offset] + edit.new_text + text[edit.old_end_offset :]
        assert (document.text, document.version) == (text, version)
        assert document == Document("untitled:a", "/untitled/a.py", version, text)
        if document.parses and document_of(text).parses:
            assert _shape(document.tree.root_node) == _shape(parse(text).root_node)


def _shape(root: Node) -> list[tuple[str, int, int]]:
    return [(node.type, node.start_byte, node.end_byte) for node in walk(root)]


def test_an_edit_leaves_the_document_before_it_alone() -> None:
    before = document_of("x = 1\n")
    tree = before.tree
    after = before.edited([TextEdit(4, 5, "(")], 2)
    assert (before.text, before.parses, after.parses) == ("x = 1\n", True, False)
    assert before.tree is tree


@pytest.mark.parametrize("terminator", ["\n", "\r\n", "\r"])
def test_rows_of_the_tree_are_lines_whatever_ends_them(terminator: str) -> None:
    text = terminator.join(["class é(A):", "    def f(self):", "        return '𝒳' + g(1)", ""])
    document = document_of(text)
    spans = {node.type: span_of(node, document.lines) for node in walk(document.tree.root_node)}
    assert document.parses
    assert document.lines.slice(spans["call"]) == "g(1)"
    assert document.lines.slice(spans["parameters"]) == "(self)"


@pytest.mark.parametrize(
    ("text", "parses"),
    [("x = 1", True), ("", True), ("x = (", False), ("def f(:\n  pass", False), ("\ufeffx = 1\n", True)],
)
def test_a_document_knows_whether_it_parses(text: str, parses: bool) -> None:
    assert document_of(text).parses is parses


def _without_docstrings(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


STATEMENTS = st.sampled_from(
    [
        *(
            '"""doc"""',
            "'other'",
            "x = 1",
            "x = 1.0",
            "x = True",
            "x=1  # one",
            "x = (1)",
            "x = '1'",
            "x = u'1'",
            "x = b'1'",
        ),
        *("def f(a, b=1): return a", "def f(a, b=1):\n    'doc'\n    return a", "def f(a, *, b=1): return a"),
        *(
            "class A: pass",
            "class A:\n  'doc'\n  pass",
            "async def f(): pass",
            "f(x)\nf(y)",
            "f(x, y)",
            "f'{x}'",
            "[x, [y]]",
            "[[x], y]",
        ),
        *("-1", "0.0", "-0.0", "x.y", "x['y']", "1j", "...", "None", "match x:\n  case None: pass", "'a' 'b'", "'ab'"),
    ]
)


@given(st.lists(STATEMENTS, max_size=3), st.lists(STATEMENTS, max_size=3))
def test_normal_digests_are_equal_exactly_if_the_programs_are(one: list[str], other: list[str]) -> None:
    first, second = "\n".join(one), "\n".join(other)
    equal = document_of(first).normalized == document_of(second).normalized
    assert equal == (_without_docstrings(first) == _without_docstrings(second))


def test_comments_layout_and_docstrings_leave_the_normal_digest_alone() -> None:
    one = "class A:\n    def f(self):\n        return g(1, 2)\n"
    other = (
        '\ufeff# A\r\nclass A:\r\n  """Doc."""\r\n  def f(self):\r\n    "doc"\r\n    return g(\r\n1,\r\n 2,\r\n)\r\n'
    )
    assert document_of(one).normalized == document_of(other).normalized


@pytest.mark.parametrize("text", ["x = (", "x = '\x00'", "(" * 5000, "\ud800"])
def test_what_python_cannot_parse_is_equal_to_itself_alone(text: str) -> None:
    assert document_of(text).normalized == document_of(text).normalized
    assert document_of(text).normalized != document_of(text + " ").normalized
    assert isinstance(document_of(text).parses, bool)


@pytest.mark.parametrize("text", ["-" * 100_000 + "1", "x" + ".y" * 100_000, "[" * 150 + "]" * 150])
def test_a_text_nested_deeper_than_pythons_stack_has_a_digest(text: str) -> None:
    assert document_of(text).normalized == document_of(text).normalized
    assert document_of(text).normalized != document_of(f"y = {text}").normalized
    assert document_of(text).parses


def test_a_warning_about_the_users_code_is_kept_quiet(recwarn: pytest.WarningsRecorder) -> None:
    assert document_of("x = '\\d'; 1 is 1\n").normalized.startswith("ast:")
    assert len(recwarn) == 0


def test_the_digest_is_the_name_of_the_text_on_the_wire() -> None:
    assert document_of("é").digest == text_digest("é")


def test_what_is_derived_from_a_document_is_computed_once() -> None:
    calls: list[str] = []

    def length(document: Document) -> int:
        calls.append(document.text)
        return len(document.text)

    document = document_of("abc")
    assert (document.derive(length), document.derive(length), calls) == (3, 3, ["abc"])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = '\xc3\xa9'\r\n", "x = 'é'\r\n"),
        (b"\xef\xbb\xbfx = 1\r", "x = 1\r"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n"),
    ],
)
def test_a_file_is_decoded_as_python_does_and_keeps_its_line_ends(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "model.py"
    path.write_bytes(data)
    document = read_document(str(path))
    assert (document.text, document.version, document.path) == (text, None, str(path))


def test_a_file_in_no_known_encoding_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_bytes(b"x = '\xe9'\n")
    with pytest.raises((UnicodeDecodeError, SyntaxError)):
        read_document(str(path))
