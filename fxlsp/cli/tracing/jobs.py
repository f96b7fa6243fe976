"""Jobs: one model to trace, from the command line to its report or failure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fxlsp.cli.tracing.notebooks import in_cells, overlays_of
from fxlsp.cli.tracing.options import OptionError, check_init, check_inputs
from fxlsp.cli.tracing.project import Project, Projects
from fxlsp.cli.tracing.targets import CommandLineTarget, TargetError, parse_target
from fxlsp.cli.tracing.worker_pool import TracePool
from fxlsp.engine.settings.interpreters import InterpreterError
from fxlsp.engine.state.analysis import Analysis, Candidate, analyse
from fxlsp.report.codes import BAD_RECIPE
from fxlsp.report.problems import Failure
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Report
from fxlsp.source.recipes.recipes import FoundRecipe, RecordedRun, find_written, option_inputs, parse_recipe
from fxlsp.source.text.documents import read_document
from fxlsp.wire.messages import RecipeRequest, TraceRequest, TraceTarget


@dataclass(frozen=True, slots=True)
class CommandLineJob:
    """A target and the recipe of the options, as the user typed them."""

    target: str
    init: str | None = None
    inputs: str | None = None


class WrittenRecipeError(Exception):
    """A comment or setting that should contain a recipe and does not."""

    def __init__(self, path: str, found: FoundRecipe, message: str) -> None:
        super().__init__(message)
        self.failure = Failure("", BAD_RECIPE, message, found.location(path))


async def trace_job(
    job: CommandLineJob, projects: Projects, traces: TracePool, symbols: bool = False
) -> Report | Failure:
    """Return the report of one job, else its failure.

    Both name the target as the job does. With ``symbols``, the report has sizes as expressions too.
    """
    try:
        _check_options(job)
        target = parse_target(job.target)
        project = projects.at(target.folder)
        recipes = job_recipes(job, target, project)
    except (OptionError, TargetError, InterpreterError, WrittenRecipeError) as error:
        return in_cells(replace(error.failure, target=job.target))
    first = recipes[0] if recipes else None
    return in_cells(await trace_target(target, first, project, traces, recipes[1:], symbols))


def _check_options(job: CommandLineJob) -> None:
    if job.init is not None:
        check_init(job.init)
    if job.inputs is not None:
        check_inputs(job.inputs)


async def trace_target(
    target: CommandLineTarget,
    recipe: Recipe | None,
    project: Project,
    traces: TracePool,
    alternatives: Sequence[Recipe] = (),
    symbols: bool = False,
) -> Report | Failure:
    """Return the report of one target, else its failure.

    Both name the target as the user wrote it.

    Args:
        alternatives: recipes to try where ``recipe`` fails.
        symbols: whether sizes are wanted as expressions too.
    """
    request = replace(trace_request(target, recipe, project, alternatives), symbols=symbols)
    outcome = await traces.trace(project.python, request)
    if outcome.report is not None:
        judged = project.policy.applied(outcome.report.problems)
        problems = tuple(replace(problem, model=target.text) for problem in judged)
        return replace(outcome.report, target=target.text, problems=problems)
    assert outcome.failure is not None
    return replace(outcome.failure, target=target.text)


def trace_request(
    target: CommandLineTarget, recipe: Recipe | None, project: Project, alternatives: Sequence[Recipe] = ()
) -> TraceRequest:
    """Return the request to the tracing process.

    Without a recipe the process finds one by conventions and defaults.
    """
    path = target.file or module_file(target)
    folders = () if path is None else project.recordings.import_folders(path)
    return TraceRequest(
        TraceTarget(target.name, target.file, target.module),
        replace(RecipeRequest.of(recipe), alternatives=tuple(alternatives)),
        texts=overlays_of(target.file),
        roots=tuple(dict.fromkeys((target.root, *folders))),
        tracer=project.settings.tracing,
        sizes=project.settings.sizes,
        limits=project.settings.limits,
    )


def job_recipes(job: CommandLineJob, target: CommandLineTarget, project: Project) -> tuple[Recipe, ...]:
    """Return the recipes of a job, the one to try first first.

    What its options leave open is taken from the recipes that are written for the model.

    Raises:
        WrittenRecipeError: a comment or setting that it would be taken from is not a recipe.
    """
    inputs = None if job.inputs is None else option_inputs(job.inputs)
    if job.init is not None and inputs is not None:
        return (Recipe(job.init, inputs, "option"),)
    if job.init is not None:
        # Inputs written for another construction of the model need not fit this one.
        return (Recipe(job.init, None, "option"),)
    path = target.file or module_file(target)
    written = written_recipes(path, target.name, project) if path is not None else ()
    if inputs is None:
        return written
    here = next((recipe for recipe in written if recipe.file is None), None)
    return (Recipe(here.init if here is not None else "", inputs, "option"),)


def written_recipes(path: str, name: str, project: Project) -> tuple[Recipe, ...]:
    """Return the recipes written for a model of a file, in the order to try.

    They are in comments, in the settings, or calls in the file; other files are searched if the file states none.
    There are none where only the tracing process can report the error: a file that cannot be read or does not parse, a
    name that the file does not define.

    Raises:
        WrittenRecipeError: a comment or setting that should contain a recipe does not.
    """
    try:
        document = read_document(path).program
    except (OSError, UnicodeDecodeError, SyntaxError):
        return ()
    recordings = project.recordings
    candidate = _candidate(analyse(document, project.settings, None, recordings), name)
    if candidate is None:
        configured = project.settings.recipes_of(path, name)
        return (parse_recipe(configured[0], name, "config"),) if configured else ()
    for found in candidate.found:
        if found.error is not None and found.recorded is None:
            raise WrittenRecipeError(path, found, found.error)
    is_recorded = any(found.recorded is not None for found in candidate.found)
    if not candidate.is_fed or (is_recorded and not candidate.requested):
        # A recorded recipe may be older than the code: the calls of other files come after it.
        elsewhere = project.files.elsewhere()
        candidate = _candidate(analyse(document, project.settings, elsewhere, recordings), name) or candidate
    first = candidate.recipes[0]
    return () if first is None else (first, *candidate.alternatives)


def recorded_run(job: CommandLineJob, recipe: Recipe, projects: Projects) -> RecordedRun | None:
    """Return the run from which the recipe of a job's report was recorded; None for another recipe."""
    if recipe.source != "recording":
        return None
    target = parse_target(job.target)
    project, path = projects.at(target.folder), target.file or module_file(target)
    if path is None:
        return None
    analysis = analyse(read_document(path).program, project.settings, None, project.recordings)
    candidate = _candidate(analysis, target.name)
    found = None if candidate is None else find_written(candidate.found, recipe)
    return None if found is None else found.recorded


def _candidate(analysis: Analysis | None, name: str) -> Candidate | None:
    return analysis.by_name.get(name) if analysis is not None else None


def module_file(target: CommandLineTarget) -> str | None:
    """Return the file of a module below the working directory.

    None for other modules, which contain no recipes for fxlsp.
    """
    base = os.path.join(target.root, *(target.module or "").split("."))
    found = (path for path in (f"{base}.py", os.path.join(base, "__init__.py")) if os.path.isfile(path))
    return next((os.path.realpath(path) for path in found), None)
