"""Counts, flags and lists among the arguments of a class, read off its syntax before anything is run."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any

from .truths import only_tested


@dataclass
class ClassBody:
    """Names of arguments, and of attributes and keys of configurations, by how the methods use them."""

    counts: set[str] = field(default_factory=set)
    """What is counted up to."""
    flags: set[str] = field(default_factory=set)
    """What is compared with True and False, or is only a condition."""
    steps: dict[str, int] = field(default_factory=dict)
    """Of what a fixed number of layers is taken before it is divided into blocks: the depth with two in each part."""


def body_of(target: Any) -> ClassBody:
    """Read the methods of a class and of its bases, or a factory itself."""
    found = ClassBody()
    classes = inspect.getmro(target) if isinstance(target, type) else ()
    members = [member for cls in classes if not is_torchs(cls) for member in vars(cls).values()]
    trees = [_tree(function) for function in (members if classes else [target])]
    found.flags |= only_tested(trees)
    for tree in trees:
        for node in ast.walk(tree):
            _note(node, found)
        for node in ast.walk(tree):
            _note_loop(node, found)
    return found


def looped_over(function: Any) -> set[str]:
    """Return what a function loops over, asks the length of or indexes by a loop's number: lists, most likely."""
    found: set[str] = set()
    for node in ast.walk(_tree(function)):
        match node:
            case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
                found.update(each.id for each in looped(iterated))
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                found.add(name)
            case ast.Assign(targets=[ast.Subscript(ast.Name(name), ast.Name()) as item], value=value):
                # As many as the model has branches, each replaced by what one makes of it.
                if any(_is_same(item, part) for part in ast.walk(value)):
                    found.add(name)
    return found


def _is_same(item: ast.Subscript, other: ast.AST) -> bool:
    return isinstance(other, ast.Subscript) and ast.unparse(item) == ast.unparse(other)


def looped(iterated: ast.expr) -> Iterator[ast.Name]:
    """Yield the names whose items a loop takes, one by one or side by side."""
    match iterated:
        case ast.Name():
            yield iterated
        case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed"), args=args):
            for arg in args:
                yield from looped(arg)


def is_torchs(cls: type) -> bool:
    """Return whether a class is torch's or Python's, and not the user's."""
    return cls.__module__.partition(".")[0] in ("torch", "builtins", "typing", "abc")


def _tree(function: Any) -> ast.AST:
    """Parse one function: whole files can take a second."""
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return ast.Module([], []) if code is None else tree_of(code)


@lru_cache(maxsize=32)
def tree_of(code: CodeType) -> ast.Module:
    """Parse the function of which this is the code; an empty module if its text does not parse.

    Remembered, since many tries end in the same function.
    """
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        return ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
    except (SyntaxError, tokenize.TokenError):
        return ast.Module([], [])


def _note(node: ast.AST, found: ClassBody) -> None:
    match node:
        case ast.Call(func=ast.Name(id="range"), args=args):
            found.counts.update(name for arg in args[-1:] for name in _name(arg))
        case ast.BinOp(
            left=ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(fixed))),
            op=ast.Mod() | ast.Div() | ast.FloorDiv(),
            right=ast.Constant(value=int(each)),
        ):
            found.steps.update(dict.fromkeys(_name(left), fixed + 2 * each))
        case ast.Compare(left=left, comparators=[ast.Constant(value=bool())]):
            found.flags.update(_name(left))


def _note_loop(node: ast.AST, found: ClassBody) -> None:
    """Note that the elements of ``depths`` are counts where each is counted up to."""
    if isinstance(node, (ast.For, ast.comprehension)):
        over = node.iter
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "enumerate" and over.args:
            over = over.args[0]
        targets = {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
        if targets & found.counts:
            found.counts.update(_name(over))


def _name(expression: ast.expr) -> Iterator[str]:
    """``depth`` for ``depth``, ``self.depth``, ``config["depth"]`` and ``depths[0]``."""
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Subscript(slice=ast.Constant(value=str() as name)):
            yield name
        case ast.Subscript(value=value):
            yield from _name(value)
