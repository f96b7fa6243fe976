"""Behind a failure nothing is invented: what torch.fx alone accepts is no problem there either."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.cases import skip_if_lacking
from tests.support.marked import PREAMBLE
from tests.support.reference import output_shapes, reference_of

NET = """
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, PackedSequence

_cache = {{}}

@torch.fx.wrap
def packed(x, n):
    return pack_padded_sequence(x, n, batch_first=True)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.gru = nn.GRU(4, 4, batch_first=True)
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
        self.kept = {{}}

    def forward(self, x):
        {before}
        {body}
"""

BODIES = {
    "a cache by a device": (
        "key = (1, x.device)\n        t = _cache.get(key)\n        if t is None:\n            t = _cache[key] = x * 2\n"
        "        return x + t"
    ),
    "a cache by a size": "self.kept[x.size(1)] = 3\n        return x * 2",
    "a cache by sizes": "self.kept[(x.size(0), x.size(1))] = 3\n        return x * 2",
    "a cache by a dtype": "self.kept[x.dtype] = x\n        return x * 2",
    "a test for a key": "if x.size(1) not in self.kept:\n            self.kept[x.size(1)] = 1\n        return x * 2",
    "a default of a key": "return x * self.kept.setdefault(x.size(1), 2)",
    "a set of sizes": "seen = set()\n        seen.add(x.size(0))\n        return x * len(seen)",
    "part of a list of modules": "for layer in self.layers[:2]:\n            x = layer(x)\n        return x",
    "part of a part": "for layer in self.layers[1:][:-1]:\n            x = layer(x)\n        return x",
    "a reversed list of modules": "for layer in reversed(self.layers):\n            x = layer(x)\n        return x",
    "a packed sequence": "return self.lstm(packed(x, torch.tensor([5, 3])))[0].data",
    "a packed sequence, padded": (
        "out = self.gru(packed(x, torch.tensor([5, 3])))[0]\n"
        "        return pad_packed_sequence(out, batch_first=True)[0]"
    ),
    "a packed sequence of a list of lengths": "return self.lstm(packed(x, [5, 3]))[1][0]",
}


NEEDS = {
    "a packed sequence, padded": "parsers",
    "packing a list": "columns",
    "packing and padding": "parsers",
    "packing unsorted": "parsers",
}


@pytest.mark.parametrize("name", BODIES)
def test_what_torch_fx_accepts_alone_is_accepted_behind_a_failure(
    name: str, worker: Any, write: Callable[..., str]
) -> None:
    skip_if_lacking(NEEDS.get(name))
    inputs = "torch.randn(2, 5, 4)"
    alone = PREAMBLE + textwrap.dedent(NET).format(before="x = x + 1", body=BODIES[name])
    text = PREAMBLE + textwrap.dedent(NET).format(before="x = x + len(x)", body=BODIES[name])
    assert reference_of(alone, inputs).refusal is None
    reference = reference_of(text, inputs)
    assert reference.refusal is not None
    report = worker.report(f"{write(text)}:Net", "Net()", inputs)
    codes = [problem.code for problem in report.problems if problem.code.startswith(("FX1", "FX2", "FX4", "FX9"))]
    assert [code for code in codes if code != "FX206"] == ["FX103"], report.problems
    assert report.complete
    assert output_shapes(report) == reference.shape


REFUSED = {
    "a lookup": ("self.kept[x.size(1)] = 3\n        return x * self.kept[x.size(1)]", "FX105"),
    "packing": ("return self.lstm(pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True))[0].data", None),
    "packing a list": ("return self.gru(pack_sequence([x[0], x[1][:3]]))[0].data", "FX106"),
    "packing and padding": (
        (
            "p = pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True)\n"
            "        return pad_packed_sequence(self.gru(p)[0], batch_first=True)[0]"
        ),
        None,
    ),
    "packing unsorted": (
        (
            "p = pack_padded_sequence(x, torch.tensor([3, 5]), batch_first=True, enforce_sorted=False)\n"
            "        return pad_packed_sequence(self.lstm(p)[0], batch_first=True)[0]"
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_refusal_is_one_problem(name: str, worker: Any, write: Callable[..., str]) -> None:
    skip_if_lacking(NEEDS.get(name))
    body, code = REFUSED[name]
    inputs = "torch.randn(2, 5, 4)"
    text = PREAMBLE + textwrap.dedent(NET).format(before="x = x + 1", body=body)
    reference = reference_of(text, inputs)
    report = worker.report(f"{write(text)}:Net", "Net()", inputs)
    assert report.verdict.traceable == (reference.refusal is None)
    problems = [problem for problem in report.problems if problem.code.startswith(("FX1", "FX4"))]
    assert len(problems) == (reference.refusal is not None), problems
    assert code is None or problems[0].code == code
    assert report.complete
    assert output_shapes(report) == reference.shape


LENGTHS = {
    "itself": "lengths",
    "on the processor": "lengths.cpu()",
    "moved": "lengths.to('cpu')",
    "a list": "lengths.tolist()",
    "an array": "lengths.numpy()",
}


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_that_are_traced_are_reported_in_plain_words(name: str, worker: Any, write: Callable[..., str]) -> None:
    packed = f"pack_padded_sequence(x, {LENGTHS[name]}, batch_first=True)"
    text = PREAMBLE + textwrap.dedent(NET).format(before="x = x + 1", body=f"return self.lstm({packed})[1][0]")
    text = text.replace("def forward(self, x)", "def forward(self, x, lengths)")
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.randn(2, 5, 4), torch.tensor([5, 3])")
    problem, *others = [problem for problem in report.problems if problem.code.startswith(("FX1", "FX4"))]
    # Without columns, what torch.fx refuses on this line cannot be told from what the pass behind it finds there.
    assert not others or sys.version_info < (3, 11)
    headline = problem.message.partition("\n")[0]
    assert problem.code == "FX106"
    assert headline == "torch.fx cannot trace this: a tensor is made here from a traced value, which has no data"
    assert report.complete


@pytest.mark.parametrize("value", ["n * x.shape[1]", "[x.shape[1]]", "x.shape[1]"])
def test_a_tensor_of_a_traced_size_behind_a_failure_is_reported_in_plain_words(
    value: str, worker: Any, write: Callable[..., str]
) -> None:
    body = f"n = int(x.shape[0])\n        return torch.tensor({value}) + x"
    text = PREAMBLE + f"class Net(nn.Module):\n    def forward(self, x):\n        {body}\n"
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.randn(2, 5)")
    (problem,) = (problem for problem in report.problems if problem.code == "FX106")
    assert problem.message == "torch.fx cannot trace this: a tensor is made here from a traced value, which has no data"


HOOKS = {
    "a list": ("self.kept = []", "self.kept.append(out)", "self.kept.clear()\n        x = self.a(x)", "self.kept[-1]"),
    "a dict": (
        "self.kept = {}",
        "self.kept.update(a=out)",
        "self.kept.clear()\n        x = self.a(x)",
        "self.kept['a']",
    ),
    "an attribute": ("pass", "setattr(self, 'kept', out)", "x = self.a(x)", "self.kept"),
}


@pytest.mark.parametrize("name", HOOKS)
def test_what_a_hook_kept_of_a_layer_is_what_the_layer_returned(
    name: str, worker: Any, write: Callable[..., str]
) -> None:
    made, keep, first, read = HOOKS[name]
    text = f"""{PREAMBLE}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        {made}
        self.a.register_forward_hook(lambda module, args, out: {keep})

    def forward(self, x):
        {first}
        return x * {read}.relu()
"""
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.randn(2, 4)")
    relu = next(node for node in report.nodes if node.name.startswith("relu"))
    assert relu.input_nodes == ("a",)
    assert {problem.code for problem in report.problems} <= {"FX199"}
