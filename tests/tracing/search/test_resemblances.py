"""Sound models that resemble mistakes, of which nothing says how they are made and fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Failure
from fxlsp.report.report import Report
from tests.tracing.search.frames import HEAD, net

_FC = "self.fc = nn.Linear(8, 8)"
_LATER = "\n\n    def {}(self, x):\n        {}\n"
OBJECTS = {
    "a cloud that flips": ("cloud", "return self.fc(cloud.flip())"),
    "a jagged batch": ("batch", "return batch.softmax() + self.fc(batch.values)"),
    "a graph that is gathered": ("graph, x", "h = self.fc(x)\ngraph.index_add()\nreturn graph.gather() * h"),
    "boxes that are expanded": ("boxes", "return self.fc(boxes.clip().expand())"),
    "a video that splits": ("video", "return torch.stack([self.fc(each) for each in video.split()])"),
    "tokens that are repeated": ("sample", "return self.fc(sample.tokens.repeat())"),
    "a wave with its spectrum": ("wave", "return self.fc(wave.stft().abs().transpose(1, 2))"),
    "a sparse matrix": ("adj, x", "return adj.matmul(self.fc(x)) + adj.masked_select()"),
    "a mesh that rolls": ("mesh, steps=2", "for _ in range(steps):\n    mesh = self.fc(mesh.roll())\nreturn mesh"),
    "a state that is permuted": ("state", "return self.fc(state.permute().values)"),
    "a function that the file defines": (
        "x",
        "def softmax(x):\n    return x.softmax(-1)\nreturn softmax(self.fc(x))",
    ),
}
_SINE = "at = torch.arange(32).unsqueeze(1)\ntable = torch.zeros({}, 16)\ntable[:, ::2] = at * torch.ones(1, 8)"
PLACEHOLDERS = {
    "heads of -1": ("dim=64, heads=-1", "self.attn = nn.MultiheadAttention(dim, heads)", "heads"),
    "a width of 1": ("dim=1, heads=4", "self.attn = nn.MultiheadAttention(dim, heads)", "dim"),
    "no groups": ("groups=0", "self.conv = nn.Conv2d(8, 8, 3, groups=groups)", "groups"),
    "no features": ("n_in=0", "self.rnn = nn.LSTM(n_in, 8)", "n_in"),
    "a rate below 0": ("p=-1.0", "self.drop = nn.Dropout(p)", "p"),
    "a table without positions": ("length=0", _SINE.format("length"), "length"),
    "a table without width": ("width=0", "table = torch.zeros(8, 4)\ntable[:, :width] = torch.ones(2)", "width"),
    "a grid of any size": ("size=-1", "self.grid = torch.arange(16).view(size, 5)", "size"),
    "two sizes of nothing": ("dims=(0, 0)", "self.t = torch.cat([torch.ones(3, 4), torch.ones(3, dims[1])])", "dims"),
    "a window of nothing": ("window=0", "at = torch.arange(window)\nself.index = (at + 1).view(49, 49)", "window"),
    "a width of None": ("width=None", "self.attn = nn.MultiheadAttention(width, 4)", "width"),
}
UNSET = {
    "statistics": ("self.mean = None", "return torch.sub(self.mean, self.fc(x))", "set", "self.mean = x"),
    "a buffer": ('self.register_buffer("low", None)', "return self.fc(x) - self.low", "fit", "self.low = x.amin(0)"),
    "a layer": ("self.head = None", "return self.head(self.fc(x))", "build", "self.head = nn.Linear(8, len(x))"),
    "a cache": ("self.past = None", "return torch.cat([self.past, self.fc(x)], 1)", "fill", "self.past = self.fc(x)"),
    "a state": ("self.h = None", "self.h = torch.maximum(self.h, self.fc(x))\nreturn self.h", "reset", "self.h = x"),
    "the weight of a layer": ("self.out = None", "return x @ self.out.weight", "build", "self.out = self.fc"),
}
OTHERS = {
    "what a guessed function rounds": net(
        "quantize",
        "self.fc, self.table, self.quantize = nn.Linear(8, 1), nn.Embedding(16, 8), quantize",
        "x",
        "return self.table(self.quantize(self.fc(x)).squeeze(-1))",
    ),
    "maps of which one edge is squeezed": net(
        "",
        "self.conv, self.norm = nn.Conv2d(1, 8, (40, 3), stride=(40, 1)), nn.BatchNorm1d(8)",
        "x",
        "return self.norm(self.conv(x).squeeze())",
    ),
    "as many steps as channels": net(
        "",
        "self.conv, self.rnn = nn.Conv1d(80, 64, 3, padding=1), nn.LSTM(64, 32, batch_first=True)",
        "mel",
        "return self.rnn(self.conv(mel))[0]",
    ),
    "patches of an image with two edges": net(
        "width=384",
        "self.embed, self.norm = nn.Conv2d(3, width, 16, 16), nn.LayerNorm(width)\nself.mix = nn.Linear(384, 384)",
        "x",
        "return self.mix(self.norm(self.embed(x).flatten(2)))",
    ),
    "a function of two results that another one wraps": HEAD
    + "def numbered(function):\n    return lambda x: (0, *function(x))\n\n"
    + "def halves(x):\n    return x[..., :4], x[..., 4:]\n\nhalves = numbered(halves)\n\n"
    + net("", _FC, "x", "index, low, high = halves(self.fc(x))\nreturn low * high + index").removeprefix(HEAD),
    "a block that an optional input leads elsewhere": net(
        "",
        "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 24)\n"
        "    def forward(self, c):\n        return self.a(torch.ones(1, 8)) if c is None else self.b(c)\n"
        "self.cond, self.out = nn.Sequential(Block()), nn.Linear(24, 2)",
        "x, c=None",
        "return self.out(self.cond(c)) + x[..., :1]",
    ),
    "an object that makes a layer by its own keyword": HEAD
    + "class Made:\n    def Conv2d(self, a, b, kernel):\n        return nn.Conv2d(a, b, kernel)\n\nmade = Made()\n\n"
    + net("", "self.conv = made.Conv2d(3, 8, kernel=3)", "x", "return self.conv(x)").removeprefix(HEAD),
}


def _is_accused(answer: Any) -> bool:
    if answer["type"] == "failure":
        return Failure.from_json(answer["failure"]).is_certain
    problems = Report.from_json(answer["report"]).problems
    return any(each.severity in ("error", "warning") and each.code[:3] in ("FX4", "FX9") for each in problems)


@pytest.mark.parametrize("what", OBJECTS)
def test_a_method_of_an_object_is_not_taken_for_one_of_a_tensor(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    assert not _is_accused(worker.answer(write(net("", _FC, *OBJECTS[what])) + ":Net"))


@pytest.mark.parametrize("what", PLACEHOLDERS)
def test_a_number_that_is_no_size_is_an_argument_that_is_needed(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    arguments, made, name = PLACEHOLDERS[what]
    answer = worker.answer(write(net(arguments, f"{made}\n{_FC}", "x", "return self.fc(x)")) + ":Net")
    assert not _is_accused(answer)
    if answer["type"] == "failure":
        assert f"argument {name}" in str(Failure.from_json(answer["failure"]).needs)


@pytest.mark.parametrize(
    "made", ["self.attn = nn.MultiheadAttention(32, self.heads())", "self.attn = nn.MultiheadAttention(32, self.few)"]
)
def test_what_a_subclass_is_to_define_is_no_certain_failure(made: str, worker: Any, write: Callable[..., str]) -> None:
    text = net("", made, "x", "return self.attn(x, x, x)[0]") + "\n    few = 0\n" + _LATER.format("heads", "return 0")
    text = text.replace("def heads(self, x)", "def heads(self)")
    assert not _is_accused(worker.answer(write(text) + ":Net"))


@pytest.mark.parametrize("what", UNSET)
def test_an_attribute_that_another_method_sets_may_be_set_first(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    made, run, method, sets = UNSET[what]
    text = net("", f"{_FC}\n{made}", "x", run)
    assert not _is_accused(worker.answer(write(text + _LATER.format(method, sets)) + ":Net"))
    assert _is_accused(worker.answer(write(text) + ":Net"))


@pytest.mark.parametrize("what", OTHERS)
def test_a_sound_model_is_not_accused(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _is_accused(worker.answer(write(OTHERS[what]) + ":Net"))


@pytest.mark.parametrize(
    "run",
    [
        "return self.fc(sample.tokens) + undefined",
        "return self.tables(sample.tokens)",
        "x = sample['rows'].float()\nreturn torch.softmax(self.fc(x.values))",
        "return self.fc(torch.flip(sample.tokens))",
        "self.counts += 1\nreturn self.fc(sample.tokens.rows)",
        "for each in sample.items:\n    sample.push(each)\nreturn missing(self.fc(sample.x))",
        "x = sample.graph.nodes\nreturn self.fc(x, x)",
        "return self.fc(sample.tokens.repeat()) + self.absent",
    ],
)
def test_no_recipe_has_an_unknown(run: str, worker: Any, write: Callable[..., str]) -> None:
    report: Report = worker.report(write(net("", _FC, "sample", run)) + ":Net")
    assert "FX904" not in {each.code for each in report.problems}
    assert "…" not in f"{report.recipe.init}{report.recipe.inputs}"
