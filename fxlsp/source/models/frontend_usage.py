"""Detection of torch.export and torch.compile in what a text imports, names and calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from fxlsp.report.frontends import OtherFrontend
from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_module

DottedName = tuple[str, ...]

_USES: tuple[tuple[DottedName, OtherFrontend], ...] = (
    (("torch", "compile"), "compile"),
    (("torch", "_dynamo"), "compile"),
    (("torch", "export"), "export"),
    (("torch", "onnx", "dynamo_export"), "export"),
)
"""Names that use a front end, with all names in them. What torch.compiler has is none: libraries ask it."""
_ONNX_EXPORT = ("torch", "onnx", "export")
_HINTS = (b"compile", b"export", b"_dynamo")


def may_use_frontends(data: bytes) -> bool:
    """Return whether a file may use torch.export or torch.compile, from its bytes.

    :func:`frontend_uses` parses the file.
    """
    return b"torch" in data and any(hint in data for hint in _HINTS)


def frontend_uses(text: str, onnx_by_export: bool) -> frozenset[OtherFrontend]:
    """Return the other front ends of torch that a text uses; none if it does not parse.

    Names in strings and comments do not count. A method that compiles its model is not recognised (``net.compile()``):
    other objects have methods of that name.

    Args:
        onnx_by_export: whether ``torch.onnx.export`` uses torch.export where its argument ``dynamo`` is left out.
    """
    try:
        nodes = list(ast.walk(parsed_module(text)))
    except SYNTAX_ERRORS:
        return frozenset()
    # The cell of a notebook that imports torch may not be there.
    names: dict[str, DottedName] = {"torch": ("torch",)}
    for node in nodes:
        names.update(_imported(node))
    return frozenset(use for node in nodes for use in _uses(node, names, onnx_by_export))


def _imported(node: ast.AST) -> Iterator[tuple[str, DottedName]]:
    """Yield the names that a statement binds to torch and parts of it, each with what it is."""
    match node:
        case ast.Import():
            for alias in node.names:
                path = tuple(alias.name.split("."))
                if path[0] == "torch":
                    yield (alias.asname, path) if alias.asname else ("torch", ("torch",))
        case ast.ImportFrom(module=str(module), level=0) if module.partition(".")[0] == "torch":
            for alias in node.names:
                yield alias.asname or alias.name, (*module.split("."), alias.name)


def _uses(node: ast.AST, names: Mapping[str, DottedName], onnx_by_export: bool) -> Iterator[OtherFrontend]:
    """Yield the front ends that a node by itself uses."""
    for path in _named(node, names):
        yield from (frontend for start, frontend in _USES if path[: len(start)] == start)
    match node:
        case ast.Call() if _dotted(node.func, names) == _ONNX_EXPORT:
            dynamo = next((each.value for each in node.keywords if each.arg == "dynamo"), None)
            if onnx_by_export if dynamo is None else _may_be_true(dynamo):
                yield "export"
        case ast.keyword(arg="torch_compile") if _may_be_true(node.value):
            # The argument of Hugging Face's trainers.
            yield "compile"


def _named(node: ast.AST, names: Mapping[str, DottedName]) -> Iterator[DottedName]:
    match node:
        case ast.Import():
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        case ast.ImportFrom():
            yield from (path for _, path in _imported(node))
        case ast.Attribute():
            yield _dotted(node, names)


def _dotted(node: ast.expr, names: Mapping[str, DottedName]) -> DottedName:
    """Return the whole name of a part of torch; empty for anything else."""
    match node:
        case ast.Name():
            return names.get(node.id, ())
        case ast.Attribute():
            owner = _dotted(node.value, names)
            return (*owner, node.attr) if owner else ()
    return ()


def _may_be_true(value: ast.expr) -> bool:
    return not isinstance(value, ast.Constant) or bool(value.value)
