"""Placeholder for what an import failed to bind, so that only its users fail."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any


class NotImported:
    """Placeholder for a failed import: using it raises the error of the import.

    Its truth and its comparison with ``None`` are no uses: a file may ask so whether it has an optional package.
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error
        """Error of the import, at its line."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise self.again()

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise self.again()

    __call__ = __getitem__ = __mro_entries__ = __iter__ = __index__ = __int__ = __float__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def again(self) -> BaseException:
        """Return a copy of the error, to be raised where the name is used."""
        try:
            error = type(self.error)(*self.error.args)
        except TypeError:
            return self.error
        error.__cause__ = self.error
        return error


def placeholder_refused(error: BaseException) -> NotImported | None:
    """Return the placeholder that a library refused: "must be tuple of ints, not NotImported".

    None if the message names none, or if the frames of the traceback know several.
    """
    try:
        text = str(error)
    except Exception:
        # ``__str__`` may be the user's code.
        return None
    if NotImported.__name__ in text:
        values = _known_values(error.__traceback__)
    elif _UNNAMED in text:
        values = _arguments_of_innermost(error.__traceback__)
    else:
        return None
    found = {id(each): each for each in values if isinstance(each, NotImported)}
    return found.popitem()[1] if len(found) == 1 else None


_UNNAMED = "received an invalid combination of arguments"
"""What torch 2.6 says of a placeholder among sizes: "got (tuple, dtype=NoneType)"."""


def _known_values(traceback: TracebackType | None) -> Iterator[object]:
    while traceback is not None:
        frame = traceback.tb_frame
        yield from frame.f_locals.values()
        yield from (frame.f_globals.get(name) for name in frame.f_code.co_names)
        traceback = traceback.tb_next


def _arguments_of_innermost(traceback: TracebackType | None) -> Iterator[object]:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is not None:
        yield from traceback.tb_frame.f_locals.values()
