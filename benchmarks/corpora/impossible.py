"""Which classes of a file cannot run, whatever they are given: decided from the text alone, of what runs in any case.

What counts runs unconditionally: statements of ``forward``, of the constructor, and of what these call of the same
file, outside any branch, loop, ``try``, comprehension and function in it, and before the first of them that may return.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache
from typing import Any

import torch

_Definition = ast.ClassDef | ast.FunctionDef
_DEEPEST = 6
"""Calls in calls that are followed."""


def cannot_run(file: str, name: str) -> str | None:
    """Why a class cannot run whatever it is given; None if nothing says so."""
    source = _source(file)
    cls = source.definitions.get(name)
    return source.why_not(cls) if isinstance(cls, ast.ClassDef) else None


@lru_cache(maxsize=4)
def _source(file: str) -> _Source:
    with open(file, encoding="utf-8") as opened:
        return _Source(ast.parse(opened.read()))


class _Source:
    """The definitions of one file, the last of each name, as Python has it."""

    def __init__(self, tree: ast.Module) -> None:
        self.definitions: dict[str, _Definition] = {}
        self._tree = tree
        self._names: set[str] = set()
        self._aliases: set[str] = set()
        """Names of the file's own module: generated files stand for all the modules of a project."""
        self._constants: dict[str, Any] = {}
        """Names that are bound to numbers and strings."""
        self._imported: dict[str, str] = {}
        """Names that are bound to torchvision's modules."""
        self._empty: set[str] = set()
        """Names of configurations of the corpus, which it left empty: they raise whatever is read of them."""
        self._asked_for: ast.ClassDef | None = None
        """The class that is judged."""
        for statement in tree.body:
            self._note(statement)
        for node in ast.walk(tree):
            if isinstance(node, ast.Global):
                self._names.update(node.names)
                for name in node.names:
                    self.definitions.pop(name, None)
                    self._empty.discard(name)
                    self._constants.pop(name, None)
            elif isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                # What else it binds is not known.
                self._aliases.clear()
                self._imported.clear()
                self._empty.clear()
                self._constants.clear()
                self.definitions.clear()

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                self.definitions[name] = statement
                self._names.add(name)
                self._aliases.discard(name)
                self._imported.pop(name, None)
                self._empty.discard(name)
                self._constants.pop(name, None)
                return
            case ast.Assign(
                value=ast.Call(func=ast.Name(id="_mock_config"), args=[], keywords=[]) | ast.Dict(keys=[]),
                targets=targets,
            ):
                self._empty.update(target.id for target in targets if isinstance(target, ast.Name))
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                self._constants[name] = value
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                is_own = ast.unparse(value) == "sys.modules[__name__]"
                (self._aliases.add if is_own or _name(value) in self._aliases else self._aliases.discard)(name)
        for name in _bound_in(statement):
            self._names.add(name)
            self.definitions.pop(name, None)
            self._empty.discard(name)
            self._imported.pop(name, None)
            if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
                self._constants.pop(name, None)
            if not isinstance(statement, ast.Assign):
                self._aliases.discard(name)
        match statement:
            case ast.Import(names=[ast.alias(name=path, asname=str(name))]):
                self._imported[name] = path
            case ast.ImportFrom(module=str(package), names=[ast.alias(name=path, asname=str(name))], level=0):
                self._imported[name] = f"{package}.{path}"

    def why_not(self, cls: ast.ClassDef) -> str | None:
        """Why a class cannot run."""
        self._asked_for = cls
        if self._is_abstract(cls):
            return "it has an abstract method"
        for method in (self.method(cls, "__init__"), self.method(cls, "forward")):
            why = None if method is None else self.fails(method, cls, _DEEPEST)
            if why is not None:
                return why
        return self.lacks(cls)

    def _is_abstract(self, cls: ast.ClassDef) -> bool:
        """Whether a class, with the bases that are in this file, leaves a method abstract, and may not be made then."""
        chain, known = self._with_bases(cls)
        roots = {ast.unparse(base) for each in chain for base in each.bases if _name(base) not in self.definitions}
        metaclasses = {ast.unparse(each.value) for owner in chain for each in owner.keywords if each.arg == "metaclass"}
        if not known or not (roots | metaclasses) & _ABSTRACT or not roots <= _ABSTRACT | _MODULES:
            return False
        bound = {name for owner in chain for each in owner.body if not _is_abstract(each) for name in _bound_in(each)}
        return any(_is_abstract(each) and each.name not in bound for owner in chain for each in _methods(owner))

    def _with_bases(self, cls: ast.ClassDef) -> tuple[list[ast.ClassDef], bool]:
        """A class and all its bases of this file; whether none of them has a decorator."""
        found = [cls]
        for each in found:
            bases = [self.definitions.get(_name(base)) for base in each.bases]
            found += [base for base in bases if isinstance(base, ast.ClassDef) and base not in found]
        return found, not any(each.decorator_list for each in found)

    def method(self, cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
        """A method of a class, or of its first base; None where that is not in this file."""
        found = _own_method(cls, name)
        if found is not None:
            return found
        base = self.definitions.get(_name(cls.bases[0])) if cls.bases else None
        if len(cls.bases) > 1 and isinstance(base, ast.ClassDef):
            # What the other bases have comes before what the first one has from its bases.
            return _own_method(base, name)
        return self.method(base, name) if isinstance(base, ast.ClassDef) and base is not cls else None

    def fails(self, function: ast.FunctionDef, cls: ast.ClassDef | None, depth: int) -> str | None:
        """Why a function, or a method of ``cls``, fails in any case."""
        local = {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        local |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function)):
            # Called, it only makes a generator.
            return None
        for node in _certain(function.body):
            why = self._does_not(node, function, cls, local) or self._calls(node, cls, local, depth)
            if why is not None:
                return why
        return None

    def _does_not(
        self, node: ast.AST, function: ast.FunctionDef, cls: ast.ClassDef | None, local: set[str]
    ) -> str | None:
        """Why one thing that a function does in any case cannot be done, without a look at what it calls."""
        match node:
            case ast.Raise():
                return f"{function.name} raises in any case: {ast.unparse(node)}"
            case ast.Attribute(value=ast.Name(id=bound), attr=name) if bound not in local:
                return self._has_not(bound, name)
            case ast.Subscript(value=ast.Name(id=bound), slice=ast.Constant(value=str(key))) if (
                bound not in local and bound in self._empty and self._is_only_read(bound)
            ):
                return f"{bound} is empty, so {key} is not in it"
            case ast.Call(func=ast.Call(func=ast.Name(id=name))) if name not in local and self._is_autograd(name):
                return f"an instance of {name}, an autograd.Function, cannot be called"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="add_module"), args=[name, *_]):
                if isinstance(name, ast.Constant) and "." in str(name.value):
                    return f"torch.nn takes no module of the name {name.value!r}"
            case ast.Call(func=ast.Name(id=name)) if name not in local and self._is_itself(name, function, cls):
                return f"{name} calls itself in any case"
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__")) if cls:
                return self._base_fails(node, function, cls)
        return None

    def _is_only_read(self, bound: str) -> bool:
        """Whether nothing that the class may use, or that runs when the file is loaded, may add to a dict."""
        loaded = [each for each in self._tree.body if not isinstance(each, (*_DEFINITIONS, ast.Import, ast.ImportFrom))]
        for tree in (*self._reached(), *loaded):
            read = {id(name) for node in ast.walk(tree) for name in _keys_read_of(node)}
            named = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == bound]
            others = [node for node in named if id(node) not in read]
            if tree in loaded:
                # Where it is bound itself.
                others = [node for node in others if not isinstance(node.ctx, ast.Store)]
            if others:
                return False
        return True

    def _reached(self) -> list[ast.AST]:
        """What the class may use: itself, what is named in it, what is named there, and so on."""
        found: list[ast.AST] = [self._asked_for] if self._asked_for is not None else []
        names = {each.name for each in found if isinstance(each, ast.ClassDef)}
        for definition in found:
            inside = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(definition)}
            found += [self.definitions[name] for name in inside - names if name in self.definitions]
            names |= inside
        return found

    def _is_autograd(self, name: str) -> bool:
        cls = self.definitions.get(name)
        if not isinstance(cls, ast.ClassDef) or cls.decorator_list or _method_named(cls, "__call__"):
            return False
        return [ast.unparse(base) for base in cls.bases] in (["Function"], ["autograd.Function"], [_FUNCTION])

    def _has_not(self, bound: str, name: str) -> str | None:
        """Why what the file binds to ``bound`` has no attribute ``name``."""
        called = self.definitions.get(bound)
        if bound in self._imported and name not in self._assigned and _is_missing(self._imported[bound], name):
            return f"{bound} is {self._imported[bound]}, which has no {name}"
        if bound in self._aliases and name not in self._names and not name.startswith("__"):
            return f"nothing binds {name}, which it takes from a module of its project"
        if name in self._mentioned:
            return None
        if bound in self._empty and not hasattr(dict, name):
            return f"{bound} is a configuration that the corpus left empty, so {name} is not in it"
        if bound in self._constants and not hasattr(self._constants[bound], name):
            return f"{bound} is {self._constants[bound]!r}, which has no {name}"
        if isinstance(called, ast.FunctionDef) and not called.decorator_list and not hasattr(_a_function, name):
            return f"{bound} is a function, which has no {name}"
        return None

    def _calls(self, node: ast.AST, cls: ast.ClassDef | None, local: set[str], depth: int) -> str | None:
        """Why what is called in any case fails."""
        if depth == 0:
            return None
        match node:
            case ast.Call(func=ast.Name(id=name)) if name not in local:
                return self._call_fails(node, name, depth)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) if cls is not None:
                method = self.method(cls, name)
                if method is not None and not method.decorator_list and name not in self._assigned:
                    return self.fails(method, cls, depth - 1)
        return None

    def _is_itself(self, name: str, function: ast.FunctionDef, cls: ast.ClassDef | None) -> bool:
        called = self.definitions.get(name)
        is_constructor = cls is not None and called is cls and function.name == "__init__" and function in cls.body
        return called is function or is_constructor

    def _base_fails(self, call: ast.Call, function: ast.FunctionDef, cls: ast.ClassDef) -> str | None:
        """Why the constructor of the only base of ``cls`` does not take what its own constructor passes on."""
        base = self.definitions.get(_name(cls.bases[0])) if len(cls.bases) == 1 else None
        if function not in cls.body or function.name != "__init__" or not isinstance(base, ast.ClassDef):
            return None
        constructor = self.method(base, "__init__")
        if constructor is None or constructor.decorator_list or _takes(constructor, call, is_method=True):
            return None
        return f"it passes on to {base.name} of its file what that does not take"

    def lacks(self, cls: ast.ClassDef) -> str | None:
        """Which attribute its ``forward`` reads in any case although nothing in the file sets one of that name.

        Only of classes all of whose bases are known, and that neither look attributes up by code of their own nor set
        any by a name that is not written there.
        """
        forward = self.method(cls, "forward")
        if forward is None or not self._is_plain_module(cls):
            return None
        known = self._known_of(cls)
        for node in _certain(forward.body):
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()):
                    if not hasattr(torch.nn.Module(), name) and not known(name):
                        return f"nothing that runs sets {name}"
        return None

    def _known_of(self, cls: ast.ClassDef) -> Callable[[str], bool]:
        """Whether an instance that was just made may have an attribute of a name when it is called.

        Where nothing but its own methods ever has the instance, what those set counts that its constructor and
        ``forward`` call, directly or not. Where they hand it on, anything counts that is set in the file.
        """
        chain = list(self._chain(cls))
        reached, bodies = {"__init__", "forward"}, list[ast.AST]()
        while True:
            found = [
                each
                for owner in chain
                for each in owner.body
                if not isinstance(each, ast.FunctionDef) or each.name in reached or each.decorator_list
            ]
            if len(found) == len(bodies):
                break
            bodies = list(found)
            reached |= {node.attr for body in bodies for node in ast.walk(body) if isinstance(node, ast.Attribute)}
        if any(_hands_on(body) for body in bodies):
            return lambda name: name in self._mentioned or any(part in name for part in self._pieces)
        names = {each.name for owner in chain for each in owner.body if isinstance(each, _DEFINITIONS)}
        names |= {name for body in bodies for name in _set_in(body)} | self._set_on(chain)
        return names.__contains__

    def _chain(self, cls: ast.ClassDef) -> Iterator[ast.ClassDef]:
        """A plain module's class and its bases of the file."""
        yield cls
        base = self.definitions.get(_name(cls.bases[0]))
        if isinstance(base, ast.ClassDef):
            yield from self._chain(base)

    def _set_on(self, chain: list[ast.ClassDef]) -> set[str]:
        """Attributes that are set on the classes themselves."""
        owners = {each.name for each in chain}
        return {attribute for owner, attribute in self._stored if owner in owners}

    @cached_property
    def _stored(self) -> set[tuple[str, str]]:
        """Names, and attributes that are set on them anywhere in the file."""
        return {
            (_name(node.value), node.attr)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }

    def _is_plain_module(self, cls: ast.ClassDef) -> bool:
        if len(cls.bases) != 1 or cls.decorator_list or cls.keywords or _sets_by_name(cls):
            return False
        if ast.unparse(cls.bases[0]) in ("nn.Module", "torch.nn.Module", "Module"):
            return _name(cls.bases[0]) not in self.definitions
        base = self.definitions.get(_name(cls.bases[0]))
        return isinstance(base, ast.ClassDef) and base is not cls and self._is_plain_module(base)

    @cached_property
    def _assigned(self) -> set[str]:
        """Names of attributes that are assigned to anywhere in the file."""
        return {
            node.attr
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }

    @cached_property
    def _pieces(self) -> set[str]:
        """What stands in the strings of the file that are put together."""
        strings = [node for node in ast.walk(self._tree) if isinstance(node, (ast.JoinedStr, ast.BinOp))]
        return {
            node.value.strip()
            for string in strings
            for node in ast.walk(string)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.strip()) > 1
        }

    @cached_property
    def _mentioned(self) -> set[str]:
        """Names that anything in the file sets, defines or has as a string, alone or in a longer one."""
        found: set[str] = set()
        for node in ast.walk(self._tree):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                    found.add(name)
                case (
                    ast.FunctionDef(name=name)
                    | ast.ClassDef(name=name)
                    | ast.arg(arg=name)
                    | ast.keyword(arg=str(name))
                ):
                    found.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
                case ast.Constant(value=str(text)):
                    found.update(re.findall(r"\w+", text))
        return found

    def _call_fails(self, call: ast.Call, name: str, depth: int) -> str | None:
        called = self.definitions.get(name)
        if isinstance(called, ast.ClassDef):
            if called.keywords or any(_method_named(called, special) for special in ("__new__",)):
                return None
            function = self.method(called, "__init__")
        else:
            function = called
        if function is None or function.decorator_list:
            return None
        if not _takes(function, call, is_method=isinstance(called, ast.ClassDef)):
            return f"it calls {name} of its file, which does not take these arguments"
        return self.fails(function, called if isinstance(called, ast.ClassDef) else None, depth - 1)


_ABSTRACT = frozenset({"ABC", "abc.ABC", "ABCMeta", "abc.ABCMeta"})
_MODULES = frozenset({"nn.Module", "torch.nn.Module", "Module", "object"})
_FUNCTION = "torch.autograd.Function"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OF_ALL = frozenset(
    {"apply", "modules", "named_modules", "_apply", "__dict__", "register_forward_pre_hook", "_modules", "__class__"}
)
"""What hands a module on to its caller."""


def _hands_on(body: ast.AST) -> bool:
    """Whether a method hands its instance on, so that others may set attributes of it."""
    read = {id(node.value) for node in ast.walk(body) if isinstance(node, ast.Attribute)}
    for node in ast.walk(body):
        match node:
            case ast.Call(func=ast.Name(id="super"), args=args):
                read.update(id(arg) for arg in args)
    for node in ast.walk(body):
        match node:
            case ast.Name(id="self", ctx=ast.Load()) if id(node) not in read:
                return True
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in _OF_ALL:
                return True
    return False


def _set_in(body: ast.AST) -> Iterator[str]:
    """Names of attributes that may be set where ``body`` runs."""
    for node in ast.walk(body):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Constant(value=str(text)):
                yield from re.findall(r"\w+", text)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


@cache
def _is_missing(module: str, name: str) -> bool:
    """Whether a module of torchvision's lacks a name: the benchmark lets no other one be as it is installed."""
    if not module.startswith("torchvision."):
        return False
    try:
        return not hasattr(importlib.import_module(module), name)
    except ImportError:
        # It may be a function or class of a module.
        return False


def _a_function() -> None:
    """Has what every function has."""


def _keys_read_of(node: ast.AST) -> Iterator[ast.Name]:
    """``settings`` of ``settings["key"]`` and ``settings.key`` that are read; not of a method that may add keys."""
    match node:
        case ast.Subscript(value=ast.Name() as name, ctx=ast.Load()):
            yield name
        case ast.Attribute(value=ast.Name() as name, attr=attribute, ctx=ast.Load()):
            if attribute in ("get", "keys", "items", "values") or not hasattr(dict, attribute):
                yield name


def _methods(cls: ast.ClassDef) -> list[ast.FunctionDef]:
    return [each for each in cls.body if isinstance(each, ast.FunctionDef)]


def _is_abstract(statement: ast.stmt) -> bool:
    """Whether it is a method that subclasses have to define."""
    decorators = statement.decorator_list if isinstance(statement, ast.FunctionDef) else []
    return any(ast.unparse(each) in ("abstractmethod", "abc.abstractmethod") for each in decorators)


def _name(expression: ast.expr) -> str:
    return expression.id if isinstance(expression, ast.Name) else ""


def _own_method(cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    own = (each for each in cls.body if isinstance(each, ast.FunctionDef) and each.name == name)
    return next(own, None)


def _sets_by_name(cls: ast.ClassDef) -> bool:
    """Whether a class may have attributes whose names are not written in the file as such."""
    for node in ast.walk(cls):
        match node:
            case ast.FunctionDef(name="__getattr__" | "__getattribute__" | "__setattr__"):
                return True
            case ast.Name(id="setattr" | "vars") | ast.Attribute(attr="__dict__" | "__setattr__" | "__class__"):
                return True
            case ast.Call(func=ast.Attribute(attr="add_module" | "register_module" | "register_buffer")) if (
                not node.args or not isinstance(node.args[0], ast.Constant)
            ):
                return True
            case ast.Call(func=ast.Attribute(attr="register_parameter"), args=args) if not args or not isinstance(
                args[0], ast.Constant
            ):
                return True
    return False


def _method_named(cls: ast.ClassDef, name: str) -> bool:
    return any(isinstance(each, ast.FunctionDef) and each.name == name for each in cls.body)


def _bound_in(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in names)


def _certain(body: list[ast.stmt]) -> Iterator[ast.expr | ast.Raise]:
    """The expressions that are evaluated whenever ``body`` runs to its end, and what it raises in any case."""
    for statement in body:
        match statement:
            case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Assert() | ast.Return():
                parts = [getattr(statement, "value", None), getattr(statement, "test", None)]
                yield from (node for part in parts if part is not None for node in _evaluated(part))
                if isinstance(statement, ast.Return):
                    return
            case ast.Raise():
                yield statement
                return
            case ast.With(body=inner):
                yield from _certain(inner)
                if _may_leave(statement):
                    return
            case ast.If() | ast.For() | ast.While() | ast.Try() | ast.Match():
                for asked in ("test", "iter", "subject"):
                    if isinstance(part := getattr(statement, asked, None), ast.expr):
                        yield from _evaluated(part)
                if _may_leave(statement):
                    return


def _may_leave(statement: ast.stmt) -> bool:
    return any(isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) for node in ast.walk(statement))


def _evaluated(expression: ast.expr) -> Iterator[ast.expr]:
    """``expression`` and those in it that are evaluated in any case."""
    yield expression
    match expression:
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return
        case ast.IfExp(test=test):
            yield from _evaluated(test)
        case ast.BoolOp(values=[first, *_]):
            yield from _evaluated(first)
        case _:
            for child in ast.iter_child_nodes(expression):
                inner: Any = child.value if isinstance(child, (ast.keyword, ast.Starred)) else child
                if isinstance(inner, ast.expr):
                    yield from _evaluated(inner)


def _takes(function: ast.FunctionDef, call: ast.Call, is_method: bool) -> bool:
    """Whether a function can be called like that, as far as the call says."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(each.arg is None for each in call.keywords):
        return True
    try:
        _signature(function).bind(
            *[None] * (len(call.args) + is_method), **{each.arg: None for each in call.keywords if each.arg}
        )
    except TypeError:
        return False
    return True


def _signature(function: ast.FunctionDef) -> inspect.Signature:
    given = function.args
    by_position = [*given.posonlyargs, *given.args]
    required = len(by_position) - len(given.defaults)
    kind = inspect.Parameter
    found = [
        kind(
            each.arg,
            kind.POSITIONAL_ONLY if index < len(given.posonlyargs) else kind.POSITIONAL_OR_KEYWORD,
            default=kind.empty if index < required else None,
        )
        for index, each in enumerate(by_position)
    ]
    if given.vararg:
        found.append(kind(given.vararg.arg, kind.VAR_POSITIONAL))
    found += [
        kind(each.arg, kind.KEYWORD_ONLY, default=kind.empty if default is None else None)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        found.append(kind(given.kwarg.arg, kind.VAR_KEYWORD))
    return inspect.Signature(found)
