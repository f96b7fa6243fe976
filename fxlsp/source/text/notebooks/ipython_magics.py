"""What IPython understands in a cell beside Python: ``%magic``, ``!command``, ``?help`` and ``%%cell_magic``.

It is blanked, so that lines and columns of all that is Python stay. Code that a cell magic runs in the notebook's own
namespace is left; code for another place (``%%bash``, ``%%writefile``) is blanked with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_module

_CELL_MAGIC = re.compile(r"%%(\w+)")
_RUN_HERE = frozenset(
    {"capture", "debug", "heat", "ipytest", "prun", "pyinstrument", "scalene", "snakeviz", "time", "wandb"}
)
"""Cell magics after which the names that the cell binds are there. ``%%timeit`` is none: it makes a function of it."""

_ESCAPES = ("%", "!", "?", ",", ";", "/")
"""Beginnings of a line that IPython takes for itself; no statement of Python starts so."""
_HELP = re.compile(r"\s*%{0,2}[\w.*\[\]]+\?\??\s*$")
_TIMED = re.compile(r"(?P<indent>\s*)%time[ \t](?=[ \t]*[^\s-])")
_ASSIGNED = re.compile(r"(?P<targets>[^=#'\"()]*[^\s=!<>+\-*/%&|^@:#'\"()][ \t]*=[ \t]*)[!%](?![=\s])")
_AUTOMAGIC = re.compile(
    r"(?:cat|cd|conda|cp|ls|mamba|matplotlib|micromamba|mkdir|mv|pip|pwd|rm|run|uv)[ \t]+(?P<argument>\S.*)"
)

_UNKNOWN = '(lambda: (yield))().throw(RuntimeError("fxlsp does not run the commands of a notebook"))'
"""For the value of a command: whoever needs it is told why it is not there. Nothing stands behind it on its line."""

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
    """The text of a cell with spaces for all that is not Python, as many lines, and ``\\n`` after each."""
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
    """What is Python in a line with which a statement starts; the very line if all of it is."""
    timed = _TIMED.match(line)
    if timed is not None:
        statement = line[timed.end() :]
        if _python_of_line(statement) is statement:
            # As long as the magic, so that what it runs stays where it is.
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
    """``pip install torch``, which IPython runs where it is not Python."""
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
    """Follows brackets and strings over lines, to know where statements start."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._is_continued = False

    @property
    def is_at_statement(self) -> bool:
        return not (self._depth or self._quote or self._is_continued)

    def read(self, line: str) -> None:
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
