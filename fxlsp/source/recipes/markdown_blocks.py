"""Python code blocks in Markdown: a readme shows how models are called.

Each fenced block is a separate program. It is read as a text in which all other lines are blank, so that its line
numbers are those of the file. The name of a block is the path of its file and the number of its first line:
``/project/README.md#12``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from fxlsp.source.text.documents import Document, read_document
from fxlsp.source.text.uris import uri_of_path

SUFFIX = ".md"

_FENCE = re.compile(r" {0,3}(?P<fence>```+|~~~+)[ \t]*(?P<language>[\w+.-]*)")
_LANGUAGES = ("python", "py", "python3")
_MOST_BLOCKS = 200


def code_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line, from 1, and the text of each Python block of Markdown."""
    lines = text.split("\n")
    number, found = 0, 0
    while number < len(lines) and found < _MOST_BLOCKS:
        opening = _FENCE.match(lines[number])
        number += 1
        if opening is None:
            continue
        start = number
        while number < len(lines) and not lines[number].strip().startswith(opening["fence"]):
            number += 1
        if opening["language"].lower() in _LANGUAGES:
            found += 1
            yield start + 1, "\n" * start + "\n".join(lines[start:number])
        number += 1


def block_name(path: str, line: int) -> str:
    """Return the name of the block of a file that starts on a line, from 1."""
    return f"{path}#{line}"


def is_block(name: str) -> bool:
    """Return whether a name is that of a block, not the path of a file."""
    return f"{SUFFIX}#" in os.path.basename(name)


def file_of(name: str) -> str:
    """Return the path of the file of a block; any other path unchanged."""
    return name.rpartition("#")[0] if is_block(name) else name


def read_source(name: str) -> Document:
    """Read a Python file or a block from disk.

    Raises:
        OSError: the file cannot be read, or has no such block.
        UnicodeDecodeError, SyntaxError: it is not text in the encoding that it declares.
    """
    if not is_block(name):
        return read_document(name)
    path, _, line = name.rpartition("#")
    with open(path, encoding="utf-8") as file:
        blocks = dict(code_blocks(file.read()))
    if int(line) not in blocks:
        raise FileNotFoundError(name)
    return Document(uri_of_path(path), path, None, blocks[int(line)])
