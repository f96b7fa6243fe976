"""Texts of models in which ``⟦`` and ``⟧`` enclose the spans of problems."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from fxlsp.report.problems import Problem

_OPEN, _CLOSE = "⟦", "⟧"

Span = tuple[int, int, int, int]


@dataclass
class Marked:
    """Text without its marks, and the spans that they enclosed."""

    text: str
    spans: list[Span]


def unmarked(text: str) -> Marked:
    """Take ``⟦`` and ``⟧`` out of ``text``."""
    spans: list[Span] = []
    opened: list[tuple[int, int]] = []
    plain: list[str] = []
    line, column = 1, 1
    for character in textwrap.dedent(text):
        if character == _OPEN:
            opened.append((line, column))
        elif character == _CLOSE:
            spans.append((*opened.pop(), line, column))
        else:
            plain.append(character)
            line, column = (line + 1, 1) if character == "\n" else (line, column + 1)
    return Marked("".join(plain), sorted(spans))


def span_of(problem: Problem) -> Span:
    """Return the span of a problem."""
    place = problem.location
    assert place is not None, problem
    return (place.line, place.column, place.end_line, place.end_column)


def headlines(problems: list[Problem]) -> list[str]:
    """Return the first line of each message."""
    return [problem.message.partition("\n")[0] for problem in problems]


PREAMBLE = """\
import random
import time

import torch
import torch.nn.functional as F
from torch import nn

"""
