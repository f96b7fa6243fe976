"""What is damaged in what fxlsp stores is rebuilt, and never believed."""

from __future__ import annotations

import errno
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fxlsp.engine.storage.user_choices_file import ChoiceKey, UserChoicesFile
from tests.engine.storage.stores import ENTRY, NEW, OLD, Choices, Stored, Trusted


def damaged(data: bytes, generator: random.Random) -> Iterator[bytes]:
    """Yield contents that are not what was written."""
    yield from (b"", b"\0" * len(data), b"\xff\xfe" + data, b"[" * 10**5, b"{" * 10**5, b"null", b"1e999", b'"' + data)
    yield from (data[: len(data) * tenth // 10] for tenth in range(10))
    yield data + data
    yield data[: len(data) // 2] + bytes(len(data) - len(data) // 2)
    for _ in range(60):
        changed = bytearray(data)
        for _ in range(generator.choice((1, 1, 4, 40))):
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        yield bytes(changed)
    yield generator.randbytes(4096)


def other_types(value: Any, generator: random.Random) -> Any:
    """Return JSON in which one value, anywhere, is of another type."""
    strange: list[Any] = [None, True, 0, -1, 1e308, "", "text", [], [[]], {}, {"": {}}, [None], {"a": [1]}]
    if isinstance(value, dict) and value and generator.random() < 0.8:
        key = generator.choice(sorted(value))
        return {**value, key: other_types(value[key], generator)}
    if isinstance(value, list) and value and generator.random() < 0.8:
        at = generator.randrange(len(value))
        return [*value[:at], other_types(value[at], generator), *value[at + 1 :]]
    return generator.choice([each for each in strange if type(each) is not type(value)])


def test_no_damage_is_believed_and_the_next_write_mends_it(store: Stored) -> None:
    good = store.path.read_bytes()
    for content in damaged(good, random.Random(1)):
        if content == good:
            continue
        store.path.write_bytes(content)
        # Choices and trusted folders are read by users too, so they may be written in another way: then all is there.
        assert store.is_nothing() or (_is_same_json(content, good) and store.is_old()) or _is_text_changed(store)
    store.path.write_bytes(good[:-9])
    store.write()
    assert not store.is_nothing()


def _is_same_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def _is_text_changed(store: Stored) -> bool:
    """Return whether what is read differs in the user's text alone, which nothing can check: a name, a path."""
    if isinstance(store, Trusted):
        return all(os.path.isabs(folder) for folder in store.file.read())
    return isinstance(store, Choices) and all(isinstance(key.name, str) for key in store.file.read())


def test_json_of_other_types_is_not_believed(store: Stored) -> None:
    good = store.path.read_text()
    generator = random.Random(2)
    for _ in range(300):
        store.path.write_text(json.dumps(other_types(json.loads(good), generator)))
        if isinstance(store, Choices):
            # Entries are looked at where they are used, one by one.
            assert store.is_nothing() or all(isinstance(key, ChoiceKey) for key in store.file.read())
        else:
            assert store.is_nothing() or (isinstance(store, Trusted) and store.file.read() <= {"/old"})


def test_files_of_other_versions_are_not_believed(store: Stored) -> None:
    good = store.path.read_text()
    for version in (0, 2, 7, "0", "0.0.9-1", None, True, 1.5, [1]):
        data = json.loads(good)
        store.path.write_text(json.dumps({**data, "version": version}))
        assert store.is_nothing()


@pytest.mark.parametrize("text", ["{" + " " * 10**7, '{"version": 1, "x": "' + "x" * 10**7])
def test_a_huge_file_is_nothing(text: str, store: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("index_files", "user_choices_file", "trusted_folders"):
        monkeypatch.setattr(f"fxlsp.engine.storage.{module}._MOST_BYTES", 10**6)
    store.path.write_text(text)
    monkeypatch.setattr("json.loads", lambda *_: pytest.fail("it was read"))
    assert store.is_nothing()


def test_a_folder_or_a_pipe_in_the_place_of_the_file_is_nothing(store: Stored) -> None:
    store.path.unlink()
    store.path.mkdir()
    assert store.is_nothing()
    store.path.rmdir()
    if hasattr(os, "mkfifo") and isinstance(store, Trusted):
        os.mkfifo(store.path)
        assert store.is_nothing()


def test_choices_of_before_the_last_change_survive_damage_and_what_is_damaged_is_kept(tmp_path: Path) -> None:
    file = UserChoicesFile("/project", tmp_path)
    file.write({OLD: ENTRY})
    file.write({NEW: ENTRY})
    file.path.write_text("{ damaged")
    assert file.read() == {OLD: ENTRY}
    last = ChoiceKey("instances", "net.py", "Last")
    file.write({last: {}})
    assert file.read() == {OLD: ENTRY, last: {}}
    assert file.path.with_suffix(".damaged").read_text() == "{ damaged"


def test_a_file_that_cannot_be_read_now_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Descriptors may be exhausted for a moment: the choices in the file are still there afterwards."""
    file = UserChoicesFile("/project", tmp_path)
    file.write({OLD: ENTRY})

    def fail(_: Path) -> bytes:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", fail)
        with pytest.raises(OSError, match="Too many"):
            file.write({NEW: ENTRY})
    assert file.read() == {OLD: ENTRY}
