"""Seccomp: Linux refuses a process system calls that a trace must not make.

It completes what :mod:`.landlock` does not cover: modes, owners, times and attributes of files, sockets, new programs,
other processes' memory. Like Landlock it needs no privileges and cannot be undone.

The filter is a program for the kernel's classic BPF machine. Source: the kernel's documentation,
userspace-api/seccomp_filter, ``linux/filter.h``, and the architectures' tables of system calls.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .system_call import prctl

_SET_NO_NEW_PRIVILEGES = 38
_GET_SECCOMP, _SET_SECCOMP, _FILTER_MODE = 21, 22, 2

_LOAD_WORD, _JUMP_IF_EQUAL, _JUMP_IF_GREATER_OR_EQUAL, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
"""Codes of the instructions."""
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in ``struct seccomp_data``."""
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
"""Results of the filter. The lower half of the second is the error number; 0 makes the call succeed without effect."""
_REFUSE, _IGNORE, _LACKING = _FAIL | errno.EPERM, _FAIL, _FAIL | errno.ENOSYS

_FOREIGN_NUMBERS = 0x40000000
"""From here on, numbers belong to a second interface of x86-64."""


class _Architecture(NamedTuple):
    identifier: int
    column: int
    """Which number of :data:`_CALLS` belongs to it."""


_ARCHITECTURES = {"x86_64": _Architecture(0xC000003E, 0), "aarch64": _Architecture(0xC00000B7, 1)}

_CALLS: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "ioctl": (16, 29),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "truncate": (76, 45),
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "io_uring_setup": (425, 425),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "process_vm_writev": (311, 271),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "setns": (308, 268),
    "unshare": (272, 97),
    "mount": (165, 40),
}
"""Numbers of system calls on x86-64 and on AArch64; None where the architecture lacks one."""

_CHANGES_OF_ATTRIBUTES = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
    *("setxattrat", "removexattrat", "file_setattr"),
)
"""They have no effect and succeed: a filter cannot see whether the file is a temporary one, and copying one to another
sets its mode and times. Where a file lies elsewhere, the audit hook raises."""
_REFUSED_CALLS = (
    *("socket", "connect", "bind", "io_uring_setup"),
    *("execve", "execveat"),
    *("ptrace", "process_vm_writev"),
    *("mq_open", "mq_unlink", "shmget", "msgget", "semget"),
    *("bpf", "keyctl", "add_key", "setns", "unshare", "mount"),
)
"""Connections, programs, and the kernel's objects that other processes share. Pairs of connected sockets and pipes,
which no other process can reach, remain."""
_SIGNAL_CALLS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")
"""The first argument is a process."""
_ATTRIBUTE_REQUESTS = (0x40086602, 0x401C5820)
"""``FS_IOC_SETFLAGS`` and ``FS_IOC_FSSETXATTR``, which need no file opened for writing."""


class _Instruction(ctypes.Structure):
    """``struct sock_filter``."""

    _fields_ = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction))]


def has_seccomp() -> bool:
    """Return whether the system has seccomp, on an architecture whose system calls are known here."""
    if not sys.platform.startswith("linux") or platform.machine() not in _ARCHITECTURES or sys.maxsize < 2**32:
        return False
    try:
        return prctl(_GET_SECCOMP) >= 0
    except OSError:
        return False


def give_up_privileges() -> None:
    """Make sure that this process never gains privileges, which the system requires before it restricts itself.

    Raises:
        OSError: The system refuses.
    """
    prctl(_SET_NO_NEW_PRIVILEGES, 1)


class SystemCallFilter:
    """Filter, made once and installed in each of the processes that are forked from this one."""

    def __init__(self, protected: Sequence[int], refuse_truncation: bool) -> None:
        """
        Args:
            protected: Processes to which no signal may be sent; negative ones are groups.
            refuse_truncation: Whether files may not be shortened by their path either.
        """
        instructions = list(_filter(protected, refuse_truncation))
        self._instructions = (_Instruction * len(instructions))(*instructions)

    def install(self) -> None:
        """Install the filter in this thread, for it, its later threads and its children.

        Raises:
            OSError: The system refuses.
        """
        prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.byref(_Program(len(self._instructions), self._instructions)))


def _filter(protected: Sequence[int], refuse_truncation: bool) -> Iterable[_Instruction]:
    architecture = _ARCHITECTURES[platform.machine()]
    yield _Instruction(_LOAD_WORD, 0, 0, _ARCHITECTURE)
    yield _Instruction(_JUMP_IF_EQUAL, 1, 0, architecture.identifier)
    yield _Instruction(_RETURN, 0, 0, _REFUSE)
    yield _Instruction(_LOAD_WORD, 0, 0, _NUMBER)
    yield _Instruction(_JUMP_IF_GREATER_OR_EQUAL, 0, 1, _FOREIGN_NUMBERS)
    yield _Instruction(_RETURN, 0, 0, _LACKING)
    for result, names in ((_IGNORE, _CHANGES_OF_ATTRIBUTES), (_REFUSE, _REFUSED_CALLS)):
        for number in _numbers(names, architecture):
            yield from _on(number, [_Instruction(_RETURN, 0, 0, result)])
    for number in _numbers(("ioctl",), architecture):
        yield from _on(number, _unless_argument_is(1, _ATTRIBUTE_REQUESTS, _IGNORE))
    if protected:
        for number in _numbers(_SIGNAL_CALLS, architecture):
            yield from _on(number, _unless_argument_is(0, [each & 0xFFFFFFFF for each in protected], _REFUSE))
    if refuse_truncation:
        yield from _truncation(architecture)
    yield _Instruction(_RETURN, 0, 0, _ALLOW)


def _truncation(architecture: _Architecture) -> Iterable[_Instruction]:
    """Refuse ``truncate``, and to open a file that is emptied without being opened for writing."""
    for number in _numbers(("truncate",), architecture):
        yield from _on(number, [_Instruction(_RETURN, 0, 0, _REFUSE)])
    for number in _numbers(("openat2",), architecture):
        # Its flags are in a structure, out of a filter's sight; C libraries use openat in its place.
        yield from _on(number, [_Instruction(_RETURN, 0, 0, _LACKING)])
    for argument, name in ((1, "open"), (2, "openat")):
        for number in _numbers((name,), architecture):
            yield from _on(number, _unless_argument_is(argument, [os.O_TRUNC], _REFUSE, mask=os.O_TRUNC | os.O_ACCMODE))


def _numbers(names: Iterable[str], architecture: _Architecture) -> Iterable[int]:
    for name in names:
        number = _CALLS[name][architecture.column]
        if number is not None:
            yield number


def _on(number: int, instructions: Sequence[_Instruction]) -> Iterable[_Instruction]:
    """Yield instructions that only the system call of that number reaches; they must end with a result."""
    yield _Instruction(_JUMP_IF_EQUAL, 0, len(instructions), number)
    yield from instructions


def _unless_argument_is(
    index: int, values: Sequence[int], result: int, mask: int = 0xFFFFFFFF
) -> Sequence[_Instruction]:
    """Return instructions that allow the call unless the lower half of an argument is one of ``values``."""
    compared = [
        instruction
        for value in values
        for instruction in (_Instruction(_JUMP_IF_EQUAL, 0, 1, value), _Instruction(_RETURN, 0, 0, result))
    ]
    masked = [] if mask == 0xFFFFFFFF else [_Instruction(_AND, 0, 0, mask)]
    load = _Instruction(_LOAD_WORD, 0, 0, _ARGUMENTS + 8 * index)
    return [load, *masked, *compared, _Instruction(_RETURN, 0, 0, _ALLOW)]
