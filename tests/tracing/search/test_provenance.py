"""Models that nothing calls: what the code causes is an error, and its mended twin has neither error nor warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.tracing.search.frames import net

_Net = tuple[str, str, str, str]
_ENCODER = "self.conv, self.fc, self.out = nn.Conv2d(1, 32, 5), nn.Linear(32 * 576, 64), nn.Linear(64, 5)"
_STEMS = "self.a, self.b = nn.Conv2d(3, 24, 1), nn.Conv2d(3, 40, 1)"
_ATTENTION = "self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)"
_STATISTICS = "self.fc, self.a, self.b = nn.Linear(24, 8), nn.Linear(8, 4), nn.Linear(8, 4)"
_HALVES = "\n\ndef halves(x):\n    return self.a(x), self.b(x)\n"
_TWO_OR_THREE = """x = self.fc(x)
def halves(x):
    if whole is not None:
        return self.a(x), self.b(x), x
    return self.a(x), self.b(x)
mean, scale, x = halves(x)
return mean * scale"""
_TABLE = "self.norm, self.fc, self.table = nn.BatchNorm1d(8), nn.Linear(8, 1), nn.Embedding(9, 16)"
_KEYS = "self.a, self.b, self.attn = nn.Linear(16, 40), nn.Linear(16, 24), nn.MultiheadAttention(24, 4{})"
_TAGGER = (
    "self.table, self.rnn, self.out = nn.Embedding(words, 24), nn.LSTM(24, 40, batch_first=True), nn.Linear({}, tags)"
)
_DIRECTIONS = "self.table, self.rnn = nn.Embedding(words, 24), nn.GRU(24, 40, batch_first=True, bidirectional=True)"
_WITH_STATE = "return self.rnn(self.table(ids), torch.zeros({}, ids.size(0), 40))[0]"
_TWO_RNNS = (
    "self.table, self.a = nn.Embedding(words, 24), nn.LSTM(24, 40, batch_first=True, bidirectional={})\n"
    "self.b = nn.LSTM(24, 40, batch_first=True)"
)
_GATES = "self.conv, self.part = nn.Conv1d(24, {}, 1), {}"
_SPLIT = "i, f, o, g = torch.split(self.conv(x), self.part, dim=1)\nreturn f * i.sigmoid() + o * g.tanh()"
_IN_LOOP = (
    "h = 0\nfor t in range(4):\n    x = xs[:, t]\n    i, f, o, g = torch.split(self.conv(x), self.part, 1)\n"
    "    h = f * h + i * g * o\nreturn h"
)
_SCALED = "self.fc = nn.Linear(dim, classes)\nself.scale = nn.Parameter(torch.ones(1))"
_STATEFUL = "self.fc = nn.Linear(dim, dim)\nself.state = nn.Parameter(torch.zeros(dim))"
_NORMED = "self.weight = nn.Parameter(torch.randn(words, dim))"
WRONG: dict[str, tuple[_Net, _Net]] = {
    "a state of one direction for a recurrent layer of two": (
        ("words", _DIRECTIONS, "ids", _WITH_STATE.format(1)),
        ("words", _DIRECTIONS, "ids", _WITH_STATE.format(2)),
    ),
    "the states of two directions for a recurrent layer of one": (
        ("words", _TWO_RNNS.format(True), "src, tgt", "return self.b(self.table(tgt), self.a(self.table(src))[1])[0]"),
        ("words", _TWO_RNNS.format(False), "src, tgt", "return self.b(self.table(tgt), self.a(self.table(src))[1])[0]"),
    ),
    "a state of the features of the words": (
        ("words", _DIRECTIONS, "ids", _WITH_STATE.format(2).replace("40", "24")),
        ("words", _DIRECTIONS, "ids", _WITH_STATE.format(2)),
    ),
    "keys of other features than attention takes": (
        ("", _KEYS.format(""), "x", "k = self.a(x)\nreturn self.attn(self.b(x), k, k)[0]"),
        ("", _KEYS.format(", kdim=40, vdim=40"), "x", "k = self.a(x)\nreturn self.attn(self.b(x), k, k)[0]"),
    ),
    "a layer called twice behind a flattened image": (
        ("", _ENCODER, "x", "x = self.fc(self.conv(x).flatten(1))\nreturn self.out(torch.relu(self.fc(x)))"),
        ("", _ENCODER, "x", "x = self.fc(self.conv(x).flatten(1))\nreturn self.out(torch.relu(x))"),
    ),
    "a width behind a recurrent layer, with guessed counts": (
        ("words, tags", _TAGGER.format(80), "ids", "return self.out(self.rnn(self.table(ids))[0])"),
        ("words, tags", _TAGGER.format(40), "ids", "return self.out(self.rnn(self.table(ids))[0])"),
    ),
    "a width and twice the width": (
        (
            "dim",
            "self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)",
            "x",
            "return self.down(self.up(x))",
        ),
        (
            "dim",
            "self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)",
            "x",
            "return self.down(self.up(x))",
        ),
    ),
    "lengths that always differ by one": (
        ("", "self.a = nn.Linear(24, 24)", "x", "x = self.a(x)\nn, t, c = x.shape\nreturn x[:, 1:] * x"),
        ("", "self.a = nn.Linear(24, 24)", "x", "x = self.a(x)\nn, t, c = x.shape\nreturn x[:, 1:] * x[:, :-1]"),
    ),
    "channels joined along an edge": (
        ("", _STEMS, "x", "return torch.cat([self.a(x), self.b(x)], 3)"),
        ("", _STEMS, "x", "return torch.cat([self.a(x), self.b(x)], 1)"),
    ),
    "a sum with the tuple that attention returns": (
        ("dim, heads", _ATTENTION, "x", "a = self.attn(x, x, x)\nreturn x + a"),
        ("dim, heads", _ATTENTION, "x", "a, _ = self.attn(x, x, x)\nreturn x + a"),
    ),
    "a method of the tuple that a recurrent layer returns": (
        ("", "self.rnn = nn.GRU(24, 40)", "x", "return self.rnn(x).relu()"),
        ("", "self.rnn = nn.GRU(24, 40)", "x", "return self.rnn(x)[0].relu()"),
    ),
    "the result of a recurrent layer unpacked into three": (
        ("words, tags", _TAGGER.format(40), "ids", "y, h, c = self.rnn(self.table(ids))\nreturn self.out(y)"),
        ("words, tags", _TAGGER.format(40), "ids", "y, (h, c) = self.rnn(self.table(ids))\nreturn self.out(y)"),
    ),
    "the tuple of a recurrent layer indexed like a tensor": (
        ("", "self.rnn = nn.LSTM(24, 40, batch_first=True)", "x", "return self.rnn(x)[:, -1]"),
        ("", "self.rnn = nn.LSTM(24, 40, batch_first=True)", "x", "return self.rnn(x)[0][:, -1]"),
    ),
    "a helper that returns nothing": (
        (
            "",
            "self.a, self.b = nn.Linear(24, 8), nn.Linear(8, 2)",
            "x",
            "def half(x):\n    x * 0.5\nreturn self.b(half(self.a(x)))",
        ),
        (
            "",
            "self.a, self.b = nn.Linear(24, 8), nn.Linear(8, 2)",
            "x",
            "def half(x):\n    return x * 0.5\nreturn self.b(half(self.a(x)))",
        ),
    ),
    "a function of two results unpacked into three": (
        ("", _STATISTICS, "x", f"x = self.fc(x.flatten(1)){_HALVES}mean, scale, x = halves(x)\nreturn mean * scale"),
        ("", _STATISTICS, "x", f"x = self.fc(x.flatten(1)){_HALVES}mean, scale = halves(x)\nreturn mean * scale"),
    ),
    "a convolution of what a helper does not return": (
        ("", "self.conv = nn.Conv2d(3, 3, 3)", "x", "def half(x):\n    x * 0.5\nreturn self.conv(half(self.conv(x)))"),
        (
            "",
            "self.conv = nn.Conv2d(3, 3, 3)",
            "x",
            "def half(x):\n    return x * 0.5\nreturn self.conv(half(self.conv(x)))",
        ),
    ),
    "a recurrent layer of maps": (
        (
            "",
            "self.conv, self.rnn = nn.Conv2d(1, 24, 3), nn.GRU(24, 8)",
            "x",
            "return self.rnn(self.conv(x).mT[..., :1])",
        ),
        (
            "",
            "self.conv, self.rnn = nn.Conv2d(1, 24, 3), nn.GRU(24, 8)",
            "x",
            "return self.rnn(self.conv(x).mean(2).transpose(1, 2))",
        ),
    ),
    "a table that is given the floats of a layer": (
        ("", _TABLE, "x", "return self.table(self.fc(self.norm(x)).squeeze(1))"),
        ("", _TABLE, "x", "return self.table(self.fc(self.norm(x)).squeeze(1).abs().long())"),
    ),
    "a layer for other features behind a normalisation": (
        ("", "self.norm, self.fc = nn.LayerNorm(24), nn.Linear(40, 8)", "x", "return self.fc(self.norm(x))"),
        ("", "self.norm, self.fc = nn.LayerNorm(24), nn.Linear(24, 8)", "x", "return self.fc(self.norm(x))"),
    ),
    "a convolution of three gates split into four": (
        ("", _GATES.format(72, 24), "x", _SPLIT),
        ("", _GATES.format(96, 24), "x", _SPLIT),
    ),
    "keys and values of a layer chunked into three": (
        ("dim", "self.kv = nn.Linear(dim, 2 * dim)", "x", "q, k, v = self.kv(x).chunk(2, dim=-1)\nreturn q * k + v"),
        ("dim", "self.kv = nn.Linear(dim, 3 * dim)", "x", "q, k, v = self.kv(x).chunk(3, dim=-1)\nreturn q * k + v"),
    ),
    "four chunks of a layer for two names": (
        ("", "self.fc = nn.Linear(24, 32)", "x", "a, b = self.fc(x).chunk(4, dim=-1)\nreturn a * b"),
        ("", "self.fc = nn.Linear(24, 32)", "x", "a, b = self.fc(x).chunk(2, dim=-1)\nreturn a * b"),
    ),
    "chunks of items in a loop": (
        ("", _GATES.format(72, 24), "xs", _IN_LOOP),
        ("", _GATES.format(96, 24), "xs", _IN_LOOP),
    ),
    "a computed scale of a model of guessed widths": (
        ("dim, classes", _SCALED, "x", "y = self.fc(x)\nself.scale = self.scale.clamp(max=4.6)\nreturn y * self.scale"),
        ("dim, classes", _SCALED, "x", "y = self.fc(x)\nscale = self.scale.clamp(max=4.6)\nreturn y * scale"),
    ),
    "a layer's result assigned to the layer": (
        ("dim, classes", _SCALED, "x", "self.fc = self.fc(x)\nreturn self.fc * self.scale"),
        ("dim, classes", _SCALED, "x", "fc = self.fc(x)\nreturn fc * self.scale"),
    ),
    "a state that is a parameter": (
        ("dim", _STATEFUL, "x", "y = self.fc(x)\nself.state = self.state * 0.9 + y.mean(0) * 0.1\nreturn y"),
        ("dim", _STATEFUL, "x", "y = self.fc(x)\nstate = self.state * 0.9 + y.mean(0) * 0.1\nreturn y + state"),
    ),
    "a table multiplied in place by a product": (
        ("words, dim", _NORMED, "ids", "self.weight = F.normalize(self.weight, dim=-1)\nreturn self.weight[ids]"),
        ("words, dim", _NORMED, "ids", "weight = F.normalize(self.weight, dim=-1)\nreturn weight[ids]"),
    ),
    "a temperature divided in a loop": (
        (
            "dim",
            _SCALED.replace("classes", "dim"),
            "x",
            "for _ in range(2):\n    self.scale = self.scale / 2\nreturn self.fc(x)",
        ),
        (
            "dim",
            _SCALED.replace("classes", "dim"),
            "x",
            "for _ in range(2):\n    scale = self.scale / 2\nreturn self.fc(x) * scale",
        ),
    ),
}
FAULTLESS: dict[str, _Net] = {
    "a state of as many layers as a guessed argument says": (
        "words, num_layers",
        "self.table, self.rnn = nn.Embedding(words, 24), nn.GRU(24, 40, num_layers, batch_first=True)",
        "ids",
        "return self.rnn(self.table(ids), torch.zeros(1, ids.size(0), 40))[0]",
    ),
    "a state of the width of an encoder that has to be that of the decoder": (
        "words, inner, outer",
        "self.table, self.a, self.b = nn.Embedding(words, 24), nn.GRU(24, inner), nn.GRU(24, outer)",
        "src, tgt",
        "return self.b(self.table(tgt), self.a(self.table(src))[1])[0]",
    ),
    "a state that is handed in beside its sequence": (
        "",
        "self.fc, self.rnn = nn.Linear(24, 24), nn.GRU(24, 40, num_layers=2, batch_first=True)",
        "x, state",
        "return self.rnn(self.fc(x), state)[0]",
    ),
    "a state for as many sequences as are handed in beside": (
        "",
        "self.rnn = nn.GRU(24, 40, batch_first=True)",
        "x, lengths",
        "return self.rnn(x, torch.zeros(1, lengths.size(0), 40))[0]",
    ),
    "a residual of which the widths have to be equal": (
        "a, b",
        "self.one, self.two = nn.Linear(a, b), nn.Linear(b, b)",
        "x",
        "return x + self.two(self.one(x))",
    ),
    "widths of which one is twice the other": (
        "width, hidden",
        "self.one, self.two = nn.Linear(width, hidden), nn.Linear(2 * width, 5)",
        "x",
        "return self.two(self.one(x))",
    ),
    "a mask that may be left out but is needed": (
        "",
        "self.one = nn.Linear(24, 24)",
        "x, mask=None",
        "return self.one(x) * mask.float().unsqueeze(-1)",
    ),
    "a layer that may be left out but is needed": (
        "dim, norm=None",
        "self.one, self.norm = nn.Linear(dim, dim), norm",
        "x",
        "x = self.one(x)\nh, w = self.norm.weight.shape\nreturn x * h",
    ),
    "a mode that decides what is returned": (
        "dim, mode",
        "self.one, self.mode = nn.Linear(dim, dim), mode",
        "x",
        "x = self.one(x)\ny = (x,) if self.mode != 1 else x\nreturn x + y",
    ),
    "an image whose edge decides": (
        "",
        "self.conv, self.fc = nn.Conv2d(3, 16, 3), nn.Linear(16 * 1155, 5)",
        "x",
        "return self.fc(self.conv(x).flatten(1))",
    ),
    "a key that a made-up object has": (
        "parts",
        "self.parts, self.fc = parts, nn.Linear(24, 24)",
        "x",
        "table = {}\nx = self.fc(x)\nreturn x * table[self.parts.kind]",
    ),
    "a function that returns two or three results": (
        "",
        _STATISTICS,
        "x, whole=None",
        _TWO_OR_THREE,
    ),
    "a squeezed width of the constructor's": (
        "out_dim",
        "self.fc, self.norm = nn.Linear(8, out_dim), nn.BatchNorm2d(3)",
        "x",
        "b, c, h, w, d = x.shape\nreturn self.norm(self.fc(x).squeeze(-1))",
    ),
    "a normalisation that an input of another rank fits": (
        "",
        "self.fc, self.norm = nn.Linear(24, 8), nn.BatchNorm2d(8)",
        "x",
        "return self.norm(self.fc(x))",
    ),
    "a table that may be given integers": (
        "",
        "self.table = nn.Embedding(9, 16)",
        "x",
        "return self.table(x.squeeze(1))",
    ),
    "heads that do not divide": (
        "dim, inner",
        "self.q, self.k = nn.Linear(dim, inner), nn.Linear(dim, 48)",
        "x",
        "return self.q(x) * self.k(x)",
    ),
    "steps split behind a convolution": (
        "",
        "self.conv = nn.Conv1d(24, 32, 1)",
        "x",
        "past, now, future = torch.split(self.conv(x), 5, dim=2)\nreturn now, past.mean(2), future.mean(2)",
    ),
    "parts of a guessed size": (
        "dim, inner, part",
        "self.fc, self.part = nn.Linear(dim, inner), part",
        "x",
        "q, k, v = self.fc(x).split(self.part, dim=-1)\nreturn q * k + v",
    ),
    "as many chunks as an argument says": (
        "dim, parts",
        "self.fc, self.parts = nn.Linear(dim, 12 * dim), parts",
        "x",
        "a, b, c = self.fc(x).chunk(self.parts, dim=-1)\nreturn a * b + c",
    ),
    "parts as wide as another input": (
        "",
        "self.fc = nn.Linear(24, 48)",
        "x, y",
        "a, b = torch.split(self.fc(x), y.shape[-1], dim=-1)\nreturn a * y + b",
    ),
    "views of a batch": (
        "",
        "self.fc = nn.Linear(24, 48)",
        "x",
        "a, b, c = self.fc(x).chunk(3, dim=0)\nreturn a * b + c",
    ),
    "a scale that an argument makes a parameter": (
        "dim, mode=4",
        "self.fc, self.scale = nn.Linear(dim, dim), torch.ones(1)\nif mode > 3: self.scale = nn.Parameter(self.scale)",
        "x",
        "y = self.fc(x)\nself.scale = self.scale.clamp(max=4.6)\nreturn y * self.scale",
    ),
    "a scale that is replaced where an argument says so": (
        "dim, most",
        "self.fc, self.most = nn.Linear(dim, dim), most\nself.scale = nn.Parameter(torch.ones(1))",
        "x",
        "y = self.fc(x)\nif self.most > 0:\n    self.scale = self.scale.clamp(max=self.most)\nreturn y * self.scale",
    ),
    "a scale that a function makes": (
        "dim, kind",
        (
            "made = torch.ones if kind > 999 else lambda n: nn.Parameter(torch.ones(n))\n"
            "self.fc, self.scale = nn.Linear(dim, dim), made(1)"
        ),
        "x",
        "y = self.fc(x)\nself.scale = self.scale.clamp(max=4.6)\nreturn y * self.scale",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_the_code_causes_is_an_error(what: str, worker: Any, write: Callable[..., str]) -> None:
    report: Report = worker.report(write(net(*WRONG[what][0])) + ":Net")
    errors = [(each.code, each.severity) for each in report.problems if each.code.startswith("FX4")]
    assert errors[:1] == [("FX401", "error")], report.problems
    assert report.recipe.inputs is not None
    assert any(node.output is not None and not node.assumed for node in report.nodes)


@pytest.mark.parametrize("what", WRONG)
def test_its_mended_twin_has_no_error(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _accusations(worker.answer(write(net(*WRONG[what][1])) + ":Net"))


@pytest.mark.parametrize("what", FAULTLESS)
def test_what_another_guess_mends_is_no_error(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _accusations(worker.answer(write(net(*FAULTLESS[what])) + ":Net"))


@pytest.mark.parametrize(
    ("made", "run"),
    [
        pytest.param(
            "self.fc, self.rnn = nn.Linear(40, 32), nn.LSTM(32, 64, batch_first=True)",
            "b, c, t, f = x.shape\nx = self.fc(x)\nif c == 1: x = x[:, 0]\nreturn self.rnn(x)[0]",
            id="one channel goes",
        ),
        pytest.param(
            "self.norm = nn.BatchNorm1d(32)",
            "parts = x.unbind(1)\nx = torch.stack(parts, 1) if x.size(1) > 1 else parts[0]\nreturn self.norm(x)",
            id="one part is not stacked",
        ),
        pytest.param(
            "self.fc, self.norm = nn.Linear(256, 256), nn.BatchNorm3d(3)",
            "x = self.fc(x)\nif x.size(2) >= 512: x = x.unflatten(2, (-1, 256))\nreturn self.norm(x)",
            id="a large map is cut",
        ),
    ],
)
def test_a_rank_that_hangs_on_a_size_is_no_error(made: str, run: str, worker: Any, write: Callable[..., str]) -> None:
    answer = worker.answer(write(net("", made, "x", run)) + ":Net")
    assert not [each for each in _accusations(answer) if each.code.startswith("FX4")]


def _accusations(answer: Any) -> list[Any]:
    assert answer["type"] == "report"
    return [each for each in Report.from_json(answer["report"]).problems if each.severity in ("error", "warning")]
