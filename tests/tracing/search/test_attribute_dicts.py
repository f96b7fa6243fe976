"""Arguments that are dicts with attributes, or objects of whatever fields they are given: what is read is filled in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from fxlsp.report.report import Report
from fxlsp.tracing.search.priors.constructor import takes_any_fields
from tests.tracing.search.frames import HEAD

ITSELF = """
class AttrDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self
"""
KEYS = """
class AttrDict(dict):
    def __getattr__(self, name):
        return self[name]
"""
ATTRIBUTE_ERRORS = """
class AttrDict(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None
"""
GET = """
class AttrDict(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__
"""
CLASSES = {"its own attributes": ITSELF, "keys": KEYS, "attribute errors": ATTRIBUTE_ERRORS, "get": GET}
NET = """
class Net(nn.Module):
    def __init__(self, h: AttrDict):
        super().__init__()
        self.h = h
        h["seen"] = True
        self.table = nn.Embedding(h.vocab_size, h["width"])
        self.fc = nn.Linear(h.width, h.get("results", 7))
        if h.kind not in ("sum", "mean"):
            raise ValueError(h.kind)

    def forward(self, ids):
        return self.fc(self.table(ids)) * self.h.scale
"""
FIELDS = {"vocab_size": 500, "width": 24, "kind": "mean", "scale": 0.25, "results": 5, "seed": 1}


def _traced(worker: Any, path: str) -> Report:
    report: Report = worker.report(f"{path}:Net")
    assert not [each for each in report.problems if each.severity in ("error", "warning")], report.problems
    assert report.recipe.inputs is not None
    return report


@pytest.mark.parametrize("what", CLASSES)
def test_a_dict_with_attributes_has_what_the_model_reads(what: str, worker: Any, write: Callable[..., str]) -> None:
    init = _traced(worker, write(HEAD + CLASSES[what] + NET)).recipe.init
    assert init.startswith("Net(h=AttrDict(")
    assert "vocab_size=100" in init
    assert "kind='sum'" in init
    assert "scale=" in init
    assert "seen" not in init


def test_a_class_from_another_file_is_used_by_its_name(worker: Any, write: Callable[..., str]) -> None:
    write(ITSELF, "env.py")
    text = f"from __future__ import annotations\n{HEAD}from env import AttrDict\n{NET}"
    assert _traced(worker, write(text)).recipe.init.startswith("Net(h=AttrDict(")


def test_an_object_of_named_values_has_what_the_model_reads(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Settings:
    def __init__(self, **named):
        self.__dict__.update(named)


class Net(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.settings = settings
        self.fc = nn.Linear(settings.width, settings.classes)

    def forward(self, x):
        return self.fc(x) / self.settings.temperature
"""
    init = _traced(worker, write(HEAD + text)).recipe.init
    assert init.startswith("Net(settings=Settings(")
    assert "temperature=" in init


def test_what_a_part_of_the_model_reads_is_filled_in_too(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Part(nn.Module):
    def __init__(self, h: AttrDict, width: int):
        super().__init__()
        self.fc = nn.Linear(width, h.inner.width)

    def forward(self, x):
        return self.fc(x)


class Net(nn.Module):
    def __init__(self, h: AttrDict):
        super().__init__()
        self.parts = nn.ModuleList([Part(h, width) for width in h.widths])

    def forward(self, x):
        return sum(part(x) for part in self.parts)
"""
    assert "inner=" in _traced(worker, write(HEAD + KEYS + text)).recipe.init


@pytest.mark.parametrize("annotation", [": AttrDict", ""])
def test_values_come_from_a_file_beside_the_code(
    annotation: str, worker: Any, write: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(FIELDS), encoding="utf-8")
    report = _traced(worker, write(HEAD + ITSELF + NET.replace(": AttrDict", annotation)))
    assert "vocab_size=500" in report.recipe.init
    assert "scale=0.25" in report.recipe.init
    assert ("AttrDict(" in report.recipe.init) == bool(annotation)


def test_a_mistake_behind_such_an_argument_is_a_note_alone(worker: Any, write: Callable[..., str]) -> None:
    text = NET.replace("nn.Linear(h.width,", "nn.Linear(h.width + 1,")
    report: Report = worker.report(f"{write(HEAD + ITSELF + text)}:Net")
    assert {each.severity for each in report.problems if each.code == "FX401"} <= {"info"}


class _Named(dict):  # type: ignore[type-arg]
    def __init__(self, width: int, **others: int) -> None:
        super().__init__(width=width, **others)


class _Module(nn.Module):
    def __init__(self, **named: int) -> None:
        super().__init__()


class _Derived(_Named):
    def __init__(self, **named: int) -> None:
        super().__init__(4, **named)


def test_a_class_that_says_what_it_takes_is_not_of_any_fields() -> None:
    assert [takes_any_fields(each) for each in (_Named, _Module, object, int, dict, _Derived)] == [
        False,
        False,
        False,
        False,
        True,
        True,
    ]
