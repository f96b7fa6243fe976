"""Names that were probably meant where a name or an attribute does not exist."""

from __future__ import annotations

import builtins
import dataclasses
import traceback
from collections.abc import Iterable
from types import FrameType, ModuleType

import torch

from ....report.suggestions import did_you_mean

_SIMILARITY = 0.7
"""Least one of names, by difflib. At its usual 0.6 a missing ``fc3`` would mean ``fc2``."""
_TABLES = ("_parameters", "_buffers", "_modules")
"""Where a module keeps what only its ``__getattr__`` finds."""


def suggestion_for(error: BaseException) -> str:
    """Return the end of the message of an error with the name that was probably meant; "" if none is similar.

    Attributes are read from the tables in which objects keep them, not by the user's ``__dir__``. A class may have its
    own idea of these tables, or raise an error without a name: then there is no suggestion.

    Example:
        ``; did you mean relu?`` for ``torch.rleu``, ``; did you mean self.conv?`` for ``conv`` in a method.
    """
    try:
        if isinstance(error, NameError) and isinstance(error.name, str):
            return _suggestion_for_name(error.name, _innermost_frame(error))
        if isinstance(error, AttributeError) and isinstance(error.name, str):
            return _similar(error.name, _attributes(error.obj))
    except Exception:
        return ""
    return ""


def _suggestion_for_name(name: str, frame: FrameType | None) -> str:
    if frame is None:
        return ""
    owner = frame.f_locals.get("self")
    if isinstance(owner, torch.nn.Module) and name in set(_attributes(owner)):
        return f"; did you mean self.{name}?"
    return _similar(name, (*frame.f_locals, *frame.f_globals, *vars(builtins)))


def _similar(name: str, known: Iterable[str]) -> str:
    # Private names are meant only by private ones; those of fxlsp are not in the user's code.
    meant = {each for each in known if each.startswith("_") <= name.startswith("_") and "fxlsp" not in each}
    return did_you_mean(name, meant, _SIMILARITY)


def _innermost_frame(error: BaseException) -> FrameType | None:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return frames[-1] if frames else None


def _attributes(owner: object) -> list[str]:
    """Return the names of attributes of a module, a tensor or a dataclass; of nothing else, which may be a stand-in."""
    if isinstance(owner, torch.Tensor):
        return dir(torch.Tensor)
    if isinstance(owner, torch.nn.Module):
        own = object.__getattribute__(owner, "__dict__")
        return [*object.__dir__(owner), *(name for table in _TABLES for name in own.get(table, ()))]
    if isinstance(owner, ModuleType) or (dataclasses.is_dataclass(owner) and not isinstance(owner, type)):
        return list(object.__dir__(owner))
    return []
