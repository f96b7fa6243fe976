"""Recording: one JSON file of how the modules of a workspace were made and called.

Read as data only: whatever a file contains, reading it runs nothing. Written as a whole and merged with what is there,
so that two programs may record at once, and one that is killed loses nothing that was there before.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

VERSION = 1
MOST_BYTES = 20 * 2**20
"""A larger file was not written by fxlsp, and is not read into memory."""
MOST_FOLDERS = 16
"""Limit of the folders of one instance."""
NAME_IN_WORKSPACE = "fxlsp-recording.json"
"""Name by which a recording is found that is part of a workspace."""

_MOST_INSTANCES = 8
"""Limit of ways to make one class, the newest first."""
_MOST_CALLS = 8
_OLDEST_SECONDS = 180 * 24 * 3600.0
_ABANDONED_SECONDS = 3600.0
_LOCK_SECONDS = 2.0
_LONGEST_TEXT = 300
_LOCK_STEP_SECONDS = 0.01


class RecordingError(Exception):
    """A file is no recording that can be read; the message is one line that says why."""


@dataclass(frozen=True)
class CallNote:
    """One call of an instance."""

    args: tuple[Any, ...]
    """Described values, as :mod:`.argument_values` returns them."""
    kwargs: dict[str, Any]
    training: bool
    autocast: str | None = None
    dtype: str | None = None
    """Of the instance's parameters, if it is not ``float32``."""
    at: str | None = None
    """``train.py:31``, the line that called it."""

    @property
    def key(self) -> str:
        """Text that is equal for calls with equal arguments."""
        return _text([self.args, self.kwargs, self.training, self.autocast, self.dtype])

    def to_json(self) -> dict[str, Any]:
        return _without_none(self)


@dataclass(frozen=True)
class RecordedInstance:
    """One way in which a class was made, and the calls of what was made."""

    file: str
    """Of the class, relative to the workspace folder, with ``/``."""
    name: str
    """Qualified name of the class."""
    source: str
    """Program that made it: ``train.py``."""
    time: float
    """Seconds since the epoch."""
    init: dict[str, Any] | None = None
    """Described arguments, ``{"args": [...], "kwargs": {...}}``; None if they are not known."""
    calls: tuple[CallNote, ...] = ()
    at: str | None = None
    """``train.py:12``, the line that made it."""
    folders: tuple[str, ...] = ()
    """Folders of the workspace that the program imported from, relative to it, with ``/``, in its order; ``.`` for the
    workspace folder itself."""
    python: str = ""
    torch: str = ""

    @property
    def key(self) -> str:
        """Text that is equal for instances of one class that were made with equal arguments."""
        return _text([self.file, self.name, self.init])

    def to_json(self) -> dict[str, Any]:
        folders = {"folders": list(self.folders)} if self.folders else {}
        others = {name: each for name, each in _without_none(self).items() if name != "folders"}
        return {**others, **folders, "calls": [call.to_json() for call in self.calls]}


def read_recording(path: str) -> tuple[RecordedInstance, ...]:
    """Return what a file has recorded, the newest first.

    Raises:
        FileNotFoundError: there is no file.
        RecordingError: it cannot be read, or is not a recording of this version.
    """
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(data) > MOST_BYTES:
        raise RecordingError(f"{path} is no recording: it has more than {MOST_BYTES // 2**20} MB")
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path} is damaged: it is not JSON") from error
    version = found.get("fxlsp_recording") if isinstance(found, dict) else None
    if type(version) is not int:
        raise RecordingError(f"{path} is no recording of fxlsp")
    if version != VERSION:
        raise RecordingError(f"{path} is a recording of version {version}; this fxlsp reads version {VERSION}")
    try:
        return tuple(_instance(each) for each in found["instances"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise RecordingError(f"{path} is damaged: an entry is not as fxlsp writes it") from error


def merge_into(path: str, news: Iterable[RecordedInstance], folder: str) -> None:
    """Add what is new to a file, and drop what is old or of classes that are gone.

    What is in the file stays as it is if anything fails.

    Args:
        folder: the workspace folder.

    Raises:
        OSError: the file cannot be written.
        RecordingError: there is a file that is no recording of this version.
    """
    parent = os.path.dirname(path) or os.curdir
    os.makedirs(parent, mode=0o700, exist_ok=True)
    with _locked(path):
        known: tuple[RecordedInstance, ...] = ()
        with contextlib.suppress(FileNotFoundError):
            known = read_recording(path)
        merged = _merged(news, known, folder)
        if merged != known:
            _write(path, _file_text(merged))


def _file_text(instances: Iterable[RecordedInstance]) -> str:
    """Return the content of a file: one line for each instance, so that two versions of it can be compared."""
    lines = ",\n".join(f"  {_text(each.to_json())}" for each in instances)
    return f'{{"fxlsp_recording": {VERSION}, "instances": [\n{lines}\n]}}\n'


def _merged(
    news: Iterable[RecordedInstance], known: Iterable[RecordedInstance], folder: str
) -> tuple[RecordedInstance, ...]:
    by_key: dict[str, RecordedInstance] = {}
    for each in sorted((*news, *known), key=lambda instance: -instance.time):
        newer = by_key.get(each.key)
        if newer is not None:
            calls = {call.key: call for call in (*each.calls, *newer.calls)}
            ordered = {call.key: call for call in newer.calls} | calls
            each = replace(newer, calls=tuple(ordered.values())[:_MOST_CALLS])  # noqa: PLW2901
        by_key[each.key] = each
    oldest = time.time() - _OLDEST_SECONDS
    counts: dict[tuple[str, str], int] = {}
    merged = []
    texts: dict[str, str] = {}
    for each in by_key.values():
        model = (each.file, each.name)
        counts[model] = counts.get(model, 0) + 1
        if counts[model] <= _MOST_INSTANCES and each.time >= oldest and _is_there(each, folder, texts):
            merged.append(each)
    return tuple(merged)


def _is_there(instance: RecordedInstance, folder: str, texts: dict[str, str]) -> bool:
    """Return whether the file of a class still has a class of that name."""
    if instance.file not in texts:
        try:
            with open(os.path.join(folder, instance.file), encoding="utf-8", errors="replace") as file:
                texts[instance.file] = file.read()
        except OSError:
            texts[instance.file] = ""
    return f"class {instance.name.rpartition('.')[2]}" in texts[instance.file]


def _instance(data: dict[str, Any]) -> RecordedInstance:
    init = data.get("init")
    if init is not None:
        _check_arguments(init)
    texts = (data["file"], data["name"], data["source"], *(data.get(name, "") for name in ("at", "python", "torch")))
    if not all(map(_is_one_line, texts)):
        raise TypeError("a text is none")
    if not all(part.isidentifier() for part in data["name"].split(".")):
        raise ValueError("the name is no name of a class")
    calls = tuple(_call(each) for each in data["calls"])
    further = {name: data[name] for name in ("at", "python", "torch") if name in data}
    folders = _folders(data.get("folders", []))
    return RecordedInstance(
        data["file"], data["name"], data["source"], float(data["time"]), init, calls, folders=folders, **further
    )


def _folders(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or len(found) > MOST_FOLDERS or not all(map(is_folder_of_workspace, found)):
        raise ValueError("folders are no list of folders of the workspace")
    return tuple(found)


def is_folder_of_workspace(text: Any) -> bool:
    """Return whether a text names a folder below another one: no absolute path, and none that leads out."""
    return _is_one_line(text) and text != "" and not {"", ".."} & set(text.split("/")) and not set(text) & set("\\:")


def _call(data: dict[str, Any]) -> CallNote:
    _check_arguments(data)
    further = {name: data.get(name) for name in ("autocast", "dtype", "at")}
    if not all(value is None or _is_one_line(value) for value in further.values()):
        raise TypeError("a text is none")
    return CallNote(tuple(data["args"]), data["kwargs"], bool(data["training"]), **further)


def _check_arguments(data: Any) -> None:
    if not isinstance(data["args"], list) or not all(map(_is_one_line, data["kwargs"].keys())):
        raise TypeError("arguments are a list and an object")


def _is_one_line(text: Any) -> bool:
    """Return whether a text may be shown, in a lens or a message."""
    return isinstance(text, str) and len(text) <= _LONGEST_TEXT and (text.isprintable() or not text)


def _without_none(value: Any) -> dict[str, Any]:
    return {name: each for name, each in vars(value).items() if each is not None and each != ""}


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file that may be a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _write(path: str, text: str) -> None:
    """Replace a file completely or not at all."""
    parent, name = os.path.split(os.path.abspath(path))
    _remove_abandoned(parent, name)
    descriptor, temporary = tempfile.mkstemp(dir=parent, prefix=f"{name}.", suffix=".tmp")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _remove_abandoned(parent: str, name: str) -> None:
    """Remove what programs have left that were killed while they wrote."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(f"{name}.") and entry.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED_SECONDS:
                        os.unlink(entry.path)


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Take turns with other programs that record; without a lock where the system has none to give."""
    lock = None
    try:
        with contextlib.suppress(OSError, ImportError):
            import fcntl

            lock = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
            deadline = time.monotonic() + _LOCK_SECONDS
            while not _is_taken(fcntl, lock) and time.monotonic() < deadline:
                time.sleep(_LOCK_STEP_SECONDS)
        yield
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):
                os.close(lock)


def _is_taken(fcntl: Any, lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
