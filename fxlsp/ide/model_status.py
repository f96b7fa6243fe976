"""Status of one model on one line, as its lens shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.render.numbers import counted, flops_sum_text, params_text, short_count
from fxlsp.ide.trace_view.in_trace import Run
from fxlsp.ide.trace_view.provenance import is_guessed
from fxlsp.ide.trace_view.report_index import batch_size
from fxlsp.report.problems import Failure
from fxlsp.report.report import Report

NOT_TRUSTED = "not traced: trust this workspace first"

_MESSAGE_WIDTH = 80


def states_of(snapshot: Snapshot, path: str, name: str) -> tuple[ModelState, ...]:
    """Return the states of one model, one for each of its recipes."""
    return tuple(state for state in snapshot.states_in(path) if state.key.name == name)


def status_text(snapshot: Snapshot, path: str, name: str, runs: Sequence[Run] = ()) -> str:
    """Return ``71 nodes · 11.7 M parameters · 3.63 GFLOPs · traceable``, or a reason.

    The reason says why there is no report.

    Args:
        runs: the calls that ran the ``forward`` of the class (:func:`~fxlsp.ide.trace_view.instances.forward_runs`).
    """
    states = states_of(snapshot, path, name)
    for state in states:
        if state.report is not None:
            facts = report_facts(state.report, snapshot.policy_of(path), marks_guess=True)
            return " · ".join([*facts, *_frontends(state), *_since(state)])
    if runs:
        return " · ".join([_inside(runs), counted(len(runs), "call"), *_since(runs[0].state)])
    return _untraced_text(snapshot, path, states)


def _inside(runs: Sequence[Run]) -> str:
    names = list(dict.fromkeys(run.state.key.name for run in runs))
    return f"traced inside {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def report_facts(report: Report, policy: Policy, marks_guess: bool = False) -> list[str]:
    """Return size, cost, verdict and number of problems.

    Only problems that the user's settings leave at severity error or warning count.

    Args:
        marks_guess: whether a cost that follows from guessed sizes has a mark, as shapes have it.
    """
    facts = [counted(len(report.nodes), "node")]
    if report.calls:
        facts.append(params_text(report.calls[0].params))
    flops = [node.flops for node in report.nodes if node.op not in ("placeholder", "output")]
    if any(flops):
        # Operations after the one at which torch.fx fails are not in the graph, so the sum is a lower bound.
        parts = flops if report.verdict.traceable or report.complete else [*flops, None]
        cost = flops_sum_text(parts) + _per_sample(report, parts)
        facts.append(_estimated(cost) if marks_guess and is_guessed(report) else cost)
    facts.append("traceable" if report.verdict.traceable else "not traceable")
    if report.recipe.inputs is None:
        facts.append("shapes unknown: give inputs")
    problems = [problem for problem in policy.applied(report.problems) if problem.severity in ("error", "warning")]
    if problems:
        facts.append(counted(len(problems), "problem"))
    return facts


def _estimated(cost: str) -> str:
    """Return ``~3.63 GFLOPs`` or ``≥ ~3.63 GFLOPs``; an unknown cost as it is."""
    return re.sub(r"\d", r"~\g<0>", cost, count=1)


def _per_sample(report: Report, flops: Sequence[int | None]) -> str:
    """Return ``, 1.11 G a sample``; "" for one sample, or if the batch or a count of FLOPs is unknown."""
    size, known = batch_size(report), [count for count in flops if count is not None]
    if size is None or size < 2 or len(known) < len(flops):
        return ""
    return f", {short_count(round(sum(known) / size))} a sample"


def failure_text(failure: Failure) -> str:
    """Return the reason why there is no graph, short enough for one line."""
    if failure.needs is not None:
        return f"not traced: give {failure.needs}"
    message = failure.message.strip().partition("\n")[0]
    return f"not traced: {message if len(message) <= _MESSAGE_WIDTH else message[: _MESSAGE_WIDTH - 1] + '…'}"


def _frontends(state: ModelState) -> list[str]:
    """Return the verdicts of other front ends on the present text, in the words of ``fxlsp trace --frontends``."""
    return [f"{answer.verdict.frontend}: {answer.verdict.summary}" for answer in state.frontends]


def _since(state: ModelState) -> list[str]:
    """Return what happened after the trace whose report is shown."""
    return ["the last trace failed"] if state.failure is not None else []


def _untraced_text(snapshot: Snapshot, path: str, states: Sequence[ModelState]) -> str:
    if not snapshot.is_trusted(path):
        return NOT_TRUSTED
    if path in snapshot.excluded:
        return "not traced: the settings exclude this file"
    interpreter = snapshot.interpreter_of(path)
    if interpreter is not None and interpreter.failure is not None:
        return failure_text(interpreter.failure)
    for state in states:
        if state.failure is not None:
            return failure_text(state.failure)
    if any(state.busy for state in states):
        return "tracing…"
    document = snapshot.documents.get(path)
    if document is not None and not document.parses and (document.cells is None or not states):
        return f"not traced: the {'file' if document.cells is None else 'cell'} does not parse"
    return "not traced yet"
