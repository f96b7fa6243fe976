"""Mistakes put into published models at random: how many are reported, at their place and as what they are.

    python -m benchmarks.mistakes [--count N] [--seed N] [--models NAME ...]

Each mistake changes one expression of a file of torchvision's models: an attribute or a function is misspelt, ``self.``
or the parentheses of a call are missing, an argument is too many, a width in a constructor is another, ``return`` is
missing, a dimension does not exist. An oracle runs the changed model as plain Python does, with data: a change with
which it still returns a tensor is none that can be reported, and does not count; nor does a file that does not run
unchanged.

Reported means: an error or warning stands on the changed line, or names it as a related place; and for a width, a
missing ``return`` or missing parentheses, anywhere in the file. Once with inputs that are stated, once with inputs that
the search has to find.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torchvision

from fxlsp.engine.connection.supervisor_client import SupervisorClient
from fxlsp.report.problems import Problem
from fxlsp.wire.messages import Limits, RecipeRequest, TraceRequest, TraceTarget

MODELS = {
    "resnet": "resnet18",
    "densenet": "densenet121",
    "mobilenetv2": "mobilenet_v2",
    "squeezenet": "squeezenet1_1",
    "shufflenetv2": "shufflenet_v2_x0_5",
    "mnasnet": "mnasnet0_5",
    "vgg": "vgg11",
    "efficientnet": "efficientnet_b0",
    "convnext": "convnext_tiny",
}
INPUTS = "torch.randn(2, 3, 64, 64)"
_ANYWHERE = ("width", "return", "not called")
"""Kinds that fail where the value is used, on another line."""


@dataclass(frozen=True)
class Mistake:
    kind: str
    model: str
    line: int
    text: str
    """The changed file."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.mistakes")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    chosen = list(_mistakes(options.models, options.count, random.Random(options.seed)))
    with tempfile.TemporaryDirectory() as folder:
        reported = asyncio.run(_reported(chosen, folder))
    for way, counts in reported.items():
        total = sum(found + missed for found, missed in counts.values())
        found = sum(found for found, _ in counts.values())
        kinds = ", ".join(f"{kind} {counts[kind][0]} of {sum(counts[kind])}" for kind in sorted(counts))
        print(f"{way:9} {found} of {total} reported ({100 * found / max(total, 1):.1f} %): {kinds}")
    return 0


def _mistakes(models: list[str], count: int, choice: random.Random) -> Iterator[Mistake]:
    sources = {name: _source(name) for name in models}
    models = [name for name in models if not _fails(Mistake("none", name, 0, sources[name]))]
    made = 0
    while made < count:
        name = choice.choice(models)
        changes = list(_changes(sources[name]))
        kind = choice.choice(sorted({kind for kind, _, _ in changes}))
        kind, line, text = choice.choice([change for change in changes if change[0] == kind])
        mistake = Mistake(kind, name, line, text)
        if _fails(mistake):
            made += 1
            yield mistake


def _source(name: str) -> str:
    text = (Path(torchvision.__file__).parent / "models" / f"{name}.py").read_text(encoding="utf-8")
    text = re.sub(r"^from \.\.", "from torchvision.", text, flags=re.MULTILINE)
    text = re.sub(r"^from \.", "from torchvision.models.", text, flags=re.MULTILINE)
    # torchvision refuses a second function of one name.
    return re.sub(r"^@register_model\(\)\n", "", text, flags=re.MULTILINE)


def _changes(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield kind, line and changed text of every possible mistake."""
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            if not isinstance(node, (ast.expr, ast.Return)) or node.lineno != node.end_lineno:
                continue
            source = ast.get_source_segment(text, node) or ""
            for kind, changed in _changed(function.name, node, source):
                line = lines[node.lineno - 1]
                # Columns are bytes; these files are ASCII.
                line = line[: node.col_offset] + changed + line[node.end_col_offset :]
                yield kind, node.lineno, "".join((*lines[: node.lineno - 1], line, *lines[node.lineno :]))


def _changed(function: str, node: ast.AST, source: str) -> Iterator[tuple[str, str]]:
    runs = function in ("forward", "_forward_impl", "_forward", "channel_shuffle")
    if isinstance(node, ast.Call) and runs and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        called = ast.unparse(node.func)
        if isinstance(owner, ast.Name) and owner.id == "self":
            yield "attribute", source.replace(called, f"{called}x", 1)
            yield "no self", source.replace("self.", "", 1)
            yield "not called", called
            yield "argument too many", f"{source[:-1]}, 1)"
        elif isinstance(owner, ast.Name) and owner.id in ("torch", "F", "nn"):
            yield "function", source.replace(called, f"{called}x", 1)
            yield "dimension", re.sub(r", -?\d\)$", ", 7)", source)
    if isinstance(node, ast.Return) and runs and node.value is not None:
        yield "return", source.replace("return ", "", 1)
    if isinstance(node, ast.Call) and function == "__init__" and _is_layer(node.func) and node.args:
        first = ast.unparse(node.args[0])
        yield "width", source.replace(first, f"{first} + 1", 1)


def _is_layer(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in ("Conv2d", "Linear", "BatchNorm2d")


def _fails(mistake: Mistake) -> bool:
    """Return whether the changed model raises, or returns no tensor, when plain Python runs it."""
    names: dict[str, Any] = {"__name__": "changed"}
    try:
        exec(compile(mistake.text, "changed.py", "exec"), names)
        model = names[MODELS[mistake.model]]().eval()
        with torch.no_grad():
            result = model(torch.randn(2, 3, 64, 64))
    except Exception:
        return True
    return not isinstance(result, torch.Tensor)


async def _reported(mistakes: list[Mistake], folder: str) -> dict[str, dict[str, list[int]]]:
    supervisor = SupervisorClient(sys.executable)
    counts: dict[str, dict[str, list[int]]] = {"stated": {}, "searched": {}}
    try:
        for number, mistake in enumerate(mistakes):
            path = _written(folder, number, mistake)
            for way, count in counts.items():
                problems = await _problems(supervisor, path, mistake, INPUTS if way == "stated" else None)
                is_reported = any(_is_about(problem, mistake) for problem in problems)
                count.setdefault(mistake.kind, [0, 0])[0 if is_reported else 1] += 1
                if not is_reported:
                    codes = Counter(f"{problem.code} {problem.severity}" for problem in problems)
                    changed = mistake.text.splitlines()[mistake.line - 1].strip()
                    print(
                        f"not reported, {way}: {mistake.model}:{mistake.line} {mistake.kind}: {changed}  {dict(codes)}"
                    )
    finally:
        await supervisor.close()
    return counts


def _written(folder: str, number: int, mistake: Mistake) -> Path:
    path = Path(folder).resolve() / f"changed_{number}.py"
    path.write_text(mistake.text, encoding="utf-8")
    return path


async def _problems(supervisor: SupervisorClient, path: Path, mistake: Mistake, inputs: str | None) -> list[Problem]:
    factory = MODELS[mistake.model]
    request = TraceRequest(
        TraceTarget(factory, file=str(path)),
        RecipeRequest(f"{factory}()", inputs, "option"),
        roots=(str(path.parent),),
        limits=Limits(60, 8000),
    )
    outcome = await supervisor.trace(request)
    if outcome.report is not None:
        return list(outcome.report.problems)
    failure = outcome.failure
    assert failure is not None
    return [Problem(failure.code, "error", failure.message, failure.location, failure.related, model=failure.target)]


def _is_about(problem: Problem, mistake: Mistake) -> bool:
    if problem.severity not in ("error", "warning") or not problem.code.startswith(("FX4", "FX6", "FX903")):
        return False
    places = [problem.location, *(related.location for related in problem.related)]
    return mistake.kind in _ANYWHERE or any(place is not None and place.line == mistake.line for place in places)


if __name__ == "__main__":
    raise SystemExit(main())
