"""One construct of a ``forward``, tried in several places of a model."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import pytest
import torch.fx

from fxlsp.report.report import Report

Text = str


@dataclass(frozen=True)
class Case:
    """Body of a ``forward(self, x)`` with ``⟦`` and ``⟧`` around expected problems."""

    body: str
    init: str = ""
    """Statements of ``__init__``."""
    top: str = ""
    """Statements before the classes."""
    inputs: str = "torch.ones(3, 4)"
    also: frozenset[str] = frozenset()
    """Codes of further problems, which other tests check."""
    is_complete: bool = True
    """Whether the rest of the model is traced to its end, with every output known."""
    is_traceable: bool | None = None
    """Whether torch.fx produces a graph; None where the codes of the problems determine it."""
    needs: Literal["columns", "parsers"] | None = None
    """A feature that old versions lack: columns of instructions, or argument parsers that accept proxies."""


def _lacking() -> Iterator[str]:
    """Yield what :attr:`Case.needs` may name and this Python or torch does not have."""
    if sys.version_info < (3, 11):
        yield "columns"
    try:
        torch.fx.symbolic_trace(lambda x: torch.zeros((x.shape[0], 3)))
    except TypeError:
        yield "parsers"


LACKING = frozenset(_lacking())


def skip_if_lacking(feature: str | None) -> None:
    """Skip the test if this Python or torch lacks a feature, as :attr:`Case.needs` names it."""
    if feature in LACKING:
        pytest.skip(f"this Python or torch lacks {feature}")


Followed = Callable[..., Report]
"""Trace a marked model and assert that its problems have the given codes, at its marks only."""
Stands = Callable[[Case, str], None]
"""Assert that a case in the root has one problem of a code at each mark, and that the rest is traced."""
StandElsewhere = Callable[[Mapping[str, Case], str, str], None]
"""Assert the same of many cases in one model, each in its own file and in one of the forms in ``ELSEWHERE``."""
Traces = Callable[[Case], None]
"""Assert that a case has no problem."""


def in_root(case: Case) -> Text:
    """Return a model with the case in the ``forward`` of the root."""
    return f"{_top(case)}\n{_class('Net', case.init, case.body)}"


def in_shared_child(case: Case) -> Text:
    """Return a model with the case in a nested submodule with two paths."""
    return "\n".join(
        (
            _top(case),
            _class("Block", case.init, case.body),
            _class("Outer", "self.block = Block()", "return self.block(x)"),
            _class(
                "Net",
                "self.outer = Outer()\nself.again = self.outer.block",
                "return self.outer(x), self.again(x)",
            ),
        )
    )


def in_function_over_lines(case: Case) -> Text:
    """Return a model with the case in a function, over several lines."""
    call = "return (\n    helper(\n        self,\n        x=x,\n    ),\n)"
    helper = f"def helper(self, x):\n{_indented(_over_lines(case.body), 1)}\n"
    return "\n".join((_top(case), helper, _class("Net", case.init, call)))


ELSEWHERE: Mapping[str, Callable[[Case], Text]] = {
    "in a shared child": in_shared_child,
    "in a function over lines": in_function_over_lines,
}


def _over_lines(body: str) -> str:
    """Insert a line break after each ``(`` inside marks, except in strings."""

    def over_lines(marked: re.Match[str]) -> str:
        return re.sub(r"'[^']*'|\(", lambda part: "(\n" if part[0] == "(" else part[0], marked[0])

    return re.sub(r"⟦[^⟧]*⟧", over_lines, textwrap.dedent(body))


def _top(case: Case) -> str:
    return textwrap.dedent(case.top) + "\n"


def _class(name: str, init: str, forward: str) -> str:
    parts = [f"class {name}(nn.Module):"]
    if init:
        statements = "super().__init__()\n" + textwrap.dedent(init)
        parts.append("    def __init__(self):\n" + _indented(statements, 2))
    parts.append("    def forward(self, x):\n" + _indented(textwrap.dedent(forward), 2))
    return "\n".join(parts) + "\n"


def _indented(text: str, levels: int) -> str:
    return textwrap.indent(text.strip("\n"), "    " * levels)
