"""Inlining of local names, for expressions valid at the top level of a module."""

from __future__ import annotations

import ast
import builtins
import contextlib
from typing import NamedTuple

from fxlsp.source.python.argparse_options import parses_arguments
from fxlsp.source.python.argument_flow import argument_for
from fxlsp.source.python.bindings import Binding, BindingKind
from fxlsp.source.python.constant_folding import folded, lacks_options, namespace
from fxlsp.source.python.expressions import (
    changed_object,
    configured_object,
    copied,
    first_of_chain,
    free_names,
    makes_tensor,
    parse_expression,
    plain,
    substituted,
)
from fxlsp.source.python.scopes import Scope, ScopeKind, Scopes
from fxlsp.source.python.self_attributes import attribute_name

_MOST_STEPS = 12
"""The longest chain of names that are assigned names; a longer one is a cycle."""


class ScopedExpression(NamedTuple):
    """Expression with the scope and byte at which its names are resolved."""

    expression: ast.expr
    scope: Scope
    byte: int


class _Unknown(Exception):  # noqa: N818
    """The value of a name cannot be determined from the text."""


def at_module_level(use: ScopedExpression, scopes: Scopes) -> ast.expr | None:
    """Rewrite an expression with names of the module, builtins and ``torch`` only.

    None where it depends on a value that is known only when the code runs.
    """
    try:
        return _resolved(use, scopes, _MOST_STEPS)
    except _Unknown:
        return None


def unknown_name(use: ScopedExpression, scopes: Scopes) -> str | None:
    """Return the name for whose value :func:`at_module_level` has no expression; "" where it is none of one name.

    None where there is an expression.
    """
    try:
        _resolved(use, scopes, _MOST_STEPS)
    except _Unknown as error:
        return str(error)
    return None


def _resolved(use: ScopedExpression, scopes: Scopes, steps: int) -> ast.expr:
    expression = plain(use.expression)
    if parses_arguments(expression):
        return _parsed_arguments(scopes, steps)
    if steps:
        expression = _OfSelf(use.scope, scopes, steps - 1).visit(expression)
    values: dict[str, ast.expr] = {}
    for name in free_names(expression):
        value = _resolved_name(name, use, scopes, steps)
        if value is not None:
            values[name] = value
    result = substituted(expression, values)
    if result is None:
        raise _Unknown
    result = folded(result) if values else result
    if lacks_options(result):
        raise _Unknown
    return result


def _resolved_name(name: str, use: ScopedExpression, scopes: Scopes, steps: int) -> ast.expr | None:
    """Return the value of a name as an expression; None for one that the module knows.

    Of a tensor, changes that keep its shape are left out where the text does not say what they write.

    Raises:
        _Unknown: the value cannot be determined.
    """
    try:
        value = _local_value(name, use, scopes)
        if value is None:
            return None
        if not steps:
            raise _Unknown(name)
        return _resolved(_configured(name, use, scopes, steps - 1) or value, scopes, steps - 1)
    except _Unknown:
        owner = _owner(name, use)
        binding = None if owner is None or not steps else owner.binding_of_shape(name, use.byte)
        before = None if owner is None or binding is None else value_of(binding, owner, scopes)
        made = None if before is None else _resolved(before, scopes, steps - 1)
        if made is None or not makes_tensor(made):
            raise
        return made


class _OfSelf(ast.NodeTransformer):
    """Transformer that replaces ``self.width`` by its assigned expression."""

    def __init__(self, scope: Scope, scopes: Scopes, steps: int) -> None:
        self._scope = scope
        self._scopes = scopes
        self._steps = steps

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        use = _attribute_use(node, self._scope, self._scopes)
        if use is not None:
            return _resolved(use, self._scopes, self._steps)
        self.generic_visit(node)
        return node


def _attribute_use(expression: ast.expr, scope: Scope, scopes: Scopes) -> ScopedExpression | None:
    name = attribute_name(expression)
    found = None if name is None else scopes.attribute(name, scope)
    if found is None or found.value is None:
        return None
    return ScopedExpression(found.value, scopes.at(found.byte), found.byte)


def _parsed_arguments(scopes: Scopes, steps: int) -> ast.expr:
    """Return the result of ``parser.parse_args()`` without any arguments."""
    values: dict[str, ast.expr] = {}
    for option in scopes.options.values() if steps else ():
        if option.value is not None:
            use = ScopedExpression(option.value, scopes.at(option.byte), option.byte)
            with contextlib.suppress(_Unknown):
                values[option.name] = _resolved(use, scopes, steps - 1)
    return namespace(values)


def uses_locals(use: ScopedExpression) -> bool:
    """Return whether an expression reads names of functions or classes."""
    owners = (_owner(name, use) for name in free_names(plain(use.expression)))
    return any(owner is not None and owner.kind is not ScopeKind.MODULE for owner in owners)


def _local_value(name: str, use: ScopedExpression, scopes: Scopes) -> ScopedExpression | None:
    """Return the value of a name of a function or loop; None for one of the module.

    Raises:
        _Unknown: the value cannot be determined.
    """
    owner = _owner(name, use)
    if owner is None:
        if name == "torch" or hasattr(builtins, name) or scopes.imports_everything:
            return None
        raise _Unknown(name)
    binding = owner.binding(name, use.byte)
    confined = binding is not None and binding.kind is BindingKind.EXPRESSION_LOCAL
    is_final = not _is_rebound(name, binding, use, owner) and not scopes.needs_loop(name, use.byte)
    if owner.kind is ScopeKind.MODULE and not confined and is_final:
        value = None if binding is None else value_of(binding, owner, scopes)
        # Evaluated in a worker it would parse the arguments of that process.
        return value if value is not None and parses_arguments(value.expression) else None
    if binding is not None and binding.kind is BindingKind.IMPORTED:
        return None
    value = None if binding is None else value_of(binding, owner, scopes)
    if binding is None or value is None:
        raise _Unknown(name)
    if owner.sets_attribute(binding, use.byte) and not _holds_options(value, scopes):
        raise _Unknown(name)
    return value


def _configured(name: str, use: ScopedExpression, scopes: Scopes, steps: int) -> ScopedExpression | None:
    """Return the value of a name that a method was called on, if it is known with what.

    Calls as arguments may read what is not there, or take long, as those that train.
    """
    owner = _owner(name, use)
    binding = None if owner is None else owner.binding(name, use.byte)
    if owner is None or binding is None:
        return None
    for each in owner.configured(binding, use.byte):
        call = parse_expression(each.value or "")
        if isinstance(call, ast.Call) and _has_known_arguments(
            ScopedExpression(call, owner, each.start), scopes, steps
        ):
            made = configured_object(name, call)
            return None if made is None else ScopedExpression(made, owner, each.start)
    return None


def _has_known_arguments(use: ScopedExpression, scopes: Scopes, steps: int) -> bool:
    assert isinstance(use.expression, ast.Call)
    arguments = [*use.expression.args, *(each.value for each in use.expression.keywords)]
    try:
        known = _resolved(use._replace(expression=ast.Tuple(arguments, ast.Load())), scopes, steps)
    except _Unknown:
        return False
    return bool(arguments) and not any(isinstance(part, ast.Call) for part in ast.walk(known))


def _is_rebound(name: str, binding: Binding | None, use: ScopedExpression, owner: Scope) -> bool:
    """Return whether a name used at the top level is bound to another value later."""
    is_value = binding is None or binding.kind is not BindingKind.IMPORTED
    return is_value and use.scope.runs_in_order and owner.rebinds(name, use.byte)


def _holds_options(value: ScopedExpression, scopes: Scopes) -> bool:
    """Return whether a value is the parsed options, to which scripts add attributes."""
    start = chain_of(value, scopes).start
    return parses_arguments(start)


def is_local(name: str, use: ScopedExpression) -> bool:
    """Return whether a name is a local variable of a function."""
    owner = _owner(name, use)
    return owner is not None and owner.kind is ScopeKind.FUNCTION and _binds_a_value(owner, name)


def _binds_a_value(scope: Scope, name: str) -> bool:
    return any(each.kind is not BindingKind.IMPORTED for each in scope.bindings.get(name, []))


def _owner(name: str, use: ScopedExpression) -> Scope | None:
    """Return the scope that binds a name, if any.

    Names of a class are visible only to the code directly in its body.
    """
    scope: Scope | None = use.scope
    while scope is not None:
        if (scope.kind is not ScopeKind.CLASS or scope is use.scope) and scope.binds(name, use.byte):
            return scope
        scope = scope.parent
    return None


def value_of(binding: Binding, scope: Scope, scopes: Scopes) -> ScopedExpression | None:
    """Return the expression of a binding, if it has one.

    For a parameter it is the argument of a call, else the default.
    """
    if binding.parameter:
        return _parameter_value(binding, scope, scopes)
    if binding.change is not None:
        change = binding.change
        changed = changed_object(binding.name, change.target, change.operator, change.value)
        # The name in it stands for the object before the change.
        return None if changed is None else ScopedExpression(changed, scope, binding.start)
    expression = None if binding.value is None else parse_expression(binding.value)
    return None if expression is None else ScopedExpression(expression, scope, binding.start)


def _parameter_value(binding: Binding, scope: Scope, scopes: Scopes) -> ScopedExpression | None:
    expression = None if binding.value is None else parse_expression(binding.value)
    if isinstance(expression, ast.Constant) and expression.value is not None and scope.parent is not None:
        return ScopedExpression(expression, scope.parent, scope.definition.start_byte)
    passed = argument_for(binding.name, scope, scopes)
    if passed is not None:
        return ScopedExpression(passed.expression, scopes.at(passed.byte), passed.byte)
    if expression is None or scope.parent is None:
        return None
    return ScopedExpression(expression, scope.parent, scope.definition.start_byte)


class Chain(NamedTuple):
    """Origin of a module: the call that creates it, and the expressions from there."""

    start: ast.expr
    """A call, or a name that the file does not assign."""
    uses: tuple[ScopedExpression, ...]
    """From the given expression to the one with the call; each but the last starts with a name or attribute whose
    value is the next."""

    def from_instance(self, names: frozenset[str]) -> Chain | None:
        """Return the part of the chain from one of these module-level names on."""
        for index, use in enumerate(self.uses):
            start = first_of_chain(plain(use.expression))
            if isinstance(start, ast.Name) and start.id in names:
                owner = _owner(start.id, use)
                if owner is not None and owner.kind is ScopeKind.MODULE:
                    return Chain(start, self.uses[: index + 1])
        return None

    def at_module_level(self, scopes: Scopes) -> ast.expr | None:
        """Return an expression that creates the module at the top level of the file.

        None where there is none, see the function :func:`at_module_level`.
        """
        result = at_module_level(self.uses[-1], scopes)
        for use in reversed(self.uses[:-1]):
            expression = plain(use.expression)
            first = first_of_chain(expression)
            if result is not None:
                result = _with_first(expression, first, result)
        return result


def _with_first(expression: ast.expr, first: ast.expr, made: ast.expr) -> ast.expr | None:
    """Return a chain of method calls with its first part replaced."""
    if expression is first:
        return made
    if isinstance(first, ast.Name):
        return substituted(expression, {first.id: made})
    whole = copied(expression)
    node = whole
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if ast.dump(node.func.value) == ast.dump(first):
            node.func.value = copied(made)
            return whole
        node = node.func.value
    return None


def chain_of(use: ScopedExpression, scopes: Scopes) -> Chain:
    """Follow a module through its names, and methods that return it, to its creation."""
    uses: list[ScopedExpression] = []
    while True:
        uses.append(use)
        start = first_of_chain(plain(use.expression))
        attribute = _attribute_use(start, use.scope, scopes)
        if attribute is not None and len(uses) <= _MOST_STEPS:
            use = attribute
            continue
        owner = _owner(start.id, use) if isinstance(start, ast.Name) else None
        if not isinstance(start, ast.Name) or owner is None or len(uses) > _MOST_STEPS:
            return Chain(start, tuple(uses))
        binding = owner.binding(start.id, use.byte)
        value = None if binding is None else value_of(binding, owner, scopes)
        if value is None:
            return Chain(start, tuple(uses))
        use = value
