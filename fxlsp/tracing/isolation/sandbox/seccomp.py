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
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .system_call import prctl, system_call

_SET_NO_NEW_PRIVILEGES = 38
_SET_CAPABILITIES = (126, 91)
_CAPABILITY_VERSION = 0x20080522
_READ_ANY_FILE = 1 << 2
"""``CAP_DAC_READ_SEARCH``. ``CAP_DAC_OVERRIDE``, the bit before, would let root write too (capabilities(7))."""
_GET_SECCOMP, _SET_SECCOMP, _FILTER_MODE = 21, 22, 2

_LOAD_WORD, _JUMP_IF_EQUAL, _JUMP_IF_GREATER_OR_EQUAL, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
"""Codes of the instructions."""
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in ``struct seccomp_data``."""
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
"""Results of the filter. The lower half of the second is the error number; 0 makes the call succeed without effect."""
_REFUSE, _IGNORE, _LACKING = _FAIL | errno.EPERM, _FAIL, _FAIL | errno.ENOSYS

_WORD = 0xFFFFFFFF
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
    "fcntl": (72, 25),
    "flock": (73, 32),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "memfd_create": (319, 279),
    "clone": (56, 220),
    "clone3": (435, 435),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "open_by_handle_at": (304, 265),
    "truncate": (76, 45),
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "io_uring_setup": (425, 425),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "prlimit64": (302, 261),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "setns": (308, 268),
    "unshare": (272, 97),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
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
_LOCKS = ("flock",)
"""They succeed without effect as well: a lock on a file that can only be read keeps the user's programs waiting, and a
model that locks its data must not fail, nor wait for another program. See :data:`_LOCK_COMMANDS`."""
_LACKING_CALLS = ("clone3", "memfd_create")
"""Calls that programs do without if the system is too old for them. The flags of the first are in a structure, out of a
filter's sight; files of the second take memory that belongs to no process, so that no limit counts it."""
_REFUSED_CALLS = (
    *("connect", "bind", "listen", "sendmsg", "sendmmsg", "io_uring_setup"),
    *("execve", "execveat"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp"),
    *("pidfd_getfd", "pidfd_send_signal", "perf_event_open", "inotify_init", "inotify_init1", "fanotify_init"),
    *("mq_open", "mq_unlink", "shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl"),
    *("semget", "semctl", "semop", "semtimedop", "bpf", "keyctl", "add_key", "request_key"),
    *("setns", "unshare", "mount", "mount_setattr", "open_by_handle_at"),
)
"""Connections, programs, other processes, and what the processes of a user share: objects of the kernel, and the number
of its watches of files. Pairs of connected sockets and pipes, which no other process can reach, remain."""
_SIGNAL_CALLS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")
"""The first argument is a process."""
_OF_A_PROCESS = {
    "prlimit64": {0: 0},
    "sched_setaffinity": {0: 0},
    "sched_setscheduler": {0: 0},
    "sched_setparam": {0: 0},
    "sched_setattr": {0: 0},
    "setpriority": {0: 0, 1: 0},
    "ioprio_set": {0: 1, 1: 0},
    "move_pages": {0: 0},
    "migrate_pages": {0: 0},
}
"""Calls that change limits and priorities, with the arguments by which they concern the calling process alone."""
_FAMILIES = (1, 2, 10)
"""``AF_UNIX``, ``AF_INET`` and ``AF_INET6``. A socket of these does nothing by itself, and modules create some."""
_REQUESTS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x80086601)
"""``TCGETS`` in both forms, ``TIOCGWINSZ``, ``FIONREAD``, ``FIONBIO``, ``FIONCLEX``, ``FIOCLEX``, ``FS_IOC_GETFLAGS``:
the requests to devices that only read, or concern the own descriptor."""
_NAMESPACES = 0x7E020000
"""Flags of ``clone`` for namespaces of mounts, groups, names, users, processes, networks. In one of its own a process
would have the privileges of root, behind which there is more of the kernel to attack."""
_LOCK_COMMANDS = (6, 7, 37, 38)
"""``F_SETLK``, ``F_SETLKW``, ``F_OFD_SETLK``, ``F_OFD_SETLKW``: see :data:`_LOCKS`."""
_OWN_COMMANDS = (*range(6), 9, 11, 16, 36, 1025, 1027, 1028, 1030, 1032, 1033, 1034, 1035, 1037)
"""Commands of ``fcntl`` that only read, or concern the own descriptors: duplicates, flags, ``F_GETLK``, ``F_GETOWN``,
``F_GETSIG``, ``F_GETOWN_EX``, ``F_OFD_GETLK``, ``F_GETLEASE``, ``F_DUPFD_QUERY``, ``F_CREATED_QUERY``,
``F_DUPFD_CLOEXEC``, ``F_GETPIPE_SZ``, seals of anonymous files, and hints that are read. With the others the kernel
sends signals (``F_SETOWN``, ``F_SETLEASE``, ``F_NOTIFY``), or they change the file or the user's share of pipes."""


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

    Those that it has as root are given up too, but for reading files of other users.

    Raises:
        OSError: The system refuses.
    """
    prctl(_SET_NO_NEW_PRIVILEGES, 1)
    if os.geteuid() == 0 and platform.machine() in _ARCHITECTURES:
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
        # Effective, permitted and inheritable ones, each in two words.
        kept = (ctypes.c_uint32 * 6)(_READ_ANY_FILE, _READ_ANY_FILE, 0, 0, 0, 0)
        number = _SET_CAPABILITIES[_ARCHITECTURES[platform.machine()].column]
        system_call(number, ctypes.byref(header), ctypes.byref(kept))


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
    results = ((_IGNORE, (*_CHANGES_OF_ATTRIBUTES, *_LOCKS)), (_REFUSE, _REFUSED_CALLS), (_LACKING, _LACKING_CALLS))
    for result, names in results:
        for number in _numbers(names, architecture):
            yield from _on(number, [_Instruction(_RETURN, 0, 0, result)])
    yield from _by_arguments(protected, architecture)
    if refuse_truncation:
        yield from _truncation(architecture)
    yield _Instruction(_RETURN, 0, 0, _ALLOW)


def _by_arguments(protected: Sequence[int], architecture: _Architecture) -> Iterable[_Instruction]:
    """Refuse calls with certain arguments."""
    for number in _numbers(("ioctl",), architecture):
        yield from _on(number, _decided_by(1, _REQUESTS, listed=_ALLOW, others=_FAIL | errno.ENOTTY))
    for number in _numbers(("fcntl",), architecture):
        *own, _ = _decided_by(1, _OWN_COMMANDS, listed=_ALLOW, others=_REFUSE)
        _, *locks = _decided_by(1, _LOCK_COMMANDS, listed=_IGNORE, others=_REFUSE)
        yield from _on(number, [*own, *locks])
    for number in _numbers(("clone",), architecture):
        yield from _on(number, _decided_by(0, (0,), listed=_ALLOW, others=_REFUSE, mask=_NAMESPACES))
    for number in _numbers(("socket",), architecture):
        yield from _on(number, _decided_by(0, _FAMILIES, listed=_ALLOW, others=_REFUSE))
    for number in _numbers(("sendto",), architecture):
        # Without an address, which is a pointer, it sends to the other end of a pair.
        yield from _on(number, _only_if({_argument(4): 0, _argument(4) + 4: 0}))
    for name, conditions in _OF_A_PROCESS.items():
        for number in _numbers((name,), architecture):
            yield from _on(number, _only_if({_argument(index): value for index, value in conditions.items()}))
    if protected:
        for number in _numbers(_SIGNAL_CALLS, architecture):
            yield from _on(number, _decided_by(0, protected, listed=_REFUSE, others=_ALLOW))


def _truncation(architecture: _Architecture) -> Iterable[_Instruction]:
    """Refuse ``truncate``, and to open a file that is emptied without being opened for writing."""
    for number in _numbers(("truncate",), architecture):
        yield from _on(number, [_Instruction(_RETURN, 0, 0, _REFUSE)])
    for number in _numbers(("openat2",), architecture):
        # Its flags are in a structure, out of a filter's sight; C libraries use openat in its place.
        yield from _on(number, [_Instruction(_RETURN, 0, 0, _LACKING)])
    mask = os.O_TRUNC | os.O_ACCMODE
    # The access mode 3 asks for no right at all, and empties a file all the same.
    emptied = (os.O_TRUNC, os.O_TRUNC | os.O_ACCMODE)
    for argument, name in ((1, "open"), (2, "openat")):
        for number in _numbers((name,), architecture):
            yield from _on(number, _decided_by(argument, emptied, listed=_REFUSE, others=_ALLOW, mask=mask))


def _numbers(names: Iterable[str], architecture: _Architecture) -> Iterable[int]:
    for name in names:
        number = _CALLS[name][architecture.column]
        if number is not None:
            yield number


def _on(number: int, instructions: Sequence[_Instruction]) -> Iterable[_Instruction]:
    """Yield instructions that only the system call of that number reaches; they must end with a result."""
    yield _Instruction(_JUMP_IF_EQUAL, 0, len(instructions), number)
    yield from instructions


def _decided_by(
    index: int, values: Sequence[int], *, listed: int, others: int, mask: int = _WORD
) -> Sequence[_Instruction]:
    """Return instructions with one result if the lower half of an argument is one of ``values``, else the other."""
    compared = [
        instruction
        for value in values
        for instruction in (_Instruction(_JUMP_IF_EQUAL, 0, 1, value & _WORD), _Instruction(_RETURN, 0, 0, listed))
    ]
    masked = [] if mask == _WORD else [_Instruction(_AND, 0, 0, mask)]
    return [_Instruction(_LOAD_WORD, 0, 0, _argument(index)), *masked, *compared, _Instruction(_RETURN, 0, 0, others)]


def _only_if(conditions: Mapping[int, int]) -> Sequence[_Instruction]:
    """Return instructions that allow a call if the words at all the offsets have these values."""
    compared = [
        instruction
        for offset, value in conditions.items()
        for instruction in (
            _Instruction(_LOAD_WORD, 0, 0, offset),
            _Instruction(_JUMP_IF_EQUAL, 1, 0, value),
            _Instruction(_RETURN, 0, 0, _REFUSE),
        )
    ]
    return [*compared, _Instruction(_RETURN, 0, 0, _ALLOW)]


def _argument(index: int) -> int:
    """Return the offset of an argument's lower half; the architectures here have it first."""
    return _ARGUMENTS + 8 * index
