"""What a recording knows: classes that a run used, traced without and with a recording of that run.

    python -m benchmarks.recorded_runs --repository NAME=FOLDER --run "python train.py --steps 3" ... [--python PATH]

Each ``--run`` belongs to the ``--repository`` before it: a short run of the repository's own script, test or example,
in its folder. The command runs once under an observer of its own, which notes what every class of the repository is
called with, and once under ``fxlsp record``. Then the classes that ran are traced in both states. A class is whole if
every operation of it is a node with a location and known shapes; its inputs are as in the run if the observer saw them.
The row also says if the exit code or the printed output differs, or if the recording has an absolute path.

With ``--rules``, a table of all repositories follows: for each rule of the search, how many classes it had a part in
whose arguments the search found, without and with the recording. It counts the other classes of the files whose classes
ran too, which a reader of these files sees, in columns of their own. A second observer, in the processes that trace,
notes what each search has used.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Calls = dict[str, set[str]]
"""By ``file:name`` of a class: the values of its inputs in each call, as JSON."""

_OBSERVER = """
import atexit, inspect, json, os, sys
import torch

seen, folder, call = {}, os.environ["OBSERVED_FOLDER"], torch.nn.Module.__call__

def described(value):
    if isinstance(value, torch.Tensor):
        return [[list(value.shape), str(value.dtype).removeprefix("torch.")]]
    if value is None or isinstance(value, (bool, int, float, str)):
        return [value]
    if hasattr(value, "__dataclass_fields__"):
        value = vars(value)
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in described(each)]
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in described(each)]
    return [type(value).__name__]

def in_order(kind, self, args, kwargs):
    try:
        bound = inspect.signature(kind.forward).bind(self, *args, **kwargs)
    except TypeError:
        return [*args, *kwargs.values()]
    bound.apply_defaults()
    return list(bound.arguments.values())[1:]

def observed(self, *args, **kwargs):
    kind = type(self)
    file = os.path.realpath(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")
    if file.startswith(folder + os.sep) and "<locals>" not in kind.__qualname__:
        target = os.path.relpath(file, folder) + ":" + kind.__qualname__
        seen.setdefault(target, set()).add(json.dumps(described(in_order(kind, self, args, kwargs))))
    return call(self, *args, **kwargs)

def write():
    with open(os.path.join(os.environ["OBSERVED"], str(os.getpid())), "w") as out:
        json.dump({name: sorted(calls) for name, calls in seen.items()}, out)

torch.nn.Module.__call__ = observed
atexit.register(write)
"""

_SEARCH_OBSERVER = """
import importlib.machinery, json, os, sys

notes = os.open(os.environ["SEARCHES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
searching = "_fxlsp_tracing.tracing.search.api"

class Finder:
    def find_spec(self, fullname, path, target=None):
        if fullname != searching:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        load = spec.loader.exec_module

        def observed(module):
            load(module)
            search = module.RecipeSearch
            found = search.found

            def noted(self, init):
                result = found(self, init)
                rules = [name for name, counts in result.rules.items() if counts.finds]
                note = {"file": self._target.file, "name": self._target.name, "rules": rules}
                os.write(notes, json.dumps(note).encode() + os.linesep.encode())
                return result

            search.found = noted

        spec.loader.exec_module = observed
        return spec

sys.meta_path.insert(0, Finder())
"""
_NO_RULE = "no rule"
"""Name for the classes of which the first trial ran."""


@dataclass
class State:
    """Classes of one repository, traced without or with a recording."""

    whole: int = 0
    as_run: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    """Number of classes by where their arguments come from; those that need a search are by ``search``."""
    failures: list[str] = field(default_factory=list)
    """Classes that are not whole or have other inputs than in the run, each with the reason."""
    searched: int = 0
    """Number of classes of which a search was run."""
    rules: Counter[str] = field(default_factory=Counter)
    """Number of classes whose arguments a search found, by the rules that had a part in it."""

    def add(self, other: State) -> None:
        self.whole += other.whole
        self.searched += other.searched
        self.sources += other.sources
        self.rules += other.rules


States = tuple[State, State]
"""Without and with the recording."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", dest="repositories", metavar="NAME=FOLDER", action="append", required=True)
    parser.add_argument("--run", dest="runs", metavar="COMMAND", action="append", required=True)
    parser.add_argument("--python", metavar="PATH", default=sys.executable, help="interpreter with their packages")
    parser.add_argument("--recordings", metavar="FOLDER", help="where each recording is written too, as NAME.json")
    parser.add_argument("--seconds", metavar="N", type=float, default=600, help="limit of each run and each state")
    parser.add_argument("--rules", action="store_true", help="count the rules of the search")
    options = parser.parse_args()
    ran, others = (State(), State()), (State(), State())
    print("| repository | classes that ran | whole: without, with | inputs as in the run: without, with | KB |")
    print("|---|---|---|---|---|", flush=True)
    for repository, command in zip(options.repositories, options.runs, strict=True):
        name, _, folder = repository.partition("=")
        row = _measured(name, os.path.realpath(folder), shlex.split(command), options, ran, others)
        print(f"| {name} | {row} |", flush=True)
    if options.rules:
        print("\n".join(_rule_table(ran, others)))


def _rule_table(ran: States, others: States) -> Iterator[str]:
    """Yield the lines of a table of the rules that had a part in the arguments of a class, most classes first."""
    columns = (*ran, *others)
    yield "| rule | classes that ran: without, with | other classes: without, with |"
    yield "|---|---|---|"
    yield _rule_row("*classes*", [state.sources.total() for state in columns])
    yield _rule_row("*searched*", [state.searched for state in columns])
    yield _rule_row("*found by a search*", [state.sources["search"] for state in columns])
    names = sorted({name for state in columns for name in state.rules})
    for name in sorted(names, key=lambda each: [-state.rules[each] for state in columns]):
        yield _rule_row(name, [state.rules[name] for state in columns])


def _rule_row(name: str, numbers: list[int]) -> str:
    return f"| {name} | {numbers[0]}, {numbers[1]} | {numbers[2]}, {numbers[3]} |"


def _measured(
    name: str, folder: str, command: list[str], options: argparse.Namespace, ran: States, others: States
) -> str:
    """Return a row of the table without its name, and print what fails on standard error.

    Args:
        ran: counts to which those of the classes that ran are added.
        others: counts to which those of the other classes are added.
    """
    fxlsp = [sys.executable, "-m", "fxlsp"]
    with tempfile.TemporaryDirectory() as scratch:
        seen, (code, printed) = _observed(folder, command, Path(scratch), options)
        cache = os.path.join(scratch, "recorded")
        record = [*fxlsp, "record", "--python", options.python, "--", *command]
        recorded, again = _run(record, folder, {"XDG_CACHE_HOME": cache}, options.seconds, subprocess.PIPE)
        recording = b"".join(path.read_bytes() for path in Path(cache).rglob("recording-*.json"))
        if options.recordings:
            Path(options.recordings, name.replace("/", "-") + ".json").write_bytes(recording)
        trace = [*fxlsp, "trace", "--python", options.python, "--batch"]
        caches = (os.path.join(scratch, "without"), cache)
        states = [_traced(seen, trace, folder, each, options.seconds) for each in caches]
        unseen: Calls = {target: set() for target in _other_classes(folder, seen)} if options.rules else {}
        further = [_traced(unseen, trace, folder, each, options.seconds) for each in caches]
    for number in (0, 1):
        ran[number].add(states[number])
        others[number].add(further[number])
    for title, state in zip(("without", "with"), states, strict=True):
        sys.stderr.writelines(f"{title}: {failure}\n" for failure in state.failures)
        sources = ", ".join(f"{source} {number}" for source, number in state.sources.most_common())
        print(f"{title}: arguments of classes by {sources}", file=sys.stderr)
    same = "" if code == recorded else f" (exit code {recorded} and not {code})"
    same += "" if printed == again else " (another output)"
    same += " (absolute path)" if re.search(rb'"(/|[A-Za-z]:[/\\\\])', recording) else ""
    whole, as_run = (f"{states[0].whole}, {states[1].whole}", f"{states[0].as_run}, {states[1].as_run}")
    return f"{len(seen)} | {whole} | {as_run} | {len(recording) / 1000:.1f}{same}"


def _run(
    command: list[str], folder: str, variables: dict[str, str], seconds: float, stdout: int, text: str = ""
) -> tuple[int, bytes]:
    """Return the exit code of a command, 124 if it did not end in time, and what it has printed."""
    environment = {**os.environ, **variables}
    try:
        ran = subprocess.run(
            command, cwd=folder, env=environment, input=text.encode(), stdout=stdout, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        return 124, error.stdout or b""
    return ran.returncode, ran.stdout or b""


def _observed(
    folder: str, command: list[str], scratch: Path, options: argparse.Namespace
) -> tuple[Calls, tuple[int, bytes]]:
    """Return the calls of each class that ran, the exit code, and what was printed."""
    notes, site = scratch / "notes", scratch / "site"
    notes.mkdir()
    site.mkdir()
    (site / "sitecustomize.py").write_text(_OBSERVER)
    variables = {
        "OBSERVED": str(notes),
        "OBSERVED_FOLDER": folder,
        "PYTHONPATH": _python_path(site),
        "PATH": os.pathsep.join([os.path.dirname(options.python), os.environ.get("PATH", "")]),
    }
    ran = _run(command, folder, variables, options.seconds, subprocess.PIPE)
    seen: Calls = {}
    for file in notes.iterdir():
        for target, calls in json.loads(file.read_text()).items():
            seen.setdefault(target, set()).update(calls)
    return seen, ran


def _python_path(site: Path) -> str:
    return os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])


def _other_classes(folder: str, seen: Calls) -> Iterator[str]:
    """Yield the classes with a ``forward`` that are in files whose classes ran, and that did not run themselves."""
    for file in sorted({target.partition(":")[0] for target in seen}):
        for node in ast.parse(Path(folder, file).read_bytes()).body:
            methods = {each.name for each in getattr(node, "body", ()) if isinstance(each, ast.FunctionDef)}
            if isinstance(node, ast.ClassDef) and "forward" in methods and f"{file}:{node.name}" not in seen:
                yield f"{file}:{node.name}"


def _traced(seen: Calls, command: list[str], folder: str, cache: str, seconds: float) -> State:
    if not seen:
        return State()
    requests = "".join(json.dumps({"target": target}) + "\n" for target in seen)
    with tempfile.TemporaryDirectory() as scratch:
        site, notes = Path(scratch, "site"), Path(scratch, "searches")
        site.mkdir()
        notes.touch()
        (site / "sitecustomize.py").write_text(_SEARCH_OBSERVER)
        variables = {"XDG_CACHE_HOME": cache, "SEARCHES": str(notes), "PYTHONPATH": _python_path(site)}
        _, output = _run(command, folder, variables, seconds, subprocess.PIPE, requests)
        searches = [json.loads(line) for line in notes.read_text().splitlines()]
    # The last line may have been cut.
    lines = [line for line in output.splitlines(keepends=True) if line.endswith(b"\n")]
    answers = {answer["target"]: answer for answer in map(json.loads, lines)}
    state = State()
    used: dict[str, set[str]] = {}
    for each in searches:
        used.setdefault(f"{os.path.relpath(each['file'], folder)}:{each['name']}", set()).update(each["rules"])
    state.searched = len(used.keys() & seen.keys())
    for target, calls in seen.items():
        answer = answers.get(target, {"message": f"no answer within {seconds:.0f} s"})
        is_whole = bool(answer.get("complete")) and answer["recipe"]["inputs"] is not None
        given = json.dumps([leaf for each in _root_inputs(answer) for leaf in _leaves(each)])
        source = answer.get("recipe", {}).get("source", "none")
        state.sources[source] += 1
        if source == "search":
            state.rules.update(used.get(target) or [_NO_RULE])
        state.whole += is_whole
        state.as_run += given in calls
        if not is_whole:
            state.failures.append(f"{target}: {_reason(answer)}")
        elif calls and given not in calls:
            state.failures.append(f"{target}: has {given} and not {min(calls)}, by {answer['recipe']['source']}")
    return state


def _reason(answer: dict[str, Any]) -> str:
    if "failure" in answer:
        return str(answer["failure"]["message"])
    reported = sorted(answer.get("problems", ()), key=lambda each: bool(each["severity"] != "error"))
    problem = next((f": {each['code']} {each['message']}" for each in reported), "")
    return str(answer.get("message") or f"an operation has no node or no shape{problem}")


def _root_inputs(answer: dict[str, Any]) -> list[Any]:
    return list(answer["calls"][0]["inputs"]) if answer.get("calls") else [None]


def _leaves(output: dict[str, Any] | None) -> Iterator[Any]:
    """Yield the parts of a value of a report as the observer describes them."""
    if output is None:
        yield "unknown"
    elif "shape" in output:
        yield [output["shape"], output["dtype"]]
    elif "list" in output or "dict" in output:
        for each in output["list"] if "list" in output else output["dict"].values():
            yield from _leaves(each)
    else:
        yield output.get("value", output.get("type"))


if __name__ == "__main__":
    main()
