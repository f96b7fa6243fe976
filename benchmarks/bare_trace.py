"""Bare cost of a trace by a script: fork, construction, plain trace, run on fake inputs.

    python -m benchmarks.bare_trace FILE.py:NAME

The recipe is that of ``fxlsp trace``. Each step is done ten times in a process that has imported everything, as a user
would write it: fake tensors for the parameters, ``torch.fx.Tracer`` for the graph, ``torch.fx.Interpreter`` for its
values; a model that torch.fx refuses runs by itself. ``torch.nn.init`` does nothing, since some of it reads what fake
tensors do not have. Prints the median of each step and of their sum, in seconds; the
sum stands last.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

ROUNDS = 10


def main() -> int:
    target = sys.argv[1]
    recipe = _recipe(target)
    if recipe is None:
        print("no recipe", file=sys.stderr)
        return 1
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *args, **kwargs: tensor)
    module = _imported(Path(target.rpartition(":")[0]).resolve())
    names = {**vars(importlib.import_module("torch.nn")), "torch": torch, **vars(module)}
    rounds = [_round(names, recipe["init"], recipe["inputs"]) for _ in range(ROUNDS + 1)][1:]
    medians = {step: statistics.median(each[step] for each in rounds) for step in rounds[0]}
    print(*(f"{step} {seconds:.4f}" for step, seconds in medians.items()), f"sum {sum(medians.values()):.4f}")
    return 0


def _recipe(target: str) -> dict[str, str] | None:
    command = [sys.executable, "-m", "fxlsp", "trace", target, "--format", "json", "--python", sys.executable]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    report: dict[str, Any] = json.loads(answer.stdout) if answer.stdout else {}
    recipe: dict[str, str] | None = report.get("recipe")
    return recipe if recipe and recipe.get("inputs") else None


def _imported(path: Path) -> ModuleType:
    """Import a file as the module of its package."""
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    return importlib.import_module(".".join(parts))


def _round(names: dict[str, Any], init: str, inputs: str) -> dict[str, float]:
    steps: dict[str, float] = {"fork": _timed(_fork)[0]}
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode, torch.no_grad():
        steps["construct"], model = _timed(lambda: eval(init, names))
        arguments, keywords = eval(f"(lambda *a, **k: (a, k))({inputs})", names)
        model.eval()
        steps["trace"], graph = _timed(lambda: _graph_of(model))
        if graph is None:
            steps["run"], _ = _timed(lambda: model(*arguments, **keywords))
        else:
            placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
            values = _in_order(placeholders, arguments, keywords)
            steps["run"], _ = _timed(lambda: torch.fx.Interpreter(graph).run(*values))
    return steps


def _in_order(placeholders: list[torch.fx.Node], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
    """Return the values of a graph's placeholders; those without one have their default."""
    values = list(arguments)
    for node in placeholders[len(arguments) :]:
        default = node.args[0] if node.args else None
        values.append(keywords.get(str(node.target), default))
    return values


def _graph_of(model: torch.nn.Module) -> torch.fx.GraphModule | None:
    try:
        return torch.fx.symbolic_trace(model)
    except Exception:
        return None


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


if __name__ == "__main__":
    sys.exit(main())
