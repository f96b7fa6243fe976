"""What is guessed: trees of values that know their Python text, and that a search changes part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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


Kind = Literal["list", "tuple", "dict", "namespace", "record", "call", "function", "module", "fed"]

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
    """Of what a ``call`` calls."""

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
        if self.kind == "fed":
            # Those that a call must give come by position, others by name: their keys end so.
            return ", ".join(key + part.text if key.endswith("=") else part.text for key, part in self.items)
        return f"{self.maker}({named})"

    @property
    def maker(self) -> str:
        """The text of what is called to make it."""
        return _MAKERS.get(self.kind, self.name)

    @property
    def parts(self) -> tuple[tuple[str, Guess], ...]:
        return self.items

    def with_part(self, key: str, part: Guess) -> Group:
        kept = tuple((name, part if name == key else old) for name, old in self.items)
        return replace(self, items=kept if any(name == key for name, _ in kept) else (*kept, (key, part)))

    def without(self, key: str) -> Group:
        return replace(self, items=tuple(item for item in self.items if item[0] != key))


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
    """The text of a ``forward`` that returns ``result``, in which its first argument is ``first``."""
    if by_name:
        return f"lambda self, *args, **named: (lambda first, *_: {result})(*args, *named.values())"
    return f"lambda self, first, *_, **__: {result}"


@dataclass(frozen=True)
class Open(Guess):
    """A value of which nothing is known yet but what it may be if it is a number: a chameleon stands for it."""

    name: str
    size: int
    known: tuple[tuple[str, Guess], ...] = ()
    """Parts of which more is known: by ``.name`` or ``[key]``, and what a call returns."""
    fed: bool = False
    """Whether it is an input, so that its parts are likely to be tensors."""

    @property
    def text(self) -> str:
        return f"<{self.name}>"

    @property
    def parts(self) -> tuple[tuple[str, Guess], ...]:
        return self.known

    def with_part(self, key: str, part: Guess) -> Open:
        return replace(self, known=(*(item for item in self.known if item[0] != key), (key, part)))


@dataclass(frozen=True)
class Trial:
    """One way to make and feed a model."""

    made: Guess
    """A call, or the text of a recipe."""
    fed: Group | None = None
    """The arguments of the model's call by their names; None until there is a model to ask for them."""
    uniform: int = 0
    """The size that everything has, where that is tried; 0 for distinct ones."""
    evaluated: bool = False
    """Whether the model runs in eval mode."""

    @property
    def init(self) -> str:
        """The text that makes the model that runs."""
        return f"{self.made.text}.eval()" if self.evaluated else self.made.text

    @property
    def is_concrete(self) -> bool:
        return not any(isinstance(part, Open) for _, part in leaves(self))


def leaves(trial: Trial) -> Iterator[tuple[Path, Guess]]:
    """Every part that is no mere container, with its path."""
    yield from _leaves(trial.made, ("made",))
    if trial.fed is not None:
        yield from _leaves(trial.fed, ("fed",))


def _leaves(guess: Guess, path: Path) -> Iterator[tuple[Path, Guess]]:
    if not isinstance(guess, Group):
        yield path, guess
    for key, part in guess.parts:
        yield from _leaves(part, (*path, key))


def part_at(trial: Trial, path: Path) -> Guess | None:
    """The part at ``path``; None if there is none."""
    guess = trial.made if path[0] == "made" else trial.fed
    if guess is None:
        return None
    for key in path[1:]:
        found = dict(guess.parts).get(key)
        if found is None:
            return None
        guess = found
    return guess


def changed(trial: Trial, path: Path, part: Guess) -> Trial:
    """``trial`` with another part at ``path``."""
    if path[0] == "made":
        return replace(trial, made=_changed(trial.made, path[1:], part))
    fed = _changed(trial.fed or Group("fed", ()), path[1:], part)
    return replace(trial, fed=fed if isinstance(fed, Group) else None)


def _changed(guess: Guess, path: Path, part: Guess) -> Guess:
    if not path:
        return part
    inner = dict(guess.parts).get(path[0], Open(path[0], 1))
    return guess.with_part(path[0], _changed(inner, path[1:], part))
