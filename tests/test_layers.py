"""Who may import whom. The server is slow to start, or user code reaches it, as soon as these rules are broken."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "fxlsp"


@dataclass(frozen=True)
class Layer:
    layers: frozenset[str] = frozenset()
    """Other layers it may import."""
    packages: frozenset[str] = frozenset()
    """Third-party packages it may import."""
    relative_only: bool = False
    """It also runs under another package name, inside the project's interpreter."""


def layer(*layers: str, packages: tuple[str, ...] = (), relative_only: bool = False) -> Layer:
    return Layer(frozenset(layers), frozenset(packages), relative_only)


LAYERS = {
    "recording": layer(relative_only=True),
    "report": layer(relative_only=True),
    "wire": layer("report", relative_only=True),
    "tracing": layer("report", "wire", packages=("torch",), relative_only=True),
    "source": layer("report", "wire", packages=("tree_sitter", "tree_sitter_python")),
    "engine": layer("report", "wire", "source", "recording", packages=("platformdirs", "tomli")),
    "ide": layer("report", "wire", "source", "engine"),
    "graphview": layer("report", "wire", "source", "engine", "ide"),
    "server": layer(
        "report", "wire", "source", "engine", "ide", "graphview", packages=("pygls", "lsprotocol", "cattrs")
    ),
    "cli": layer("report", "wire", "source", "engine", "ide", "graphview", "server", "recording"),
}
"""Every folder of the package, and what it may import beside itself and the standard library."""

ORDERS = {
    "tracing": """
        isolation
        model
        search
        passes
        frontends
        job
        processes
        bootstrap
    """,
    "tracing/isolation": """
        replacement
        torch_private
        sandbox
        child_processes
    """,
    "tracing/model": """
        module_tree, targets
        locations, operations
        loading, diagnosis
        building
        capture
    """,
    "tracing/model/operations": """
        operation
        layers, elementwise, reshaping
        windows, products, fitting_numbers, sequences
        mismatches
    """,
    "tracing/model/diagnosis": """
        bound_elsewhere, machine, misspelt, local_variables, guessed_branches, changing_hooks
        failures, layer_results, constant_keys, torch_signatures
        constructor_mistakes
        own_mistakes, returned_values, guess_severity
        omitted_arguments, altered_models
    """,
    "tracing/search": """
        trials
        priors
        evidence, synthesis, size_edits, wanted_sizes, conventions
        conditions, starts
        rules
        proofs
        final_form
        engine
        api
    """,
    "tracing/search/trials": """
        values, budget, acceptance, weight_sizes
        duck, trial_queue
        runner
    """,
    "tracing/search/priors": """
        patterns, tables, truths, written
        class_body, layers
        constructor, field_reads, first_uses, flat_models
        configuration_files, stated_shapes
        configurations, inputs
    """,
    "tracing/search/rules": """
        registry
        ranks_dtypes, argument_types, argument_values, module_results, omitted, recurrent, sequences, size_messages
        predicates, rank_messages, sizes
        lookups, measured
    """,
    "tracing/search/proofs": """
        refused_ranks
        reasons
        assigned, returned
        effects
        listed_inputs, unmade
        proof
        flattening, stated_images, transpositions
        coincidences, normalised_edges
        faults
    """,
    "tracing/passes": """
        checks, symbolic
        recovery
        timing
        plain_pass
    """,
    "tracing/passes/checks": """
        base
        paths, unused, silent
        classics
        registry
    """,
    "tracing/passes/recovery": """
        caller_expression, entered_layers, evaluator, findings, graph_diff, pytree, unregistered
        caught_errors
        context
        functions
        proxies
        eager_recording, made_modules, problems
        module_calls
        tracer
        recovering_pass
        merge_reports
    """,
    "tracing/passes/recovery/functions": """
        autograd_functions, builtin_shadows, foreign_functions
        refused_functions
    """,
    "tracing/passes/recovery/proxies": """
        branch_choice, type_tests
        proxy_operations
        proxies
    """,
    "tracing/frontends": """
        model_call
        compile, export
    """,
    "tracing/job": """
        load, recipe_failures, corrected_report, user_tracer
        data_pass, frontend_job, recovery_job, searched_model
        job
    """,
    "tracing/processes": """
        worker
        supervisor
        start
    """,
    "tracing/processes/worker": """
        checkpoint_inputs, request_execution, command_reader, warmup
        import_preview
        forking_load
        worker_main, spawned_main
    """,
    "tracing/processes/supervisor": """
        scratch_folder, resource_use
        worker_handle
        forked_worker, spawned_worker, pool
        checkpoint_pool, spawn_pool
        fork_pool, supervisor
    """,
    "source": """
        text
        python
        models
        recipes
    """,
    "engine": """
        storage
        index
        settings
        connection
        state
        index_reader
        running
    """,
    "ide": """
        render
        trace_view, causes
        frontend_problems
        hints, problems, setting_problems
        repeated_problems
        fixes
        model_status, recipe_choices, recipe_comment, lenses, status
        navigation
        hover
    """,
    "ide/trace_view": """
        call_tree, expression_events, outline, provenance
        module_tree
        report_index
        in_trace
        runs
        instances
        at_cursor
    """,
    "server": """
        typing
        shared
        log, editor_watch, transport
        sync
        publish
        requests
        commands
        lifecycle
        main
    """,
    "server/typing": """
        typing_state
        problem_feed, steady_hints
    """,
    "server/shared": """
        capabilities, command_names, protocol, text_documents
        markup, related_texts, target_locations
        server
        configuration
    """,
    "server/sync": """
        text, watched_files
        notebook
    """,
    "server/publish": """
        diagnostic, progress, refresh, status
        diagnostics, workspace_diagnostics
    """,
    "server/commands": """
        ask_user
        ask_frontends, choose_recipe, copy, graph, information, instances, record, trust_and_retrace
    """,
    "cli": """
        output
        exit_codes
        tracing
        check, doctor, record
        graph, serve, summary, trace, trust
        main
    """,
    "cli/tracing": """
        notebooks, options, worker_pool
        targets
        workspace_files
        project
        jobs
        batch, frontend_verdicts
    """,
    "cli/check": """
        candidates, causes, fixing, selection, termination
        checked_trace, fingerprints, suppression, trace_order
        baseline
        results
        alternative_recipes, unchecked
        formats
        runner
        command
    """,
    "cli/doctor": """
        finding
        environment, first_trace, interpreter, settings, workspace
        command
    """,
    "cli/record": """
        destination
        command, in_process
        pytest_plugin
    """,
}
"""The order of the folders and files in a folder: each imports only what is on a line above its own, or on its own.

What is on one line, folder or file, may import each other only if both are files; folders on one line are independent.
Imports for the type checker alone are left out. A new folder goes on the first line below everything that it imports.
"""


@dataclass(frozen=True)
class Import:
    module: str
    """Absolute dotted name."""
    line: int
    relative: bool
    type_only: bool
    """It stands under ``if TYPE_CHECKING:``."""


def imports_of(text: str, package: tuple[str, ...]) -> Iterator[Import]:
    """Every import of a module that lies in ``package``, wherever in the module it is."""
    tree = ast.parse(text)
    type_only = set(_for_types_alone(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, relative=False, type_only=node in type_only)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            # `from fxlsp import engine` and `from .. import engine` name the module after the import.
            names = [f"{module}.{alias.name}" for alias in node.names] if _is_folder(module) else [module]
            for name in names:
                yield Import(name, node.lineno, relative=node.level > 0, type_only=node in type_only)


def _is_folder(module: str) -> bool:
    return (PACKAGE.parent / module.replace(".", "/")).is_dir()


def _for_types_alone(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for statement in node.body:
                yield from ast.walk(statement)


def violation(found: Import, name: str, rules: Layer) -> str | None:
    """What is wrong with an import in the layer called ``name``."""
    top, _, rest = found.module.partition(".")
    if top != "fxlsp":
        if top in sys.stdlib_module_names or top in rules.packages:
            return None
        return f"imports the package {top}"
    if rules.relative_only and not found.relative:
        return f"imports {found.module} by its absolute name"
    if not rules.relative_only and found.relative:
        return f"imports {found.module} by a relative name"
    other = rest.partition(".")[0]
    if other in LAYERS and other != name and other not in rules.layers:
        return f"imports the layer {other}"
    if other not in LAYERS and rules.relative_only:
        return f"imports {found.module}, which is not there under another package name"
    return None


def violations(path: Path, text: str) -> list[str]:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    name = parts[1]
    found = [(each, violation(each, name, LAYERS[name])) for each in imports_of(text, parts[:-1])]
    return [f"{path.relative_to(PACKAGE.parent)}:{each.line} {wrong}" for each, wrong in found if wrong]


def lines_of(order: str) -> list[list[str]]:
    return [line.strip().split(", ") for line in order.strip().splitlines()]


def out_of_order(path: Path, text: str) -> list[str]:
    """The imports of a module that point downwards in the order of a folder around it."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    imports, wrong = list(imports_of(text, parts[:-1])), []
    for folder, order in ORDERS.items():
        around = ("fxlsp", *folder.split("/"))
        if parts[: len(around)] != around or path.stem == "__init__":
            continue
        lines = lines_of(order)
        own = parts[len(around)]
        allowed = {own, *(name for line in lines[: _line_of(own, lines)] for name in line)}
        if not (PACKAGE / folder / own).is_dir():
            beside = lines[_line_of(own, lines)]
            allowed |= {name for name in beside if not (PACKAGE / folder / name).is_dir()}
        for each in imports:
            named = tuple(each.module.split("."))
            if each.type_only or named[: len(around)] != around or len(named) == len(around):
                continue
            if named[len(around)] not in allowed:
                wrong.append(f"{path.relative_to(PACKAGE.parent)}:{each.line} imports {each.module}, below {own}")
    return wrong


def _line_of(name: str, lines: list[list[str]]) -> int:
    return next(number for number, line in enumerate(lines) if name in line)


def test_every_package_folder_is_a_layer() -> None:
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob("*/**/*.py")}
    assert folders == set(LAYERS)


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_a_layer_imports_only_what_its_rule_allows(name: str) -> None:
    paths = sorted((PACKAGE / name).rglob("*.py"))
    assert [line for path in paths for line in violations(path, path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("folder", sorted(ORDERS))
def test_an_order_names_every_folder_and_file(folder: str) -> None:
    there = {
        path.stem
        for path in (PACKAGE / folder).iterdir()
        if path.name != "__init__.py" and (path.suffix == ".py" or any(path.glob("**/*.py")))
    }
    named = [name for line in lines_of(ORDERS[folder]) for name in line]
    assert sorted(named) == sorted(there)


@pytest.mark.parametrize("folder", sorted(ORDERS))
def test_a_folder_imports_only_those_above_it(folder: str) -> None:
    paths = sorted((PACKAGE / folder).rglob("*.py"))
    assert [line for path in paths for line in out_of_order(path, path.read_text(encoding="utf-8"))] == []


def test_the_package_itself_imports_nothing_before_it_is_asked_to_record() -> None:
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    imports = [node for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [node.module for node in imports if isinstance(node, ast.ImportFrom)] == ["__future__"]
    assert len(imports) == 1
    assert {each.module for each in imports_of(text, ("fxlsp",))} == {"__future__", "fxlsp.cli.record.in_process"}


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("report/x.py", "import torch", "imports the package torch"),
        ("report/x.py", "from fxlsp.report import graph", "by its absolute name"),
        ("report/x.py", "from ..tracing import job", "imports the layer tracing"),
        ("report/x.py", "from .. import __version__", "which is not there"),
        ("wire/x.py", "from ..tracing.job import job", "imports the layer tracing"),
        ("tracing/deep/x.py", "def f():\n    from ...engine.index import Index", "imports the layer engine"),
        ("tracing/deep/x.py", "from ... import engine", "imports the layer engine"),
        ("tracing/x.py", "import torchvision", "imports the package torchvision"),
        ("source/x.py", "from .positions import Span", "by a relative name"),
        ("ide/x.py", "from lsprotocol import types", "imports the package lsprotocol"),
        ("ide/x.py", "import fxlsp.server.main", "imports the layer server"),
        ("server/x.py", "from fxlsp.tracing.model.capture.tracer import T", "imports the layer tracing"),
        ("server/x.py", "from fxlsp import tracing", "imports the layer tracing"),
    ],
)
def test_a_forbidden_import_is_found(file: str, text: str, wrong: str) -> None:
    (line,) = violations(PACKAGE / file, text)
    assert wrong in line


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tracing/x.py", "from ..report.graph import Node\nfrom .model.capture.tracer import T\nimport torch.fx"),
        ("tracing/deep/x.py", "from ...report import problems\nfrom ..model.capture.tracer import T"),
        ("server/x.py", "from fxlsp import __version__\nfrom fxlsp.ide.hover.hover import hover"),
    ],
)
def test_an_allowed_import_passes(file: str, text: str) -> None:
    assert violations(PACKAGE / file, text) == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tracing/model/loading/x.py", "from ..building.builder import Builder"),
        ("tracing/model/loading/x.py", "from .. import building"),
        ("tracing/isolation/sandbox/x.py", "def f():\n    from ...model.locations.sources import Sources"),
        ("tracing/passes/checks/base/x.py", "from ..registry import CHECKS"),
        ("tracing/search/rules/omitted.py", "from ...job.load import RequestLoad"),
        ("tracing/processes/worker/warmup.py", "from ..supervisor.pool import WorkerPool"),
        ("source/text/x.py", "from fxlsp.source.python import scopes"),
        ("engine/state/x.py", "from fxlsp.engine.running.engine import Engine"),
        ("ide/hints.py", "from fxlsp.ide.hover.text import Text"),
    ],
)
def test_an_import_against_the_order_is_found(file: str, text: str) -> None:
    (line,) = out_of_order(PACKAGE / file, text)
    assert "below" in line


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tracing/model/building/x.py", "from ..loading.loader import Loader\nfrom .evaluation import evaluate"),
        ("tracing/passes/checks/silent/x.py", "from ..base.check import Check\nfrom ....model.building import builder"),
        ("source/text/x.py", "if TYPE_CHECKING:\n    from fxlsp.source.python.scopes import Scope"),
        ("ide/setting_problems.py", "from fxlsp.ide.problems import problems"),
    ],
)
def test_an_import_along_the_order_passes(file: str, text: str) -> None:
    assert out_of_order(PACKAGE / file, text) == []
