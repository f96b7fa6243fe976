"""Values that can be used as duck values were used."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType

import torch

from .priors.constructor import called_class, called_module, likely_words
from .priors.tables import CONVOLUTION, IDENTITY, ONE_LAYER
from .trials.duck import DuckUse
from .trials.values import (
    INIT,
    INPUTS,
    RESULT,
    Group,
    Guess,
    Open,
    Path,
    Returning,
    Size,
    Tensor,
    Text,
    Trial,
    changed,
    forward_with,
    part_at,
    sizes_of,
)

_OF_MODULES = frozenset(dir(torch.nn.Module)) | {
    "weight",
    "bias",
    "in_features",
    "out_features",
    "in_channels",
    "out_channels",
}
FIRST = forward_with("first")
FIRST_BY_NAME = forward_with("first", by_name=True)
RETURNS_FIRST = f"type('Block', (torch.nn.Identity,), {{'forward': {FIRST}}})()"
_OF_LOSSES = frozenset(dir(torch.nn.MSELoss()))
_OF_TENSORS = frozenset(dir(torch.Tensor)) - {"name", "names"}


class Synthesis:
    """Replaces the open parts of a guess by what their duck values were used as."""

    def __init__(self, uses: Mapping[Path, DuckUse], module: ModuleType) -> None:
        self._uses = uses
        self._module = module

    def of_trial(self, trial: Trial) -> Trial:
        """Return ``trial`` without open parts."""
        inputs = None if trial.inputs is None else self.of(trial.inputs, INPUTS)
        return replace(trial, init=self.of(trial.init, INIT), inputs=inputs if isinstance(inputs, Group) else None)

    def of(self, guess: Guess, path: Path) -> Guess:
        """Return ``guess``, the part at ``path``, without open parts."""
        if isinstance(guess, Group):
            made = guess
            for key, part in guess.items:
                made = made.with_part(key, self.of(part, (*path, key)))
            return made
        if not isinstance(guess, Open):
            return guess
        use = self._uses.get(path)
        return Size(guess.size) if use is None else self._of(use, path)

    def _of(self, use: DuckUse, path: Path) -> Guess:
        if use.open.made_by:
            return self._mapping(use, path)
        if use.lists_modules and not use.calls and use.ran < 2 and use.attributes.keys() <= _OF_MODULES:
            return Text(ONE_LAYER)
        if use.maybe_makes and use.ran:
            # What ran was what such a call gave.
            use = replace(use, calls=[(0, ()), *use.calls])
        if use.calls or use.ran:
            return self._callable(use, path)
        if use.attributes and not use.entries:
            return self._with_attributes(use, path)
        if use.attributes or any(isinstance(key, str) for key in use.entries) or (use.mapping and use.entries):
            return self._mapping(use, path)
        if use.entries or use.length is not None:
            return self._sequence(use, path)
        if use.mapping:
            return Group("dict", ())
        return _plain(use)

    def _callable(self, use: DuckUse, path: Path) -> Guess:
        result = dict(use.open.known).get(RESULT, use.result)
        if result is not None:
            return Group("function", ((RESULT, self.of(result, (*path, RESULT))),))
        if use.unpacked and not use.calls:
            return Returning(count=use.unpacked, by_name=use.by_name)
        if use.wraps and all(call == (1, ()) for call in use.calls):
            return Text("(lambda module: module)")
        own = self._own_class(use) if use.calls and (use.attributes or "block" in use.open.name) else None
        if own is not None:
            return Text(own)
        name = called_module(use.open.name)
        if not use.calls and name != IDENTITY and use.attributes.keys() <= _OF_LOSSES:
            return Text(name)
        members = {name: self._attribute(use, name, path).text for name in use.attributes}
        if use.ran > 1 or use.by_name or use.lists_parameters:
            members["forward"] = FIRST_BY_NAME if use.by_name else FIRST
        base = "torch.nn.PReLU" if use.lists_parameters else "torch.nn.Identity"
        if members.keys() - _OF_MODULES or "forward" in members:
            inside = ", ".join(f"{name!r}: {text}" for name, text in members.items())
            made = f"type('Block', ({base},), {{{inside}}})"
            return Text(made if use.calls else f"{made}()")
        return Text(_class_for(use) if use.calls else name)

    def _own_class(self, use: DuckUse) -> str | None:
        """Return a building block of the file that has these attributes and takes the calls.

        None if none can, but the class of torch's that has its name.
        """
        blocks = [
            name
            for name in building_blocks(self._module)
            if all(hasattr(getattr(self._module, name), attribute) for attribute in use.attributes)
        ]
        fitting = (name for name in blocks if all(_takes(getattr(self._module, name), *call) for call in use.calls))
        found = next(fitting, None)
        if (
            found is None
            and not use.attributes
            and called_class(use.open.name) == CONVOLUTION
            and _make_convolutions(use)
        ):
            return None
        return found or next(iter(blocks), None)

    def _attribute(self, use: DuckUse, name: str, path: Path) -> Guess:
        return self.of(use.attributes[name], (*path, f".{name}"))

    def _entry(self, use: DuckUse, key: str | int, path: Path) -> Guess:
        return self.of(use.entries[key], (*path, f"[{key!r}]"))

    def _with_attributes(self, use: DuckUse, path: Path) -> Guess:
        names = use.attributes.keys()
        if "shape" in names and names <= _OF_TENSORS and not use.open.name.endswith("space"):
            return Tensor(self._shape(use, path))
        if names <= _OF_TENSORS and use.open.is_input:
            return Tensor((2, use.open.size))
        if names <= _OF_MODULES:
            return Text("torch.nn.Linear(32, 32)" if "weight" in names else "torch.nn.Identity()")
        items = tuple((name, self._attribute(use, name, path)) for name in use.attributes)
        return Group("record" if use.mapping else "namespace", items)

    def _shape(self, use: DuckUse, path: Path) -> tuple[int, ...]:
        """Return the shape of a tensor of which sizes were read, a matrix at least."""
        shape = self._uses.get((*path, ".shape"))
        indices = [key for key in shape.entries if isinstance(key, int)] if shape is not None else []
        length = (shape.length if shape is not None else None) or max([1, *indices]) + 1
        return (shape.open.size if shape is not None else use.open.size,) * length

    def _mapping(self, use: DuckUse, path: Path) -> Guess:
        if use.attributes or use.open.made_by:
            keys = {str(key): self._entry(use, key, path) for key in use.entries}
            names = {name: self._attribute(use, name, path) for name in use.attributes}
            return Group("record", tuple({**keys, **names}.items()), use.open.made_by)
        return Group("dict", tuple((repr(key), self._entry(use, key, path)) for key in use.entries))

    def _sequence(self, use: DuckUse, path: Path) -> Guess:
        indices = [key for key in use.entries if isinstance(key, int)]
        parts = sizes_of(max([use.length or 0, *(index + 1 for index in indices)]), use.open.size)
        for index in indices:
            parts = parts.with_part(f"[{index}]", self._entry(use, index, path))
        return parts


def with_parts(trial: Trial, uses: Mapping[Path, DuckUse]) -> Trial:
    """Return the trial with the parts that duck values handed out, so that each can be corrected by itself."""
    for path, use in sorted(uses.items()):
        handed_out = {f".{name}": part for name, part in use.attributes.items()}
        handed_out |= {f"[{key!r}]": part for key, part in use.entries.items()}
        part = part_at(trial, path)
        if handed_out and isinstance(part, Open):
            known = (*part.known, *(item for item in handed_out.items() if item[0] not in dict(part.known)))
            trial = changed(trial, path, replace(part, known=known))
    return trial


def building_blocks(module: ModuleType) -> list[str]:
    """Return the classes of the file that look like building blocks."""
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, torch.nn.Module)
        and value.__module__ == module.__name__
        and ("block" in name.lower() or "bottleneck" in name.lower())
    ]


def _class_for(use: DuckUse) -> str:
    """Return a class of torch's, with a kernel if its caller passes none."""
    text = called_class(use.open.name)
    if text == CONVOLUTION and not _make_convolutions(use):
        return f"__import__('functools').partial({text}, kernel_size=3, padding=1)"
    return text


def _make_convolutions(use: DuckUse) -> bool:
    """Return whether the calls pass sizes and a kernel, as those of a convolution."""
    return all(_takes(torch.nn.Conv2d, *call) for call in use.calls)


def _takes(cls: type, count: int, names: tuple[str, ...]) -> bool:
    """Return whether a class takes so many arguments by position, and these by name."""
    try:
        inspect.signature(cls).bind(*range(count), **dict.fromkeys(names))
    except (TypeError, ValueError):
        return False
    return True


def _plain(use: DuckUse) -> Guess:
    words = [each for each in use.compared if isinstance(each, str)]
    if words:
        return Text(repr(words[0]))
    if use.words:
        return Text((*likely_words(use.open.name), "''")[0])
    return Size(use.open.size)
