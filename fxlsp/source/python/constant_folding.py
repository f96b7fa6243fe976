"""Constant folding with literals: ``{"width": 64}["width"]`` is ``64``."""

from __future__ import annotations

import ast

from fxlsp.source.python.expressions import copied

NAMESPACE = "__import__('argparse').Namespace"
"""Constructor of the result of ``parse_args``, without an imported name."""


def namespace(values: dict[str, ast.expr]) -> ast.expr:
    """Return an expression for an ``argparse.Namespace`` with these attributes."""
    made = ast.parse(f"{NAMESPACE}()", mode="eval").body
    assert isinstance(made, ast.Call)
    made.keywords = [ast.keyword(name, value) for name, value in values.items()]
    return made


def folded(expression: ast.expr) -> ast.expr:
    """Return the expression with items and attributes of literals evaluated."""
    result: ast.expr = _Folding().visit(copied(expression))
    return result


def lacks_options(expression: ast.expr) -> bool:
    """Return whether it reads an option that a :func:`namespace` does not have."""
    return any(isinstance(node, ast.Attribute) and _is_namespace(node.value) for node in ast.walk(expression))


class _Folding(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not _is_namespace(node.value):
            return node
        assert isinstance(node.value, ast.Call)
        return next((each.value for each in node.value.keywords if each.arg == node.attr), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.test, ast.Constant):
            return node
        return node.body if node.test.value else node.orelse

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.slice, ast.Constant):
            return node
        key, value = node.slice.value, node.value
        if isinstance(key, str):
            return _items(value).get(key, node)
        whole = isinstance(value, (ast.List, ast.Tuple)) and not any(isinstance(e, ast.Starred) for e in value.elts)
        if isinstance(key, int) and whole and isinstance(value, (ast.List, ast.Tuple)) and key < len(value.elts):
            return value.elts[key]
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "vars" and len(node.args) == 1:
            made = node.args[0]
            if _is_namespace(made) and isinstance(made, ast.Call):
                return _dictionary(made.keywords)
        node.args = [part for each in node.args for part in _spread(each)]
        node.keywords = [part for each in node.keywords for part in _spread_keywords(each)]
        return node


def _is_namespace(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Call) and ast.unparse(expression.func) == NAMESPACE


def _dictionary(keywords: list[ast.keyword]) -> ast.Dict:
    return ast.Dict([ast.Constant(each.arg) for each in keywords], [each.value for each in keywords])


def _items(expression: ast.expr) -> dict[str, ast.expr]:
    """Return the items of a dictionary whose keys are all literal strings; else none."""
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and expression.func.id == "dict":
        if expression.args or any(each.arg is None for each in expression.keywords):
            return {}
        return {str(each.arg): each.value for each in expression.keywords}
    if not isinstance(expression, ast.Dict):
        return {}
    items = {
        key.value: value
        for key, value in zip(expression.keys, expression.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }
    return items if len(items) == len(expression.keys) else {}


def _spread(argument: ast.expr) -> list[ast.expr]:
    if isinstance(argument, ast.Starred) and isinstance(argument.value, (ast.List, ast.Tuple)):
        return argument.value.elts
    return [argument]


def _spread_keywords(keyword: ast.keyword) -> list[ast.keyword]:
    items = _items(keyword.value) if keyword.arg is None else {}
    if not items or not all(name.isidentifier() for name in items):
        return [keyword]
    return [ast.keyword(name, value) for name, value in items.items()]
