"""Corrections of what kind a constructor argument is: by the error, by what its chameleon was used as, by its name."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import FrameType, TracebackType
from typing import Any

import torch

from ..failures import text_of
from ..frames import Places, is_installed
from .attempts import Outcome
from .chameleon import Chameleon, Use, class_name
from .guesses import Group, Guess, Open, Path, Size, Tensor, Text, Trial, changed, leaves, part_at
from .names import Names, called_class, called_module, likely_words, sizes_of
from .sizes import number_of, numbers, with_number


def read(trial: Trial, outcome: Outcome, names: Names, places: Places) -> Iterator[Trial]:
    """Trials that the error suggests for what the model is made with."""
    error = outcome.error
    if error is None:
        return
    text = text_of(error)
    yield from _missing(trial, error, text, names)
    named = [path for path in outcome.uses if class_name(path) in text]
    if isinstance(error, KeyError) and isinstance(error.args[0] if error.args else None, Chameleon):
        named.insert(0, error.args[0].fxlsp_use.path)
    frames = _own_frames(error.__traceback__, places)
    for path in named:
        yield from _by_words(trial, path, outcome.uses[path], text, frames)
    suspects = _suspects(frames, outcome.uses, trial) if frames else []
    for path in suspects:
        if path not in named:
            yield from _others(trial, path, outcome.uses.get(path), frames)


def with_options(trial: Trial, error: BaseException, optional: Mapping[str, Guess], places: Places) -> Iterator[Trial]:
    """Trials that pass an argument that defaults to None: first those that the failing line names."""
    if not isinstance(trial.made, Group):
        return
    frames = _own_frames(error.__traceback__, places)
    words = set(re.findall(r"[A-Za-z]\w*", " ".join(_failing_text(frame, line) for frame, line in frames[:2])))
    passed = dict(trial.made.items)
    for name in sorted(
        optional.keys() - passed.keys(), key=lambda name: (name not in words, list(optional).index(name))
    ):
        yield changed(trial, ("made", name), optional[name])


def _own_frames(traceback: TracebackType | None, places: Places) -> list[tuple[FrameType, int]]:
    """Frames of the user's code with their lines, innermost first."""
    found = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if places.is_shown(file) and not is_installed(file):
            found.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found[::-1]


def _missing(trial: Trial, error: BaseException, text: str, names: Names) -> Iterator[Trial]:
    """Attributes, keys and arguments that are asked for and not there yet."""
    match = re.search(r"'SimpleNamespace' object has no attribute '(\w+)'", text)
    if match is not None:
        yield from _extended(trial, "namespace", match.group(1), names)
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        yield from _extended(trial, "record", error.args[0], names)
        yield from _extended(trial, "dict", repr(error.args[0]), names)
        yield from _extended(trial, "call", error.args[0], names)
    match = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: '(\w+)'", text)
    if match is not None:
        yield from _extended(trial, "call", match.group(1), names)
    match = re.search(r"unexpected keyword argument '(\w+)'", text)
    if match is not None and isinstance(trial.made, Group):
        yield replace(trial, made=trial.made.without(match.group(1)))


def _extended(trial: Trial, kind: str, key: str, names: Names) -> Iterator[Trial]:
    for path, group in _groups(trial.made, ("made",)):
        if group.kind == kind and key not in dict(group.items):
            yield changed(trial, (*path, key), names.of(key.strip("'")))


def _groups(guess: Guess, path: Path) -> Iterator[tuple[Path, Group]]:
    if isinstance(guess, Group):
        yield path, guess
    for key, part in guess.parts:
        yield from _groups(part, (*path, key))


def _name(path: Path) -> str:
    return next((re.sub(r"\W", "", key) for key in reversed(path) if not re.fullmatch(r"\[\d+\]", key)), "")


def _by_words(trial: Trial, path: Path, use: Use, text: str, frames: list[tuple[FrameType, int]]) -> Iterator[Trial]:
    """What the error says that the chameleon at ``path`` should have been."""
    name = use.open.name
    likely: list[Guess] = []
    if "Module" in text or "child" in text:
        likely.append(Text(called_module(name)))
    if "list" in text:
        likely += [sizes_of(3, use.open.size), Group("list", ())]
    if "tuple" in text or "size" in text:
        likely += [replace(sizes_of(2, use.open.size), kind="tuple"), replace(sizes_of(3, use.open.size), kind="tuple")]
    if "str" in text or "KeyError" in text or "attribute name" in text or text.isdigit():
        likely += [Text(word) for word in (*map(repr, _words_used(use, frames)), *likely_words(name), "''")]
    if "class" in text or "issubclass" in text:
        likely.append(Text(called_class(name)))
    if "dict" in text or "mapping" in text:
        likely.append(Group("dict", ()))
    if "Tensor" in text or "parameter" in text:
        likely += [Tensor((use.open.size,)), Tensor((use.open.size, use.open.size))]
    if "None" in text:
        likely.append(Text("None"))
    for guess in likely:
        yield changed(trial, path, guess)
    yield from _others(trial, path, use, frames)


def _words_used(use: Use | None, frames: list[tuple[FrameType, int]]) -> list[str]:
    """Strings that it was compared with, and those of the code and the dicts where it failed."""
    found = [] if use is None else [each for each in use.compared if isinstance(each, str)]
    for frame, _ in frames[:1]:
        for constant in frame.f_code.co_consts:
            if isinstance(constant, (tuple, frozenset)):
                # A set of strings has another order in each process.
                found += sorted(each for each in constant if isinstance(each, str))
        for value in (*frame.f_locals.values(), *(frame.f_globals.get(name) for name in frame.f_code.co_names)):
            if isinstance(value, dict) and value is not frame.f_globals and len(value) < 64:
                found += [
                    key for key in value if isinstance(key, str) and key.isidentifier() and not key.startswith("__")
                ]
    return list(dict.fromkeys(found))[:12]


def _suspects(frames: list[tuple[FrameType, int]], uses: dict[Path, Use], trial: Trial) -> list[Path]:
    """Parts that the failing lines name, those of the innermost one first."""
    known = {
        path: _name(path)
        for path in (*(path for path, _ in leaves(trial)), *uses)
        if path[0] == "made" and len(path) > 1
    }
    found: list[Path] = []
    for frame, line in frames[:3]:
        text = _failing_text(frame, line)
        held = {id(value.fxlsp_use) for value in _held(frame) if isinstance(value, Chameleon)}
        words = set(re.findall(r"[A-Za-z_]\w*", text))
        found += [path for path, name in known.items() if name in words and path not in found]
        found += [path for path, use in uses.items() if id(use) in held and path not in found and path[0] == "made"]
    return found


def _failing_text(frame: FrameType, line: int) -> str:
    """The line that failed; of a ``raise`` the condition above it too."""
    lines = [linecache.getline(frame.f_code.co_filename, number) for number in range(max(1, line - 3), line + 1)]
    return "".join(lines) if "raise" in lines[-1] else lines[-1]


def _held(frame: FrameType) -> list[Any]:
    """Values of local variables that the frame's code names, and of attributes of its ``self``."""
    values = list(frame.f_locals.values())
    owner = frame.f_locals.get("self")
    return values + (list(vars(owner).values()) if isinstance(owner, torch.nn.Module) else [])


def _others(trial: Trial, path: Path, use: Use | None, frames: list[tuple[FrameType, int]]) -> Iterator[Trial]:
    """Everything else that the part at ``path`` may be."""
    part = use.open if use is not None else part_at(trial, path)
    name = _name(path)
    if isinstance(part, Text):
        yield changed(trial, path, Open(name, 2))
        part = Open(name, 2)
    if not isinstance(part, (Open, Size)):
        return
    texts = " ".join(_failing_text(frame, line) for frame, line in frames[:1])
    numbers_near = [int(number) for number in re.findall(r"(?<![\w.])\d{1,4}(?![\w.])", texts)]
    compared = [each for each in use.compared if isinstance(each, int)] if use is not None else []
    seen = {number_of(part)}
    for number in (*compared, *numbers_near):
        if number not in seen:
            seen.add(number)
            yield changed(trial, path, with_number(part, number))
    if use is not None:
        for word in _words_used(use, frames)[:6] or likely_words(name)[:2]:
            yield changed(trial, path, Text(word if word.startswith("'") else repr(word)))
    for _, other in numbers(trial):
        if number_of(other) not in seen:
            seen.add(number_of(other))
            yield changed(trial, path, with_number(part, number_of(other)))
    for number in (1, 2, 3, 4, 8, 16, 64, 256, 512):
        if number not in seen:
            yield changed(trial, path, with_number(part, number))
    if use is not None and not use.attributes:
        yield changed(trial, path, Text("None"))
        yield changed(trial, path, Text("0.5"))
        yield changed(trial, path, Text(called_module(name)))
        yield changed(trial, path, Text(called_class(name)))
        yield changed(trial, path, sizes_of(3, number_of(part)))
        yield changed(trial, path, replace(sizes_of(2, number_of(part)), kind="tuple"))
        yield changed(trial, path, replace(sizes_of(4, number_of(part)), kind="list"))
