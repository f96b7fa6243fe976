"""System calls that Python has no function for."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_libc = None if os.name == "nt" else ctypes.CDLL(None, use_errno=True)


def system_call(number: int, *arguments: Any) -> int:
    """Call the kernel directly.

    Args:
        number: Number of the system call on this architecture.
        arguments: Integers, None, or pointers.

    Raises:
        OSError: The call failed.
    """
    assert _libc is not None
    converted = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    result = _libc.syscall(ctypes.c_long(number), *converted)
    return checked(result)


def prctl(option: int, *arguments: Any) -> int:
    """Call ``prctl``.

    Raises:
        OSError: The call failed.
    """
    assert _libc is not None
    converted = [ctypes.c_ulong(each) if isinstance(each, int) else each for each in arguments]
    padding = [ctypes.c_ulong(0)] * (4 - len(converted))
    return checked(_libc.prctl(option, *converted, *padding))


def checked(result: int) -> int:
    """Return the result of a C function that reports failures by -1 and ``errno``.

    Raises:
        OSError: The function failed.
    """
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
