"""Applies fixes as an editor does, and runs models before and after.

``«`` and ``»`` mark a problem's span in the texts.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import torch
import torch.fx

from fxlsp.ide.fixes.fix import Fix
from fxlsp.ide.fixes.registry import FIXERS, Fixer, fixes_and_ignore
from fxlsp.report.frontend_codes import frontend_of
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from tests.ide.builder import document

HEAD = """\
import torch
from torch import nn


"""


def marked(text: str) -> tuple[Document, Span]:
    """Return the text without its marks, and the span between them."""
    start, end = text.index("«"), text.index("»") - 1
    made = document(text.replace("«", "").replace("»", ""))
    return made, made.lines.span(start, end)


def offered(text: str, code: str, refused_sizes: tuple[str, ...] = ()) -> list[Fix]:
    """Return the fixes of the marked problem, without the one that ignores it."""
    made, span = marked(text)
    fixes = fixes_and_ignore(made, code, span, refused_sizes=refused_sizes)
    return [fix for fix in fixes if not fix.title.startswith("Ignore ")]


def applied(made: Document, fix: Fix) -> str:
    """Return the text after a fix."""
    offsets = [
        (
            made.lines.offset(each.span.line, each.span.column),
            made.lines.offset(each.span.end_line, each.span.end_column),
        )
        for each in fix.edits
    ]
    text, ends = made.text, 0
    order = sorted(range(len(offsets)), key=lambda index: (offsets[index], index))
    for index in order:
        assert offsets[index][0] >= ends, "edits overlap"
        ends = offsets[index][1]
    for index in reversed(order):
        start, end = offsets[index]
        text = text[:start] + fix.edits[index].new_text + text[end:]
    return text


def fixers_of_torch_fx() -> set[Fixer]:
    """Return what fixes problems that a trace finds. Those of other front ends show once these were asked."""
    return {fixer for code, fixers in FIXERS.items() if frontend_of(code) is None for fixer in fixers}


def fixed(text: str, code: str, title: str = "") -> str | None:
    """Return the text after the first fix with ``title`` in its title; None without."""
    made, _ = marked(text)
    return next((applied(made, fix) for fix in offered(text, code) if title in fix.title), None)


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return the unmarked text after some replacements.

    Each replaced text must occur exactly once.
    """
    text = marked(text)[0].text
    for old, new in changes:
        assert text.count(old) == 1, (old, text)
        text = text.replace(old, new)
    return text


def net(initialisation: str, forward: str, head: str = HEAD) -> str:
    """Return the text of a model from the bodies of its two methods."""
    body = textwrap.indent(textwrap.dedent(initialisation).strip("\n"), "        ")
    code = textwrap.indent(textwrap.dedent(forward).strip("\n"), "        ")
    return (
        f"{head}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{body}\n\n"
        f"    def forward(self, x):\n{code}\n"
    ).replace("\n        \n", "\n\n")


def assert_it_traces(
    worker: Any,
    write: Callable[..., str],
    before: str,
    after: str,
    *,
    did_trace: bool = False,
    same_values: bool = True,
    allowed: frozenset[str] = frozenset(),
) -> None:
    """Assert that the model traces after a fix and computes the same as before.

    Args:
        did_trace: whether it traced before too.
        same_values: whether values have to be equal, not only shapes.
        allowed: codes of problems that may remain.
    """
    before = marked(before)[0].text
    path = write(after, "after.py")
    old, new = model_of(write(before, "before.py"), before), model_of(path, after)
    assert _is_traceable(old) == did_trace
    arguments = (torch.randn(2, 4),)
    for run in (new, torch.fx.symbolic_trace(new)):
        expected, actual = _output(old, arguments), _output(run, arguments)
        assert actual.shape == expected.shape
        if same_values:
            torch.testing.assert_close(actual, expected)
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(2, 4)")
    assert report.verdict.traceable
    assert {problem.code for problem in report.problems} <= allowed, report.problems


def _is_traceable(model: torch.nn.Module) -> bool:
    try:
        torch.fx.symbolic_trace(model)
    except Exception:
        return False
    return True


def model_of(path: str, text: str) -> torch.nn.Module:
    """Return the model ``Net`` of a text that is written at a path."""
    scope: dict[str, Any] = {"__name__": "model"}
    exec(compile(text, path, "exec"), scope)
    torch.manual_seed(0)
    model = scope["Net"]()
    assert isinstance(model, torch.nn.Module)
    return model


def _output(model: torch.nn.Module, arguments: tuple[Any, ...]) -> torch.Tensor:
    torch.manual_seed(1)
    output = model(*arguments)
    assert isinstance(output, torch.Tensor)
    return output
