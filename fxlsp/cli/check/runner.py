"""Traces of the models in files, parents before the children that they create."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from fxlsp.cli.check.alternative_recipes import alternative_recipes
from fxlsp.cli.check.candidates import FoundFile, FoundModel
from fxlsp.cli.check.checked_trace import CheckedTrace
from fxlsp.cli.check.results import CheckResults
from fxlsp.cli.check.termination import Termination
from fxlsp.cli.check.trace_order import Member, parents_of, trace_generations
from fxlsp.cli.tracing.frontend_verdicts import with_frontends
from fxlsp.cli.tracing.jobs import trace_target
from fxlsp.cli.tracing.project import Projects
from fxlsp.cli.tracing.worker_pool import TracePool
from fxlsp.engine.state.coverage import covered_classes
from fxlsp.report.frontends import FrontendName
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Report

Trace = Callable[[FoundModel, Recipe | None], Awaitable[CheckedTrace]]
Ask = Callable[[CheckedTrace], Awaitable[CheckedTrace]]
"""Returns a trace with the verdicts of the front ends that are wanted."""


async def run_check(
    files: Sequence[FoundFile],
    projects: Projects,
    traces: TracePool,
    on_progress: Callable[[str], None],
    frontends: Sequence[FrontendName] = (),
    termination: Termination | None = None,
) -> CheckResults:
    """Trace the models of ``files`` and return the results.

    Models that others create come after them, and are traced only if the traces of those do not cover them.

    Args:
        files: those with the models.
        projects: settings and interpreters.
        traces: processes.
        on_progress: called with what has ended: the trace of a model, or the questions to other front ends about it.
        frontends: those whose verdicts are wanted too, on each model traced for its own sake, or to cover others.
        termination: may end it early; the results are those until then.
    """
    found = CheckResults(files, frontends=frontends)
    termination = termination or Termination()
    found.is_incomplete = not await termination.run(
        _trace_all(found, projects, traces, on_progress, frontends, termination)
    )
    found.environment = traces.environment
    return found


async def _trace_all(
    found: CheckResults,
    projects: Projects,
    traces: TracePool,
    on_progress: Callable[[str], None],
    frontends: Sequence[FrontendName],
    termination: Termination,
) -> None:
    every = trace_generations(found.files)
    members = [member for generation in every for member in generation]

    async def trace(model: FoundModel, recipe: Recipe | None) -> CheckedTrace:
        attempt = await _attempt(model, recipe, projects, traces, on_progress)
        termination.leave_out_late()
        return attempt

    async def ask(attempt: CheckedTrace) -> CheckedTrace:
        if not frontends or not isinstance(attempt.outcome, Report):
            return attempt
        target = attempt.model.target
        asked = await with_frontends(attempt.outcome, frontends, target, projects, traces)
        termination.leave_out_late()
        on_progress(f"asked {', '.join(frontends)} about {target.text}")
        return replace(attempt, outcome=asked)

    async def trace_and_ask(model: FoundModel, recipe: Recipe | None) -> CheckedTrace:
        return await ask(await trace(model, recipe))

    for generation in every:
        for member in generation:
            if _needs_parents(found, member):
                await _cover(found, member, members, trace, ask)
        wanted = [
            (model, recipe)
            for file, model in generation
            if _needs_trace(found, file, model)
            for recipe in model.candidate.recipes
        ]
        tasks = [asyncio.create_task(trace_and_ask(model, recipe)) for model, recipe in wanted]
        try:
            await asyncio.gather(*tasks)
        finally:
            # Where it is cancelled, those that have ended count.
            for task in tasks:
                if task.done() and not task.cancelled() and task.exception() is None:
                    _record(found, task.result())


async def _cover(found: CheckResults, member: Member, members: Sequence[Member], trace: Trace, ask: Ask) -> None:
    """Trace the creators of a model by further recipes, until one trace covers it.

    Front ends are asked about the traces that cover what no other did.
    """
    for parent, recipe in alternative_recipes(member, members, found):
        attempt = await trace(parent, recipe)
        if isinstance(attempt.outcome, Report):
            covered = len(found.covers)
            _record(found, attempt)
            if len(found.covers) > covered:
                found.attempts[-1] = await ask(attempt)
        if not _needs_parents(found, member):
            return


def _needs_parents(found: CheckResults, member: Member) -> bool:
    """Return whether a model has no inputs in the text and no trace covers it yet."""
    file, model = member
    return not model.candidate.is_fed and _needs_trace(found, file, model) and bool(parents_of(member))


def _needs_trace(found: CheckResults, file: FoundFile, model: FoundModel) -> bool:
    return model.candidate.requested or (file.document.path, model.candidate.name) not in found.covers


async def _attempt(
    model: FoundModel, recipe: Recipe | None, projects: Projects, traces: TracePool, on_progress: Callable[[str], None]
) -> CheckedTrace:
    alternatives = model.candidate.alternatives
    project = projects.at(model.target.folder)
    outcome = await trace_target(model.target, recipe, project, traces, alternatives)
    on_progress(f"traced {model.target.text}")
    return CheckedTrace(model, recipe, outcome, project.policy)


def _record(found: CheckResults, attempt: CheckedTrace) -> None:
    found.attempts.append(attempt)
    if not isinstance(attempt.outcome, Report):
        return
    for file in found.files:
        root = attempt.model.candidate.name if file.document.path == attempt.model.target.file else ""
        covered = covered_classes(attempt.outcome, file.document, root)
        shaped = covered_classes(_with_shapes(attempt.outcome), file.document, root)
        for name in covered:
            key = (file.document.path, name)
            if key not in found.covers or (key in found.unshaped and name in shaped):
                found.covers[key] = attempt.model.target.text
                (found.unshaped.discard if name in shaped else found.unshaped.add)(key)


def _with_shapes(report: Report) -> Report:
    """Return a report with only those of its calls in which some value has a shape."""
    outputs = [node.output for node in report.nodes]
    return replace(
        report,
        calls=tuple(call for call in report.calls if any(outputs[call.first_node : call.end_node]) or call.output),
    )
