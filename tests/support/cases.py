"""One thing that a user writes in a ``forward``, in several places of a model."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from fxlsp.report.report import Report

Text = str


@dataclass(frozen=True)
class Case:
    """The body of a ``forward(self, x)``, with ``⟦`` and ``⟧`` around what problems stand at."""

    body: str
    init: str = ""
    """Statements of ``__init__``."""
    top: str = ""
    """Statements before the classes."""
    inputs: str = "torch.ones(3, 4)"
    also: frozenset[str] = frozenset()
    """Codes of further problems, which other tests look at."""
    is_complete: bool = True
    """Whether the rest of the model is followed to its end, with every output known."""
    is_traceable: bool | None = None
    """Whether torch.fx makes a graph; None for what the codes of the problems say."""
    needs: Literal["columns", "parsers"] | None = None
    """What an old version lacks: columns of instructions, or argument parsers that take proxies."""


Followed = Callable[..., Report]
"""Traces a marked model, whose problems have the given codes, and stand at its marks alone."""
Stands = Callable[[Case, str], None]
"""Asserts that a case in the root has one problem of a code at each mark, and that the rest is followed."""
StandElsewhere = Callable[[Mapping[str, Case], str, str], None]
"""Asserts the same of many cases that are part of one model, each in a file and in a spelling of ``ELSEWHERE``."""
Traces = Callable[[Case], None]
"""Asserts that a case has no problem at all."""


def in_root(case: Case) -> Text:
    """In the root's own ``forward``."""
    return f"{_top(case)}\n{_class('Net', case.init, case.body)}"


def in_shared_child(case: Case) -> Text:
    """In a child's child, which is called twice and under two names."""
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
    """In a function that an expression over several lines calls, and over several lines itself."""
    call = "return (\n    helper(\n        self,\n        x=x,\n    ),\n)"
    helper = f"def helper(self, x):\n{_indented(_over_lines(case.body), 1)}\n"
    return "\n".join((_top(case), helper, _class("Net", case.init, call)))


ELSEWHERE: Mapping[str, Callable[[Case], Text]] = {
    "in a shared child": in_shared_child,
    "in a function over lines": in_function_over_lines,
}


def _over_lines(body: str) -> str:
    """``body`` with a new line after each opening parenthesis inside its marks, but for those in strings."""

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
