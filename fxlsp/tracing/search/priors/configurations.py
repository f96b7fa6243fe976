"""Configurations that the user's code makes itself, for arguments of which it reads fields.

A class by its defaults, a function or method that returns one without arguments, or an object of the file. What the
author's code makes is what a model is meant to be built with, unlike anything that a search could invent.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import torch

from ...model.loading.lazy_module import WorkspaceModule, execution_behind
from ..trials.budget import OutOfBudgetError
from ..trials.values import Group, Guess, Text
from .class_body import is_torchs, tree_of
from .configuration_files import sections_with
from .constructor import NamePriors, first_init, takes_any_fields
from .field_reads import FieldReader, FieldReads, function_of, loaded_value
from .tables import CONFIGURATION

_MOST_TRIED = 3
"""Configurations that are tried for one argument."""
_MOST_NAMES = 40
"""Classes, functions and objects of a file that are looked at."""
_NAMED_LIKE_ONE = re.compile(
    r"(?i:.*(config|conf|cfg|hparams|hyper_?param\w*|settings|options|params|opts?|args|arguments|spec|dimensions"
    r"|preset)s?\d*)|.*(?i:config|cfg|hparams).*"
)
"""Names of configurations, of their classes, and of functions that return them."""
_ATTRIBUTES_OF_EACH = frozenset(dir(object))


def configurations(target: Any, module: ModuleType, names: NamePriors) -> dict[str, list[Guess]]:
    """Return for each argument that is a configuration those that the code makes, the best first."""
    function = function_of(target)
    if function is None:
        return {}
    found: dict[str, list[Guess]] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.name == "self":
            continue
        reads = FieldReads()
        FieldReader(module, reads).read(function, parameter.name, _owner(target), 0)
        is_read = reads.attributes_wanted or reads.keys_wanted
        is_named = CONFIGURATION.fullmatch(parameter.name) is not None or _NAMED_LIKE_ONE.fullmatch(parameter.name)
        if not (is_read or is_named) or parameter.default not in (parameter.empty, None) or _is_of_module(reads):
            continue
        guesses = _Available(target, module, names, reads).fitting(parameter)
        if guesses:
            found[parameter.name] = guesses
    return found


def _owner(target: Any) -> type | None:
    return target if isinstance(target, type) else None


def _is_of_module(reads: FieldReads) -> bool:
    """Return whether all that is read is what modules and tensors have: it is one of them."""
    known = _OF_MODULES | _ATTRIBUTES_OF_EACH
    return bool(reads.attributes_wanted) and reads.attributes_wanted <= known and not reads.keys_wanted


_OF_MODULES = frozenset(dir(torch.nn.Module)) | frozenset(dir(torch.Tensor)) | frozenset(dir(str))


def _bound_configurations(statement: ast.stmt, reads: FieldReads) -> Iterator[str]:
    """Yield the names that a statement of a file binds and that may be configurations, or make some."""
    match statement:
        case ast.ClassDef(name=name):
            if _may_have(statement, reads):
                yield name
        case ast.FunctionDef(name=name) if _NAMED_LIKE_ONE.fullmatch(name):
            yield name
        case ast.ImportFrom(module=source, names=aliases) if (source or "").partition(".")[0] != "torch":
            names = (alias.asname or alias.name for alias in aliases)
            yield from (name for name in names if _NAMED_LIKE_ONE.fullmatch(name))
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            if _NAMED_LIKE_ONE.fullmatch(name):
                yield name


def _may_have(statement: ast.ClassDef, reads: FieldReads) -> bool:
    """Return whether a class may have the fields that are read, by its text alone."""
    bases = [ast.unparse(base) for base in statement.bases]
    if any(_OF_OTHERS.search(base) for base in bases):
        return False
    if not all(base in ("object", "NamedTuple", "typing.NamedTuple") for base in bases):
        return _NAMED_LIKE_ONE.fullmatch(statement.name) is not None
    fields = {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)}
    fields |= {part.attr for part in ast.walk(statement) if isinstance(part, ast.Attribute)}
    fields |= {part.arg for part in ast.walk(statement) if isinstance(part, ast.arg)}
    fields |= {part.name for part in statement.body if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
    sets_others = "setattr" in fields or "__dict__" in fields
    return (sets_others or reads.attributes_wanted <= fields) and not reads.keys_wanted


_OF_OTHERS = re.compile(r"Module|Dataset|Function|Exception|Error|ABC|Protocol|Enum|TestCase|Optimizer|Callback")
"""Bases of classes that are no configurations."""


@dataclass(frozen=True)
class _Candidate:
    """A configuration that the code makes."""

    guess: Guess
    name: str
    attributes: set[str]
    keys: set[str]
    unset: set[str] = field(default_factory=set)
    """Those that are None."""


class _Available:
    """The configurations that a file can make for one argument."""

    def __init__(self, target: Any, module: ModuleType, names: NamePriors, reads: FieldReads) -> None:
        self._target = target
        self._module = module
        self._priors = names
        self._reads = reads
        self._candidates = list(self._all())

    def fitting(self, parameter: inspect.Parameter) -> list[Guess]:
        """Return the configurations that have what is read of an argument, the best first."""
        reads = self._reads
        annotated = _words(getattr(parameter.annotation, "__name__", str(parameter.annotation)))
        if not (reads.attributes_wanted or reads.keys_wanted):
            fits = [each for each in self._candidates if _is_named_for(each, parameter.name, annotated)]
        else:
            fits = [each for each in self._candidates if reads.is_met_by(each.attributes, each.keys)]
            fits = fits or list(_in_files(self._module, reads, _made_by(parameter.annotation, self._module)))
        wanted = reads.attributes_wanted | reads.keys_wanted
        own, named = _words(self._target.__name__), _words(parameter.name)

        def key(each: _Candidate) -> tuple[bool, int, int, int]:
            words = _words(each.name)
            return (
                each.name != getattr(parameter.annotation, "__name__", None),
                -len(words & (own | named)),
                len(each.unset & wanted),
                len((each.attributes | each.keys) - wanted),
            )

        ordered = sorted(fits, key=key)[:_MOST_TRIED]
        return [guess for each in ordered for guess in self._complete(each, reads)]

    def _complete(self, candidate: _Candidate, reads: FieldReads) -> Iterator[Guess]:
        """Yield a configuration as it is made; of an object also with those of its fields that must be set."""
        unset = candidate.unset & (reads.attributes_wanted | reads.keys_wanted)
        required = unset & reads.required
        yield self._filled(candidate, required) if required else candidate.guess
        if unset != required:
            yield self._filled(candidate, unset)

    def _filled(self, candidate: _Candidate, unset: set[str]) -> Guess:
        """Return a configuration of which fields that are None have values."""
        fields = tuple((name, self._priors.of(name)) for name in sorted(unset))
        if isinstance(candidate.guess, Group):
            return dataclasses.replace(candidate.guess, items=(*candidate.guess.items, *fields))
        update = "made.update(fields)" if unset <= candidate.keys else "vars(made).update(fields)"
        made = candidate.guess.text
        base = made if made.endswith("()") else f"__import__('copy').copy({made})"
        return Group("call", fields, f"(lambda **fields: [{update} or made for made in [{base}]][0])")

    def _all(self) -> Iterator[_Candidate]:
        for name in self._names():
            try:
                yield from self._named(name)
            except Exception:
                # Objects of the user's code that are looked at may raise whatever they are asked. Why goes to the log.
                traceback.print_exc()
        for cls in (self._target,) if isinstance(self._target, type) else ():
            yield from self._of_methods(cls, cls.__name__)

    def _named(self, name: str) -> list[_Candidate]:
        value = loaded_value(self._module, name)
        if isinstance(value, type):
            is_other = issubclass(value, (torch.nn.Module, BaseException)) or is_torchs(value)
            return [] if is_other else list(self._of_class(value, name))
        if isinstance(value, FunctionType):
            return list(self._of_call(value, name))
        is_other = value is None or isinstance(value, (ModuleType, torch.nn.Module, str, int, float))
        return [] if is_other else list(_of_object(value, name, Text(name)))

    def _names(self) -> Sequence[str]:
        if not isinstance(self._module, WorkspaceModule):
            return [name for name in dir(self._module) if _NAMED_LIKE_ONE.fullmatch(name)][:_MOST_NAMES]
        execution = execution_behind(self._module)
        bound = (name for each in execution.statements for name in _bound_configurations(each, self._reads))
        names = list(dict.fromkeys(bound))[:_MOST_NAMES]
        with suppress(Exception):
            # At once: what each needs is computed for all of the file. One that fails is asked for again by itself.
            execution.ask(names)
        return names

    def _of_class(self, cls: type, name: str) -> Iterator[_Candidate]:
        attributes = set(dir(cls)) | _set_by_methods(cls)
        try:
            attributes |= inspect.signature(cls).parameters.keys()
        except (TypeError, ValueError):
            return
        if dataclasses.is_dataclass(cls):
            attributes |= {each.name for each in dataclasses.fields(cls)}
        for base in inspect.getmro(cls):
            attributes.update(() if is_torchs(base) else inspect.get_annotations(base))
        made = first_init(cls, name, self._priors, self._module, 1)
        yield _Candidate(made, name, attributes, set(), _unset_fields(cls))
        yield from self._of_methods(cls, name)

    def _of_methods(self, cls: type, name: str) -> Iterator[_Candidate]:
        """Yield what static and class methods return that are named like a configuration."""
        for attr, method in vars(cls).items():
            if isinstance(method, (staticmethod, classmethod)) and _NAMED_LIKE_ONE.fullmatch(attr):
                yield from self._of_call(getattr(cls, attr), f"{name}.{attr}")

    def _of_call(self, function: Any, name: str) -> Iterator[_Candidate]:
        """Yield what a function returns without arguments."""
        try:
            kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            parameters = inspect.signature(function).parameters.values()
            if all(each.default is not each.empty or each.kind in kinds for each in parameters):
                yield from _of_object(function(), name, Text(f"{name}()"))
        except OutOfBudgetError:
            raise
        except BaseException:
            # Any function of the user's, of which nothing but the name says that it returns a configuration.
            return


def _made_by(annotation: Any, module: ModuleType) -> str:
    """Return the name of an annotated class of the file that takes whatever fields it is given; "" without one."""
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    cls = loaded_value(module, name) if name.isidentifier() else None
    return name if isinstance(cls, type) and takes_any_fields(cls) else ""


def _in_files(module: ModuleType, reads: FieldReads, made_by: str) -> Iterator[_Candidate]:
    """Yield the configurations in files beside the module."""
    for section in sections_with(reads, getattr(module, "__file__", None) or ""):
        unset = {key for key, value in section.fields.items() if value is None}
        keys = {key for key in section.fields if isinstance(key, str)}
        yield _Candidate(section.guess(reads, made_by), section.name, keys, keys, unset)


def _of_object(value: Any, name: str, guess: Guess) -> Iterator[_Candidate]:
    keys = {key for key in value if isinstance(key, str)} if isinstance(value, Mapping) else set()
    unset = {key for key in keys if value[key] is None}
    fields = dict(getattr(value, "__dict__", {}))
    unset |= {key for key, each in fields.items() if each is None}
    if keys or fields or dataclasses.is_dataclass(value) or isinstance(value, tuple):
        yield _Candidate(guess, name, set(dir(value)) | _readable(value, keys), keys, unset)


def _readable(value: Any, keys: set[str]) -> set[str]:
    """Return the keys that are attributes too, as those of many subclasses of dict are."""
    readable = set()
    for key in keys:
        try:
            getattr(value, key)
        except Exception:
            continue
        readable.add(key)
    return readable


def _set_by_methods(cls: type) -> set[str]:
    """Return the attributes that the methods of a class set."""
    found: set[str] = set()
    for base in inspect.getmro(cls):
        for method in vars(base).values() if not is_torchs(base) else ():
            if isinstance(method, FunctionType):
                found.update(
                    node.attr
                    for node in ast.walk(tree_of(method.__code__))
                    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
                )
    return found


def _unset_fields(cls: type) -> set[str]:
    """Return the fields whose defaults are None."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return set()
    return {each.name for each in parameters if each.default is None}


def _is_named_for(candidate: _Candidate, name: str, annotated: set[str]) -> bool:
    """Return whether a configuration of which no field is read goes by the argument's name or annotation."""
    words = _words(candidate.name)
    return bool(words & annotated) or (bool(words & _words(name)) and _NAMED_LIKE_ONE.fullmatch(name) is not None)


def _words(name: str) -> set[str]:
    """Return the words of a name in lower case: of ``GPTConfig`` and ``gpt_config``."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return {part.lower() for part in parts} - {"get", "default", "make", "the", "empty", "inspect", "parameter"}
