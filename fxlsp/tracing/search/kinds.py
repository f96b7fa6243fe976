"""Corrections of what kind a constructor argument is: by the error, by what its chameleon was used as, by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

import torch

from ..failures import text_of
from ..frames import Places
from .attempts import Outcome
from .chameleon import Chameleon, Use, class_name
from .failing_lines import Line, failing_text, held_values, own_frames, words_at
from .guesses import RESULT, Group, Guess, Open, Path, Returning, Size, Tensor, Text, Trial, changed, leaves, part_at
from .names import (
    FIRST,
    FIRST_BY_NAME,
    IDENTITY,
    LAYER_NAMES,
    RETURNS_FIRST,
    VOCABULARY,
    Names,
    array_of,
    called_class,
    called_module,
    likely_words,
    name_of,
    sizes_of,
)
from .sizes import number_of, numbers, with_number

_MOST_KEYS = 12
"""Keys of a dict that are tried."""


_OF_TENSORS = frozenset(dir(torch.Tensor))
_LAYER_BY_NAME = re.compile(r"getattr\((torch\.)?nn\b")
_MODULE = re.compile(r"module|layer|block|net|model|conv|norm|act|encoder|decoder|sample")
"""In names of what is called with tensors."""
_BLOCK = "type('Block', (torch.nn.Identity,), {"
_NESTED = re.compile(r"too many dimensions|could not determine the shape")
"""What is said where an unknown was read as a list of lists, and so on, although a number was meant."""
_MODULES = Group("dict", tuple((f"'{key}'", Text(IDENTITY)) for key in ("first", "second")))
"""What is made a ModuleDict of."""


_LAYERS = (
    ("torch.nn.Linear(32, 32)", {"weight", "bias", "in_features", "out_features"}),
    ("torch.nn.Conv2d(32, 32, 3, padding=1)", {"in_channels", "out_channels", "kernel_size", "stride", "dilation"}),
)
"""Layers, and attributes by which they are recognised."""


def read(trial: Trial, outcome: Outcome, names: Names, places: Places) -> Iterator[Trial]:
    """Trials that the error suggests for what the model is made with."""
    error = outcome.error
    if error is None:
        return
    text = text_of(error)
    yield from _missing(trial, error, text, names, outcome.uses)
    if "Identity" in text:
        yield from _with_results(trial, outcome.uses, names)
    match = re.search(r"'(float|bool)' object (?:is not callable|has no attribute '(\w+)')", text)
    if match is not None:
        yield from _for_literals(trial, *match.groups())
    yield from _lists_and_numbers(trial, text, own_frames(error.__traceback__, places)[:1])
    told = re.findall(class_name(()) + r"\w+", text)
    if _NESTED.search(text):
        # It was read as a list of lists, and so on: the outermost is meant.
        told = [re.sub(r"(__0_)+$", "", name) for name in told]
    named = [path for path in outcome.uses if class_name(path) in told]
    if isinstance(error, KeyError) and isinstance(error.args[0] if error.args else None, Chameleon):
        named.insert(0, error.args[0].fxlsp_use.path)
    frames = own_frames(error.__traceback__, places)
    for path in named:
        yield from _by_words(trial, path, outcome.uses, text, frames)
    if "ModuleDict" in text and frames:
        # It may have failed on what was read of it, which is not named then.
        for path in _suspects(frames, outcome.uses, trial, text):
            # Of a list of them it is the list that is wrong.
            yield changed(trial, path[:-1] if re.fullmatch(r"\[\d+\]", path[-1]) else path, _MODULES)
    if "return_layers" in text:
        yield from _with_children(trial, outcome, frames)
    suspects = _suspects(frames, outcome.uses, trial, text) if frames else []
    others = [_others(trial, path, outcome.uses.get(path), frames) for path in suspects if path not in named]
    yield from _in_turn(others)


def with_options(trial: Trial, error: BaseException, optional: Mapping[str, Guess], places: Places) -> Iterator[Trial]:
    """Trials that pass an argument that defaults to None: first those that the failing line names."""
    if not isinstance(trial.made, Group):
        return
    words = words_at(own_frames(error.__traceback__, places)[:2])
    passed = dict(trial.made.items)
    if "not callable" in text_of(error):
        modules = (name for name in optional.keys() - passed.keys() if isinstance(optional[name], Open))
        for name in sorted(modules, key=lambda name: (not _MODULE.search(name), list(optional).index(name))):
            yield changed(trial, ("made", name), Text(called_module(name)))
    for name in sorted(
        optional.keys() - passed.keys(), key=lambda name: (name not in words, list(optional).index(name))
    ):
        yield changed(trial, ("made", name), optional[name])


def _missing(trial: Trial, error: BaseException, text: str, names: Names, uses: Mapping[Path, Use]) -> Iterator[Trial]:
    """Attributes, keys and arguments that are asked for and not there yet."""
    match = re.search(r"'(?:types\.)?SimpleNamespace' object has no attribute '(\w+)'", text)
    if match is not None:
        yield from _extended(trial, "namespace", match.group(1), names)
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        yield from _extended(trial, "record", error.args[0], names)
        yield from _extended(trial, "dict", repr(error.args[0]), names)
        yield from _extended(trial, "call", error.args[0], names)
    match = re.search(r"'(?:Identity|Block)' object has no attribute '(\w+)'", text)
    if match is not None:
        yield from _with_layers(trial, match.group(1))
        yield from _extended(trial, "module", match.group(1), names)
        for path, part in leaves(trial):
            if part == Text(IDENTITY):
                yield changed(trial, path, Group("module", ((match.group(1), names.of(match.group(1))),)))
    match = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", text)
    if match is not None:
        wanted = re.findall(r"'(\w+)'", match.group(1))
        yield from _extended(trial, "call", wanted[0], names)
        yield from _with_keys(trial, uses, wanted, names)
    match = re.search(r"unexpected keyword argument '(\w+)'", text)
    if match is not None and isinstance(trial.made, Group):
        yield replace(trial, made=trial.made.without(match.group(1)))


def _with_layers(trial: Trial, attribute: str) -> Iterator[Trial]:
    """A layer of torch's that has the attribute, in the place of a module without any."""
    layer = next((text for text, known in _LAYERS if attribute in known), None)
    for path, part in leaves(trial):
        if part == Text(IDENTITY) and layer is not None:
            yield changed(trial, path, Text(layer))


def _with_children(trial: Trial, outcome: Outcome, frames: list[Line]) -> Iterator[Trial]:
    """A backbone with the layers by name that torchvision's ``IntermediateLayerGetter`` is to return the results of."""
    wanted = next((frame.f_locals["return_layers"] for frame, _ in frames if "return_layers" in frame.f_locals), None)
    if not isinstance(wanted, dict) or not wanted:
        return
    layers = ", ".join(f"{str(name)!r}: {IDENTITY}" for name in wanted)
    backbone = Text(f"torch.nn.Sequential(__import__('collections').OrderedDict({{{layers}}}))")
    for path, part in leaves(trial):
        use = outcome.uses.get(path)
        if path[0] == "made" and (part == Text(IDENTITY) or (use is not None and use.lists_modules)):
            yield changed(trial, path, backbone)


def _with_keys(trial: Trial, uses: Mapping[Path, Use], keys: list[str], names: Names) -> Iterator[Trial]:
    """What is handed on as ``**arguments`` has those that are missing."""
    items = tuple((repr(key), names.of(key)) for key in keys)
    for path, use in uses.items():
        if use.mapping and not use.calls and path[0] == "made":
            known = tuple((repr(key), part) for key, part in use.entries.items())
            yield changed(trial, path, Group("dict", known + items))
    for path, group in _groups(trial.made, ("made",)):
        if group.kind == "dict":
            yield changed(trial, path, replace(group, items=group.items + items))


def _with_results(trial: Trial, uses: Mapping[Path, Use], names: Names) -> Iterator[Trial]:
    """What is called may be a function instead of a class: it returns whatever its name says."""
    for path, use in reversed(list(uses.items())):
        if use.calls and path[0] == "made" and RESULT not in dict(use.open.known):
            yield changed(trial, (*path, RESULT), names.of(re.sub(r"^get_|^_", "", use.open.name)))


def _of_length(trial: Trial, length: int, words: set[str]) -> Iterator[Trial]:
    """Lists that the failing line names, as long as what it unpacks."""
    for path, group in _groups(trial.made, ("made",)):
        if group.kind in ("list", "tuple") and group.items and name_of(path) in words:
            first = group.items[0][1]
            items = tuple((f"[{index}]", dict(group.items).get(f"[{index}]", first)) for index in range(length))
            yield changed(trial, path, replace(group, items=items))


def _of_rank(trial: Trial, rank: int) -> Iterator[Trial]:
    """Tensors of which the shape is unpacked into as many names."""
    for path, part in leaves(trial):
        if path[0] == "made" and isinstance(part, Tensor) and len(part.shape) != rank:
            yield changed(trial, path, replace(part, shape=(part.shape[:1] or (VOCABULARY,)) * rank))


def with_any_arguments(trial: Trial) -> Trial:
    """Modules that are called with more than one argument return the first."""
    for path, part in leaves(trial):
        if part == Text(IDENTITY):
            trial = changed(trial, path, Text(RETURNS_FIRST))
        elif isinstance(part, Text) and part.code.startswith(_BLOCK) and "'forward'" not in part.code:
            trial = changed(trial, path, Text(f"{_BLOCK}'forward': {FIRST}, {part.code.removeprefix(_BLOCK)}"))
    for path, group in _groups(trial.made, ("made",)):
        if group.kind == "module" and "forward" not in dict(group.items):
            trial = changed(trial, (*path, "forward"), Text(FIRST))
    return trial


def with_arguments_by_name(trial: Trial) -> Trial:
    """Modules that return the first of their arguments take it by any name."""
    for path, part in leaves(trial):
        if isinstance(part, Returning):
            trial = changed(trial, path, replace(part, by_name=True))
        elif isinstance(part, Text) and FIRST in part.code:
            trial = changed(trial, path, Text(part.code.replace(FIRST, FIRST_BY_NAME)))
    return trial


def _lists_for_numbers(trial: Trial) -> Iterator[Trial]:
    """What has the name of several things, and was made a numpy array of none: all such, then each."""
    found = [(path, part) for path, part in numbers(trial) if path[0] == "made" and re.search(r"[^s]s$", name_of(path))]
    together = trial
    for path, part in found:
        together = changed(together, path, sizes_of(3, number_of(part)))
    yield together
    for path, part in found:
        yield changed(trial, path, sizes_of(3, number_of(part)))


def _lists_and_numbers(trial: Trial, text: str, frames: list[Line]) -> Iterator[Trial]:
    """Numbers and modules in the place of lists, lists in their place, and lists of other lengths."""
    if "int is not a Module subclass" in text:
        yield from _modules_for_numbers(trial)
    if "invalid index to scalar variable" in text:
        yield from _lists_for_numbers(trial)
    if re.search(r"'list'|not list|type list|can only concatenate list", text):
        yield from _numbers_for_lists(trial)
    unpacked = re.search(r"values to unpack \(expected (\d+)", text)
    if unpacked is not None:
        yield from _of_length(trial, int(unpacked.group(1)), words_at(frames))
        yield from _of_rank(trial, int(unpacked.group(1)))


def _modules_for_numbers(trial: Trial) -> Iterator[Trial]:
    """Modules in the lists that have been taken for lists of numbers."""
    for path, group in _groups(trial.made, ("made",)):
        if group.kind in ("list", "tuple") and group.items and isinstance(group.items[0][1], Size):
            items = tuple((key, Text(called_module(name_of(path)))) for key, _ in group.items)
            yield changed(trial, path, replace(group, items=items))


def _for_literals(trial: Trial, kind: str, attribute: str | None) -> Iterator[Trial]:
    """Modules or tensors for what was taken for a rate or a flag by its name."""
    literals = ("True", "False") if kind == "bool" else ("0.1", "0.5", "1e-05")
    for path, part in leaves(trial):
        if path[0] != "made" or not isinstance(part, Text) or part.code not in literals:
            continue
        if attribute is None:
            yield changed(trial, path, Text(called_module(name_of(path))))
        elif attribute in _OF_TENSORS:
            yield from (changed(trial, path, Tensor(shape)) for shape in ((VOCABULARY,), (VOCABULARY, VOCABULARY)))
            yield changed(trial, path, Text("torch.nn.Linear(32, 32)"))
        else:
            yield changed(trial, path, Open(name_of(path), 2))


def _numbers_for_lists(trial: Trial) -> Iterator[Trial]:
    """Torch reads some numbers as lists if they can be that, as it does when it indexes with them."""
    for path, group in _groups(trial.made, ("made",)):
        first = group.items[0][1] if group.kind == "list" and group.items else None
        if isinstance(first, Size):
            yield changed(trial, path, first)


def _extended(trial: Trial, kind: str, key: str, names: Names) -> Iterator[Trial]:
    for path, group in _groups(trial.made, ("made",)):
        if group.kind == kind and key not in dict(group.items):
            yield changed(trial, (*path, key), names.of(key.strip("'")))


def _groups(guess: Guess, path: Path) -> Iterator[tuple[Path, Group]]:
    if isinstance(guess, Group):
        yield path, guess
    for key, part in guess.parts:
        yield from _groups(part, (*path, key))


def _by_words(trial: Trial, path: Path, uses: Mapping[Path, Use], text: str, frames: list[Line]) -> Iterator[Trial]:
    """What the error says that the chameleon at ``path`` should have been."""
    use = uses[path]
    for guess in (*_of_torch(use, text), *_of_python(use, text, frames)):
        yield changed(trial, path, guess)
        if re.fullmatch(r"\[\d+\]", path[-1]):
            yield _alike(trial, path, guess, uses)
    yield from _others(trial, path, use, frames)


def _of_torch(use: Use, text: str) -> Iterator[Guess]:
    """Modules, tensors and arrays that the text asks for."""
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


def _of_python(use: Use, text: str, frames: list[Line]) -> Iterator[Guess]:
    """Lists, strings and the like that the text asks for."""
    name, size = use.open.name, use.open.size
    if "attribute name" in text and any(_LAYER_BY_NAME.search(failing_text(*line)) for line in frames[:1]):
        yield from map(Text, LAYER_NAMES)
    if "list" in text:
        yield sizes_of(3, size)
        yield Group("list", ())
    if "tuple" in text or "size" in text:
        yield from (replace(sizes_of(count, size), kind="tuple") for count in (2, 3))
    if "str" in text or "KeyError" in text or "attribute name" in text or text.isdigit():
        yield from (Text(word) for word in (*map(repr, _words_used(use, frames)), *likely_words(name), "''"))
    if "class" in text or "issubclass" in text:
        yield Text(called_class(name))
    if "dict" in text or "mapping" in text:
        yield Group("dict", ())
    if "None" in text:
        yield Text("None")


def _alike(trial: Trial, path: Path, guess: Guess, uses: Iterable[Path]) -> Trial:
    """The same for every element of the sequence in which ``path`` is."""
    beside = [other for other in uses if other[:-1] == path[:-1] and re.fullmatch(r"\[\d+\]", other[-1])]
    for other in beside:
        trial = changed(trial, other, guess)
    return trial


def _words_used(use: Use | None, frames: list[Line]) -> list[str]:
    """Strings that it was compared with, and those of the code and the dicts where it failed."""
    found = [] if use is None else [each for each in use.compared if isinstance(each, str)]
    for frame, _ in frames[:1]:
        for value in (*frame.f_locals.values(), *(frame.f_globals.get(name) for name in frame.f_code.co_names)):
            if isinstance(value, dict) and value is not frame.f_globals and len(value) < 64:
                found += [key for key in value if isinstance(key, str) and not key.startswith("__")]
        for constant in frame.f_code.co_consts:
            if isinstance(constant, (tuple, frozenset)):
                # A set of strings has another order in each process.
                found += sorted(each for each in constant if isinstance(each, str))
    return list(dict.fromkeys(found))[:_MOST_KEYS]


def _number_keys(frames: list[Line]) -> list[int]:
    """Of the dicts that the code handles where it failed."""
    dicts = [value for frame, _ in frames[:1] for value in frame.f_locals.values() if isinstance(value, dict)]
    return [key for value in dicts for key in value if type(key) is int][:_MOST_KEYS]


def _in_turn(several: Sequence[Iterator[Trial]]) -> Iterator[Trial]:
    """The first of each, then the second of each, and so on."""
    for trials in zip_longest(*several):
        yield from (trial for trial in trials if trial is not None)


def _suspects(frames: list[Line], uses: dict[Path, Use], trial: Trial, text: str) -> list[Path]:
    """Parts that the failing lines name, those of the innermost one first, and of these the ones told by their number.

    Of ``config.width`` it is the width that is wrong, rather than the configuration.
    """
    told = {int(number) for number in re.findall(r"\d+", text)}
    known = {
        path: name_of(path)
        for path in (*(path for path, _ in leaves(trial)), *uses)
        if path[0] == "made" and len(path) > 1
    }
    found: list[Path] = []
    for frame, line in frames[:3]:
        held = {id(value.fxlsp_use) for value in held_values(frame) if isinstance(value, Chameleon)}
        words = words_at([(frame, line)])
        on_it = [path for path, name in known.items() if name in words and path not in found]
        found += sorted(on_it, key=lambda path: (_number_at(trial, path, uses) not in told, -len(path)))
        found += [path for path, use in uses.items() if id(use) in held and path not in found and path[0] == "made"]
    return found


def _number_at(trial: Trial, path: Path, uses: Mapping[Path, Use]) -> int | None:
    part = uses[path].open if path in uses else part_at(trial, path)
    return number_of(part) if isinstance(part, (Open, Size)) else None


def _others(trial: Trial, path: Path, use: Use | None, frames: list[Line]) -> Iterator[Trial]:
    """Everything else that the part at ``path`` may be."""
    part = use.open if use is not None else part_at(trial, path)
    name = name_of(path)
    if isinstance(part, Text):
        yield changed(trial, path, Open(name, 2))
        part = Open(name, 2)
    if not isinstance(part, (Open, Size)):
        return
    texts = " ".join(failing_text(frame, line) for frame, line in frames[:1])
    numbers_near = [int(number) for number in re.findall(r"(?<![\w.])\d{1,4}(?![\w.])", texts)]
    compared = [each for each in use.compared if isinstance(each, int)] if use is not None else []
    seen = {number_of(part)}
    for number in (*compared, *_number_keys(frames), *numbers_near):
        if number not in seen:
            seen.add(number)
            yield changed(trial, path, with_number(part, number))
    if use is not None:
        for word in _words_used(use, frames)[:6] or likely_words(name)[:2]:
            yield changed(trial, path, Text(word if word.startswith("'") else repr(word)))
    for _, other in numbers(trial):
        if number_of(other) not in seen:
            seen.add(number_of(other))
            yield changed(trial, path, with_number(part, number_of(other)))
    for number in (1, 2, 3, 4, 8, 16, 64, 256, 512):
        if number not in seen:
            yield changed(trial, path, with_number(part, number))
    if use is not None and not use.attributes:
        yield changed(trial, path, Text("None"))
        yield changed(trial, path, Text("0.5"))
        yield changed(trial, path, Text(called_module(name)))
        yield changed(trial, path, Text(called_class(name)))
        yield changed(trial, path, sizes_of(3, number_of(part)))
        yield changed(trial, path, replace(sizes_of(2, number_of(part)), kind="tuple"))
        yield changed(trial, path, replace(sizes_of(4, number_of(part)), kind="list"))
        yield changed(trial, path, Group("dict", ()))
