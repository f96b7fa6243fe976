"""What is recorded of modules that a program makes and calls."""

from __future__ import annotations

import copy
import json
import pickle
import re
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from fxlsp.recording.references import RecordedFolder
from tests.recording.conftest import Record

NET = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, norm=None):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = norm

    def forward(self, x, mask=None):
        x = self.linear(x)
        return x if self.norm is None else self.norm(x)


class Net(nn.Module):
    def __init__(self, width, *, depth=2, scale=1.0):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x, mask=None)
        return x
"""


def tensor(*shape: int, dtype: str = "float32") -> dict[str, Any]:
    return {"tensor": {"shape": list(shape), "dtype": dtype, "device": "cpu"}}


def test_arguments_of_constructor_and_calls_are_recorded(record: Record) -> None:
    recorded = record(NET)
    net = recorded.module.Net(4, depth=3)
    net(torch.randn(2, 4))
    found = recorded.instances()
    (of_net,), (of_block,) = found["Net"], found["Block"]
    assert of_net.init == {"args": [], "kwargs": {"width": 4, "depth": 3}}
    assert [(call.args, call.kwargs, call.training) for call in of_net.calls] == [((tensor(2, 4),), {}, True)]
    assert of_block.init == {"args": [], "kwargs": {"width": 4}}
    assert [(call.args, call.kwargs) for call in of_block.calls] == [((tensor(2, 4),), {"mask": None})]
    assert of_block.at == f"{of_net.file}:20"
    assert of_block.calls[0].at == f"{of_net.file}:24"
    assert (of_net.source, of_net.torch) == ("train.py", torch.__version__)


def test_each_shape_and_mode_is_one_call(record: Record) -> None:
    recorded = record(NET)
    net = recorded.module.Net(4)
    for rows in (2, 2, 3):
        net(torch.randn(rows, 4))
    net.eval()
    net(torch.randn(2, 4))
    (found,) = recorded.instances()["Net"]
    assert [(call.args[0]["tensor"]["shape"], call.training) for call in found.calls] == [
        ([2, 4], True),
        ([3, 4], True),
        ([2, 4], False),
    ]


def test_dtype_and_autocast_are_recorded(record: Record) -> None:
    recorded = record(NET)
    net = recorded.module.Net(4).to(torch.bfloat16)
    net(torch.randn(2, 4, dtype=torch.bfloat16))
    with torch.autocast("cpu", torch.bfloat16):
        net(torch.randn(2, 4))
    first, second = recorded.instances()["Net"][0].calls
    assert (first.dtype, first.autocast) == ("bfloat16", None)
    assert second.autocast == "cpu: bfloat16"


def test_a_module_as_argument_is_recorded_by_its_own_arguments(record: Record) -> None:
    recorded = record(NET)
    recorded.module.Block(4, nn.Sequential(nn.LayerNorm(4), nn.Tanh()))
    init = recorded.instances()["Block"][0].init
    assert init is not None
    norm = init["kwargs"]["norm"]["call"]
    assert norm["class"]["name"] == "Sequential"
    assert [each["call"]["class"]["name"] for each in norm["args"]] == ["LayerNorm", "Tanh"]
    assert norm["args"][0]["call"]["kwargs"] == {"normalized_shape": 4}


def test_a_module_whose_layers_were_replaced_is_left_out(record: Record) -> None:
    recorded = record(NET)
    inner = recorded.module.Block(4)
    inner.linear = nn.Linear(4, 4, bias=False)
    recorded.module.Block(4, inner)
    inits = [each.init for each in recorded.instances()["Block"] if each.init and "norm" in each.init["kwargs"]]
    assert [init["kwargs"]["norm"] for init in inits if init] == [
        {"left_out": "a Block whose layers were replaced after it was made"}
    ]


def test_an_argument_that_is_assigned_before_the_base_is_initialised_is_left_out(record: Record) -> None:
    recorded = record(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, width, depth):\n"
        "        width = width * 2\n        super().__init__()\n"
    )
    recorded.module.Net(4, 1)
    init = recorded.instances()["Net"][0].init
    assert init is not None
    assert init["kwargs"]["depth"] == 1
    assert "left_out" in init["kwargs"]["width"]


INITS = {
    "stars": ("self, *sizes, **options", "3, 4, bias=True", {"args": [3, 4], "kwargs": {"bias": True}}),
    "by position only": ("self, width, /, depth=1", "3, 2", {"args": [3], "kwargs": {"depth": 2}}),
    "defaults": ("self, width=3, act=print", "3", {"args": [], "kwargs": {}}),
    "a parameter and a star": ("self, width, *sizes", "3, 4, 5", {"args": [3, 4, 5], "kwargs": {}}),
}


@pytest.mark.parametrize("name", INITS)
def test_a_constructor_with(name: str, record: Record) -> None:
    parameters, given, expected = INITS[name]
    recorded = record(
        f"from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__({parameters}):\n"
        f"        super().__init__()\n\n\ndef make():\n    return Net({given})\n"
    )
    recorded.module.make()
    assert recorded.instances()["Net"][0].init == expected


def test_a_subclass_is_recorded_by_the_arguments_of_its_own_constructor(record: Record) -> None:
    recorded = record(
        NET + "\n\nclass Wide(Net):\n    def __init__(self, factor):\n        super().__init__(4 * factor)\n"
    )
    recorded.module.Wide(2)
    found = recorded.instances()
    assert found["Wide"][0].init == {"args": [], "kwargs": {"factor": 2}}
    assert "Net" not in found


def test_a_decorated_constructor_is_recorded(record: Record) -> None:
    recorded = record(
        "import functools\nfrom torch import nn\n\n\ndef logged(init):\n    @functools.wraps(init)\n"
        "    def inner(*args, **kwargs):\n        return init(*args, **kwargs)\n    return inner\n\n\n"
        "class Net(nn.Module):\n    @logged\n    def __init__(self, width):\n        super().__init__()\n"
    )
    recorded.module.Net(width=3)
    assert recorded.instances()["Net"][0].init == {"args": [], "kwargs": {"width": 3}}


def test_a_call_that_raises_is_recorded_and_its_error_is_the_programs(record: Record) -> None:
    recorded = record(NET)
    net = recorded.module.Net(4)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        net(torch.randn(2, 5))
    assert recorded.instances()["Net"][0].calls[0].args == (tensor(2, 5),)


def test_an_overridden_call_and_hooks_run_as_before(record: Record) -> None:
    recorded = record(
        NET + "\n\nclass Doubled(Block):\n    def __call__(self, x):\n        return super().__call__(2 * x, mask=1)\n"
    )
    block, seen = recorded.module.Doubled(4), []
    block.register_forward_pre_hook(lambda module, args: seen.append("before"))
    block.register_forward_hook(lambda module, args, result: seen.append("after"))
    x = torch.randn(2, 4)
    assert torch.equal(block(x), block.forward(2 * x))
    assert seen == ["before", "after"]
    assert recorded.instances()["Doubled"][0].calls[0].kwargs == {"mask": 1}


def test_threads_and_copies_are_recorded_without_disturbance(record: Record) -> None:
    recorded = record(NET)
    net = recorded.module.Net(4)
    replica, results = copy.deepcopy(net), []
    threads = [threading.Thread(target=lambda: results.append(replica(torch.ones(1, 4)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert torch.equal(results[0], net(torch.ones(1, 4)))
    assert nn.DataParallel(net)(torch.ones(1, 4)).shape == (1, 4)


COPIES: dict[str, str] = {
    "copied before its first call": "Block(4)",
    "copied inside of another": "Net(4).blocks[1]",
    "copied twice": "copy.deepcopy(Block(4))",
}


@pytest.mark.parametrize("name", COPIES)
def test_a_module_that_was(name: str, record: Record) -> None:
    """It is recorded by the arguments of the one that it was copied from."""
    recorded = record(NET)
    original = eval(COPIES[name], {"copy": copy, **vars(recorded.module)})
    copied = copy.deepcopy(nn.ModuleList([original]))[0]
    copied(torch.randn(3, 4))
    (found,) = recorded.instances()["Block"]
    assert found.init == {"args": [], "kwargs": {"width": 4}}
    assert [call.args for call in found.calls] == [(tensor(3, 4),)]


def test_the_calls_of_a_module_that_was_loaded_are_recorded_without_its_arguments(record: Record) -> None:
    recorded = record(NET)
    stored = pickle.dumps(recorded.module.Block(4))
    pickle.loads(stored)(torch.randn(3, 4))
    calls = {json.dumps(each.init): len(each.calls) for each in recorded.instances()["Block"]}
    assert calls == {"null": 1, '{"args": [], "kwargs": {"width": 4}}': 0}


def test_a_copy_whose_layers_were_replaced_before_is_left_out_as_an_argument(record: Record) -> None:
    recorded = record(NET)
    changed = recorded.module.Block(4)
    changed.linear = nn.Linear(4, 8)
    recorded.module.Block(8, norm=copy.deepcopy(changed))
    inits = [each.init for each in recorded.instances()["Block"]]
    assert [init["kwargs"]["norm"] for init in inits if init is not None and "norm" in init["kwargs"]] == [
        {"left_out": "a Block of which it is not known how it was made"}
    ]


def test_calls_of_such_a_copy_are_recorded_without_its_arguments(record: Record) -> None:
    recorded = record(NET)
    changed = recorded.module.Block(4)
    changed.linear = nn.Linear(7, 4)
    copy.deepcopy(changed)(torch.randn(2, 7))
    calls = [(each.init, len(each.calls)) for each in recorded.instances()["Block"] if each.calls]
    assert calls == [(None, 1)]


def test_a_layer_that_its_class_has_copied_is_one_that_it_made(record: Record) -> None:
    recorded = record(
        NET + "\n\nimport copy\n\n\nclass Twice(Block):\n    def __init__(self, width):\n"
        "        super().__init__(width)\n        self.second = copy.deepcopy(self.linear)\n"
    )
    recorded.module.Block(8, norm=recorded.module.Twice(4))
    (norm,) = [each.init["kwargs"]["norm"] for each in recorded.instances()["Block"] if each.init]
    assert "call" in norm


def test_a_class_that_restores_itself_is_copied_as_before(record: Record) -> None:
    recorded = record(
        NET + "\n\nclass Restored(Block):\n    def __setstate__(self, state):\n"
        "        super().__setstate__(state)\n        self.restored = True\n"
    )
    copied = copy.copy(recorded.module.Restored(4))
    assert copied.restored
    copied(torch.randn(3, 4))
    (found,) = recorded.instances()["Restored"]
    assert (found.init, len(found.calls)) == ({"args": [], "kwargs": {"width": 4}}, 1)


def test_traced_and_scripted_modules_have_nothing_of_the_recorder(record: Record) -> None:
    recorded = record(NET)
    block, x = recorded.module.Block(4), torch.randn(2, 4)
    with warnings.catch_warnings():
        # torch.jit is deprecated, and still in use.
        warnings.simplefilter("ignore")
        trace: Any = torch.jit.trace
        traced, scripted = trace(block, (x,)), torch.jit.script(nn.Sequential(nn.Linear(4, 4)))
        recorded.session.stop()
        assert "aten::size" not in str(traced.graph)
        again = trace(block, (x,))
    first, second = (re.sub(r"___torch_mangle_\d+\.", "", str(each.graph)) for each in (traced, again))
    assert first == second
    assert scripted(x).shape == (2, 4)


def test_a_symbolic_trace_is_torchs_own(record: Record) -> None:
    recorded = record(NET)
    net = recorded.module.Net(4)
    assert [node.op for node in torch.fx.symbolic_trace(net).graph.nodes] == [
        *("placeholder", "call_module", "call_module", "output")
    ]
    net(torch.randn(2, 4))
    assert [call.args for call in recorded.instances()["Net"][0].calls] == [(tensor(2, 4),)]


def test_nothing_is_left_behind_when_the_first_calls_are_noted_and_at_the_end(record: Record) -> None:
    init, call, setstate = nn.Module.__init__, nn.Module.__call__, nn.Module.__setstate__
    recorded = record(NET)
    assert nn.Module.__init__ is not init
    assert nn.Module.__setstate__ is not setstate
    assert nn.Module.__call__ is call
    net = recorded.module.Net(4)
    assert nn.Module.__call__ is not call
    for _ in range(20):
        net(torch.randn(2, 4))
    assert nn.Module.__call__ is call
    recorded.session.stop()
    assert (nn.Module.__init__, nn.Module.__setstate__) == (init, setstate)
    assert not [each for each in vars(net) if "fxlsp" in each.lower()]


def test_calls_are_not_observed_for_ever_where_a_module_is_never_called(record: Record) -> None:
    call = nn.Module.__call__
    recorded = record(NET)
    uncalled, other = recorded.module.Net(4), nn.Identity()
    for _ in range(6_000):
        other(None)
    assert nn.Module.__call__ is call
    assert recorded.instances()["Net"][0].calls == ()
    del uncalled


def test_a_fault_of_the_recorder_reaches_no_program(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a fault")

    recorded = record(NET)
    for place in ("argument_values.Describer.arguments", "recorder.float_dtype_of", "recorder.constructor_call"):
        monkeypatch.setattr(f"fxlsp.recording.{place}", fail)
    net = recorded.module.Net(4)
    assert net(torch.randn(2, 4)).shape == (2, 4)


def test_hostile_objects_are_described_without_running_their_code(record: Record) -> None:
    recorded = record(NET)

    class Hostile:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

        def __repr__(self) -> str:
            raise AssertionError("repr")

        __eq__ = __hash__ = __len__ = __iter__ = __bool__ = __repr__  # type: ignore[assignment]

    recorded.module.Block(4, Hostile())
    init = recorded.instances()["Block"][0].init
    assert init is not None
    assert init["kwargs"]["norm"] == {"left_out": "what is defined inside a function"}


def test_values_of_tensors_and_secrets_are_nowhere_in_the_file(record: Record) -> None:
    recorded = record(NET)
    secrets = ["hunter2hunter2", "sk-abcdefghijklmnopqrstuvwx", "/home/somebody/data", "x" * 65, "tok:123"]
    values = {
        "password": secrets[0],
        "model": secrets[1],
        "data": secrets[2],
        "text": secrets[3],
        "nested": {"api_key": secrets[4], "width": 3},
        "weights": torch.tensor([12345.678]),
    }
    recorded.module.Block(4, values)
    recorded.module.Net(4)(torch.full((2, 4), 54321.5))
    recorded.session.stop()
    text = Path(recorded.file).read_text()
    assert [secret for secret in [*secrets, "12345", "54321"] if secret in text] == []
    (init,) = [each["init"] for each in json.loads(text)["instances"] if "norm" in each["init"]["kwargs"]]
    assert init["kwargs"]["norm"]["dict"][4][1]["dict"][1] == ["width", 3]


def test_folders_of_imports_are_those_of_the_workspace_without_installations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, environment = tmp_path / "workspace", tmp_path / "workspace" / "env"
    inner = [workspace / "code", workspace / "lib", environment / "lib" / "python3.13", workspace / "site-packages"]
    inner.append(workspace / "two\nlines")
    for folder in (*inner, tmp_path / "other", environment / "lib" / "python3.13" / "site-packages"):
        folder.mkdir(parents=True)
    (workspace / "archive.zip").touch()
    (workspace / "link").symlink_to(tmp_path / "other")
    monkeypatch.chdir(workspace / "lib")
    entries = ["code", "gone", "archive.zip", "link", ".", "two\nlines", "site-packages", "env/lib/python3.13"]
    others: list[Any] = ["", str(tmp_path / "other"), "\0", None]
    monkeypatch.setattr(sys, "path", [*(str(workspace / each) for each in entries), *others])
    monkeypatch.setattr(sys, "prefix", str(environment))
    assert RecordedFolder(str(workspace)).import_folders() == ("code", ".", "lib")


def test_the_prefix_of_an_interpreter_around_the_workspace_is_no_installation_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "workspace" / "code").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "workspace" / "code")])
    assert RecordedFolder(str(tmp_path / "workspace")).import_folders() == ("code",)
