"""Identity of a problem that survives edits elsewhere: its file, code, class and statement."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Container
from dataclasses import dataclass
from hashlib import blake2b

from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem
from fxlsp.source.python.comments import comments_by_line
from fxlsp.source.python.python_tree import PythonTree, python_tree
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, order=True)
class Fingerprint:
    """What names a problem, whatever line it is on."""

    file: str
    """Path relative to the folder of the run, with slashes; "" for a problem without a place."""
    code: str
    scope: str
    """Qualified name of the class around the place (``Net``), "" outside of classes; without a place the model's."""
    statement: str
    """Text of the statement at the place, with single spaces; of a compound statement what is before its body."""

    @property
    def digest(self) -> str:
        """Text of 32 digits that stands for the problem in files of other programs."""
        text = "\0".join((self.file, self.code, self.scope, self.statement))
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def fingerprint_of(problem: Problem, document: Callable[[str], Document | None], folder: str) -> Fingerprint:
    """Return the fingerprint of a problem.

    Args:
        problem: the problem, with a location in the program, not in a cell of a notebook.
        document: returns the text of a file, None if it cannot be read.
        folder: absolute path of the folder that paths are relative to.
    """
    place = problem.location
    if place is None:
        return Fingerprint("", problem.code, problem.model, "")
    text = document(place.file)
    tree = None if text is None else python_tree(text)
    scope, statement = ("", "") if text is None else ("", text.lines.line_text(place.line))
    if tree is not None:
        scope, statement = _around(tree, place) or (scope, statement)
    return Fingerprint(relative_path(place.file, folder), problem.code, scope, " ".join(statement.split()))


def relative_path(path: str, folder: str) -> str:
    """Return a path relative to a folder, with slashes on every system; an absolute one if the folder is elsewhere.

    Example:
        >>> relative_path("/project/models/net.py", "/project")
        'models/net.py'
    """
    try:
        relative = os.path.relpath(path, folder)
    except ValueError:
        # On Windows, a path of another drive.
        relative = path
    return relative.replace(os.sep, "/")


def _around(tree: PythonTree, place: Location) -> tuple[str, str] | None:
    """Return the qualified name of the class around a place, and the text of its statement."""
    statement = tree.node_at(Span.of(place), ast.stmt)
    if statement is None:
        return None
    scopes = [each.name for each in tree.ancestors(statement) if isinstance(each, ast.ClassDef)]
    return ".".join(reversed(scopes)), _head(tree, statement)


def _head(tree: PythonTree, statement: ast.stmt) -> str:
    """Return the text of a statement up to its body, without comments."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    start, end = tree.start(statement), tree.start(body[0]) if body else tree.end(statement)
    comments = tree.document.derive(comments_by_line)
    lines = tree.document.text[start:end].splitlines()
    texts = {comment.text for number in range(len(lines)) if (comment := comments.get(statement.lineno + number))}
    return "\n".join(_without_comment(line, texts) for line in lines)


def _without_comment(line: str, comments: Container[str]) -> str:
    start = line.find("#")
    while start >= 0:
        if line[start:].rstrip() in comments:
            return line[:start]
        start = line.find("#", start + 1)
    return line
