"""A configuration that the user's code makes itself is what a model is made with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fxlsp.tracing.search.priors.configuration_files import sections_with
from fxlsp.tracing.search.priors.field_reads import FieldReads

HEAD = """
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple, Optional
import torch
from torch import nn

"""

NET = """

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.n_embd)
        self.layers = nn.ModuleList([nn.Linear(config.n_embd, config.n_embd) for _ in range(config.n_layer)])

    def forward(self, idx):
        x = self.embed(idx)
        for layer in self.layers:
            x = layer(x)
        return x
"""

DATACLASS = """
@dataclass
class GPTConfig:
    vocab_size: int = 50304
    n_layer: int = 3
    n_embd: int = 768
    bias: bool = True
"""


def made(worker: Any, path: str) -> str:
    """The text that makes ``Net`` in a file."""
    recipe = worker.report(f"{path}:Net").recipe
    assert recipe.inputs is not None
    return str(recipe.init)


@pytest.mark.parametrize(
    ("text", "config"),
    [
        pytest.param(DATACLASS, "GPTConfig()", id="dataclass"),
        pytest.param(
            "class ModelArgs:\n    vocab_size = 100\n    n_layer = 2\n    n_embd = 64\n",
            "ModelArgs()",
            id="attributes of a class",
        ),
        pytest.param(
            "class Hyperparameters:\n    def __init__(self, n_embd=48):\n        self.n_embd = n_embd\n"
            "        self.vocab_size, self.n_layer = 100, 2\n",
            "Hyperparameters()",
            id="attributes that a constructor sets",
        ),
        pytest.param(
            "class Sizes(NamedTuple):\n    vocab_size: int = 100\n    n_layer: int = 2\n    n_embd: int = 64\n",
            "Sizes()",
            id="named tuple, whatever its name",
        ),
        pytest.param(
            "class Pretrained:\n    def __init__(self, **kwargs):\n        self.__dict__.update(kwargs)\n\n\n"
            "class BertConfig(Pretrained):\n    def __init__(self, vocab_size=100, n_layer=2, n_embd=24, **kwargs):\n"
            "        super().__init__(**kwargs)\n        self.vocab_size = vocab_size\n        self.n_layer = n_layer\n"
            "        self.n_embd = n_embd\n",
            "BertConfig()",
            id="keyword arguments with defaults, and others",
        ),
        pytest.param(
            "class GPTConfig:\n    n_layer = 2\n\n    def __init__(self, vocab_size, n_embd, **kwargs):\n"
            "        self.vocab_size = vocab_size\n        self.n_embd = n_embd\n"
            "        for key, value in kwargs.items():\n            setattr(self, key, value)\n",
            "GPTConfig(vocab_size=100, n_embd=32)",
            id="arguments without a default are guessed",
        ),
        pytest.param(
            "def get_default_config():\n    return SimpleNamespace(vocab_size=100, n_layer=2, n_embd=64)\n",
            "get_default_config()",
            id="function that returns it",
        ),
        pytest.param(
            "DEFAULTS = SimpleNamespace(vocab_size=1, n_embd=2)\n"
            "config = SimpleNamespace(vocab_size=100, n_layer=2, n_embd=64)\n",
            "config",
            id="object of the file, of which all fields are there",
        ),
        pytest.param(
            "class TrainConfig:\n    lr = 0.1\n    n_embd = 7\n\n\n" + DATACLASS + "\n\n@dataclass\nclass DataConfig:\n"
            "    path: str = ''\n",
            "GPTConfig()",
            id="of several classes the one that has what is read",
        ),
        pytest.param(
            DATACLASS.replace("GPT", "Other") + "\n" + DATACLASS.replace("GPT", "Net"),
            "NetConfig()",
            id="of several alike the one that is named like the model",
        ),
    ],
)
def test_a_configuration_of_the_same_file_is_used(
    worker: Any, write: Callable[..., str], text: str, config: str
) -> None:
    assert made(worker, write(HEAD + text + NET)) == f"Net(config={config})"


def test_fields_that_submodules_and_methods_read_count(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Small:
    width = 8


class Settings:
    width = 8
    classes = 5


class Head(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.lin = nn.Linear(opt.width, opt.classes)

    def forward(self, x):
        return self.lin(x)


class Base(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.opt = opt
        self.build()


class Net(Base):
    def build(self):
        self.head = Head(self.opt)

    def forward(self, x):
        return self.head(x)
"""
    assert made(worker, write(HEAD + text)) == "Net(opt=Settings())"


def test_fields_that_are_keys_are_looked_for_in_dicts(worker: Any, write: Callable[..., str]) -> None:
    text = """
MODEL_CONFIG = {"width": 8, "out": 4}
DATA_CONFIG = {"path": ""}


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.lin = nn.Linear(cfg["width"], cfg["out"])

    def forward(self, x):
        return self.lin(x)
"""
    assert made(worker, write(HEAD + text)) == "Net(cfg=MODEL_CONFIG)"


def test_an_optional_configuration_that_is_needed_is_the_files_own(worker: Any, write: Callable[..., str]) -> None:
    text = DATACLASS + NET.replace("self, config)", "self, config=None)")
    assert made(worker, write(HEAD + text)) == "Net(config=GPTConfig())"


def test_fields_that_are_none_and_must_not_be_are_filled(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Node:
    pass


class Net(nn.Module):
    @staticmethod
    def get_default_config():
        config = Node()
        config.kind, config.width, config.vocab_size = "small", None, None
        return config

    def __init__(self, config):
        super().__init__()
        assert config.vocab_size is not None
        assert (config.kind is None) != (config.width is None)
        if config.kind is not None:
            config.width = {"small": 16}[config.kind]
        self.embed = nn.Embedding(config.vocab_size, config.width)

    def forward(self, idx):
        return self.embed(idx)
"""
    init = made(worker, write(HEAD + text))
    assert "Net.get_default_config()" in init
    assert "vocab_size=100" in init


def test_a_configuration_that_the_file_imports_is_used(worker: Any, write: Callable[..., str]) -> None:
    write("from dataclasses import dataclass\n" + DATACLASS, "configuration.py")
    path = write(HEAD + "from configuration import GPTConfig\n" + NET, "net.py")
    assert made(worker, path) == "Net(config=GPTConfig())"


def test_a_configuration_with_which_the_model_cannot_be_made_is_given_up(
    worker: Any, write: Callable[..., str]
) -> None:
    text = "class Config:\n    vocab_size, n_layer, n_embd = 'many', 'some', None\n"
    assert "SimpleNamespace" in made(worker, write(HEAD + text + NET))


def test_a_class_that_lacks_a_field_is_not_taken(worker: Any, write: Callable[..., str]) -> None:
    text = "class Config:\n    vocab_size = 100\n    n_layer = 2\n"
    assert "SimpleNamespace" in made(worker, write(HEAD + text + NET))


BY_KEY = NET.replace("config.vocab_size", "config['vocab_size']").replace("config.n_embd", "config['n_embd']")
BY_KEY = BY_KEY.replace("config.n_layer", "config['n_layer']")
FIELDS = {"vocab_size": 500, "n_embd": 24, "n_layer": 3, "seed": 7, "name": "tiny"}


@pytest.mark.parametrize(
    ("net", "init"),
    [
        pytest.param(
            NET,
            "Net(config=__import__('types').SimpleNamespace(vocab_size=500, n_embd=24, n_layer=3))",
            id="by attribute",
        ),
        pytest.param(BY_KEY, "Net(config={'vocab_size': 500, 'n_embd': 24, 'n_layer': 3})", id="by key"),
    ],
)
@pytest.mark.parametrize(
    "place", ["config.json", "configs/tiny.json", "configs/language/tiny.json", "../configs/tiny.json", "sections.json"]
)
def test_the_configuration_in_a_file_beside_the_code_is_used(
    net: str, init: str, place: str, worker: Any, write: Callable[..., str], tmp_path: Path
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    path = package / "model.py"
    path.write_text(HEAD + net, encoding="utf-8")
    file = package / place
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {"data": {"batch": 8}, "model": FIELDS} if place == "sections.json" else FIELDS
    file.write_text(json.dumps(content), encoding="utf-8")
    (package / "broken.json").write_text("{vocab_size n_embd n_layer", encoding="utf-8")
    report = worker.report(f"{path}:Net")
    assert report.recipe.init == init
    assert report.recipe.inputs == "torch.ones(2, 16, dtype=torch.long)"


def test_a_file_that_lacks_a_field_or_is_of_another_project_is_not_used(worker: Any, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    path = package / "model.py"
    path.write_text(HEAD + NET, encoding="utf-8")
    (package / "small.json").write_text(json.dumps({"vocab_size": 500, "n_embd": 24}), encoding="utf-8")
    (tmp_path / "config.json").write_text(json.dumps(FIELDS), encoding="utf-8")
    report = worker.report(f"{path}:Net")
    assert "500" not in report.recipe.init


def test_values_of_a_file_are_written_as_python(tmp_path: Path) -> None:
    reads = FieldReads(attributes={"width", "rates", "inner"}, keys={"width"})
    content = '{"width": 8, "rates": [0.5, Infinity, null, true], "inner": {"a": 1, "b c": "x"}}'
    (tmp_path / "config.json").write_text(content, encoding="utf-8")
    (section,) = sections_with(reads, str(tmp_path / "model.py"))
    made = eval(section.guess(reads).text)
    assert (made.width, made["rates"], made.inner["b c"]) == (8, [0.5, float("inf"), None, True], "x")
