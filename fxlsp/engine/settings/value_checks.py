"""Checks of single values of settings, as TOML or JSON holds them.

Each check takes the dotted key and the value, returns the value as :class:`~fxlsp.engine.settings.settings.Settings`
holds it, and raises ``ValueError`` with a message for the user if the value has the wrong type or is not allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fxlsp.report.codes import is_code_prefix, no_code


def text(name: str, value: Any) -> str | None:
    """Return a string; None for an empty one."""
    if not isinstance(value, str):
        raise ValueError(f"'{name}' must be a string, not {value!r}")
    return value or None


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of strings, none of which is empty."""
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise ValueError(f"'{name}' must be a list of strings, not {value!r}")
    return tuple(value)


def expressions(name: str, value: Any) -> tuple[str, ...]:
    """Return one or several recipes from a string or a list of strings."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise ValueError(f"'{name}' must be a string or a list of strings, not {value!r}")


def is_object_reference(text: str) -> bool:
    """Return whether a text has the form ``module:Name`` or ``file.py:Name``."""
    return re.fullmatch(r".*[^:]:[^\W\d]\w*", text) is not None


def class_reference(name: str, value: Any) -> str | None:
    """Return a class as ``module:Name`` or ``file.py:Name``; None for an empty string."""
    reference = text(name, value)
    if reference is not None and not is_object_reference(reference):
        raise ValueError(f"'{name}' must be 'package.module:Name' or 'file.py:Name', not {value!r}")
    return reference


def function_references(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of functions, each as ``module:function``.

    ``module.function`` is accepted too.
    """
    return tuple(_function_reference(name, text) for text in texts(name, value))


def _function_reference(name: str, text: str) -> str:
    reference = text if ":" in text else ":".join(text.rsplit(".", 1))
    if not is_object_reference(reference):
        raise ValueError(f"'{name}' must list functions as 'package.module:function', not {text!r}")
    return reference


def one_of(*choices: str) -> Callable[[str, Any], str]:
    """Return a check that allows these strings alone."""

    def check(name: str, value: Any) -> str:
        if value not in choices:
            raise ValueError(f"'{name}' must be one of {', '.join(choices)}, not {value!r}")
        return str(value)

    return check


def some_of(*choices: str) -> Callable[[str, Any], tuple[str, ...]]:
    """Return a check that allows a list of these strings, and returns them in the order of ``choices``."""

    def check(name: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or any(each not in choices for each in value):
            raise ValueError(f"'{name}' must be a list of {', '.join(choices)}, not {value!r}")
        return tuple(choice for choice in choices if choice in value)

    return check


def code_prefixes(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of problem codes and beginnings of problem codes."""
    if not isinstance(value, list):
        raise ValueError(f"'{name}' must be a list of problem codes, not {value!r}")
    return tuple(code_prefix(name, code) for code in value)


def code_prefix(name: str, value: Any) -> str:
    """Return a problem code, or the beginning of at least one."""
    code = value if isinstance(value, str) else repr(value)
    if not is_code_prefix(code):
        raise ValueError(f"'{name}': {no_code(code)}")
    return code


def flag(name: str, value: Any) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise ValueError(f"'{name}' must be true or false, not {value!r}")
    return value


def flag_or_table(name: str, value: Any) -> None:
    """Refuse any value: a boolean or a table has been split into its keys before."""
    raise ValueError(f"'{name}' must be true, false or a table, not {value!r}")


def positive(name: str, value: Any) -> float:
    """Return a number above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"'{name}' must be a number above 0, not {value!r}")
    return float(value)


def positive_integer(name: str, value: Any) -> int:
    """Return an integer above 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ValueError(f"'{name}' must be an integer above 0, not {value!r}")
    return value
