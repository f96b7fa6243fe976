"""Landlock: Linux refuses a process to change files outside one folder, or to signal others.

An audit hook sees what Python code does. What C code does is seen by the operating system alone. Landlock needs no
privileges, holds for all later threads and children of the process, and cannot be undone.

Its system calls have no wrapper in the C library or in Python; a traced project's interpreter has no package for them.
Source: the kernel's documentation, userspace-api/landlock, and ``linux/landlock.h``.
"""

from __future__ import annotations

import ctypes
import os
import sys

from .system_call import system_call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls, the same on every architecture."""
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_WRITE_FILE = 1 << 1
_REFER = 1 << 13
"""Move or link a file into another folder. Version 1 of the interface refuses that without being asked to."""
_TRUNCATE = 1 << 14
_CHANGES = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
"""Write, remove a file or folder, and create one of any type: what version 1 can refuse."""
_DEVICES = 1 << 6 | 1 << 11
"""Create a character or block device, through which root could write to a disk."""
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1
"""Scopes of version 6: no connection or signal to a process without the same restriction."""
_REFER_VERSION, _TRUNCATE_VERSION, _SCOPE_VERSION = 2, 3, 6

NO_LANDLOCK = 0


class _Ruleset(ctypes.Structure):
    """``struct landlock_ruleset_attr``."""

    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    """``struct landlock_path_beneath_attr``."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def landlock_version() -> int:
    """Return the version of the system's Landlock interface; :data:`NO_LANDLOCK` without one."""
    if not sys.platform.startswith("linux"):
        return NO_LANDLOCK
    try:
        return system_call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return NO_LANDLOCK


def truncation_is_refused(version: int) -> bool:
    """Return whether that version refuses to shorten files by their path."""
    return version >= _TRUNCATE_VERSION


def signals_are_refused(version: int) -> bool:
    """Return whether that version refuses signals to other processes."""
    return version >= _SCOPE_VERSION


def allow_changes_only_in(folder: str, version: int) -> None:
    """Refuse this thread, and its later threads and children, every change of files outside ``folder``.

    ``/dev/null`` can be written to as well. Files that are open already are not affected. From version 6 on, signals
    to processes other than this one and its later children are refused too.

    Raises:
        OSError: The system refuses, or the folder does not exist.
    """
    changes = _CHANGES
    if version >= _REFER_VERSION:
        changes |= _REFER
    if truncation_is_refused(version):
        changes |= _TRUNCATE
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if signals_are_refused(version) else 0
    attributes = _Ruleset(changes, 0, scoped)
    # Older kernels know the first fields only, and accept a longer structure whose unknown fields are zero.
    ruleset = system_call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.sizeof(attributes), 0)
    try:
        _allow(ruleset, folder, changes & ~_DEVICES)
        _allow(ruleset, os.devnull, changes & (_WRITE_FILE | _TRUNCATE))
        system_call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, changes: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _PathBeneath(changes, descriptor)
        system_call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)
