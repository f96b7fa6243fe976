"""Whatever else a constructor argument may be: by the message that names it, and by the failing line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ..evidence import Evidence, held_values, words_at
from ..priors.constructor import array_of, called_class, called_module, likely_words
from ..priors.tables import IDENTITY, LAYER_NAMES, VOCABULARY
from ..trials.duck import DuckUse, DuckValue, class_name
from ..trials.values import (
    Edit,
    Group,
    Guess,
    Open,
    Path,
    Size,
    Tensor,
    Text,
    is_item,
    leaves,
    name_of,
    number_of,
    numbers,
    part_at,
    sizes_of,
    with_number,
)
from .registry import rule, says

_MOST_KEYS, _MOST_WORDS = 12, 6
"""Keys of a dict, and strings, that are tried."""
_LAYER_BY_NAME = re.compile(r"getattr\((torch\.)?nn\b")
_NESTED = re.compile(r"too many dimensions|could not determine the shape")
"""Words of errors where an unknown was read as a list of lists, and so on, although a number was meant."""
_MODULES = Group("dict", tuple((f"'{key}'", Text(IDENTITY)) for key in ("first", "second")))
"""What a ModuleDict is made of."""
_USUAL_NUMBERS = (1, 2, 3, 4, 8, 16, 64, 256, 512)


def _named(evidence: Evidence) -> list[Path]:
    """Return the paths of the duck values that the message names by their classes."""
    found = re.findall(class_name(()) + r"\w+", evidence.text)
    if _NESTED.search(evidence.text):
        # It was read as a list of lists, and so on: the outermost is meant.
        found = [re.sub(r"(__0_)+$", "", name) for name in found]
    named = [path for path in evidence.uses if class_name(path) in found]
    key = next(iter(evidence.error.args), None) if isinstance(evidence.error, KeyError) else None
    return [key.fxlsp_use.path, *named] if isinstance(key, DuckValue) else named


@rule("unknown that the message names", "guess")
def _by_message(evidence: Evidence) -> Iterator[Edit]:
    """Make an unknown what the message says that it should have been."""
    for path in _named(evidence):
        use = evidence.uses[path]
        for guess in (*_of_torch(use, evidence.text), *_of_python(use, evidence)):
            yield {path: guess}
            if is_item(path[-1]):
                beside = [other for other in evidence.uses if other[:-1] == path[:-1] and is_item(other[-1])]
                yield dict.fromkeys(beside, guess)
        yield from _others(evidence, path)


def _of_torch(use: DuckUse, text: str) -> Iterator[Guess]:
    """Yield modules, tensors and arrays that the text asks for."""
    size = use.open.size
    if "ModuleDict" in text:
        yield _MODULES
    if "Module" in text or "child" in text:
        yield Text(called_module(use.open.name))
    if _NESTED.search(text):
        yield Size(size)
        yield Text("0.5")
        yield Tensor((VOCABULARY, size))
    if "ndarray" in text:
        yield array_of((VOCABULARY, size))
    if "nn.Parameter" in text:
        yield Text(f"torch.nn.Parameter(torch.randn({VOCABULARY}, {size}))")
    if "Tensor" in text or "parameter" in text or "has no item" in text:
        yield Tensor((size,))
        yield Tensor((size, size))


def _of_python(use: DuckUse, evidence: Evidence) -> Iterator[Guess]:
    """Yield lists, strings and the like that the text asks for."""
    name, size, text = use.open.name, use.open.size, evidence.text
    if "attribute name" in text and _LAYER_BY_NAME.search(evidence.line):
        yield from map(Text, LAYER_NAMES)
    if "list" in text:
        yield sizes_of(3, size)
        yield Group("list", ())
    if "tuple" in text or "size" in text:
        yield from (sizes_of(count, size, "tuple") for count in (2, 3))
    if "str" in text or "KeyError" in text or "attribute name" in text or text.isdigit():
        yield from (Text(word) for word in (*map(repr, _words_used(use, evidence)), *likely_words(name), "''"))
    if "class" in text or "issubclass" in text:
        yield Text(called_class(name))
    if "dict" in text or "mapping" in text:
        yield Group("dict", ())
    if "None" in text:
        yield Text("None")


@rule("dict of modules", "guess", says("ModuleDict"))
def _module_dicts(evidence: Evidence) -> Iterator[Edit]:
    """Make a dict of modules of what the failing lines name."""
    for path in _suspects(evidence):
        # Of a list of them it is the list that is wrong.
        yield {path[:-1] if is_item(path[-1]) else path: _MODULES}


@rule("backbone with layers by name", "guess", says("return_layers"))
def _with_children(evidence: Evidence) -> Iterator[Edit]:
    """Make a backbone of the layers that torchvision's ``IntermediateLayerGetter`` wants."""
    held = (frame.f_locals["return_layers"] for frame, _ in evidence.frames if "return_layers" in frame.f_locals)
    wanted = next(held, None)
    if not isinstance(wanted, dict) or not wanted:
        return
    layers = ", ".join(f"{str(name)!r}: {IDENTITY}" for name in wanted)
    backbone = Text(f"torch.nn.Sequential(__import__('collections').OrderedDict({{{layers}}}))")
    for path, part in leaves(evidence.trial):
        use = evidence.uses.get(path)
        if path[0] == "init" and (part == Text(IDENTITY) or (use is not None and use.lists_modules)):
            yield {path: backbone}


@rule("argument that the failing lines name", "guess")
def _by_line(evidence: Evidence) -> Iterator[Edit]:
    """Make an argument that the failing lines name any other number, string, list, module or class."""
    named = _named(evidence)
    others = [_others(evidence, path) for path in _suspects(evidence) if path not in named]
    for edits in zip_longest(*others):
        # The first of each, then the second of each, and so on.
        yield from (edit for edit in edits if edit is not None)


def _suspects(evidence: Evidence) -> list[Path]:
    """Return parts that the failing lines name, those whose number the message has first.

    Of ``config.width`` it is the width that is wrong, rather than the configuration.
    """
    written = {int(number) for number in re.findall(r"\d+", evidence.text)}
    every = (*(path for path, _ in leaves(evidence.trial)), *evidence.uses)
    known = {path: name_of(path) for path in every if path[0] == "init" and len(path) > 1}
    found: list[Path] = []
    for frame, line in evidence.frames[:3]:
        held = {id(value.fxlsp_use) for value in held_values(frame) if isinstance(value, DuckValue)}
        words = words_at([(frame, line)])
        on_it = [path for path, name in known.items() if name in words and path not in found]
        found += sorted(on_it, key=lambda path: (_number_at(evidence, path) not in written, -len(path)))
        uses = evidence.uses.items()
        found += [path for path, use in uses if id(use) in held and path not in found and path[0] == "init"]
    return found


def _part(evidence: Evidence, path: Path) -> Guess | None:
    return evidence.uses[path].open if path in evidence.uses else part_at(evidence.trial, path)


def _number_at(evidence: Evidence, path: Path) -> int | None:
    part = _part(evidence, path)
    return number_of(part) if isinstance(part, (Open, Size)) else None


def _others(evidence: Evidence, path: Path) -> Iterator[Edit]:
    """Yield everything else that the part at ``path`` may be."""
    part, use, name = _part(evidence, path), evidence.uses.get(path), name_of(path)
    if isinstance(part, Text):
        part = Open(name, 2)
        yield {path: part}
    if not isinstance(part, (Open, Size)):
        return
    seen = {number_of(part)}
    for number in _numbers_near(evidence, use):
        if number not in seen:
            seen.add(number)
            yield {path: with_number(part, number)}
    if use is not None:
        words = tuple(map(repr, _words_used(use, evidence)[:_MOST_WORDS]))
        yield from ({path: Text(word)} for word in words or likely_words(name)[:2])
    for number in (*(number_of(other) for _, other in numbers(evidence.trial)), *_USUAL_NUMBERS):
        if number not in seen:
            seen.add(number)
            yield {path: with_number(part, number)}
    if use is not None and not use.attributes:
        yield from ({path: Text(text)} for text in ("None", "0.5", called_module(name), called_class(name)))
        yield {path: sizes_of(3, number_of(part))}
        yield {path: sizes_of(2, number_of(part), "tuple")}
        yield {path: sizes_of(4, number_of(part))}
        yield {path: Group("dict", ())}


def _numbers_near(evidence: Evidence, use: DuckUse | None) -> Sequence[int]:
    """Return numbers that it was compared with, keys of dicts where it failed, and numbers on the failing line."""
    compared = [each for each in use.compared if isinstance(each, int)] if use is not None else []
    held = evidence.frame.f_locals.values() if evidence.frame is not None else ()
    keys = [key for value in held if isinstance(value, dict) for key in value if type(key) is int][:_MOST_KEYS]
    return *compared, *keys, *(int(number) for number in re.findall(r"(?<![\w.])\d{1,4}(?![\w.])", evidence.line))


def _words_used(use: DuckUse, evidence: Evidence) -> list[str]:
    """Return strings that it was compared with, and those of the code and the dicts where it failed."""
    found = [each for each in use.compared if isinstance(each, str)]
    frame = evidence.frame
    if frame is not None:
        for value in (*frame.f_locals.values(), *(frame.f_globals.get(name) for name in frame.f_code.co_names)):
            if isinstance(value, dict) and value is not frame.f_globals and len(value) < 64:
                found += [key for key in value if isinstance(key, str) and not key.startswith("__")]
        for constant in frame.f_code.co_consts:
            if isinstance(constant, (tuple, frozenset)):
                # A set of strings has another order in each process.
                found += sorted(each for each in constant if isinstance(each, str))
    return list(dict.fromkeys(found))[:_MOST_KEYS]
