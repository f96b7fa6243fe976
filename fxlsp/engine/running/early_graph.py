"""Graph of a running trace, shown before the problems of that trace are known.

The problems of the last report stay with it until then, at their places in the texts of the trace. Those may have been
edited since: a person who types without a pause would see no graph of a present text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fxlsp.engine.running.apply_outcome import SentTexts, coverage, with_report
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import ModelKey, ModelState
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem
from fxlsp.report.report import Report
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span


def apply_early_graph(
    session: Session, key: ModelKey, sent: SentTexts, report: Report, reads: Mapping[str, str]
) -> bool:
    """Replace the report of a model by one without problems, and keep the problems of the last one.

    Args:
        session: the session to change.
        key: the model, whose trace still runs.
        sent: the texts that were sent with the request.
        report: the report without problems.
        reads: digests of the texts that the trace has read, by path.

    Returns:
        Whether the session changed. It does not if a newer outcome is there, if the graph shown is that of the present
        texts and this one is not, or if the edits since a text are not known.
    """
    state, attempt = session.models.states.get(key), session.models.attempts.get(key)
    if state is None or (attempt is not None and attempt.number > sent.number):
        return False
    digests = sent.digests()
    texts = {**({key.file: digests[key.file]} if key.file in digests else {}), **reads}
    if not all(_is_known(session, path, digest) for path, digest in texts.items()):
        return False
    if state.report is not None and session.holds(state.texts) and not session.holds(texts):
        return False
    problems = () if state.report is None else tuple(_moved_problems(session, state, state.report, texts))
    documents = {path: analysis.document for path, analysis in session.analyses.items()}
    covered = coverage(report, texts, {**documents, **sent.documents}, key)
    shown = with_report(state, replace(report, problems=problems), texts, sent, state.cost_ms)
    session.models.set_graph(shown, covered)
    return True


def _is_known(session: Session, path: str, digest: str) -> bool:
    """Return whether the edits of a document since a text are known; of a file that is not open there are none."""
    history = session.histories.get(path)
    return history is None or history.since(digest) is not None


def _moved_problems(session: Session, state: ModelState, report: Report, texts: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the problems of a report at their places in ``texts``, without those whose text was edited."""

    def moved(location: Location) -> Location | None:
        return _moved(session, location, state.texts, texts)

    for problem in report.problems:
        place = None if problem.location is None else moved(problem.location)
        if place is None and problem.location is not None:
            continue
        related = [(each, moved(each.location)) for each in problem.related]
        fitting = None if problem.fitting is None else moved(problem.fitting.location)
        yield replace(
            problem,
            location=place,
            related=tuple(replace(each, location=to) for each, to in related if to is not None),
            fitting=replace(problem.fitting, location=fitting) if problem.fitting and fitting else None,
        )


def _moved(session: Session, location: Location, before: Mapping[str, str], now: Mapping[str, str]) -> Location | None:
    """Return a location of the texts ``before`` in the later texts ``now``; None if its own text was edited.

    It is found by way of the present texts, from which both are known.
    """
    path = location.file
    history = session.histories.get(path)
    if history is None or before.get(path) == now.get(path):
        return location if before.get(path) == now.get(path) else None
    to_present, since = history.since(before.get(path)), history.since(now.get(path))
    at_present = None if to_present is None else move(Span.of(location), to_present)
    to = None if at_present is None or since is None else move(at_present.span, since.reversed())
    if to is None:
        return None
    span = to.span
    return replace(location, line=span.line, column=span.column, end_line=span.end_line, end_column=span.end_column)
