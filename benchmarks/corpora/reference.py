"""The reference: models built for real, traced by torch.fx and run eagerly.

``python -m benchmarks.corpora.reference`` reads a line of JSON for each file or module, ``{"cases": [...], "limits":
...}``, and writes one for each case. A process forked for the file loads all of it, as an import would; the steps of a
case, tracing by ``torch.fx.symbolic_trace`` and running, each get a fork of that. Random generators start at 0 before
loading, building, tracing, making the inputs and running. Weights are not read, connections and processes are refused,
as in fxlsp.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import tempfile
import types
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import torch
import torch.fx

from benchmarks.corpora.eager import EagerRun, record_run, touch
from benchmarks.corpora.frames import raised_at
from fxlsp.tracing.isolation.sandbox.weights import skip_weights

Json = dict[str, Any]


_COMMON = ("numpy", "torchvision", "timm", "einops")
"""Common imports of many files, imported once, before the forks."""


def main() -> None:
    answers = os.dup(1)
    # Before any package is imported that could store the original functions.
    skip_weights()
    for package in _COMMON:
        if importlib.util.find_spec(package) is not None:
            importlib.import_module(package)
    _restrict_process()
    _silence()
    for line in sys.stdin:
        request = json.loads(line)
        keys = [case["key"] for case in request["cases"]]
        for answer in _in_fork(partial(_file, request), request["seconds"]):
            keys.remove(answer["key"])
            _write(answers, answer)
        for key in keys:
            _write(answers, {"key": key, "load": "died"})


def _restrict_process() -> None:
    """Restrict the process to one thread and no child processes.

    Nothing is written outside a scratch folder.
    """
    torch.set_num_threads(1)
    os.chdir(tempfile.gettempdir())
    sys.addaudithook(_refuse)
    sys.dont_write_bytecode = True
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path[:] = [entry for entry in sys.path if entry not in ("", here)] + [here]


_REFUSED = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
_CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    writes = event == "open" and isinstance(args[2], int) and args[2] & _WRITING and not isinstance(args[0], int)
    if event in _REFUSED or ((writes or event in _CHANGES) and args[0] != os.devnull):
        raise PermissionError(f"refused: {event}")


def _silence() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)


def _in_fork(work: Callable[[Callable[[Json], None]], None], seconds: int) -> list[Json]:
    """Return what ``work`` writes in a fork, until it ends or its time is over."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(seconds)
            work(lambda answer: _write(writing, answer))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        lines = stream.read().split(b"\n")
    os.waitpid(child, 0)
    # The text after the last line feed was cut off by the end of the process.
    return [json.loads(line) for line in lines[:-1]]


def _write(descriptor: int, answer: Json) -> None:
    data = memoryview(json.dumps(answer).encode() + b"\n")
    while data:
        data = data[os.write(descriptor, data) :]


def _file(request: Json, write: Callable[[Json], None]) -> None:
    """Load one file or module, then answer for its cases."""
    _limit_memory(request["megabytes"])
    first = request["cases"][0]
    try:
        _seed()
        module = _load_file(first["file"]) if first["file"] else importlib.import_module(first["module"])
    except BaseException as error:
        for case in request["cases"]:
            write({"key": case["key"], "load": _error_text(error)})
        return
    # The limit was for loading; each step of a case has its own.
    signal.alarm(0)
    for case in request["cases"]:
        traced = _step(_trace, case, module, request["seconds"])
        ran = _step(_run, case, module, request["seconds"]) if "traceable" in traced else None
        write({"key": case["key"], "trace": traced, "eager": ran})


def _step(step: Callable[[Json, ModuleType], Json], case: Json, module: ModuleType, seconds: int) -> Json:
    answers = _in_fork(lambda write: write(step(case, module)), seconds)
    return answers[0] if answers else {"died": True}


def _limit_memory(megabytes: int) -> None:
    """Limit the memory of the process.

    What it has mapped already, mostly torch's libraries, does not count.
    """
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _load_file(path: str) -> ModuleType:
    """Run all of a file, under the name by which it would be imported.

    Imports that fail are skipped.
    """
    sys.argv = [path]
    name, folder = _module_name(path)
    sys.path.insert(0, folder)
    if "." in name:
        return importlib.import_module(name)
    module = ModuleType(name)
    module.__file__ = path
    if name not in sys.stdlib_module_names:
        sys.modules[name] = module
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    tree.body = [_may_fail(statement) if isinstance(statement, _IMPORTS) else statement for statement in tree.body]
    exec(compile(tree, path, "exec", dont_inherit=True), vars(module))
    return module


_IMPORTS = (ast.Import, ast.ImportFrom)


def _may_fail(statement: ast.stmt) -> ast.stmt:
    """Return an import that fails only for the models that use it, as in fxlsp.

    ``from __future__`` must stay as it is.
    """
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return statement
    attempt = ast.parse("try:\n    pass\nexcept ImportError:\n    pass").body[0]
    assert isinstance(attempt, ast.Try)
    attempt.body = [statement]
    return attempt


def _module_name(path: str) -> tuple[str, str]:
    """Return the dotted name of a file, and the folder of its outermost package."""
    folder, file = os.path.split(path)
    name = os.path.splitext(file)[0]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        name = f"{package}.{name}"
    return name.removesuffix(".__init__"), folder


def _trace(case: Json, module: ModuleType) -> Json:
    """Return what ``torch.fx.symbolic_trace`` makes of the model."""
    try:
        model = _built(case, module)
    except BaseException as error:
        return {"build": _error_text(error)}
    answer: Json = {"mode": "train" if model.training else "eval"}
    _seed()
    try:
        traced = torch.fx.symbolic_trace(model)
    except BaseException as error:
        return {**answer, "traceable": False, "error": _raised(error)}
    return {**answer, "traceable": True, "nodes": [node.name for node in traced.graph.nodes]}


def _run(case: Json, module: ModuleType) -> Json:
    """Return what happens when the model is built again and called."""
    if case["inputs"] is None:
        return {"inputs": "nobody says what they are"}
    try:
        model = _built(case, module)
        _seed()
        names = {**_names(module), "_": lambda *args, **kwargs: (args, kwargs)}
        args, kwargs = eval(f"_({case['inputs']}\n)", names)
    except BaseException as error:
        return {"inputs": _error_text(error)}
    touch((args, kwargs))
    _seed()
    run = EagerRun()
    try:
        record_run(model, run, lambda: model(*args, **kwargs))
    except BaseException as error:
        return {"error": _raised(error), **run.to_json()}
    return {"error": None, **run.to_json()}


def _built(case: Json, module: ModuleType) -> torch.nn.Module:
    _seed()
    model = eval(case["init"], _names(module))
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"{case['init']} makes a {type(model).__name__}")
    return model


def _names(module: ModuleType) -> Json:
    return {"torch": torch, "nn": torch.nn, **vars(module)}


def _raised(error: BaseException) -> Json:
    place = raised_at(error.__traceback__)
    return {
        "type": type(error).__name__,
        "message": _text(error),
        "file": place[0] if place else None,
        "line": place[1] if place else None,
    }


def _error_text(error: BaseException) -> str:
    return f"{type(error).__name__}: {_text(error)}"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        # The text of an exception is the user's code.
        return ""


def _seed() -> None:
    torch.manual_seed(0)
    random.seed(0)
    numpy: types.ModuleType | None = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


if __name__ == "__main__":
    main()
