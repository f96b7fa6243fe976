"""Inlay hints: the shape at the end of each line's last tensor expression.

Where a ``forward`` returns a tuple, list or dictionary that it writes out, the hint has the shapes of all items. At
``B, T, C = x.size()`` it has the size that each name gets.

Several instances, calls or models may run a line with different shapes, or without one because an operation failed. The
hint then shows the first shape and "…", and its tooltip lists all of them and the line's other operations. A hint
follows the end of its expression through later edits, also edits inside the expression: it keeps the last good shape
until the next trace. If torch.export names the expression that ends there as what fixes or limits the batch, the hint
says so. A shape that is assumed, since an operation before it fails, ends with a question mark.

The arguments of each ``forward`` are shown at its parameters. Those of the root module are nodes with a location. For
an inner module the report has only the call's arguments in order, so a parameter is certain only if there is exactly
one, or if the call names none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.frontend_problems import batch_limits
from fxlsp.ide.render.rich_text import RichText, paragraphs, words
from fxlsp.ide.render.shapes import Style, holds_tensor, output_text
from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.ide.trace_view.in_trace import InTrace, Run
from fxlsp.ide.trace_view.instances import Focus, focus_on, forward_runs
from fxlsp.ide.trace_view.outline import Outlined, outline
from fxlsp.ide.trace_view.provenance import STALE, is_guessed, provenance_text
from fxlsp.ide.trace_view.report_index import ReportIndex, index_of
from fxlsp.ide.trace_view.runs import is_assumed, runs_table
from fxlsp.report.graph import Output
from fxlsp.source.models.forward_defs import ReturnedDisplay
from fxlsp.source.models.models import ModelClass
from fxlsp.source.text.edits import EditLog, move
from fxlsp.source.text.positions import Span

_KEYWORD = re.compile(r"\w\s*=(?!=)|\*\*")


_Point = tuple[int, int]

_TRUTH: Output = {"shape": [], "dtype": "bool"}
"""A condition. It is rarely what its line is about, though it may come last (``return a if x.sum() > 0 else b``)."""

_WIDTH = 80
"""Longest hint in characters, so that a large dictionary does not push the code off the screen."""
_ITEMS_WIDTH = 40
"""Length in characters up to which a hint writes out the items of a tuple, list or dictionary."""


@dataclass(frozen=True, slots=True)
class _ForwardArgument:
    """Value that one call of a ``forward`` passed for one of its parameters."""

    name: str
    parameter: Span
    value: Output | None
    run: Run
    """The call."""


def _arguments(snapshot: Snapshot, path: str) -> Iterator[_ForwardArgument]:
    """Yield the arguments of inner ``forward`` calls whose parameter is certain."""
    for outlined in outline(snapshot, path):
        parameters = outlined.parameters
        for run in forward_runs(snapshot, path, outlined.model) if parameters else ():
            inputs = run.item.inputs
            if run.item.module_path and (len(inputs) == len(parameters) == 1 or _is_positional(snapshot, run)):
                given = zip(_plain_names(outlined.model), parameters, inputs, strict=False)
                yield from (_ForwardArgument(name, parameter, value, run) for name, parameter, value in given)


def _plain_names(model: ModelClass) -> Iterator[str]:
    """Return the parameters before ``*args``, which takes all that follow."""
    names = model.forward.parameters if model.forward is not None else ()
    return takewhile(lambda name: not name.startswith("*"), names)


def _is_positional(snapshot: Snapshot, run: Run) -> bool:
    """Return whether the calling expression is in an open text and has no keyword."""
    location = run.item.subject.location
    document = snapshot.documents.get(location.file) if location is not None else None
    if location is None or document is None:
        return False
    log = snapshot.edits_since(location.file, run.state.texts)
    moved = move(Span.of(location), log) if log is not None else None
    return moved is not None and _KEYWORD.search(document.lines.slice(moved.span)) is None


def _returned(snapshot: Snapshot, path: str, lines: range) -> Iterator[tuple[_Point, _Sample]]:
    """Yield what displays after a ``return`` were in each run, where it is certain that they were returned."""
    for outlined in outline(snapshot, path):
        for display in outlined.returned:
            if display.end.end_line in lines:
                runs = _runs_returning(snapshot, path, outlined, display)
                point = display.end.end_line, display.end.end_column
                yield from ((point, _Sample(run.item.output, run, is_returned=True)) for run in runs)


def _runs_returning(snapshot: Snapshot, path: str, outlined: Outlined, display: ReturnedDisplay) -> Iterator[Run]:
    """Yield the runs that returned a display, and those of which nothing is known.

    Of several ``return`` statements the report says which one ran for the root module only, by the place of the graph's
    output.
    """
    runs = forward_runs(snapshot, path, outlined.model) if display.is_only else _results(snapshot, path, display)
    for run in runs:
        output = run.item.output
        if output is None or len(output.get("dict" if display.is_dict else "list", ())) == display.size:
            yield run


def _results(snapshot: Snapshot, path: str, display: ReturnedDisplay) -> Iterator[Run]:
    """Yield the outputs of graphs whose expression ends where the display does."""
    for state, log in snapshot.reports_touching(path):
        index = index_of(state.report) if state.report is not None else None
        for event in index.results if index is not None else ():
            place = event.subject.location
            end = move(_last_character(Span.of(place)), log) if place is not None and place.file == path else None
            if index is not None and end is not None and end.span == display.end:
                yield InTrace(state, index, event)


def _unpacked(snapshot: Snapshot, path: str, lines: range) -> Iterator[tuple[_Point, _Sample]]:
    """Yield the sizes that statements bind to names, at the end of what they unpack."""
    document = snapshot.documents.get(path)
    for state, log in snapshot.reports_touching(path) if document is not None else ():
        index = index_of(state.report) if state.report is not None else None
        for sizes in index.unpacked_sizes if index is not None else ():
            place = sizes.whole.subject.location
            end = move(_last_character(Span.of(place)), log) if place is not None and place.file == path else None
            if index is None or document is None or end is None or end.span.end_line not in lines:
                continue
            names = [(move(Span.of(part), log), size) for part, size in sizes.parts]
            named = [(document.lines.slice(moved.span), size) for moved, size in names if moved is not None]
            text = ", ".join(f"{name} = {size}" for name, size in named if name != "_")
            if text and all(name.isidentifier() for name, _ in named):
                run = InTrace(state, index, sizes.whole)
                yield (end.span.end_line, end.span.end_column), _Sample(run.item.output, run, sizes=text)


@dataclass(frozen=True, slots=True)
class Hint:
    """Text shown after a position in a line."""

    line: int
    column: int
    text: str
    runs: tuple[Run, ...]
    """Every run of the expression."""
    focus: Focus = field(default_factory=Focus)
    others: tuple[Run, ...] = ()
    """Every run of the other expressions that end on the line."""
    is_old: bool = False
    """Whether it is of an earlier text, and the present one, half-typed, says nothing about the line."""

    @property
    def tooltip(self) -> RichText:
        """All runs, the line's other operations, and the provenance of the shapes."""
        is_old = self.is_old or any(run.state.is_stale for run in self.runs)
        stale = [words(STALE.strip())] if is_old else []
        provenance = {id(run.state): provenance_text(run.state, run.index.report) for run in self.runs}
        tables = [runs_table(self.runs, self.focus.holds).text()]
        if self.others:
            others = runs_table(self.others, self.focus.holds)
            tables += [words("before that on this line:"), others.text()]
        return paragraphs([*tables, *provenance.values(), *stale])


def hints(snapshot: Snapshot, path: str, first_line: int, last_line: int) -> list[Hint]:
    """Return the hints of some lines, ends included, at most one a line."""
    focus, kinds = focus_on(snapshot, path), snapshot.hints_of(path)
    lines: dict[int, dict[int, list[_Sample]]] = defaultdict(lambda: defaultdict(list))
    for (line, column), sample in _samples(snapshot, path, range(first_line, last_line + 1)):
        if kinds.arguments if sample.parameter else kinds.shapes:
            lines[line][column].append(replace(sample, shows_dtype=kinds.dtypes, style=kinds.sizes))
    known = {line: _with_a_shape(columns) for line, columns in lines.items()}
    found = [_hint(line, columns, focus) for line, columns in sorted(known.items()) if columns]
    limits = batch_limits(snapshot, path)
    return [_with_limit(hint, limits.get((hint.line, hint.column))) for hint in found] if limits else found


def _with_limit(hint: Hint, limit: str | None) -> Hint:
    return hint if limit is None else replace(hint, text=f"{hint.text} · {limit}")


def _with_a_shape(columns: dict[int, list[_Sample]]) -> dict[int, list[_Sample]]:
    """Return the columns at which some run has a shape, or sizes with names.

    Samples of guessed recipes, and those without a value because an operation failed, come last in their column.
    """
    return {
        column: sorted(samples, key=lambda sample: (sample.value is None, is_guessed(sample.run.index.report)))
        for column, samples in columns.items()
        if any(sample.sizes or holds_tensor(sample.value) for sample in samples)
    }


@dataclass(frozen=True, slots=True)
class _Sample:
    """One value that an expression or a parameter had."""

    value: Output | None
    run: Run
    parameter: str = ""
    """Name of the parameter; "" for an expression."""
    is_returned: bool = False
    """Whether it is all that a ``forward`` returned, of which another sample may be the last item."""
    shows_dtype: bool = True
    """Whether an unusual dtype is written after the shape."""
    style: Style = "numbers"
    """How dimensions are written."""
    sizes: str = ""
    """The sizes that are bound to names, with the names."""

    def text(self, is_part: bool) -> str:
        if self.sizes:
            return self.sizes
        dtype = self.run.index.usual_dtype if self.shows_dtype else None
        return output_text(self.value, dtype, self.style, width=_ITEMS_WIDTH, is_part=is_part)

    @property
    def is_assumed(self) -> bool:
        """Whether the value is a result that rests on that of an operation that fails."""
        return not self.parameter and self.value is not None and is_assumed(self.run)


def _hint(line: int, columns: dict[int, list[_Sample]], focus: Focus) -> Hint:
    """Return the hint at the last column of a line.

    Several parameters of a ``def`` line share one hint, each with its name.
    """
    last = max(columns)
    groups = [columns[column] for column in sorted(columns)]
    if len(groups) > 1 and all(group[0].parameter for group in groups):
        text = ", ".join(f"{group[0].parameter}: {_text(group, focus, is_part=True)}" for group in groups)
        return Hint(line, last, text, tuple(sample.run for group in groups for sample in group), focus)
    shown, rest = _whole_and_items(columns[last])
    others = tuple(sample.run for group in (*groups[:-1], rest) for sample in group if not sample.parameter)
    return Hint(line, last, _text(shown, focus), tuple(sample.run for sample in shown), focus, others)


def _whole_and_items(samples: list[_Sample]) -> tuple[list[_Sample], list[_Sample]]:
    """Return the samples to show at a column, and those of an item at the end of what is returned there."""
    whole = [sample for sample in samples if sample.is_returned]
    items = [sample for sample in samples if not sample.is_returned]
    return (whole, items) if any(holds_tensor(sample.value) for sample in whole) else (items, [])


def _text(all_samples: Sequence[_Sample], focus: Focus, is_part: bool = False) -> str:
    is_call = bool(all_samples[0].parameter) or all_samples[0].is_returned
    samples = focus.among(all_samples, lambda sample: sample.run, calls=is_call)
    texts = list(dict.fromkeys(sample.text(is_part) for sample in samples))
    guessed = "~" if is_guessed(samples[0].run.index.report) else ""
    first = texts[0] if len(texts[0]) <= _WIDTH else texts[0][: _WIDTH - 1] + "…"
    assumed = "?" if samples[0].is_assumed else ""
    return f"{guessed}{first}{assumed}{' …' if len(texts) > 1 else ''}"


def _samples(snapshot: Snapshot, path: str, lines: range) -> Iterator[tuple[_Point, _Sample]]:
    """Yield the values worth a hint on ``lines``, each with the current end position."""
    for state, log in snapshot.reports_touching(path):
        if state.report is not None:
            index = index_of(state.report)
            for point, events in _ends(index, path, log, lines).items():
                yield from ((point, _sample(InTrace(state, index, event))) for event in events)
    yield from _returned(snapshot, path, lines)
    yield from _unpacked(snapshot, path, lines)
    for argument in _arguments(snapshot, path):
        span = argument.parameter
        if span.end_line in lines and _may_be_tensor(argument.value):
            yield (span.end_line, span.end_column), _Sample(argument.value, argument.run, argument.name)


def _sample(run: Run) -> _Sample:
    return _Sample(run.item.output, run, run.item.title if run.item.is_argument else "")


def _ends(index: ReportIndex, path: str, log: EditLog, lines: range) -> dict[_Point, Sequence[Event]]:
    """Return the events of the outermost expression that ends at each position."""
    ends: dict[_Point, Sequence[Event]] = {}
    expressions = index.expressions(path)
    conditions = [span for span, at in expressions.items() if any(event.output == _TRUTH for event in at.events)]
    for span, at in sorted(expressions.items(), reverse=True):
        if any(condition.encloses(span) for condition in conditions):
            continue
        # The last character determines where the expression ends: an edit elsewhere in it leaves the hint in its place.
        moved = move(_last_character(span), log)
        if moved is None or moved.span.end_line not in lines:
            continue
        events = [event for event in at.events if _is_worth_seeing(event)]
        if events:
            ends[moved.span.end_line, moved.span.end_column] = events
    return ends


def _last_character(span: Span) -> Span:
    return Span(span.end_line, max(1, span.end_column - 1), span.end_line, span.end_column)


def _is_worth_seeing(event: Event) -> bool:
    return _may_be_tensor(event.output) and not event.is_result


def _may_be_tensor(value: Output | None) -> bool:
    return value is None or holds_tensor(value)
