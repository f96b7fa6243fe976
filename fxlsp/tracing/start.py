"""The first steps of a template process: say what this interpreter is, or why it will not do.

Imports neither torch nor any module that does, so that it can say that torch is missing.
"""

from __future__ import annotations

import os
import platform
import socket
import sys

from ..report.codes import NO_INTERPRETER
from ..report.wire import PROTOCOL, encode
from .death import die_with_parent

OLDEST_PYTHON = (3, 10)
OLDEST_TORCH = (2, 6)
NEWEST_PYTHON = (3, 13)
NEWEST_TORCH = (2, 15)
"""What pyproject.toml claims, and the tests are run on; newer ones are tried, and said to be untested."""


def start(descriptor: int) -> None:
    """Become the template that talks on ``descriptor``; returns when the server has gone."""
    parent = os.getppid()
    die_with_parent(parent)
    connection = socket.socket(fileno=descriptor)
    # User code that starts a process must not hand it this connection.
    connection.set_inheritable(False)
    refusal = _refusal()
    if refusal is not None:
        connection.sendall(encode({"type": "refused", "code": NO_INTERPRETER, "message": refusal}))
        return
    import torch

    from .template import Template

    hello = {
        "type": "hello",
        "protocol": PROTOCOL,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "executable": sys.executable,
        "fork": hasattr(os, "fork"),
        "positions": sys.version_info >= (3, 11),
    }
    Template(connection, hello, untested(sys.version_info[:2], str(torch.__version__))).serve()


def untested(python: tuple[int, int], torch: str) -> str | None:
    """What to say of versions that are newer than those fxlsp was tested with; None if they are not."""
    if python <= NEWEST_PYTHON and _version(torch) <= NEWEST_TORCH:
        return None
    return (
        f"fxlsp was tested with Python up to {_dotted(NEWEST_PYTHON)} and torch up to {_dotted(NEWEST_TORCH)}; "
        f"{sys.executable} has Python {_dotted(python)} and torch {torch}, which may or may not work"
    )


def _refusal() -> str | None:
    here = f"{sys.executable} (Python {platform.python_version()})"
    if sys.version_info[:2] < OLDEST_PYTHON:
        return f"fxlsp needs Python {_dotted(OLDEST_PYTHON)} or later to trace, and {here} is older"
    try:
        import torch
    except ImportError as error:
        if error.name == "torch":
            return f"{here} has no torch: install torch there, or choose the interpreter of your project"
        return f"{here} cannot import torch: {error}"
    except Exception as error:
        return f"{here} cannot import torch: {type(error).__name__}: {error}"
    version = str(torch.__version__)
    if _version(version) < OLDEST_TORCH:
        return f"fxlsp needs torch {_dotted(OLDEST_TORCH)} or later, and {here} has torch {version}"
    if not hasattr(os, "fork"):
        return f"fxlsp traces in forked processes, which {sys.platform} does not have"
    return None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.partition("+")[0].split(".")[:2] if part.isdecimal())


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
