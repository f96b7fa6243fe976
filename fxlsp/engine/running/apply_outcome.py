"""Changes to the session's state when a trace ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fxlsp.engine.connection.connection import Outcome
from fxlsp.engine.running.plan import MOST_CHARGED_MS
from fxlsp.engine.state.coverage import covered_classes
from fxlsp.engine.state.model_tables import TraceAttempt
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import ModelKey, ModelState, files_of
from fxlsp.report.report import Report
from fxlsp.source.text.documents import Document


@dataclass(frozen=True, slots=True)
class SentTexts:
    """Texts that were sent with a trace request."""

    number: int
    """Number of the request, which grows through the session."""
    documents: Mapping[str, Document]
    """The open documents that were sent, by path."""

    def digests(self) -> dict[str, str]:
        return {path: document.digest for path, document in self.documents.items()}


def apply_outcome(session: Session, key: ModelKey, sent: SentTexts, outcome: Outcome, cost_ms: float) -> bool:
    """Apply the outcome of a trace to the session.

    Returns:
        Whether the session changed. It does not if the model was removed, or if a newer outcome is there already.
    """
    models = session.models
    state, before = models.states.get(key), models.attempts.get(key)
    if state is None or (before is not None and before.number > sent.number):
        return False
    texts = _texts(key, sent, outcome)
    repeated = before is not None and before.texts == texts
    deaths = (before.deaths if before is not None and repeated else 0) + 1 if outcome.died else 0
    attempt = TraceAttempt(sent.number, texts, deaths)
    if before is None:
        models.charge(key.file, min(cost_ms, MOST_CHARGED_MS))
    if outcome.report is None:
        failed = replace(state, failure=outcome.failure, failure_texts=texts, cost_ms=cost_ms)
        models.set_failure(failed, attempt)
    else:
        # A document opened after the trace started was read from disk, and may have the same text.
        documents = {path: analysis.document for path, analysis in session.analyses.items()}
        covered = coverage(outcome.report, texts, {**documents, **sent.documents}, key)
        program = session.program_of(texts.get(key.file, ""))
        former = session.guesses.replaced_by(key, program, texts, outcome.report.recipe)
        session.guesses.remember(key, program, texts, outcome.report.recipe)
        reported = replace(with_report(state, outcome.report, texts, sent, cost_ms), former_guess=former)
        models.set_report(reported, attempt, covered)
    return True


def coverage(
    report: Report, texts: Mapping[str, str], documents: Mapping[str, Document], key: ModelKey
) -> dict[str, frozenset[str]]:
    """Return the classes that a report covers, by path of their file.

    Args:
        texts: digests of the texts on which the report was traced, by path. Documents with another text are left out.
    """
    return {
        path: covered_classes(report, document, key.name if path == key.file else "")
        for path, document in documents.items()
        if texts.get(path) == document.digest
    }


def _sharing(report: Report, former: Report | None) -> Report:
    """Return a report with those small parts of the former one that are equal.

    What they are shown in is then known to be unchanged without a comparison of contents.
    """
    if former is None:
        return report
    problems = former.problems if report.problems == former.problems else report.problems
    recipe = former.recipe if report.recipe == former.recipe else report.recipe
    return replace(report, problems=problems, recipe=recipe)


def with_report(
    state: ModelState, report: Report, texts: Mapping[str, str], sent: SentTexts, cost_ms: float
) -> ModelState:
    """Return the state of a model with a report of ``texts``, which are digests by path."""
    return replace(
        state,
        report=_sharing(report, state.report),
        files=files_of(report),
        failure=None,
        failure_texts={},
        texts=texts,
        versions={path: document.version for path, document in sent.documents.items() if path in texts},
        cost_ms=cost_ms,
    )


def _texts(key: ModelKey, sent: SentTexts, outcome: Outcome) -> dict[str, str]:
    """Return the digests of the texts on which an outcome depends.

    These are the texts that the worker read, or all that were sent if that is not known.
    """
    digests = sent.digests()
    if outcome.died or not outcome.reads:
        return digests
    own = {key.file: digests[key.file]} if key.file in digests else {}
    return {**own, **outcome.reads}
