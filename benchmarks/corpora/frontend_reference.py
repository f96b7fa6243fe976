"""The reference for other front ends: torch.export and torch.compile, called as a user calls them.

``python -m benchmarks.corpora.frontend_reference`` reads a case as JSON, and writes one object. The model is imported
once; each step runs in a fork of that, since following a model leaves fake tensors in what its code keeps. Nothing of
fxlsp takes part.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from benchmarks.corpora.frames import counts, raised_at

Json = dict[str, Any]
SECONDS = 180
"""For each step."""


def main() -> int:
    answers = os.dup(1)
    os.dup2(2, 1)
    torch.set_num_threads(1)
    case = json.load(sys.stdin)
    module = importlib.import_module(case["module"])
    names = {"torch": torch, "nn": torch.nn, **vars(module)}
    answer: Json = {"eager": _in_fork(_runs, case, names)}
    if answer["eager"]["verdict"] == "ok":
        answer["export"] = _in_fork(_exports_any_batch, case, names)
        if answer["export"]["verdict"] != "dynamic":
            answer["export"] = _in_fork(_exports_as_given, case, names)
        answer["compile"] = _in_fork(_compiles_whole, case, names)
        if answer["compile"]["verdict"] == "problem":
            # With fullgraph=True, torch goes on behind some places at which it ends a graph without it.
            answer["compile"]["at"] = _in_fork(_first_break, case, names).get("at") or answer["compile"]["at"]
    os.write(answers, json.dumps(answer).encode())
    return 0


def _in_fork(step: Callable[[Json, Json], Json], case: Json, names: Json) -> Json:
    context = multiprocessing.get_context("fork")
    reading, writing = context.Pipe(duplex=False)
    child = context.Process(target=lambda: writing.send(step(case, names)))
    child.start()
    writing.close()
    try:
        found: Json = reading.recv() if reading.poll(SECONDS) else {"verdict": "timeout"}
    except EOFError:
        found = {"verdict": "crashed"}
    child.kill()
    child.join()
    return found


def _made(case: Json, names: Json) -> tuple[torch.nn.Module, tuple[Any, ...], Json]:
    torch.manual_seed(0)
    model = eval(case["init"], names)
    torch.manual_seed(0)
    args, kwargs = eval(f"_({case['inputs']}\n)", {**names, "_": lambda *args, **kwargs: (args, kwargs)})
    return model, args, kwargs


def _runs(case: Json, names: Json) -> Json:
    try:
        model, args, kwargs = _made(case, names)
        model(*args, **kwargs)
    except Exception as error:
        return {"verdict": "fails", "message": _first_line(error)}
    return {"verdict": "ok"}


def _exports_any_batch(case: Json, names: Json) -> Json:
    model, args, kwargs = _made(case, names)
    tensors = (each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor))
    if len({int(each.shape[0]) for each in tensors if each.dim()}) != 1:
        return {"verdict": "given"}
    batch = torch.export.Dim("batch")

    def dynamic(value: Any) -> Any:
        return {0: batch} if isinstance(value, torch.Tensor) and value.dim() else None

    shapes = tuple(tree_map(dynamic, each) for each in args)
    return _exported("dynamic", lambda: torch.export.export(model, args, dynamic_shapes=shapes, strict=False))


def _exports_as_given(case: Json, names: Json) -> Json:
    model, args, kwargs = _made(case, names)
    return _exported("given", lambda: torch.export.export(model, args, kwargs, strict=False))


def _exported(verdict: str, export: Callable[[], Any]) -> Json:
    try:
        export()
    except Exception as error:
        return {"verdict": "problem", "message": _first_line(error), "at": _place(error)}
    return {"verdict": verdict}


def _compiles_whole(case: Json, names: Json) -> Json:
    model, args, kwargs = _made(case, names)
    try:
        torch.compile(model, fullgraph=True, backend="eager")(*args, **kwargs)
    except Exception as error:
        return {"verdict": "problem", "message": _first_line(error), "at": _place(error)}
    return {"verdict": "ok"}


def _first_break(case: Json, names: Json) -> Json:
    model, args, kwargs = _made(case, names)
    explained: Any = torch._dynamo.explain(model)(*args, **kwargs)
    stacks = ([frame for frame in each.user_stack if counts(frame.filename)] for each in explained.break_reasons)
    return {"at": next(((stack[-1].filename, stack[-1].lineno) for stack in stacks if stack), None)}


def _place(error: BaseException) -> tuple[str, int] | None:
    """Return file and line of the model's code that torch's stack names: its own one, else the traceback's."""
    for each in _chain(error):
        frames = [frame for frame in getattr(each, "real_stack", None) or () if counts(frame.filename)]
        if frames:
            return frames[-1].filename, frames[-1].lineno
    return next((place for each in _chain(error) if (place := raised_at(each.__traceback__)) is not None), None)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"


if __name__ == "__main__":
    sys.exit(main())
