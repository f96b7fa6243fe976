"""Line of a hover that compares what torch.fx, torch.export and torch.compile make of an expression.

It is shown where one of them has a problem with exactly this expression that another one has not. Of a front end whose
opinion on the expression is not known it has nothing: one that was not asked or came to no verdict, that has a problem
without a place or at a part of the expression, or whose problem the settings or a comment silence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.problems import FileProblem
from fxlsp.ide.render.rich_text import RichText, dotted, joined, link, words
from fxlsp.ide.trace_view.in_trace import current_span
from fxlsp.report.code_records import Trait
from fxlsp.report.codes import codes_with, page_url
from fxlsp.report.frontend_codes import COMPILE_FAILS
from fxlsp.report.frontends import FrontendName, FrontendVerdict
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.source.text.positions import Span

_REFUSES = codes_with(Trait.REFUSES)
_DIVERGES = codes_with(Trait.DIVERGES)
_OF_TORCH_FX = codes_with(Trait.OF_TORCH_FX)
_BATCHES = {"fixed": "with one batch only", "limited": "with some batches only"}


class _Shown(NamedTuple):
    """Problem of the file that is shown, at its span in the present text."""

    code: str
    span: Span


class _Opinion(NamedTuple):
    """What a front end makes of an expression."""

    words: str
    codes: tuple[str, ...] = ()
    """Of its problems with the expression."""
    is_taken: bool = False
    """Whether it took the model, and has no problem with the expression."""


class _Placed(NamedTuple):
    code: str
    span: Span | None
    """In the present text of the file; None if it is not known."""


def verdict_lines(
    snapshot: Snapshot, path: str, found: Sequence[FileProblem], line: int, column: int
) -> tuple[RichText, ...]:
    """Return ``torch.fx: refused (FX102) · torch.export: taken``, for the innermost expression at a position.

    Args:
        found: the problems of the file.

    Returns:
        Nothing where the front ends agree, or no other one than torch.fx was asked about the present text. One line,
        unless the models that run the expression differ; each line then begins with its model.
    """
    if not snapshot.asked:
        return ()
    shown = {_Shown(each.code, each.span) for each in found if each.is_located and each.span.contains(line, column)}
    for span in sorted({each.span for each in shown}, key=lambda each: each.size):
        lines: dict[RichText, str] = {}
        for state in snapshot.asked:
            opinions = dict(_opinions(snapshot, path, state, _Place(span, shown)))
            if any(each.codes for each in opinions.values()) and any(each.is_taken for each in opinions.values()):
                lines.setdefault(dotted(_text(name, each) for name, each in opinions.items()), state.key.name)
        if lines:
            several = len(lines) > 1
            return tuple(words(f"{model}: ") + text if several else text for text, model in lines.items())
    return ()


class _Place(NamedTuple):
    """Expression at the cursor."""

    span: Span
    shown: Collection[_Shown]

    def codes(self, found: Iterable[_Placed]) -> tuple[str, ...] | None:
        """Return the codes of the problems with the expression; None if not all are known or shown."""
        placed = list(found)
        here = tuple(dict.fromkeys(each.code for each in placed if each.span == self.span))
        if here:
            return here if all(_Shown(code, self.span) in self.shown for code in here) else None
        return None if any(each.span is None or self._overlaps(each.span) for each in placed) else ()

    def _overlaps(self, other: Span) -> bool:
        return other.encloses(self.span) or self.span.encloses(other)


def _text(name: FrontendName, opinion: _Opinion) -> RichText:
    text = words(f"torch.{name}: {opinion.words}")
    if not opinion.codes:
        return text
    return text + words(" (") + joined((link(code, page_url(code)) for code in opinion.codes), ", ") + words(")")


def _opinions(
    snapshot: Snapshot, path: str, state: ModelState, place: _Place
) -> Iterator[tuple[FrontendName, _Opinion]]:
    """Yield what is known of each front end's opinion, in the order fx, export, compile."""
    if state.report is not None and not state.is_stale:
        codes = _codes_of_torch_fx(snapshot, path, state, state.report, place)
        opinion = None if codes is None else _of_torch_fx(state.report, codes)
        if opinion is not None:
            yield "fx", opinion
    for answer in state.frontends:
        found = ((each.code or "", each.location) for each in answer.verdict.problems)
        codes = place.codes(_placed(snapshot, path, answer.texts, found))
        opinion = None if codes is None else _of_verdict(answer.verdict, codes)
        if opinion is not None:
            yield answer.verdict.frontend, opinion


def _codes_of_torch_fx(
    snapshot: Snapshot, path: str, state: ModelState, report: Report, place: _Place
) -> tuple[str, ...] | None:
    found = [(each.code, each.location) for each in report.problems if each.code in _REFUSES | _DIVERGES]
    codes = place.codes(_placed(snapshot, path, state.texts, found))
    error = report.verdict.error
    if codes == () and error is not None:
        # It may have ended here for a reason that is no fault of its own.
        return place.codes(_placed(snapshot, path, state.texts, [("", error.location)]))
    return codes


def _placed(
    snapshot: Snapshot, path: str, texts: Mapping[str, str], found: Iterable[tuple[str, Location | None]]
) -> Iterator[_Placed]:
    """Yield codes with their spans, without those in other files."""
    for code, location in found:
        if location is None:
            yield _Placed(code, None)
        elif location.file == path:
            yield _Placed(code, current_span(snapshot, location, texts))


def _of_torch_fx(report: Report, codes: tuple[str, ...]) -> _Opinion | None:
    if not _OF_TORCH_FX.issuperset(codes):
        return None
    if codes:
        return _Opinion("mistraced" if _REFUSES.isdisjoint(codes) else "refused", codes)
    if not report.verdict.traceable:
        return _Opinion("refused elsewhere")
    # Behind a condition that it follows another way than the model, it may never have come here.
    has_diverged = any(each.code in _DIVERGES for each in report.problems)
    return None if has_diverged else _Opinion("taken", is_taken=True)


def _of_verdict(verdict: FrontendVerdict, codes: tuple[str, ...]) -> _Opinion | None:
    if verdict.verdict == "ok":
        if not codes:
            return _Opinion("taken", is_taken=True)
        return _Opinion(_BATCHES.get(verdict.batch or "", "with limits"), codes)
    if verdict.verdict != "problem":
        return None
    if verdict.frontend == "export":
        return _Opinion("refused", codes) if codes else _Opinion("refused elsewhere")
    if not codes:
        return _Opinion(f"{verdict.summary} elsewhere")
    return _Opinion("fails" if COMPILE_FAILS in codes else "graph break", codes)
