"""Arguments of a constructor that is running, read from its stack frame.

``nn.Module.__init__`` runs inside the constructor of a subclass, mostly as its first statement: the arguments are then
the local variables of the frame that the outermost constructor has.
"""

from __future__ import annotations

import copy
import dis
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

_MOST_FRAMES = 24
"""Limit of frames between a constructor and that of ``nn.Module``: bases, and their decorators."""


class Rebound:
    """Stand-in for an argument whose variable had another value by the time that it was read."""


REBOUND = Rebound()


@dataclass(frozen=True)
class ConstructorCall:
    """Arguments of a call, without those that are the defaults."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    frame: FrameType
    """Frame of the constructor: its caller is the code that makes the module."""


def constructor_call(made: object, frame: FrameType | None) -> ConstructorCall | None:
    """Return the arguments with which an object is being constructed; None if they are not in any frame.

    Args:
        frame: of the innermost function that may be its constructor.
    """
    init = type(made).__init__
    code = getattr(init, "__code__", None)
    for _ in range(_MOST_FRAMES):
        if frame is None or code is None:
            return None
        if frame.f_code is code:
            variables = frame.f_locals
            if _first_argument(code, variables) is made:
                args, kwargs = _arguments(code, variables, frame.f_lasti, init)
                return ConstructorCall(args, kwargs, frame)
        frame = frame.f_back
    return None


def owner_in(frame: FrameType | None, is_owner: Any, most_frames: int = 8) -> object | None:
    """Return the first object for which ``is_owner`` holds among the first arguments of running functions."""
    for _ in range(most_frames):
        if frame is None:
            return None
        code = frame.f_code
        if code.co_argcount:
            first = frame.f_locals.get(code.co_varnames[0])
            if is_owner(first):
                return first
        frame = frame.f_back
    return None


def copied_from(made: object, frame: FrameType | None, most_frames: int = 8) -> object | None:
    """Return the object that another one is being copied from; None if it is loaded, or restored in another way.

    Args:
        frame: of the function that restores its state.
    """
    code = getattr(getattr(copy, "_reconstruct", None), "__code__", None)
    for _ in range(most_frames):
        if frame is None or code is None:
            return None
        if frame.f_code is code and frame.f_locals.get("y") is made:
            original: object = frame.f_locals.get("x")
            return original if type(original) is type(made) else None
        frame = frame.f_back
    return None


def outside_of_copy(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of a function that is none of the module ``copy``: the code that copies."""
    while frame is not None and frame.f_code.co_filename == copy.__file__:
        frame = frame.f_back
    return frame


def _first_argument(code: CodeType, variables: Mapping[str, Any]) -> object:
    if code.co_argcount:
        return variables.get(code.co_varnames[0])
    rest = variables.get(_star_name(code) or "")
    return rest[0] if isinstance(rest, tuple) and rest else None


def _star_name(code: CodeType) -> str | None:
    has_star = code.co_flags & inspect.CO_VARARGS
    return code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if has_star else None


def _arguments(
    code: CodeType, variables: Mapping[str, Any], offset: int, init: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    stores = _first_stores(code)

    def value(name: str) -> Any:
        return REBOUND if stores.get(name, offset) < offset else variables.get(name, REBOUND)

    positional = code.co_varnames[: code.co_argcount]
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    star = _star_name(code)
    starred = value(star) if star is not None else ()
    starred = starred if isinstance(starred, tuple) else (REBOUND,)
    if not positional:
        starred = starred[1:]
    by_position = code.co_argcount if starred else max(code.co_posonlyargcount, 1)
    args = tuple(value(name) for name in positional[1:by_position])
    defaults = _defaults(code, init)
    named = {name: value(name) for name in (*positional[by_position:], *keywords)}
    kwargs = {name: given for name, given in named.items() if name not in defaults or given is not defaults[name]}
    if code.co_flags & inspect.CO_VARKEYWORDS:
        name = code.co_varnames[code.co_argcount + code.co_kwonlyargcount + (star is not None)]
        further = value(name)
        kwargs.update(further if isinstance(further, dict) else {name: REBOUND})
    return (*args, *starred), kwargs


def _defaults(code: CodeType, init: Any) -> dict[str, Any]:
    values = getattr(init, "__defaults__", None) or ()
    names = code.co_varnames[: code.co_argcount]
    return {**dict(zip(names[len(names) - len(values) :], values, strict=True)), **(init.__kwdefaults__ or {})}


@lru_cache(maxsize=1024)
def _first_stores(code: CodeType) -> dict[str, int]:
    """Return the offset of the first instruction that binds each variable."""
    first: dict[str, int] = {}
    for each in dis.get_instructions(code):
        if each.opname.startswith(("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF")):
            names = each.argval if isinstance(each.argval, tuple) else (each.argval,)
            for name in names[:1] if each.opname == "STORE_FAST_LOAD_FAST" else names:
                first.setdefault(name, each.offset)
    return first
