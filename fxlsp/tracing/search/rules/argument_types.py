"""What a constructor argument has to be: a class, a module, a list, a configuration with more attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import torch

from ..evidence import Evidence, unpacked_names
from ..priors.constructor import called_module
from ..priors.tables import IDENTITY, VOCABULARY
from ..synthesis import FIRST, FIRST_BY_NAME, RETURNS_FIRST, building_blocks
from ..trials.values import (
    INIT,
    INPUTS,
    RESULT,
    Edit,
    Group,
    Guess,
    Open,
    Path,
    Returning,
    Size,
    Tensor,
    Text,
    Trial,
    groups,
    leaves,
    name_of,
)
from .registry import rule, says

_MOST_BLOCKS = 4
"""Building blocks that are tried."""
_BLOCK = "type('Block', (torch.nn.Identity,), {"
_OF_TENSORS = frozenset(dir(torch.Tensor))
_LAYERS = (
    ("torch.nn.Linear(32, 32)", {"weight", "bias", "in_features", "out_features"}),
    ("torch.nn.Conv2d(32, 32, 3, padding=1)", {"in_channels", "out_channels", "kernel_size", "stride", "dilation"}),
)
"""Layers, and attributes by which they are recognised."""
_LACKING = re.compile(r"'(?:types\.)?(\w+)' object has no attribute '(\w+)'")
_MODULE_ATTRIBUTE = re.compile(r"'(?:Identity|Block)' object has no attribute '(\w+)'")
_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)")
_LITERAL = re.compile(r"'(float|bool)' object (?:is not callable|has no attribute '(\w+)')")


def init_groups(trial: Trial) -> list[tuple[Path, Group]]:
    """Return the containers among the constructor's arguments, its call too."""
    return [(path, group) for path, group in groups(trial) if path[0] == "init"]


def _init_leaves(trial: Trial) -> list[tuple[Path, Guess]]:
    return [(path, part) for path, part in leaves(trial) if path[0] == "init"]


@rule("class as it was used", "kind", lambda evidence: any(use.calls for use in evidence.uses.values()))
def _own_classes(evidence: Evidence) -> Iterator[Edit]:
    """Replace what was called by a class: sizes that an unknown one passes on say nothing of the real one's."""
    settled = evidence.settle()
    yield {INIT: settled.init, INPUTS: settled.inputs}
    yield {INIT: settled.init, INPUTS: None}


@rule("module of any arguments", "kind", says(r"Identity\.forward\(\)"))
def _any_arguments(evidence: Evidence) -> Iterator[Edit]:
    """Make modules that are called with more than one argument return the first."""
    edit: dict[Path, Guess | None] = {}
    for path, part in leaves(evidence.trial):
        if part == Text(IDENTITY):
            edit[path] = Text(RETURNS_FIRST)
        elif isinstance(part, Text) and part.code.startswith(_BLOCK) and "'forward'" not in part.code:
            edit[path] = Text(f"{_BLOCK}'forward': {FIRST}, {part.code.removeprefix(_BLOCK)}")
    for path, group in init_groups(evidence.trial):
        if group.kind == "module" and "forward" not in dict(group.items):
            edit[(*path, "forward")] = Text(FIRST)
    yield edit


@rule("module of named arguments", "kind", says(r"missing 1 required positional argument: 'first'"))
def _arguments_by_name(evidence: Evidence) -> Iterator[Edit]:
    """Make modules that return the first of their arguments take it by any name."""
    edit: dict[Path, Guess | None] = {}
    for path, part in leaves(evidence.trial):
        if isinstance(part, Returning):
            edit[path] = replace(part, by_name=True)
        elif isinstance(part, Text) and FIRST in part.code:
            edit[path] = Text(part.code.replace(FIRST, FIRST_BY_NAME))
    yield edit


@rule("other building block", "call")
def _other_blocks(evidence: Evidence) -> Iterator[Edit]:
    """Replace a building block of the file by another one: first those named like the model."""
    init, module = evidence.trial.init, evidence.facts.module
    name = init.name if isinstance(init, Group) else ""
    blocks = sorted(building_blocks(module), key=lambda block: -_common_letters(block, name))
    for path, part in leaves(evidence.trial):
        if isinstance(part, Text) and part.code in blocks:
            expands = hasattr(getattr(module, part.code), "expansion")
            others = (block for block in blocks if not expands or hasattr(getattr(module, block), "expansion"))
            yield from ({path: Text(block)} for block in islice(others, _MOST_BLOCKS))


def _common_letters(one: str, other: str) -> int:
    """Return how many letters two names begin with alike."""
    return next((index for index, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), 0)


@rule("attribute of a configuration", "guess", says(_LACKING.pattern))
def _attribute(evidence: Evidence) -> Iterator[Edit]:
    """Add an attribute that a configuration lacks."""
    match = _LACKING.search(evidence.text)
    if match is not None and match.group(1) == "SimpleNamespace":
        yield from _extended(evidence, "namespace", match.group(2))
    elif match is not None:
        yield from _extended(evidence, "record", match.group(2), match.group(1))


@rule("key of a configuration", "guess", lambda evidence: isinstance(evidence.error, KeyError))
def _key(evidence: Evidence) -> Iterator[Edit]:
    """Add a key that a configuration, a dict or the arguments lack."""
    key = next(iter(evidence.error.args), None)
    if isinstance(key, str):
        yield from _extended(evidence, "record", key)
        yield from _extended(evidence, "dict", repr(key))
        yield from _extended(evidence, "call", key)


def _extended(evidence: Evidence, kind: str, key: str, name: str | None = None) -> Iterator[Edit]:
    """Add a part to each group of a kind; with ``name`` to those of that class alone."""
    for path, group in init_groups(evidence.trial):
        if group.kind == kind and key not in dict(group.items) and name in (None, group.name):
            yield {(*path, key): evidence.facts.names.of(key.strip("'"))}


@rule("attribute of a module", "guess", says(_MODULE_ATTRIBUTE.pattern))
def _module_attribute(evidence: Evidence) -> Iterator[Edit]:
    """Add an attribute that a module lacks, or replace it by a layer that has it."""
    match = _MODULE_ATTRIBUTE.search(evidence.text)
    if match is None:
        return
    name = match.group(1)
    identities = [path for path, part in leaves(evidence.trial) if part == Text(IDENTITY)]
    layer = next((text for text, known in _LAYERS if name in known), None)
    if layer is not None:
        yield from ({path: Text(layer)} for path in identities)
    yield from _extended(evidence, "module", name)
    yield from ({path: Group("module", ((name, evidence.facts.names.of(name)),))} for path in identities)


@rule("argument that is missing", "guess", says(_MISSING.pattern))
def _missing_argument(evidence: Evidence) -> Iterator[Edit]:
    """Add an argument that a call lacks, also to what is handed on as ``**arguments``."""
    match, names = _MISSING.search(evidence.text), evidence.facts.names
    keys = re.findall(r"'(\w+)'", match.group(1)) if match is not None else []
    if not keys:
        return
    yield from _extended(evidence, "call", keys[0])
    items = tuple((repr(key), names.of(key)) for key in keys)
    for path, use in evidence.uses.items():
        if use.mapping and not use.calls and path[0] == "init":
            known = tuple((repr(key), part) for key, part in use.entries.items())
            yield {path: Group("dict", known + items)}
    for path, group in init_groups(evidence.trial):
        if group.kind == "dict":
            yield {path: replace(group, items=group.items + items)}


@rule("function for a class", "guess", says("Identity"))
def _results(evidence: Evidence) -> Iterator[Edit]:
    """Make what is called a function that returns whatever its name says, rather than a class."""
    for path, use in reversed(list(evidence.uses.items())):
        if use.calls and path[0] == "init" and RESULT not in dict(use.open.known):
            yield {(*path, RESULT): evidence.facts.names.of(re.sub(r"^get_|^_", "", use.open.name))}


@rule("module for a rate or flag", "guess", says(_LITERAL.pattern))
def _for_literals(evidence: Evidence) -> Iterator[Edit]:
    """Replace what was taken for a rate or a flag by its name by a module or a tensor."""
    match = _LITERAL.search(evidence.text)
    if match is None:
        return
    kind, attribute = match.groups()
    literals = ("True", "False") if kind == "bool" else ("0.1", "0.5", "1e-05")
    for path, part in _init_leaves(evidence.trial):
        if not isinstance(part, Text) or part.code not in literals:
            continue
        if attribute is None:
            yield {path: Text(called_module(name_of(path)))}
        elif attribute in _OF_TENSORS:
            yield from ({path: Tensor(shape)} for shape in ((VOCABULARY,), (VOCABULARY, VOCABULARY)))
            yield {path: Text("torch.nn.Linear(32, 32)")}
        else:
            yield {path: Open(name_of(path), 2)}


@rule("modules for numbers", "guess", says("int is not a Module subclass"))
def _modules_for_numbers(evidence: Evidence) -> Iterator[Edit]:
    """Put modules into lists that were taken for lists of numbers."""
    for path, group in init_groups(evidence.trial):
        if group.kind in ("list", "tuple") and group.items and isinstance(group.items[0][1], Size):
            items = tuple((key, Text(called_module(name_of(path)))) for key, _ in group.items)
            yield {path: replace(group, items=items)}


@rule("numbers for lists", "guess", says(r"'list'|not list|type list|can only concatenate list"))
def _numbers_for_lists(evidence: Evidence) -> Iterator[Edit]:
    """Make numbers of lists: torch reads some numbers as lists if they can be that, as it does when it indexes."""
    for path, group in init_groups(evidence.trial):
        first = group.items[0][1] if group.kind == "list" and group.items else None
        if isinstance(first, Size):
            yield {path: first}


@rule("length that is unpacked", "guess", lambda evidence: unpacked_names(evidence.text) is not None)
def _unpacked_length(evidence: Evidence) -> Iterator[Edit]:
    """Give lists that the failing line names, and tensors, as many items or dimensions as it unpacks."""
    wanted = unpacked_names(evidence.text) or 0
    for path, group in init_groups(evidence.trial):
        if group.kind in ("list", "tuple") and group.items and name_of(path) in evidence.words:
            first = group.items[0][1]
            items = tuple((f"[{index}]", dict(group.items).get(f"[{index}]", first)) for index in range(wanted))
            yield {path: replace(group, items=items)}
    for path, part in _init_leaves(evidence.trial):
        if isinstance(part, Tensor) and len(part.shape) != wanted:
            yield {path: replace(part, shape=(part.shape[:1] or (VOCABULARY,)) * wanted)}
