"""Guessed values that know their Python text, trials made of them, and edits of trials.

A :class:`Trial` is two trees of guesses: the call that constructs the model, and the arguments that it is called with.
A path names a part of either; an :data:`Edit` maps paths to other parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Path = tuple[str, ...]
"""Keys from a guess to a part of it."""


@dataclass(frozen=True)
class Guess:
    """A guessed value; most have no parts."""

    @property
    def text(self) -> str:
        raise NotImplementedError

    @property
    def parts(self) -> tuple[tuple[str, Guess], ...]:
        return ()

    def with_part(self, key: str, part: Guess) -> Guess:
        raise NotImplementedError


@dataclass(frozen=True)
class Text(Guess):
    """Any expression."""

    code: str

    @property
    def text(self) -> str:
        return self.code


@dataclass(frozen=True)
class Size(Guess):
    """A number that another error may correct."""

    value: int

    @property
    def text(self) -> str:
        return str(self.value)


DType = Literal["float", "long", "bool"]


@dataclass(frozen=True)
class Tensor(Guess):
    """A tensor."""

    shape: tuple[int, ...]
    dtype: DType = "float"
    value: int = 1
    """Of integers: 1 is a valid index, class and length nearly everywhere."""

    @property
    def text(self) -> str:
        sizes = ", ".join(map(str, self.shape)) or "()"
        if self.dtype == "float":
            return f"torch.randn({sizes})"
        if self.dtype == "long" and self.value != 1:
            return f"torch.full(({sizes}{',' if len(self.shape) == 1 else ''}), {self.value})"
        return f"torch.ones({sizes}, dtype=torch.{self.dtype})"


Kind = Literal["list", "tuple", "dict", "namespace", "record", "call", "function", "module", "inputs"]

RESULT = "()"
"""The key of what a function returns."""


@dataclass(frozen=True)
class Group(Guess):
    """Several values in one."""

    kind: Kind
    items: tuple[tuple[str, Guess], ...]
    """Keys of a dict are Python literals, of a list or tuple their indices, of all else names; that of a call's further
    arguments begins with a star."""
    name: str = ""
    """Of what a ``call`` calls, or of the user's class that a ``record`` is an instance of."""

    @property
    def text(self) -> str:
        values = [part.text for _, part in self.items]
        if self.kind == "list":
            return f"[{', '.join(values)}]"
        if self.kind == "tuple":
            return f"({', '.join(values)}{',' if len(values) == 1 else ''})"
        if self.kind == "dict":
            return "{" + ", ".join(f"{key}: {part.text}" for key, part in self.items) + "}"
        if self.kind == "module":
            inside = ", ".join(f"{key!r}: {part.text}" for key, part in self.items)
            return f"type('Block', (torch.nn.Identity,), {{{inside}}})()"
        if self.kind == "function":
            return f"(lambda *_, **__: {values[0]})"
        named = ", ".join("*" + part.text if key[0] == "*" else f"{key}={part.text}" for key, part in self.items)
        if self.kind == "inputs":
            # Those that a call must give come by position, others by name: their keys end so.
            return ", ".join(key + part.text if key.endswith("=") else part.text for key, part in self.items)
        return f"{self.maker}({named})"

    @property
    def maker(self) -> str:
        """The text of what is called to make it."""
        return self.name or _MAKERS[self.kind]

    @property
    def parts(self) -> tuple[tuple[str, Guess], ...]:
        return self.items

    def with_part(self, key: str, part: Guess) -> Group:
        items = tuple((name, part if name == key else old) for name, old in self.items)
        return replace(self, items=items if any(name == key for name, _ in items) else (*items, (key, part)))


_MAKERS = {
    "namespace": "__import__('types').SimpleNamespace",
    # What is read as config.width here and as config["width"] there.
    "record": "type('Config', (dict,), {'__getattr__': dict.__getitem__})",
}


@dataclass(frozen=True)
class Returning(Guess):
    """A module that returns its first input several times over."""

    count: int = 0
    """How often in a tuple, where that is what it returns."""
    keys: tuple[str, ...] = ()
    """Of a dict, where that is what it returns."""
    attributes: tuple[str, ...] = ()
    """Of an object, where that is what it returns."""
    by_name: bool = False
    """Whether nothing comes by position."""

    @property
    def text(self) -> str:
        inside = f"({', '.join(['first'] * self.count)},)"
        if self.keys:
            inside = "{" + ", ".join(f"{key!r}: first" for key in self.keys) + "}"
        elif self.attributes:
            named = ", ".join(f"{name}=first" for name in self.attributes)
            inside = f"{_MAKERS['namespace']}({named})"
        forward = forward_with(inside, self.by_name)
        return f"type('Block', (torch.nn.Identity,), {{'forward': {forward}}})()"


def forward_with(result: str, by_name: bool = False) -> str:
    """Return the text of a ``forward`` that returns ``result`` of its argument ``first``."""
    if by_name:
        return f"lambda self, *args, **named: (lambda first, *_: {result})(*args, *named.values())"
    return f"lambda self, first, *_, **__: {result}"


@dataclass(frozen=True)
class Open(Guess):
    """A value of which nothing is known yet but its size if it is a number; a duck value replaces it in a run."""

    name: str
    size: int
    known: tuple[tuple[str, Guess], ...] = ()
    """Parts of which more is known: by ``.name`` or ``[key]``, and what a call returns."""
    is_input: bool = False
    """Whether it is an input, so that its parts are likely to be tensors."""
    made_by: str = ""
    """The name of the user's class that makes it from whatever fields it is given by name."""

    @property
    def text(self) -> str:
        return f"<{self.name}>"

    @property
    def parts(self) -> tuple[tuple[str, Guess], ...]:
        return self.known

    def with_part(self, key: str, part: Guess) -> Open:
        return replace(self, known=(*(item for item in self.known if item[0] != key), (key, part)))


Progress = tuple[int, int]
"""Stage (0 constructed, 1 called) and how much of it ran: the further, the better the guess."""


@dataclass(frozen=True)
class Origin:
    """The rules that led to a trial, and what came of the trial before the last of them."""

    rules: tuple[str, ...] = ()
    progress: Progress = (0, 0)
    before: Measurement | None = None


@dataclass(frozen=True)
class Measurement:
    """Two sizes that should be equal, where a trial failed."""

    trial: Trial
    place: tuple[object, ...]
    """Frames and lines of the failure."""
    got: int
    want: int


@dataclass(frozen=True)
class Trial:
    """One way to construct and call a model."""

    init: Guess
    """A call, or the text of a recipe."""
    inputs: Group | None = None
    """The arguments of the model's call by their names; None until there is a model to ask for them."""
    uniform: int = 0
    """The size that everything has, where that is tried; 0 for distinct ones."""
    eval_mode: bool = False
    """Whether the model runs in eval mode."""
    origin: Origin = field(default=Origin(), compare=False)

    @property
    def init_text(self) -> str:
        """The text that makes the model that runs."""
        return f"{self.init.text}.eval()" if self.eval_mode else self.init.text

    @property
    def is_concrete(self) -> bool:
        """Whether every part is known, so that the texts can be run as they are."""
        return not any(isinstance(part, Open) for _, part in leaves(self))


Edit = Mapping[Path, Guess | None]
"""Other parts for paths of a trial; None for the inputs as a whole: they are guessed anew."""
EVAL_MODE: Path = ("mode",)
"""The path at which an edit puts a model into eval mode."""
INIT: Path = ("init",)
INPUTS: Path = ("inputs",)


def edited(trial: Trial, edit: Edit) -> Trial:
    """Return ``trial`` with the parts of an edit, one after the other."""
    for path, part in edit.items():
        if path == EVAL_MODE:
            trial = replace(trial, eval_mode=True)
        elif part is None:
            trial = replace(trial, inputs=None)
        else:
            trial = changed(trial, path, part)
    return trial


def leaves(trial: Trial) -> Iterator[tuple[Path, Guess]]:
    """Yield every part that is not a mere container, with its path."""
    return ((path, part) for path, part in parts(trial) if not isinstance(part, Group))


def groups(trial: Trial) -> Iterator[tuple[Path, Group]]:
    """Yield the containers, those of a trial's own two trees too."""
    return ((path, part) for path, part in parts(trial) if isinstance(part, Group))


def lists(trial: Trial) -> list[tuple[Path, Group]]:
    """Return the lists and tuples that have items."""
    return [(path, group) for path, group in groups(trial) if group.kind in ("list", "tuple") and group.items]


def tensors(trial: Trial) -> list[tuple[Path, Tensor]]:
    """Return the tensors."""
    return [(path, part) for path, part in leaves(trial) if isinstance(part, Tensor)]


def input_tensors(trial: Trial) -> list[tuple[Path, Tensor]]:
    """Return the tensors among the inputs."""
    return [(path, part) for path, part in tensors(trial) if path[0] == "inputs"]


def numbers(trial: Trial) -> list[tuple[Path, Size | Open]]:
    """Return what is a number, or may be one."""
    return [(path, part) for path, part in leaves(trial) if isinstance(part, (Size, Open))]


def init_numbers(trial: Trial) -> list[tuple[Path, Size | Open]]:
    """Return the numbers among the constructor's arguments."""
    return [(path, part) for path, part in numbers(trial) if path[0] == "init"]


def parts(trial: Trial) -> Iterator[tuple[Path, Guess]]:
    """Yield every part with its path, containers before what is in them."""
    yield from _parts(trial.init, INIT)
    if trial.inputs is not None:
        yield from _parts(trial.inputs, INPUTS)


def _parts(guess: Guess, path: Path) -> Iterator[tuple[Path, Guess]]:
    yield path, guess
    for key, part in guess.parts:
        yield from _parts(part, (*path, key))


def part_at(trial: Trial, path: Path) -> Guess | None:
    """Return the part at ``path``; None if there is none."""
    guess = trial.init if path[0] == "init" else trial.inputs
    for key in path[1:]:
        guess = None if guess is None else dict(guess.parts).get(key)
    return guess


def changed(trial: Trial, path: Path, part: Guess) -> Trial:
    """Return ``trial`` with another part at ``path``."""
    if path[0] == "init":
        return replace(trial, init=_changed(trial.init, path[1:], part))
    inputs = _changed(trial.inputs or Group("inputs", ()), path[1:], part)
    return replace(trial, inputs=inputs if isinstance(inputs, Group) else None)


def _changed(guess: Guess, path: Path, part: Guess) -> Guess:
    if not path:
        return part
    inner = dict(guess.parts).get(path[0], Open(path[0], 1))
    return guess.with_part(path[0], _changed(inner, path[1:], part))


def number_of(part: Size | Open) -> int:
    """Return the number that a part is."""
    return part.size if isinstance(part, Open) else part.value


def with_number(part: Size | Open, value: int) -> Guess:
    """Return the part with another number."""
    return replace(part, size=value) if isinstance(part, Open) else Size(value)


def with_dimension(tensor: Tensor, index: int, size: int) -> Tensor:
    """Return the tensor with another size of one dimension."""
    shape = list(tensor.shape)
    shape[index] = size
    return replace(tensor, shape=tuple(shape))


def list_of(items: Iterable[Guess], kind: Kind = "list") -> Group:
    """Return a list or tuple of these items."""
    return Group(kind, tuple((f"[{index}]", part) for index, part in enumerate(items)))


def several(part: Guess, count: int, kind: Kind = "list") -> Group:
    """Return a list or tuple of the same part several times."""
    return list_of([part] * count, kind)


def sizes_of(count: int, size: int, kind: Kind = "list") -> Group:
    """Return a list or tuple of one size several times."""
    return several(Size(size), count, kind)


def of_length(group: Group, count: int) -> Group:
    """Return the list with as many items: its last one is repeated."""
    items = [part for _, part in group.items]
    return list_of((items + items[-1:] * (count - len(items)))[:count], group.kind)


def name_of(path: Path) -> str:
    """Return what the part at ``path`` is called: by its key, or by that of the sequence that it is in."""
    return next((re.sub(r"\W", "", key) for key in reversed(path) if not is_item(key)), "")


def is_item(key: str) -> bool:
    """Return whether a key of a path is the index of a list's item."""
    return re.fullmatch(r"\[\d+\]", key) is not None
