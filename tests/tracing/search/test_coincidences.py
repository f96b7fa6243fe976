"""Models that run only where sizes are equal that mean different things: that is reported, and twins are sound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.tracing.search.frames import asked, net

_Net = tuple[str, str, str, str]
_GRU = "self.rnn, self.out = nn.GRU(24, 40{}), nn.Linear(40, 5)"
_BY_STATE = "h = torch.zeros({}, x.size({}), 40)\ny, _ = self.rnn(x, h)\nreturn self.out(y)"
_HEADS = "self.q, self.k, self.v = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)"
_SPLIT = "B, T, C = x.shape\nq, k, v = (f(x).view(B, T, 4, 16).transpose(1, 2) for f in (self.q, self.k, self.v))\n"
_JOIN = "\nreturn y.transpose(1, 2).reshape(B, T, C)"
_CHARS = "self.table, self.conv = nn.Embedding(chars, 48), nn.Conv1d(48, 20, 3, padding=1)"
_GUESSED_HEADS = "self.q, self.k, self.heads = nn.Linear(dim, dim), nn.Linear(dim, dim), heads"
_GUESSED_SPLIT = (
    "B, T, C = x.shape\nq = self.q(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)\n"
    "k = self.k(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)\nreturn q @ k.transpose({}, {})"
)
_GATE = "self.a, self.b = nn.Conv2d(3, 24, 1), nn.Linear(24, 24)"
_SCORES = "self.table, self.score = nn.Embedding(words, 24), nn.Linear(24, 1)"
_HEAD = "self.body, self.head = nn.Linear(8, 24), nn.Parameter(torch.zeros({}))"
_OWN_LAYERS = (
    "class Own(nn.Linear):\n    def forward(self, x):\n        return F.linear(x, self.weight)\n\n"
    "self.one, self.two = Own(a, b), Own(a, b)"
)
_GATE_OF_SIGNAL = "self.a, self.b = nn.Conv1d(3, 24, 1), nn.Linear(24, 24)"
_OWN_LAYERS_IN_A_ROW = (
    "class Equal(nn.Module):\n    def __init__(self, a, b):\n        super().__init__()\n"
    "        self.weight = nn.Parameter(torch.zeros(b, a))\n"
    "    def forward(self, x):\n        return F.linear(x, self.weight * 0.1)\n\n"
    "self.mapping = nn.Sequential(*[Equal(z_dim, w_dim) for _ in range(4)])"
)
_TOKEN = "self.a, self.token = nn.Linear(8, 24), nn.Parameter(torch.zeros(1, 1, 24))"

WRONG: dict[str, tuple[_Net, _Net, str]] = {
    "a state of the length": (
        ("", _GRU.format(""), "x", _BY_STATE.format(1, 0)),
        ("", _GRU.format(""), "x", _BY_STATE.format(1, 1)),
        "y, _ = self.rnn(x, h)",
    ),
    "a state of the length, with the batch first": (
        ("", _GRU.format(", batch_first=True"), "x", _BY_STATE.format(1, 1)),
        ("", _GRU.format(", batch_first=True"), "x", _BY_STATE.format(1, 0)),
        "y, _ = self.rnn(x, h)",
    ),
    "a state of the length, of two layers": (
        ("", _GRU.format(", num_layers=2"), "x", _BY_STATE.format(2, 0)),
        ("", _GRU.format(", num_layers=2"), "x", _BY_STATE.format(2, 1)),
        "y, _ = self.rnn(x, h)",
    ),
    "a state of the length behind an embedding": (
        (
            "words, hidden",
            "self.table, self.rnn, self.hidden = nn.Embedding(words, 24), nn.LSTM(24, hidden), hidden",
            "ids",
            "x = self.table(ids)\nh = x.new_zeros(1, x.size(0), self.hidden)\nreturn self.rnn(x, (h, h))[0]",
        ),
        (
            "words, hidden",
            "self.table, self.rnn, self.hidden = nn.Embedding(words, 24), nn.LSTM(24, hidden), hidden",
            "ids",
            "x = self.table(ids)\nh = x.new_zeros(1, x.size(1), self.hidden)\nreturn self.rnn(x, (h, h))[0]",
        ),
        "return self.rnn(x, (h, h))[0]",
    ),
    "scores of heads without a transposition": (
        ("", _HEADS, "x", f"{_SPLIT}a = torch.softmax(q @ k / 4, -1)\ny = a @ v{_JOIN}"),
        ("", _HEADS, "x", f"{_SPLIT}a = torch.softmax(q @ k.transpose(-2, -1) / 4, -1)\ny = a @ v{_JOIN}"),
        "a = torch.softmax(q @ k / 4, -1)",
    ),
    "scores of one head without a transposition": (
        ("", _HEADS, "x", "a = torch.bmm(self.q(x), self.k(x)).softmax(-1)\nreturn torch.bmm(a, self.v(x))"),
        ("", _HEADS, "x", "a = torch.bmm(self.q(x), self.k(x).mT).softmax(-1)\nreturn torch.bmm(a, self.v(x))"),
        "a = torch.bmm(self.q(x), self.k(x)).softmax(-1)",
    ),
    "scores of guessed width without a transposition": (
        (
            "dim",
            "self.q, self.k = nn.Linear(dim, dim), nn.Linear(dim, dim)",
            "x",
            "return torch.matmul(self.q(x), self.k(x))",
        ),
        (
            "dim",
            "self.q, self.k = nn.Linear(dim, dim), nn.Linear(dim, dim)",
            "x",
            "return torch.matmul(self.q(x), self.k(x).transpose(1, 2))",
        ),
        "return torch.matmul(self.q(x), self.k(x))",
    ),
    "letters convolved along their features": (
        ("chars", _CHARS, "ids", "return self.conv(self.table(ids))"),
        ("chars", _CHARS, "ids", "return self.conv(self.table(ids).transpose(1, 2))"),
        "return self.conv(self.table(ids))",
    ),
    "letters of words convolved along their features": (
        ("chars", _CHARS, "ids", "b, t, c = ids.shape\nreturn self.conv(self.table(ids.reshape(b * t, c)))"),
        ("chars", _CHARS, "ids", "b, t, c = ids.shape\nreturn self.conv(self.table(ids.reshape(b * t, c)).mT)"),
        "return self.conv(self.table(ids.reshape(b * t, c)))",
    ),
    "states of a recurrent layer convolved along their features": (
        (
            "",
            "self.rnn, self.conv = nn.GRU(24, 40, batch_first=True), nn.Conv1d(40, 8, 5)",
            "x",
            "return self.conv(self.rnn(x)[0])",
        ),
        (
            "",
            "self.rnn, self.conv = nn.GRU(24, 40, batch_first=True), nn.Conv1d(40, 8, 5)",
            "x",
            "return self.conv(self.rnn(x)[0].permute(0, 2, 1))",
        ),
        "return self.conv(self.rnn(x)[0])",
    ),
    "scores of heads whose axes are in another order": (
        ("dim, heads", _GUESSED_HEADS, "x", _GUESSED_SPLIT.format(1, 2)),
        ("dim, heads", _GUESSED_HEADS, "x", _GUESSED_SPLIT.format(2, 3)),
        "return q @ k.transpose(1, 2)",
    ),
    "weights of channels without the axes of the edges": (
        ("", _GATE, "x", "x = self.a(x)\nreturn x * self.b(x.mean((2, 3)))"),
        ("", _GATE, "x", "x = self.a(x)\nreturn x * self.b(x.mean((2, 3)))[..., None, None]"),
        "return x * self.b(x.mean((2, 3)))",
    ),
    "weights of channels of a signal without the axis of its length": (
        ("", _GATE_OF_SIGNAL, "x", "x = self.a(x)\nreturn x * self.b(x.mean(2))"),
        ("", _GATE_OF_SIGNAL, "x", "x = self.a(x)\nreturn x * self.b(x.mean(2)).unsqueeze(2)"),
        "return x * self.b(x.mean(2))",
    ),
    "a token without the batch": (
        ("", _TOKEN, "x", "x = self.a(x)\nb, t, c = x.shape\nreturn torch.cat([self.token, x], 1)"),
        ("", _TOKEN, "x", "x = self.a(x)\nb, t, c = x.shape\nreturn torch.cat([self.token.expand(b, -1, -1), x], 1)"),
        "return torch.cat([self.token, x], 1)",
    ),
    "scores of steps that are not transposed": (
        ("words", _SCORES, "ids", "x = self.table(ids)\nreturn torch.bmm(self.score(x).softmax(1), x)"),
        ("words", _SCORES, "ids", "x = self.table(ids)\nreturn torch.bmm(self.score(x).softmax(1).mT, x)"),
        "return torch.bmm(self.score(x).softmax(1), x)",
    ),
    "a weight of the user's own whose axes are exchanged": (
        ("people", _HEAD.format("24, people"), "x", "return F.linear(self.body(x), F.normalize(self.head))"),
        ("people", _HEAD.format("people, 24"), "x", "return F.linear(self.body(x), F.normalize(self.head))"),
        "return F.linear(self.body(x), F.normalize(self.head))",
    ),
}
SOUND: dict[str, _Net] = {
    "one score for each of as many steps as positions": (
        "",
        "self.fc = nn.Linear(24, 16)",
        "x",
        "return torch.bmm(self.fc(x).softmax(-1), x)",
    ),
    "a column for each example, by a row of one step": (
        "",
        "self.a, self.b = nn.Linear(24, 8), nn.Linear(24, 12)",
        "x",
        "return self.a(x).unsqueeze(-1) @ self.b(x).unsqueeze(-2)",
    ),
    "a score of one step that is chosen": (
        "",
        "self.a, self.score = nn.Linear(24, 24), nn.Linear(24, 1)",
        "x",
        "x = self.a(x)\nb, t, c = x.shape\nlast = x[:, -1:]\nreturn torch.bmm(self.score(last), last)",
    ),
    "layers of two widths that a caller may make equal": (
        "a, b",
        "self.one, self.two = nn.Linear(a, b), nn.Linear(a, b)",
        "x",
        "return self.two(self.one(x))",
    ),
    "a layer of the user's own, of two widths that a caller may make equal": (
        "a, b",
        _OWN_LAYERS,
        "x",
        "return self.two(self.one(x))",
    ),
    "a weight that is used in both directions": (
        "hidden",
        "self.w = nn.Parameter(torch.zeros(hidden, 24))",
        "x",
        "return F.linear(F.linear(x, self.w).relu(), self.w.t())",
    ),
    "a weight of two widths in a product that a caller may make equal": (
        "a, b",
        "self.w = nn.Parameter(torch.zeros(a, b))",
        "x",
        "return x @ self.w @ self.w",
    ),
    "layers of the user's own in a row, of two widths that a caller may make equal": (
        "z_dim, w_dim",
        _OWN_LAYERS_IN_A_ROW,
        "z",
        "return self.mapping(z)",
    ),
    "a weight of the user's own in each step along the edges of a graph": (
        "a, b",
        "self.weight = nn.Parameter(torch.zeros(b, a))",
        "x, adj",
        "for _ in range(2):\n    x = F.linear(adj @ x, self.weight)\nreturn x",
    ),
    "steps that are mixed by a matrix and by a convolution of as many channels": (
        "seq_len, d_model",
        (
            "self.proj, self.mix = nn.Linear(7, d_model), nn.Parameter(torch.eye(seq_len))\n"
            "self.conv = nn.Conv1d(seq_len, seq_len, 3, padding=1)"
        ),
        "x",
        "x = self.conv(self.proj(x))\nreturn torch.einsum('st,btd->bsd', self.mix, x)",
    ),
    "a matrix between nodes of two that a layer makes": (
        "",
        "self.fc = nn.Linear(16, 32)",
        "x",
        "one, two = self.fc(x).chunk(2, -1)\nreturn one.softmax(-1) @ two.softmax(-1) @ x",
    ),
    "a state of which a guessed flag says what the batch is": (
        "batch_first",
        "self.rnn = nn.GRU(24, 40, batch_first=batch_first)",
        "x",
        "return self.rnn(x, x.new_zeros(1, x.size(1), 40))[0]",
    ),
    "a state that is an input": ("", "self.rnn = nn.GRU(24, 40)", "x, h", "return self.rnn(x, h)[0]"),
    "a state for one batch": (
        "",
        "self.rnn = nn.GRU(24, 40)",
        "x",
        "return self.rnn(x, torch.zeros(1, 2, 40))[0]",
    ),
    "steps along a matrix between nodes": (
        "",
        "self.a = nn.Linear(24, 8)",
        "x, adj",
        "return torch.bmm(torch.bmm(adj, adj), self.a(x))",
    ),
    "two steps along a learned matrix between nodes": (
        "",
        "self.a, self.b = nn.Linear(24, 12), nn.Linear(24, 8)",
        "x",
        "p = self.a(x).softmax(-1)\nreturn (p @ p) @ self.b(x)",
    ),
    "attention between channels": (
        "",
        _HEADS,
        "x",
        "a = (self.q(x).transpose(1, 2) @ self.k(x)).softmax(-1)\nreturn self.v(x) @ a",
    ),
    "weights that another input makes": (
        "",
        "self.a, self.b = nn.Linear(24, 12), nn.Linear(20, 12)",
        "x, z",
        "return self.a(x) @ self.b(z)",
    ),
    "steps that are mixed as channels": (
        "",
        "self.mix, self.out = nn.Conv1d(48, 48, 1), nn.Linear(48, 48)",
        "x",
        "x = self.out(x)\nreturn x + self.mix(x)",
    ),
    "a length that positions fix": (
        "",
        "self.a, self.at = nn.Linear(24, 24), nn.Parameter(torch.zeros(1, 24, 24))",
        "x",
        "return self.a(x) + self.at",
    ),
    "a pair of inputs that is unpacked": (
        "",
        "self.a = nn.Linear(24, 24)",
        "pair",
        "one, two = pair\nreturn self.a(one) + self.a(two)",
    ),
    "weights of a batch that is the second dimension": (
        "",
        "self.a = nn.Linear(24, 24)",
        "x",
        "t, b, c = x.shape\nreturn x * self.a(x.mean(0))",
    ),
    "rows that are as many as the batch": (
        "",
        "self.a, self.rows = nn.Linear(24, 24), nn.Parameter(torch.zeros(2, 24))",
        "x",
        "b, n, c = x.shape\nreturn self.a(x) + self.rows",
    ),
    "a token for each example of a batch that the constructor is given": (
        "width, batch_size",
        "self.a = nn.Linear(width, 24)\nself.token = nn.Parameter(torch.zeros(batch_size, 1, 24))",
        "x",
        "b, n, c = x.shape\nreturn torch.cat([self.token, self.a(x)], 1)",
    ),
    "a table that is joined behind the rows": (
        "width",
        "self.a, self.table = nn.Linear(width, 24), nn.Parameter(torch.zeros(64, 24))",
        "x",
        "b, c = x.shape\nreturn torch.cat([self.a(x), self.table], 0)",
    ),
    "a learned vector of each node beside its features": (
        "num_nodes=207",
        "self.emb, self.fc = nn.Parameter(torch.randn(num_nodes, 10)), nn.Linear(12, 32)",
        "x",
        "return self.fc(torch.cat([x, self.emb], dim=-1))",
    ),
    "a learned vector of each cell behind a layer over all of them": (
        "cells=64",
        "self.rnn, self.kind = nn.GRU(3, 20, batch_first=True), nn.Parameter(torch.ones(cells, 8))",
        "x",
        "_, h = self.rnn(x)\nreturn torch.cat([h[-1], self.kind], 1)",
    ),
    "a learned vector of each node for each step": (
        "",
        "self.at, self.out = nn.Parameter(torch.randn(20, 1, 8)), nn.Linear(12, 5)",
        "x",
        "n, t, c = x.shape\nreturn self.out(torch.cat([x, self.at.expand(-1, t, -1)], 2))",
    ),
    "a table of users and items beside their features": (
        "n_users, n_items, dim, features",
        "self.emb, self.out = nn.Embedding(n_users + n_items, dim), nn.Linear(dim + features, 5)",
        "feats",
        "return self.out(torch.cat([self.emb.weight, feats], 1))",
    ),
    "what came before one example of a stream": (
        "",
        "self.conv = nn.Conv1d(8, 8, 5)\nself.register_buffer('past', torch.zeros(1, 8, 4))",
        "x",
        "return self.conv(torch.cat([self.past, x], dim=2))",
    ),
    "what came before one example of a stream of guessed width": (
        "width",
        "self.fc = nn.Linear(width, width)\nself.register_buffer('past', torch.zeros(1, 4, width))",
        "x",
        "b, t, c = x.shape\nreturn self.fc(torch.cat([self.past, x], dim=1))",
    ),
    "a square matrix that is scaled by its sums": (
        "",
        "self.scale = nn.Parameter(torch.ones(1))",
        "adj",
        "d = adj.sum(1).pow(-0.5)\nreturn (adj.t() * d).t() * d * self.scale",
    ),
    "a symmetric matrix without its means": (
        "",
        "self.scale = nn.Parameter(torch.ones(1))",
        "cost",
        "n, m = cost.shape\nreturn cost * self.scale - cost.mean(1)",
    ),
    "pairs of nodes without the mean over one of them": (
        "",
        "self.a = nn.Linear(24, 24)",
        "pairs",
        "n, m, c = pairs.shape\nz = self.a(pairs)\nreturn z - z.mean(1)",
    ),
    "two views that lie one behind the other": (
        "",
        "self.encoder = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 32))",
        "views",
        "_, batch, _ = views.shape\none, two = self.encoder(views)\nreturn one @ two.t()",
    ),
    "two vectors that lie one behind the other": (
        "",
        "self.encoder = nn.Linear(128, 64)",
        "pair",
        "n, c = pair.shape\none, two = self.encoder(pair)\nreturn one * two",
    ),
    "weights of channels that are an input": (
        "",
        "self.a = nn.Conv2d(3, 24, 1)",
        "x, weights",
        "return self.a(x) * weights",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_model_that_runs_only_where_sizes_are_equal_fails_with_others(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net(*WRONG[what][0])
    report: Report = worker.report(write(text) + ":Net")
    errors = [each for each in report.problems if each.code == "FX401"]
    assert [each.severity for each in errors[:1]] == ["error"], (report.recipe, report.problems)
    assert errors[0].message.startswith("runs only where ")
    assert errors[0].location is not None
    assert text.splitlines()[errors[0].location.line - 1].strip() == WRONG[what][2]


@pytest.mark.parametrize("what", WRONG)
def test_its_mended_twin_is_sound(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _accusations(worker.answer(write(net(*WRONG[what][1])) + ":Net"))


@pytest.mark.parametrize("what", SOUND)
def test_a_model_that_may_want_equal_sizes_is_not_accused(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _accusations(worker.answer(write(net(*SOUND[what])) + ":Net"))


@pytest.mark.parametrize("what", WRONG)
def test_an_edit_that_takes_the_cause_away_is_noticed(what: str, worker: Any, write: Callable[..., str]) -> None:
    wrong, mended, _ = WRONG[what]
    before = worker.report(write(net(*wrong)) + ":Net").recipe
    report = asked(worker, write(net(*mended)), {"init": before.init, "inputs": before.inputs, "source": "search"})
    assert not [each for each in report.problems if each.code == "FX401"], report.recipe


@pytest.mark.parametrize("what", WRONG)
def test_an_edit_that_brings_the_cause_is_noticed(what: str, worker: Any, write: Callable[..., str]) -> None:
    wrong, mended, _ = WRONG[what]
    before = worker.report(write(net(*mended)) + ":Net").recipe
    report = asked(worker, write(net(*wrong)), {"init": before.init, "inputs": before.inputs, "source": "search"})
    errors = [each.severity for each in report.problems if each.code == "FX401"]
    assert errors[:1] == ["error"], (before, report.recipe, report.problems)


def test_a_failure_by_a_guessed_number_is_not_blamed_on_the_batch(worker: Any, write: Callable[..., str]) -> None:
    layers = "self.fc, self.code, self.token = nn.Linear(64, 32), code, nn.Parameter(torch.zeros(1, 1, 32))"
    body = (
        "b, t, c = x.shape\ny = self.fc(x) + self.fc(x)\nrest = (self.code * 48271) % 2147483647 - 123456789\n"
        "y = y.view(24 + rest)\nreturn torch.cat([self.token, y], 1)"
    )
    assert not _accusations(worker.answer(write(net("code", layers, "x", body)) + ":Net"))


def test_a_lazy_layer_that_nothing_runs_does_not_lose_the_inputs(worker: Any, write: Callable[..., str]) -> None:
    layers = "self.fc, self.spare = nn.Linear(width, 24), nn.LazyConv2d(8, 3)"
    report: Report = worker.report(write(net("width", layers, "x", "return self.fc(x)")) + ":Net")
    assert report.recipe.inputs


def _accusations(answer: Any) -> list[Any]:
    assert answer["type"] == "report"
    return [each for each in Report.from_json(answer["report"]).problems if each.severity in ("error", "warning")]
