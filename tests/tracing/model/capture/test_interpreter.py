"""FLOPs of nodes are those that torch.utils.flop_counter counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode


@pytest.mark.filterwarnings("ignore:TF32 acceleration")
@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        ("nn.GRU(4, 3, bidirectional=True)", (5, 2, 4)),
        ("nn.LSTMCell(4, 3)", (2, 4)),
        ("nn.LSTM(4, 3)", (5, 2, 4)),
        ("nn.LSTM(4, 3)", (5, 4)),
        ("nn.LSTM(4, 3, 2, bias=False, batch_first=True, bidirectional=True)", (2, 5, 4)),
        ("nn.LSTM(4, 3, proj_size=2)", (5, 2, 4)),
        ("nn.Sequential(nn.Linear(4, 4), nn.Hardswish(inplace=True), nn.GLU(), nn.LogSigmoid())", (2, 4)),
        ("torch.nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))", (2, 4)),
        ("nn.MultiheadAttention(4, 2)", (3, 2, 4)),
        ("nn.Conv2d(4, 8, 3, groups=2)", (2, 4, 5, 5)),
    ],
)
def test_a_layer_costs_what_torch_counts(
    layer: str, shape: tuple[int, ...], worker: Any, write: Callable[..., str]
) -> None:
    path = write(
        f"""
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = {layer}

            def forward(self, x):
                return self.layer({"x, x, x" if "Attention" in layer else "x"}), x // 2
        """
    )
    report = worker.report(f"{path}:Net", "Net()", f"torch.randn{shape}")
    module = eval(layer, {"torch": torch, "nn": torch.nn})
    # What oneDNN does at once, as the matrix products of which it consists.
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        module(*[torch.randn(shape)] * (3 if "Attention" in layer else 1))
    assert report.calls[0].flops == counter.get_total_flops()


def test_a_call_shows_the_shape_that_an_operation_in_place_gave(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        import torch
        from torch import nn

        class Add(nn.Module):
            def forward(self, x):
                y = x + 1
                y.unsqueeze_(0)
                y.squeeze_(1)
                return y

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.add, self.again = Add(), Add()

            def forward(self, x):
                y = self.add(x)
                z = self.again(y)
                y.unsqueeze_(-1)
                return z, y
        """
    )
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 3)")
    shapes = {call.module_path: (call.inputs[0]["shape"], call.output) for call in report.calls}
    assert shapes["add"] == ([1, 3], {"shape": [1, 3], "dtype": "float32"})
    assert shapes["again"] == ([1, 3], {"shape": [1, 3], "dtype": "float32"})
    assert [item["shape"] for item in shapes[""][1]["list"]] == [[1, 3], [1, 3, 1]]


def test_a_call_shows_what_a_container_held_when_it_was_returned(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        import torch
        from torch import nn

        class Heads(nn.Module):
            def forward(self, x):
                return {"mask": x, "boxes": [x, x]}

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.heads = Heads()

            def forward(self, x):
                found = self.heads(x)
                found["mask"] = found["mask"].repeat(2, 2)
                found["boxes"].pop()
                return found
        """
    )
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 3)")
    outputs = {call.module_path: call.output["dict"] for call in report.calls}
    assert (outputs["heads"]["mask"]["shape"], len(outputs["heads"]["boxes"]["list"])) == ([1, 3], 2)
    assert (outputs[""]["mask"]["shape"], len(outputs[""]["boxes"]["list"])) == ([2, 6], 1)


def test_the_time_of_each_stage_and_of_all_is_reported(worker: Any, write: Callable[..., str]) -> None:
    text = """
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                return x + 1
        """
    report = worker.report(write(text) + ":Net", "Net()", "torch.randn(3)")
    stages = {"load", "search", "construct", "trace", "values", "checks", "recover", "total"}
    assert set(report.timing_ms) == stages
    assert report.timing_ms["total"] >= report.timing_ms["trace"]


def test_modules_of_one_class_that_nothing_registers_are_not_mistaken(worker: Any, write: Callable[..., str]) -> None:
    text = """
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                first = nn.Linear(4, 8)
                second = nn.Linear(8, 2)
                return second(first(x)), first(x)
        """
    report = worker.report(write(text) + ":Net", "Net()", "torch.randn(3, 4)")
    called = [node for node in report.nodes if node.op == "call_module"]
    assert [node.output and node.output["shape"] for node in called] == [[3, 8], [3, 2], [3, 8]]
    assert [node.params for node in called] == [40, 18, 40]
    assert report.complete
