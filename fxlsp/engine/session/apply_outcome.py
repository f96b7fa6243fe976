"""What becomes of a session when a trace comes to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fxlsp.engine.connection.connection import Outcome
from fxlsp.engine.session.plan import MOST_CHARGED_MS
from fxlsp.engine.state.coverage import covered_classes
from fxlsp.engine.state.model_tables import TraceAttempt
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import ModelKey, ModelState, files_of
from fxlsp.report.report import Report
from fxlsp.source.text.documents import Document


@dataclass(frozen=True, slots=True)
class SentTexts:
    """What a trace was given."""

    number: int
    """Grows with each request of the session."""
    documents: Mapping[str, Document]
    """The open documents that went with it, by path."""

    def digests(self) -> dict[str, str]:
        return {path: document.digest for path, document in self.documents.items()}


def apply_outcome(session: Session, key: ModelKey, sent: SentTexts, outcome: Outcome, cost_ms: float) -> bool:
    """Takes the outcome into the session, unless the model is gone or a newer one is there already."""
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
        # What was opened after the trace began was read from disk, and may be the same text.
        settled = {path: analysis.document for path, analysis in session.analyses.items()}
        covered = coverage(outcome.report, texts, {**settled, **sent.documents}, key)
        models.set_report(_with_report(state, outcome.report, texts, sent, cost_ms), attempt, covered)
    return True


def coverage(
    report: Report, texts: Mapping[str, str], documents: Mapping[str, Document], key: ModelKey
) -> dict[str, frozenset[str]]:
    """The classes that a report covers in those of ``documents`` that hold the very texts it was traced on."""
    return {
        path: covered_classes(report, document, key.name if path == key.file else "")
        for path, document in documents.items()
        if texts.get(path) == document.digest
    }


def _with_report(
    state: ModelState, report: Report, texts: dict[str, str], sent: SentTexts, cost_ms: float
) -> ModelState:
    return replace(
        state,
        report=report,
        sizes=state.key.sizes,
        files=files_of(report),
        failure=None,
        failure_texts={},
        texts=texts,
        versions={path: document.version for path, document in sent.documents.items() if path in texts},
        cost_ms=cost_ms,
    )


def _texts(key: ModelKey, sent: SentTexts, outcome: Outcome) -> dict[str, str]:
    """The texts on which the outcome depends: those that were read, and if that is not known all that were sent."""
    digests = sent.digests()
    if outcome.died or not outcome.reads:
        return digests
    own = {key.file: digests[key.file]} if key.file in digests else {}
    return {**own, **outcome.reads}
