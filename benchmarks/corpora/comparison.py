"""Comparison of fxlsp's answer for a case with the reference.

Tracing (``differences``): verdict, type of the error, first failing line (file and line of the innermost traceback
frame outside torch and the standard library) and, for a traceable model, the names of the nodes in order. A case
without a reference is left out: its file cannot be loaded, its model not be built, or it needs an accelerator.

Running (``misses``), for a model that runs eagerly: each operation of the run that returns tensors, and each
``x[...] = y``, must be a node of the same plain name, whose expression contains the line of the run, with the same
shapes; each call of a leaf module a node of that module; each module call of the report must return the shapes of the
run. Allowed are

- nodes that are no tensors, reads of attributes and items of containers beyond what the run shows;
- in a traceable model, the absence of operations in which no input had a part, which are constants of the graph, and of
  reads of attributes (``x.data``), which become nodes when they are used;
- the absence of operations inside a function that is one node of the graph, by ``torch.fx.wrap``, as an argument of the
  model that it calls, as a scripted function or method, or as an opaque node;
- an item for each name where a run unpacks a tensor, which is one ``unbind``.

Shapes that are reported and wrong (``wrong``) are counted apart from those that are unknown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from benchmarks.corpora.eager import plain

Json = dict[str, Any]
Shapes = list[list[int]]

_READS = ("getitem", "get")


@dataclass
class Compared:
    """One case, with empty lists where everything agrees."""

    key: str
    reference: str = ""
    """Why there is no reference; "" where there is one."""
    failure: str = ""
    """Code and message where fxlsp has no report; "crash" where it has no answer."""
    traceable: bool = False
    """By the reference."""
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """On the message of the error, which is not part of the verdict."""
    runs: bool = False
    """Whether the model runs eagerly."""
    misses: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    """Problems reported where there is none."""
    unended: list[str] = field(default_factory=list)
    """Why the recovering pass has no result."""
    complete: bool = False
    opaque: int = 0
    eager_error: str = ""
    error_found: bool = False
    """Whether the line of ``eager_error`` has a problem."""
    timing_ms: dict[str, float] = field(default_factory=dict)


def compare(key: str, reference: Json, ours: Json | None) -> Compared:
    compared = Compared(key)
    traced = reference.get("trace", {})
    compared.reference = _no_reference(reference)
    if ours is None:
        compared.failure = "crash"
    elif "failure" in ours:
        compared.failure = f"{ours['failure']['code']} {ours['failure']['message']}"
    if compared.reference:
        return compared
    compared.traceable = traced["traceable"]
    if ours is None or "failure" in ours:
        return compared
    compared.timing_ms = ours["timing_ms"]
    compared.complete = ours["complete"]
    compared.opaque = ours["opaque"]
    compared.differences = list(_differences(traced, ours, compared.notes))
    _compare_run(compared, reference.get("eager") or {}, ours)
    return compared


_ACCELERATOR = ("NVIDIA driver", "not compiled with CUDA", "CUDA", "cuda")


def _no_reference(reference: Json) -> str:
    traced = reference.get("trace", {})
    if "load" in reference:
        return f"not loaded: {reference['load']}"
    if "build" in traced:
        return f"not built: {traced['build']}"
    if "traceable" not in traced:
        return "died"
    if not traced["traceable"] and any(word in traced["error"]["message"] for word in _ACCELERATOR):
        return "accelerator"
    return ""


def _differences(traced: Json, ours: Json, notes: list[str]) -> Iterator[str]:
    verdict = ours["verdict"]
    if traced["mode"] != ours["mode"]:
        yield f"mode: {traced['mode']}, ours {ours['mode']}"
    if traced["traceable"] != verdict["traceable"]:
        yield f"verdict: {_outcome(traced)}, ours {_outcome(verdict)}"
    elif traced["traceable"]:
        yield from _node_differences(traced["nodes"], [node["name"] for node in ours["nodes"]])
    else:
        yield from _error_differences(traced["error"], verdict["error"], notes)


def _outcome(verdict: Json) -> str:
    error = verdict["error"] if not verdict["traceable"] else None
    return "traceable" if error is None else f"{error['type']}: {error['message'][:150]} at {_place(error)}"


def _node_differences(theirs: list[str], ours: list[str]) -> Iterator[str]:
    if theirs != ours:
        first = next((pair for pair in zip(theirs, ours, strict=False) if pair[0] != pair[1]), (len(theirs), len(ours)))
        yield f"nodes: {first[0]}, ours {first[1]}"


def _error_differences(theirs: Json, ours: Json, notes: list[str]) -> Iterator[str]:
    if theirs["type"] != ours["type"]:
        yield f"type: {_outcome({'traceable': False, 'error': theirs})}, ours {ours['type']}: {ours['message'][:150]}"
    elif theirs["message"] != ours["message"]:
        notes.append(f"message: {theirs['message'][:150]}, ours {ours['message'][:150]}")
    place = ours["location"]
    same = (
        place is None
        if theirs["file"] is None
        else place is not None
        and theirs["file"] == place["file"]
        and place["line"] <= theirs["line"] <= place["end_line"]
    )
    if not same:
        yield f"line: {_place(theirs)}, ours {_place(ours)} ({theirs['type']}: {theirs['message'][:100]})"


def _place(error: Json) -> str:
    if "location" in error:
        error = error["location"] or {}
    file = error.get("file")
    return f"{file.rpartition('/')[2]}:{error['line']}" if file else "nowhere"


def _compare_run(compared: Compared, eager: Json, ours: Json) -> None:
    error = eager.get("error")
    compared.runs = "operations" in eager and error is None
    codes = [problem["code"] for problem in ours["problems"]]
    compared.unended = [problem["message"] for problem in ours["problems"] if problem["code"] == "FX905"]
    if compared.traceable:
        compared.alarms += [f"{code} of a traceable model" for code in codes if code.startswith(("FX1", "FX2"))]
    if error is not None:
        compared.eager_error = f"{error['type']}: {error['message'][:150]} at {_place(error)}"
        compared.error_found = any(_contains(problem["location"], error) for problem in ours["problems"])
    if compared.runs:
        compared.alarms += [
            f"{problem['code']} {problem['message'][:150]}"
            for problem in ours["problems"]
            if problem["code"] == "FX401"
        ]
        run = _RunComparison(eager, ours)
        run.compare()
        compared.misses, compared.wrong = run.misses, run.wrong
        if not ours["complete"]:
            compared.misses.append("incomplete")


def _contains(location: Json | None, place: Json) -> bool:
    return (
        location is not None
        and location["file"] == place["file"]
        and location["line"] <= place["line"] <= location["end_line"]
    )


class _RunComparison:
    """Matching of the operations of a run with the nodes of a report."""

    def __init__(self, eager: Json, ours: Json) -> None:
        self.misses: list[str] = []
        self.wrong: list[str] = []
        self._eager = eager
        self._ours = ours
        self._traceable: bool = ours["verdict"]["traceable"]
        self._free: dict[str, list[Json]] = defaultdict(list)
        """Nodes not matched with an operation yet, by plain name, or by path for leaf modules."""
        self._covering = [node for node in ours["nodes"] if node["location"] is not None and _covers(node)]
        self._registered = {path for module in ours["modules"] for path in (module["path"], *module["aliases"])}
        for node in ours["nodes"]:
            if node["op"] == "call_module" and node["target"] not in self._registered:
                self._free["module ?"].append(node)
            elif node["op"] in ("call_function", "call_method", "call_module"):
                self._free[_name(node)].append(node)

    def compare(self) -> None:
        """Match all operations.

        Those that agree in shapes come first, and required ones before others of their line.
        """
        wanted = [operation for operation in self._eager["operations"] if self._is_wanted(operation)]
        others = [operation for operation in self._eager["operations"] if not self._is_wanted(operation)]
        left = [operation for operation in wanted if not self._match(operation, with_shapes=True)]
        for operation in others:
            self._match(operation, with_shapes=True)
        for operation in left:
            if not self._match(operation, with_shapes=False) and not self._match_items(operation):
                self._miss("missing", operation)
        self._report_extra_nodes()
        self._compare_calls()

    def _match(self, operation: Json, with_shapes: bool) -> bool:
        """Match an operation with the first free node that can be it.

        Without the shapes, record the difference of the shapes.
        """
        name = f"module {operation['leaf']}" if operation["leaf"] is not None else operation["name"]
        nodes = self._free[name]
        for number, node in enumerate(nodes):
            if not self._is_at(node, operation):
                continue
            reported = shapes_of(node["output"])
            if with_shapes and reported != operation["shapes"]:
                continue
            del nodes[number]
            if reported is None:
                self._miss("unknown shape", operation)
            elif reported != operation["shapes"]:
                self.wrong.append(f"{node['name']} at {self._line(operation)}: {operation['shapes']}, ours {reported}")
            return True
        return False

    def _match_items(self, operation: Json) -> bool:
        """Match ``unbind`` with items.

        ``a, b = x`` is one operation when it runs, and for torch.fx an item for each name.
        """
        if operation["name"] != "unbind":
            return False
        items = [node for node in self._free["getitem"] if self._is_at(node, operation)]
        count = len(operation["shapes"])
        if len(items) < count or any(shapes_of(item["output"]) != operation["shapes"][:1] for item in items[:count]):
            return False
        for item in items[:count]:
            self._free["getitem"].remove(item)
        return True

    def _is_at(self, node: Json, operation: Json) -> bool:
        stack = self._eager["stacks"][operation["lines"]]
        if not stack:
            return True
        # A child of a root nn.Sequential is called by torch alone: its location is its construction.
        file, line = stack[0]
        return _contains(node["location"], {"file": file, "line": line})

    def _is_wanted(self, operation: Json) -> bool:
        if self._traceable and (not operation["touched"] or operation["name"] == "get"):
            return False
        if operation["leaf"] is None and not operation["shapes"] and operation["name"] != "setitem":
            return False
        stack = self._eager["stacks"][operation["lines"]]
        return not any(
            _contains(node["location"], {"file": file, "line": line}) for node in self._covering for file, line in stack
        )

    def _miss(self, what: str, operation: Json) -> None:
        kind = "module" if operation["leaf"] is not None else "function"
        self.misses.append(f"{what}: {kind} {operation['name']} at {self._line(operation)}")

    def _line(self, operation: Json) -> str:
        stack = self._eager["stacks"][operation["lines"]]
        return f"{stack[0][0].rpartition('/')[2]}:{stack[0][1]}" if stack else "nowhere"

    def _report_extra_nodes(self) -> None:
        for name, nodes in self._free.items():
            for node in nodes:
                if name not in _READS and "shape" in (node["output"] or {}) and not _covers(node):
                    self.misses.append(f"extra: {node['name']} at {_place({'location': node['location']})}")

    def _compare_calls(self) -> None:
        seen: dict[str, list[Shapes | None]] = defaultdict(list)
        for call in self._ours["calls"]:
            if call["module_path"] not in self._registered:
                # It is not registered, so the run has no name for it.
                continue
            if call["module_path"] == "" and "" not in self._eager["calls"]:
                # The class has a ``__call__`` of its own, which runs no hooks.
                continue
            seen[call["module_path"]].append(shapes_of(call["output"]))
        for path, outputs in seen.items():
            really = self._eager["calls"].get(path, [])
            if len(outputs) != len(really):
                self.misses.append(f"calls: {path or 'the root'} {len(really)} times, ours {len(outputs)}")
            for reported, shapes in zip(outputs, really, strict=False):
                if reported is None:
                    self.misses.append(f"unknown output: {path or 'the root'}")
                elif reported != shapes:
                    self.wrong.append(f"output of {path or 'the root'}: {shapes}, ours {reported}")


def _covers(node: Json) -> bool:
    """Return whether operations inside the function of a node are no nodes.

    It is wrapped, an argument, or opaque.
    """
    known = ("torch", "operator", "_operator", "builtins", "math")
    target: str = node["target"]
    foreign = node["op"] == "call_function" and target.partition(".")[0] not in known
    # A method of a module that is an argument, or of a scripted one.
    of_module = (node["op"] == "call_method" and not hasattr(torch.Tensor, target)) or target == "__call__"
    return bool(node["opaque"]) or foreign or of_module or target.startswith("torch.jit.")


def _name(node: Json) -> str:
    if node["op"] == "call_module":
        return f"module {node['target']}"
    last = node["target"].rpartition(".")[2]
    return "get" if last == "getattr" else plain(last)


def shapes_of(output: Json | None) -> Shapes | None:
    """Return the shapes of the tensors in a report's OUTPUT, in order.

    None if a part is unknown.
    """
    if output is None:
        return None
    if "shape" in output:
        return [output["shape"]]
    items = output.get("list") or list(output.get("dict", {}).values())
    found: Shapes = []
    for item in items:
        shapes = shapes_of(item)
        if shapes is None:
            return None
        found += shapes
    return found


def reason(text: str) -> str:
    """Return the kind of a difference or miss: the words before its details."""
    return text.partition(":")[0]


def kinds(texts: list[str]) -> Counter[str]:
    return Counter(reason(text) for text in texts)
