"""Whatever is being typed, an answer leads to what was traced or to nothing, and the outline stays a tree."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.navigation.call_hierarchy import incoming, outgoing, prepare
from fxlsp.ide.navigation.definitions import definition
from fxlsp.ide.navigation.document_symbols import Symbol, symbols
from fxlsp.ide.navigation.workspace_symbols import workspace_symbols
from fxlsp.source.text.documents import TextEdit
from tests.ide.builder import PATH, edited_by, snapshot
from tests.ide.navigable import TEXT, trace

PIECES = st.sampled_from(["", "x", "(", ")", "\n", "\r\n", "    ", "𝒳", '"', "#", "class A:\n", "self.layer(x)\n", ":"])


Stroke = tuple[int, int, str]
"""Where in the text, how many characters are replaced, and by what."""

STROKES = st.lists(st.tuples(st.integers(0, len(TEXT)), st.sampled_from([0, 1, 3, 30]), PIECES), min_size=1, max_size=4)


def typed(strokes: list[Stroke]) -> Snapshot:
    session = snapshot(TEXT, trace().state())
    for start, length, piece in strokes:
        size = len(session.documents[PATH].text)
        edit = TextEdit(min(start, size), min(start + length, size), piece)
        session = edited_by(session, [edit])
    return session


@settings(deadline=None, max_examples=60)
@given(strokes=STROKES, at=st.integers(0, len(TEXT)))
def test_a_place_reads_as_it_did_when_it_was_traced(strokes: list[Stroke], at: int) -> None:
    session = typed(strokes)
    lines = session.documents[PATH].lines
    place = lines.place(at)
    leads = definition(session, PATH, *place)
    for target in leads.forwards if leads is not None else ():
        assert lines.slice(target.span) == "forward"
        assert target.extent.encloses(target.span)
    for target in leads.registrations if leads is not None else ():
        assert lines.slice(target.span) in TEXT
    for item in prepare(session, PATH, *place):
        for calls in (*incoming(session, item.reference), *outgoing(session, item.reference)):
            assert calls.places
            assert all(lines.slice(each) in TEXT for each in calls.places)
    for found in workspace_symbols(session, "layer"):
        assert found.target is not None
        assert found.kind == "class" or lines.slice(found.target.span) in TEXT


@settings(deadline=None, max_examples=60)
@given(strokes=STROKES)
def test_each_symbol_lies_inside_the_one_above(strokes: list[Stroke]) -> None:
    session = typed(strokes)

    def check(symbol: Symbol) -> None:
        assert symbol.span.encloses(symbol.name_span)
        for child in symbol.children:
            assert symbol.span.encloses(child.span)
            check(child)

    for symbol in symbols(session, PATH):
        check(symbol)
