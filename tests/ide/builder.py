"""Builders of reports and snapshots in which expressions identify nodes and calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fxlsp.engine.state.history import History
from fxlsp.engine.state.snapshot import ModelKey, ModelState, Snapshot, Status, files_of
from fxlsp.report.code_records import Severity
from fxlsp.report.graph import Module, ModuleCall, Node, Opcode, Output, Verdict
from fxlsp.report.locations import Location, Step
from fxlsp.report.problems import Failure, Problem
from fxlsp.report.recipes import Recipe, RecipeSource
from fxlsp.report.report import Environment, Report
from fxlsp.source.text.diff import edits_between
from fxlsp.source.text.documents import Document, TextEdit

PATH = "/project/net.py"


def tensor(*shape: int, dtype: str = "float32") -> Output:
    return {"shape": list(shape), "dtype": dtype}


def document(text: str, version: int = 1) -> Document:
    return Document(f"file://{PATH}", PATH, version, text)


def place(text: str, expression: str, occurrence: int = 0) -> Location:
    """Return the location of the n-th occurrence of ``expression``, from 0."""
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(expression, start + 1)
    span = document(text).lines.span(start, start + len(expression))
    return Location(PATH, span.line, span.column, span.end_line, span.end_column)


class Trace:
    """Builder of one report."""

    def __init__(self, text: str, name: str = "Net", source: RecipeSource = "call-site") -> None:
        self.text = text
        self.name = name
        self.recipe = Recipe(f"{name}()", "torch.randn(1, 3)", source)
        self.nodes: list[Node] = []
        self.calls: list[ModuleCall] = []
        self.modules: list[Module] = []
        self.problems: list[Problem] = []

    def node(
        self,
        name: str,
        expression: str,
        output: Output | None,
        *,
        op: Opcode = "call_function",
        target: str = "torch.relu",
        path: str | None = "",
        module: str | None = None,
        arguments: str = "",
        inputs: Sequence[Output | None] = (),
        through: Sequence[str] = (),
        occurrence: int = 0,
        params: int = 0,
        flops: int | None = 0,
    ) -> Trace:
        location = place(self.text, expression, occurrence)
        stack = (*(Step(place(self.text, outer), "") for outer in through), Step(location, path))
        call_path = path
        made = Node(name, op, target, path, call_path, module, location, stack, output, tuple(inputs), params, flops)
        self.nodes.append(replace(made, module_arguments=arguments))
        return self

    def leaf(self, path: str, expression: str, made: str, inputs: Output, output: Output, params: int = 0) -> Trace:
        """Add the call of a leaf module such as ``Conv2d(3, 8)``."""
        module, _, arguments = made.removesuffix(")").partition("(")
        first = len(self.nodes)
        self.calls.append(
            ModuleCall(
                *(path, path, module, True, place(self.text, expression), None, (inputs,), output, params),
                flops=0,
                first_node=first,
                end_node=first + 1,
            )
        )
        return self.node(
            *(path.replace(".", "_"), expression, output),
            op="call_module",
            target=path,
            path=path,
            module=module,
            arguments=arguments,
            inputs=(inputs,),
            params=params,
        )

    def call(
        self,
        path: str,
        kind: str,
        nodes: tuple[int, int],
        inputs: Sequence[Output | None],
        output: Output | None,
        *,
        at: str | None = None,
        forward: str | None = None,
        forward_occurrence: int = 0,
        params: int = 0,
    ) -> Trace:
        """Add the call of a module that is not a leaf.

        Args:
            nodes: number of its first node, and of the node after its last.
            at: the calling expression.
            forward: the text of the ``def`` line that it ran.
        """
        location = None if at is None else place(self.text, at)
        definition = None if forward is None else place(self.text, forward, forward_occurrence)
        first, end = nodes
        self.calls.append(
            ModuleCall(
                *(path, path, kind, False, location, definition, tuple(inputs), output),
                params=params,
                flops=0,
                first_node=first,
                end_node=end,
            )
        )
        return self

    def module(
        self,
        path: str,
        kind: str,
        registration: str | None = None,
        made: str | None = None,
        *,
        params: int = 0,
        calls: int | None = None,
    ) -> Trace:
        """Add a registered module such as ``Conv2d(3, 8)``.

        Args:
            registration: the text that registered it.
            made: the expression that constructed it.
        """
        kind, _, arguments = kind.removesuffix(")").partition("(")
        registered = None if registration is None else place(self.text, registration)
        constructed = None if made is None else place(self.text, made)
        called = sum(call.module_path == path for call in self.calls) if calls is None else calls
        self.modules.append(Module(path, (), kind, params, called, constructed, arguments, registered))
        return self

    def problem(self, code: str, expression: str, message: str, path: str = "", severity: Severity = "error") -> Trace:
        self.problems.append(Problem(code, severity, message, place(self.text, expression), module_path=path))
        return self

    def report(self) -> Report:
        root = next((call.params for call in self.calls if not call.module_path), 0)
        return Report(
            target=f"{PATH}:{self.name}",
            environment=Environment("3.11.7", "2.15.0"),
            recipe=self.recipe,
            mode="train",
            verdict=Verdict(True),
            complete=True,
            opaque=0,
            nodes=tuple(self.nodes),
            modules=(Module("", (), self.name, root, 1, None), *self.modules) if self.modules else (),
            calls=tuple(self.calls),
            problems=tuple(self.problems),
            timing_ms={"total": 33.0},
        )

    def state(self, status: Status = Status.FRESH) -> ModelState:
        """Return the state of a model that was traced on this text."""
        report = self.report()
        texts = {PATH: document(self.text).digest}
        return ModelState(self.key, status, report, files=files_of(report), texts=texts)

    @property
    def key(self) -> ModelKey:
        return ModelKey("/bin/python", PATH, self.name, None)


def failed(text: str, name: str, failure: Failure) -> ModelState:
    """Return the state of a model that has no graph."""
    key = ModelKey("/bin/python", PATH, name, None)
    return ModelState(key, Status.FAILED, failure=failure, failure_texts={PATH: document(text).digest})


def snapshot(text: str, *states: ModelState, trusted: bool = True) -> Snapshot:
    """Return the snapshot of a session with one open document."""
    opened = document(text)
    return Snapshot(
        documents={PATH: opened},
        settled={PATH: opened} if opened.parses else {},
        logs={PATH: History.starting_at(opened)},
        models={state.key: state for state in states},
        trusted=trusted,
    )


def edited(before: Snapshot, old: str, new: str, status: Status = Status.STALE) -> Snapshot:
    """Return ``before`` after one edit that replaces the first ``old``.

    Args:
        status: of the reports after the edit.
    """
    text = before.documents[PATH].text
    return edited_by(before, edits_between(text, text.replace(old, new, 1)), status)


def edited_by(before: Snapshot, edits: Sequence[TextEdit], status: Status = Status.STALE) -> Snapshot:
    """Return ``before`` after some edits."""
    opened = before.documents[PATH]
    present = opened.edited(edits, (opened.version or 0) + 1)
    referenced = {digest for state in before.models.values() for digest in state.texts.values()}
    settled = present if present.parses else before.settled.get(PATH, present)
    return replace(
        before,
        documents={PATH: present},
        settled={PATH: settled},
        logs={PATH: before.logs[PATH].edited(edits, present, {opened.digest, settled.digest, *referenced})},
        models={key: replace(state, status=status) for key, state in before.models.items()},
    )
