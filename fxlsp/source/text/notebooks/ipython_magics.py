"""Removal of IPython's ``%magic``, ``!command``, ``?help`` and ``%%cell_magic``.

It is replaced by spaces, so that lines and columns of the Python code do not change. Code that a cell magic runs in
the namespace of the notebook remains; other code (``%%bash``, ``%%writefile``) is replaced together with the magic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_module

_CELL_MAGIC = re.compile(r"%%(\w+)")
_RUN_HERE = frozenset(
    {"capture", "debug", "heat", "ipytest", "prun", "pyinstrument", "scalene", "snakeviz", "time", "wandb"}
)
"""Cell magics that run the cell in the namespace of the notebook. ``%%timeit`` runs it as a function instead."""

_ESCAPES = ("%", "!", "?", ",", ";", "/")
"""Prefixes of a line that IPython handles itself; no Python statement starts with one."""
_HELP = re.compile(r"\s*%{0,2}[\w.*\[\]]+\?\??\s*$")
_TIMED = re.compile(r"(?P<indent>\s*)%time[ \t](?=[ \t]*[^\s-])")
_ASSIGNED = re.compile(r"(?P<targets>[^=#'\"()]*[^\s=!<>+\-*/%&|^@:#'\"()][ \t]*=[ \t]*)[!%](?![=\s])")
_AUTOMAGIC = re.compile(
    r"(?:cat|cd|conda|cp|ls|mamba|matplotlib|micromamba|mkdir|mv|pip|pwd|rm|run|uv)[ \t]+(?P<argument>\S.*)"
)

_UNKNOWN = '(lambda: (yield))().throw(RuntimeError("fxlsp does not run the commands of a notebook"))'
"""The expression for the value of a command; evaluating it raises an error. Nothing follows it on its line."""

_TOKEN = re.compile(
    r"#.*"
    r'|(?P<triple>"""|\'\'\')'
    r'|"(?:\\.|[^"\\])*"?'
    r"|'(?:\\.|[^'\\])*'?"
    r"|(?P<opening>[(\[{])"
    r"|(?P<closing>[)\]}])"
    r"|(?P<continued>\\$)"
)
_TRIPLE_END = {quote: re.compile(rf"(?:\\.|(?!{quote})[^\\])*{quote}") for quote in ('"""', "'''")}


def python_of(cell: str) -> str:
    """Return a cell with spaces for IPython syntax, with the same number of lines.

    Lines are separated by ``\\n``, whatever they ended with.
    """
    lines = re.split(r"\r\n|\r|\n", cell)
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    while (magic := _CELL_MAGIC.match(lines[first])) is not None:
        lines[first] = _blank(lines[first])
        if magic[1] not in _RUN_HERE:
            return "\n".join(map(_blank, lines))
        first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    return "\n".join(_without_line_magics(lines))


def _without_line_magics(lines: list[str]) -> Iterator[str]:
    reader = _Reader()
    in_magic = False
    for line in lines:
        if in_magic:
            in_magic = _is_continued(line)
            yield _blank(line)
            continue
        python = _python_of_line(line) if reader.is_at_statement else line
        in_magic = python is not line and _is_continued(line)
        reader.read(python)
        yield python


def _python_of_line(line: str) -> str:
    """Return the Python part of the first line of a statement, or the same object."""
    timed = _TIMED.match(line)
    if timed is not None:
        statement = line[timed.end() :]
        if _python_of_line(statement) is statement:
            # As long as the magic, so that the columns of its statement do not change.
            return f"{timed['indent']}if 1: {statement}"
    assigned = _ASSIGNED.match(line)
    if assigned is not None:
        return assigned["targets"] + _UNKNOWN
    stripped = line.lstrip()
    if stripped.startswith(_ESCAPES) or _HELP.match(line) or _is_automagic(stripped):
        indent = line[: len(line) - len(stripped)]
        # A block needs a statement.
        return f"{indent}pass" if indent else _blank(line)
    return line


def _is_automagic(line: str) -> bool:
    """Return whether a line is a command without prefix: ``pip install torch``.

    IPython runs it where the line is not valid Python.
    """
    if _AUTOMAGIC.match(line) is None:
        return False
    try:
        parsed_module(line)
    except SYNTAX_ERRORS:
        return line.rstrip()[-1] not in ",(["
    return False


def _blank(line: str) -> str:
    return " " * len(line)


def _is_continued(line: str) -> bool:
    return line.endswith("\\")


class _Reader:
    """Tracker of brackets and strings across lines that finds where statements start."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._is_continued = False

    @property
    def is_at_statement(self) -> bool:
        """Whether the next line starts a statement."""
        return not (self._depth or self._quote or self._is_continued)

    def read(self, line: str) -> None:
        """Read the next line."""
        position = 0
        self._is_continued = False
        while position < len(line):
            pattern = _TRIPLE_END[self._quote] if self._quote else _TOKEN
            token = pattern.match(line, position) if self._quote else pattern.search(line, position)
            if token is None:
                return
            position = token.end()
            if self._quote:
                self._quote = ""
            else:
                self._enter(token)

    def _enter(self, token: re.Match[str]) -> None:
        self._quote = token["triple"] or ""
        self._is_continued = token["continued"] is not None
        if token["opening"] is not None:
            self._depth += 1
        elif token["closing"] is not None:
            self._depth = max(0, self._depth - 1)
