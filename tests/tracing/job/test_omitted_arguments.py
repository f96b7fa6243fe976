"""Arguments that default to nothing and that only a caller knows are no mistake of the class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Failure

HEAD = "import torch\nfrom torch import nn\n\nTABLE = {}\n\n"


def written(signature: str, made: str, run: str = "return x * 2") -> str:
    """Return the text of a class with the given constructor and ``forward``."""
    lines = [
        *("class Net(nn.Module):", f"    def __init__(self{', ' * bool(signature)}{signature}):"),
        *("        super().__init__()", *(f"        {line}" for line in made.splitlines())),
        *("", "    def forward(self, x):", *(f"        {line}" for line in run.splitlines()), ""),
    ]
    return HEAD + "\n".join(lines)


UNKNOWN = "raise KeyError(('no such model', {}))"
NEEDED = {
    "an item of an empty tuple": ("anchors=(), ch=()", "self.na = TABLE[len(anchors[0]) // 2]", "anchors"),
    "an item that is not there": ("anchors=[]", f"a = anchors[0]\n{UNKNOWN.format('a')}", "anchors"),
    "an entry of an empty dict": ("cfg={}", "self.width = cfg['width'].no_such_part", "cfg"),
    "a mean over nothing": ("ch=[]", "self.n = sum(ch) // len(ch)\nTABLE[ch]", "ch"),
    "what follows from a number of nothing": ("ch=()", "self.nl = len(ch)\nself.n = 32 // self.nl\nTABLE[ch]", "ch"),
    "the first of nothing": ("ch=[]", "self.n = next(iter(ch))\nTABLE[self.n]", "ch"),
    "the last layer of an empty list": (
        "ch=()",
        "self.m = nn.ModuleList(nn.Conv2d(c, 4, 1) for c in ch)\nself.last = self.m[-1].no_such_part",
        "ch",
    ),
    "an attribute of None": ("cfg=None", "self.fc = nn.Linear(*TABLE[cfg.width.part])", "cfg"),
    "an attribute of None, of self": ("cfg=None", "self.cfg = cfg\nself.fc = TABLE[self.cfg.model.width]", "cfg"),
    "one of two": ("a=None, b=None", "a = a or b\nself.fc = TABLE[a.width]", "a"),
    "a keyword": ("*, cfg=None", "self.fc = TABLE[cfg.width]", "cfg"),
    "a check": ("ch=(), n=3", f"if len(ch) == 0:\n    raise ValueError('empty')\n{UNKNOWN}", "ch"),
}


@pytest.mark.parametrize("name", NEEDED)
def test_a_class_that_fails_without_what_defaults_to_nothing_needs_that(
    name: str, worker: Any, write: Callable[..., str]
) -> None:
    signature, made, argument = NEEDED[name]
    failure = Failure.from_json(worker.answer(write(written(signature, made)) + ":Net")["failure"])
    assert (failure.code, failure.severity) == ("FX903", "info")
    assert failure.needs == f"argument {argument} of Net"
    assert failure.message.startswith(f"Net needs the argument {argument}: ")
    assert "\nBy default it fails: cannot build Net" in failure.message


@pytest.mark.parametrize(
    "made",
    [
        pytest.param("width = max(ch)\nself.fc = nn.Linear(width, 4)", id="the largest of nothing"),
        pytest.param("width, out = ch\nself.fc = nn.Linear(width, out)", id="two of nothing"),
    ],
)
def test_what_only_an_empty_default_keeps_from_being_made_is_searched(
    made: str, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(written("anchors=None, ch=()", made, "return self.fc(x)")) + ":Net")
    assert report.complete
    assert report.recipe.source == "search"


OWN = {
    "an argument that was replaced": ("dims=None", "if dims is None:\n    dims = (4,)\nself.n = dims[3]", "FX903"),
    "an attribute with another value": ("dims=None", "self.dims = dims or (4,)\nself.n = self.dims[3]", "FX903"),
    "another value": ("dims=None", "sizes = [1, 2]\nself.n = sizes[3]", "FX903"),
    "a default that is something": ("dims=(4,)", "self.n = dims[3]", "FX903"),
    "a name that nothing binds": ("cfg=None", "self.n = no_such_name(cfg)", "FX403"),
    "a layer that does not exist": ("cfg=None", "self.n = nn.Liner(cfg, 3)", "FX403"),
}


@pytest.mark.parametrize("name", OWN)
def test_what_fails_without_regard_to_such_an_argument_stays_a_problem_of_the_class(
    name: str, worker: Any, write: Callable[..., str]
) -> None:
    signature, made, code = OWN[name]
    failure = Failure.from_json(worker.answer(write(written(signature, made)) + ":Net")["failure"])
    assert failure.code == code
    assert failure.severity in ("warning", "error")
    assert failure.needs is None


def test_a_stated_construction_that_fails_is_reported_as_it_is(worker: Any, write: Callable[..., str]) -> None:
    text = written("anchors=()", "self.na = len(anchors[0])")
    failure = Failure.from_json(worker.answer(write(text) + ":Net", "Net()", "torch.ones(2, 4)")["failure"])
    assert failure.needs is None
    assert failure.message == "cannot build Net(): IndexError: tuple index out of range"


LATE = "for name in self.cfg.names:\n    x = getattr(self, name)(x) + self.cfg.table[name].offset\nreturn x"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(written("cfg=None", "self.cfg = cfg", LATE), id="of the class"),
        pytest.param(
            written("cfg=None", "self.cfg = cfg", LATE).replace("class Net", "class Base")
            + "\n\nclass Net(Base):\n    pass\n",
            id="of a base class",
        ),
    ],
)
def test_an_attribute_that_is_none_by_default_is_a_note_in_forward(
    text: str, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(text) + ":Net")
    (problem,) = (each for each in report.problems if "NoneType" in each.message)
    assert (problem.code, problem.severity) == ("FX401", "info")
    assert problem.message.startswith("With the argument cfg this may work: ")
    assert problem.location is not None
    assert "self.cfg.names" in text.splitlines()[problem.location.line - 1]


@pytest.mark.parametrize(
    ("made", "init"),
    [
        pytest.param("self.cfg = cfg", "Net()", id="the file calls it so"),
        pytest.param("self.cfg = None", None, id="always None"),
    ],
)
def test_an_attribute_that_is_none_whatever_is_passed_is_an_error(
    made: str, init: str | None, worker: Any, write: Callable[..., str]
) -> None:
    path = write(written("cfg=None", made, LATE)) + ":Net"
    report = worker.report(path, init) if init else worker.report(path)
    (problem,) = (each for each in report.problems if "NoneType" in each.message)
    assert (problem.code, problem.severity) == ("FX403", "error")
