"""Traces what files hold, parents before the children that they make."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from fxlsp.cli.candidates import FoundFile, FoundModel
from fxlsp.cli.findings import Attempt, Findings
from fxlsp.cli.generations import generations
from fxlsp.cli.jobs import trace_target
from fxlsp.cli.pool import Pool
from fxlsp.cli.project import Projects
from fxlsp.engine.coverage import covered_classes
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Report


async def survey(
    files: Sequence[FoundFile], projects: Projects, traces: Pool, on_progress: Callable[[str], None]
) -> Findings:
    """Traces the models of ``files``: those that others make come after them, and only if those do not cover them.

    Args:
        on_progress: called with the name of each model whose trace is done.
    """
    found = Findings(files)
    for generation in generations(files):
        wanted = [
            (file, model, recipe)
            for file, model in generation
            if _wanted(found, file, model)
            for recipe in model.candidate.recipes
        ]
        attempts = await asyncio.gather(
            *(_attempt(model, recipe, projects, traces, on_progress) for _, model, recipe in wanted)
        )
        for attempt in attempts:
            _record(found, attempt)
    found.environment = traces.environment
    return found


def _wanted(found: Findings, file: FoundFile, model: FoundModel) -> bool:
    return model.candidate.asked or (file.document.path, model.candidate.name) not in found.covers


async def _attempt(
    model: FoundModel, recipe: Recipe | None, projects: Projects, traces: Pool, on_progress: Callable[[str], None]
) -> Attempt:
    alternatives = model.candidate.alternatives
    outcome = await trace_target(model.target, recipe, projects.at(model.target.folder), traces, alternatives)
    on_progress(model.target.text)
    return Attempt(model, recipe, outcome)


def _record(found: Findings, attempt: Attempt) -> None:
    found.attempts.append(attempt)
    if not isinstance(attempt.outcome, Report):
        return
    for file in found.files:
        root = attempt.model.candidate.name if file.document.path == attempt.model.target.file else ""
        for name in covered_classes(attempt.outcome, file.document, root):
            found.covers.setdefault((file.document.path, name), attempt.model.target.text)
