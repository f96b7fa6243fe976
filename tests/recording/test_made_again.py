"""Arguments that are recorded, written as expressions, and made again from these."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from fxlsp.recording.argument_values import Describer
from fxlsp.recording.recorder import Recorder
from fxlsp.recording.references import RecordedFolder
from fxlsp.source.recipes.recorded_values import NotMadeAgainError, recorded_arguments
from fxlsp.tracing.model.building.evaluation import evaluate
from tests.recording import shapes_of_arguments
from tests.recording.shapes_of_arguments import LEFT_OUT, MADE_AGAIN, Outer, Plain, Restored

PROJECT = str(Path(__file__).parents[2])
HOME = "tests/recording/shapes_of_arguments.py"


def describe(value: object) -> Any:
    recorder = Recorder(RecordedFolder(PROJECT), lambda: "test")
    described = Describer(RecordedFolder(PROJECT), recorder._described_module).value(value)
    return json.loads(json.dumps(described))


def written(described: Any, home: str = HOME) -> str:
    return recorded_arguments({"args": [described], "kwargs": {}}, home)


def made(text: str, module: types.ModuleType = shapes_of_arguments) -> Any:
    return evaluate(text, module, "recipe")


@pytest.mark.parametrize("name", MADE_AGAIN)
def test_it_is_made_again_exactly(name: str) -> None:
    value = MADE_AGAIN[name]
    again = made(written(describe(value)))
    assert type(again) is type(value)
    if name.startswith("a partial"):
        assert (again.func, again.args, again.keywords) == (value.func, value.args, value.keywords)
    else:
        assert again == value


@pytest.mark.parametrize("name", ["a dataclass", "a class", "a function", "a configuration object"])
def test_it_is_imported_in_another_file(name: str) -> None:
    again = made(written(describe(MADE_AGAIN[name]), "other.py"), types.ModuleType("other"))
    assert again == MADE_AGAIN[name]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_cannot_be_made_again_is_reported_as_such(name: str) -> None:
    with pytest.raises(NotMadeAgainError):
        written(describe(LEFT_OUT[name]))


TENSORS = {
    "float": torch.randn(2, 3),
    "half": torch.randn(3, dtype=torch.float16),
    "indexes": torch.zeros(4, dtype=torch.long),
    "mask": torch.ones(2, 2, dtype=torch.bool),
    "scalar": torch.tensor(1.0),
    "leaf": torch.randn(2, requires_grad=True),
    "parameter": nn.Parameter(torch.randn(2)),
    "complex": torch.randn(2, dtype=torch.complex64),
    "empty": torch.zeros(0, 4),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_is_made_again_with_its_shape_and_dtype(name: str) -> None:
    value = TENSORS[name]
    again = made(written(describe(value)))
    assert (type(again), again.shape, again.dtype, again.requires_grad) == (
        *(type(value), value.shape, value.dtype),
        value.requires_grad,
    )


WRITTEN = {
    "float": "torch.randn(2, 3)",
    "half": "torch.randn(3, dtype=torch.float16)",
    "indexes": "torch.ones(4, dtype=torch.int64)",
    "mask": "torch.ones(2, 2, dtype=torch.bool)",
    "scalar": "torch.randn(())",
    "parameter": "torch.nn.Parameter(torch.randn(2))",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_sizes_of_a_tensor_are_written_as_people_write_them(name: str) -> None:
    assert written(describe(TENSORS[name])) == WRITTEN[name]


def test_what_a_configuration_has_beside_is_left_open() -> None:
    options = MADE_AGAIN["options of a command"]
    text = written(describe(type(options)(width=3, data="/home/me/data", hook=lambda: None)))
    assert vars(made(text)) == {"width": 3, "data": ..., "hook": ...}


def test_a_list_of_which_an_item_is_left_out_is_left_open_as_a_whole() -> None:
    options = types.SimpleNamespace(width=3, hooks=[1, lambda: None], table={"sizes": (2, lambda: None), "name": "x"})
    text = written(describe(types.SimpleNamespace(inner=options)))
    assert vars(made(text).inner) == {"width": 3, "hooks": ..., "table": {"sizes": ..., "name": "x"}}


def nested(depth: int) -> Plain:
    value = Plain(depth)
    vars(value).update(sizes=[depth], none=[], space=Plain(9), inner=nested(depth - 1) if depth else None)
    vars(value).update({f"description_{number}": "a text " * 8 for number in range(depth)})
    return value


def test_an_object_that_holds_much_is_made_without_what_its_parts_hold() -> None:
    again = made(written(describe(nested(7))))
    assert again.width == 7
    assert again.sizes == [7]
    assert again.space == Plain(9)
    deepest = again
    while isinstance(deepest.inner, Plain):
        deepest = deepest.inner
    assert (deepest.inner, deepest.space, deepest.sizes, deepest.none) == (..., ..., [deepest.width], [])
    assert again.inner.space == Plain(9)


def test_an_object_with_few_parts_is_made_again_as_a_whole() -> None:
    again = made(written(describe(nested(2))))
    assert again == nested(2)


def test_a_list_that_is_too_deep_is_not_made_again() -> None:
    value: list[Any] = [Plain(1)]
    for _ in range(7):
        value = [value, [value], "x" * 60]
    with pytest.raises(NotMadeAgainError):
        written(describe(value))


def test_an_argument_of_which_an_item_is_left_out_is_not_made_again() -> None:
    with pytest.raises(NotMadeAgainError, match="a lambda"):
        written(describe([1, lambda: None]))


def test_an_object_is_given_its_attributes_by_its_own_method_as_pickle_does() -> None:
    again = made(written(describe(Restored(8))))
    assert type(again) is Restored
    assert vars(again) == {"width": 8, "hidden": 32, "restored": True}


def test_a_value_that_contains_itself_is_left_out() -> None:
    value: list[Any] = [1]
    value.append(value)
    with pytest.raises(NotMadeAgainError, match="contains itself"):
        written(describe(value))


def test_a_class_in_a_class_is_written_by_its_whole_name() -> None:
    assert written(describe(Outer.Nested)) == "Outer.Nested"
    assert made(written(describe(Outer.Nested), "other.py"), types.ModuleType("other")) is Outer.Nested


HOSTILE = {
    "code as a name": {"name": {"module": "os", "name": "system('echo')"}},
    "code as a module": {"name": {"module": "os'); x=('", "name": "path"}},
    "code as a dtype": {"tensor": {"shape": [1], "dtype": "float32); exit(", "device": "cpu"}},
    "code as a size": {"tensor": {"shape": ["exit()"], "dtype": "float32", "device": "cpu"}},
    "code as an attribute": {"torch": "float32.__class__"},
    "code as a field": {"call": {"class": {"module": "os", "name": "path"}, "args": [], "kwargs": {"a=exit()": 1}}},
    "code as a type of numpy": {"scalar": {"type": "int8(exit())", "value": 1}},
    "an unknown kind": {"eval": "exit()"},
    "two kinds": {"list": [], "tuple": []},
    "a kind without content": {"call": 3},
    "too many dimensions": {"tensor": {"shape": [1] * 1000, "dtype": "float32", "device": "cpu"}},
    "a size below zero": {"tensor": {"shape": [-1], "dtype": "float32", "device": "cpu"}},
    "a keyword as a name": {"name": {"module": "os", "name": "None"}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_recording_with_code_in_it_gives_no_expression(name: str) -> None:
    with pytest.raises(NotMadeAgainError):
        written(HOSTILE[name])


def test_a_text_is_a_literal_whatever_it_contains() -> None:
    text = "'); __import__('os').abort(); ('"
    assert made(written(text)) == text


def test_nesting_without_end_gives_no_expression() -> None:
    value: Any = 1
    for _ in range(500):
        value = {"list": [value]}
    with pytest.raises(NotMadeAgainError):
        written(value)
