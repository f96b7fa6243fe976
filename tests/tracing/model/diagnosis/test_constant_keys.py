"""A constant key that a dict which the code writes out does not have is the code's mistake."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.problems import Failure
from fxlsp.tracing.model.diagnosis.own_mistakes import is_own_mistake

CERTAIN = {
    "a local variable": """
        def run(self):
            acts = {"relu": 1, "tanh": 2}
            return acts["gelu"]
        """,
    "over several lines": """
        def run(self):
            acts = {"relu": 1, "tanh": 2}
            return acts[
                "gelu"
            ]
        """,
    "a dict made by a call": """
        def run(self):
            acts = dict(relu=1, tanh=2)
            return acts["gelu"]
        """,
    "a dict in its place": """
        def run(self):
            return {"relu": 1}["gelu"]
        """,
    "a number": """
        def run(self):
            widths: dict[int, int] = {18: 64, 34: 64}
            return widths[50]
        """,
    "a dict that is read in other ways": """
        def run(self):
            acts = {"relu": 1}
            names = [*acts.items(), len(acts), list(acts), "relu" in acts, acts.get("gelu"), acts["relu"]]
            return acts["gelu"], names
        """,
    "an attribute": """
        def run(self):
            self.acts = {"relu": 1}
            return self.acts["gelu"]
        """,
    "an attribute of another method": """
        def run(self):
            self.make()
            return self.acts["gelu"]

        def make(self):
            self.acts = {"relu": 1}
        """,
}
UNCERTAIN = {
    "a line with another look-up": """
        def run(self):
            scale = {"gelu": 1}
            return scale["gelu"] * {}[("gelu" + "")]
        """,
    "an attribute that others fill": """
        def run(self):
            self.seen = {}
            return self.seen["gelu"]
        """,
    "a key that is given": """
        def run(self, act="gelu"):
            acts = {"relu": 1}
            return acts[act]
        """,
    "an entry that a branch adds": """
        def run(self, extra=False):
            acts = {"relu": 1}
            if extra:
                acts["gelu"] = 2
            return acts["gelu"]
        """,
    "entries that are added at once": """
        def run(self, more={}):
            acts = {"relu": 1}
            acts.update(more)
            return acts["gelu"]
        """,
    "another dict in a branch": """
        def run(self, extra=False):
            acts = {"relu": 1}
            if extra:
                acts = {"gelu": 1}
            return acts["gelu"]
        """,
    "a dict that a function may change": """
        def run(self, register=lambda acts: None):
            acts = {"relu": 1}
            register(acts)
            return acts["gelu"]
        """,
    "a dict of two names": """
        def run(self, extra=False):
            acts = {"relu": 1}
            more = acts
            if extra:
                more["gelu"] = 1
            return acts["gelu"]
        """,
    "a dict with other entries": """
        def run(self, more={}):
            acts = {"relu": 1, **more}
            return acts["gelu"]
        """,
    "keys that are not constants": """
        def run(self, name="relu"):
            acts = {name: 1}
            return acts["gelu"]
        """,
    "a dict that is given": """
        def run(self, acts=None):
            if acts is None:
                acts = {"relu": 1}
            return acts["gelu"]
        """,
    "a dict that grows": """
        def run(self, more={}):
            acts = {"relu": 1}
            acts |= more
            return acts["gelu"]
        """,
    "an attribute that another method changes": """
        def run(self):
            self.acts = {"relu": 1}
            return self.acts["gelu"]

        def register(self, name):
            self.acts[name] = 1
        """,
    "an attribute that is set by its name": """
        def run(self):
            self.acts = {"relu": 1}
            return self.acts["gelu"]

        def register(self, value):
            setattr(self, "acts", value)
        """,
    "a global": """
        ACTS = {"relu": 1}

        def run(self):
            return ACTS["gelu"]
        """,
    "an error that is raised": """
        def run(self):
            acts = {"relu": 1}
            raise KeyError("gelu")
        """,
}


def is_certain(text: str, folder: Path) -> bool:
    path = folder / "model.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)

    class Owner:
        def make(self) -> None:
            names["make"](self)

    with pytest.raises(KeyError) as raised:
        names["run"](Owner())
    error = raised.value
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next
    return is_own_mistake(error, None, is_given=False)


@pytest.mark.parametrize("name", CERTAIN)
def test_a_constant_that_is_no_key_of_a_literal_is_a_mistake(name: str, tmp_path: Path) -> None:
    assert is_certain(CERTAIN[name], tmp_path)


@pytest.mark.parametrize("name", UNCERTAIN)
def test_a_key_that_a_dict_may_have_another_time_is_none(name: str, tmp_path: Path) -> None:
    assert not is_certain(UNCERTAIN[name], tmp_path)


NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, cfg=None):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        {made}

    def forward(self, x):
        {run}
"""
LOOKED_UP = "acts = {'relu': torch.relu, 'tanh': torch.tanh}; "


def test_it_is_an_error_of_the_constructor(worker: Any, write: Callable[..., str]) -> None:
    text = NET.format(made=f"{LOOKED_UP}self.act = acts['gelu'](cfg)", run="return self.act(x)")
    failure = Failure.from_json(worker.answer(write(text) + ":Net")["failure"])
    assert (failure.code, failure.severity) == ("FX403", "error")


def test_it_is_an_error_of_forward_with_guessed_inputs(worker: Any, write: Callable[..., str]) -> None:
    text = NET.format(made="pass", run=f"{LOOKED_UP}return acts['gelu'](self.fc(x))")
    (problem,) = (each for each in worker.report(write(text) + ":Net").problems if "gelu" in each.message)
    assert (problem.code, problem.severity) == ("FX403", "error")
