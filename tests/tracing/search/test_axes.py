"""Operands whose axes mean different things: what runs only by accident is reported, and look-alikes are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.tracing.search.frames import net

_Net = tuple[str, str, str, str]
_MAPS = "self.conv, self.fc = nn.Conv2d(3, 64, 8, 8), nn.Linear(64 * 49, 10)"
_ATTENTION = "self.attn = nn.MultiheadAttention(24, 4{})"
_OF_WORDS = f"self.table = nn.Embedding(words, 24)\n{_ATTENTION.format(', batch_first=True')}"
_MASKED = "{} = x.shape\nreturn self.attn(x, x, x, attn_mask=torch.ones({}).triu(1).bool())[0]"
_SCALES = "self.a, self.b = nn.Conv2d(3, 24, 1), nn.Linear(10, {})"
_HEADS = "self.q, self.k = nn.Linear(64, 64), nn.Linear(64, 64)"
_SPLIT = "b, n, d = x.shape\nq, k = self.q(x).view(b, n, 4, 16), self.k(x).view(b, n, 4, 16)\n"

WRONG: dict[str, tuple[_Net, _Net, str]] = {
    "maps that are not flattened": (
        ("", _MAPS, "x", "return self.fc(self.conv(x).relu())"),
        ("", _MAPS, "x", "return self.fc(self.conv(x).relu().flatten(1))"),
        "return self.fc(self.conv(x).relu())",
    ),
    "a mask of as many steps as examples": (
        ("words", _OF_WORDS, "ids", f"x = self.table(ids)\n{_MASKED.format('b, t, c', 'b, b')}"),
        ("words", _OF_WORDS, "ids", f"x = self.table(ids)\n{_MASKED.format('b, t, c', 't, t')}"),
        "return self.attn(x, x, x, attn_mask=torch.ones(b, b).triu(1).bool())[0]",
    ),
    "scales and shifts of channels, from another input": (
        ("", _SCALES.format(48), "x, cond", "one, two = self.b(cond).chunk(2, 1)\nreturn self.a(x) * one + two"),
        (
            "",
            _SCALES.format(48),
            "x, cond",
            "one, two = self.b(cond)[:, :, None, None].chunk(2, 1)\nreturn self.a(x) * one + two",
        ),
        "return self.a(x) * one + two",
    ),
    "heads behind the steps in an einsum": (
        ("", _HEADS, "x", f"{_SPLIT}return torch.einsum('bhid,bhjd->bhij', q.transpose(1, 2), k)"),
        ("", _HEADS, "x", f"{_SPLIT}return torch.einsum('bhid,bhjd->bhij', q.transpose(1, 2), k.transpose(1, 2))"),
        "return torch.einsum('bhid,bhjd->bhij', q.transpose(1, 2), k)",
    ),
}
SOUND: dict[str, _Net] = {
    "a linear layer along the width of maps": (
        "",
        "self.conv, self.fc = nn.Conv2d(3, 16, 1), nn.Linear(16 * 25, 10)",
        "x",
        "return self.fc(self.conv(x))",
    ),
    "a linear layer along the frames of a long spectrogram": (
        "",
        "self.conv, self.fc = nn.Conv2d(1, 8, 3, padding=1), nn.Linear(8 * 256, 10)",
        "x",
        "return self.fc(self.conv(x))",
    ),
    "a linear layer along the frames of signals of several microphones": (
        "",
        "self.conv, self.fc = nn.Conv2d(1, 16, (1, 320), stride=(1, 160), padding=(0, 80)), nn.Linear(400, 64)",
        "x",
        "b, c, mics, samples = x.shape\nreturn self.fc(self.conv(x))",
    ),
    "a mask of steps in front of the batch": (
        "",
        _ATTENTION.format(""),
        "x",
        _MASKED.format("t, b, c", "t, t"),
    ),
    "a mask between the nodes of pairs": (
        "",
        _ATTENTION.format(", batch_first=True"),
        "pairs",
        _MASKED.format("n, m, c", "n, n").replace("(x, x, x", "(pairs, pairs, pairs").replace("= x.", "= pairs."),
    ),
    "a mask that is handed in": (
        "",
        _ATTENTION.format(", batch_first=True"),
        "x, mask",
        "return self.attn(x, x, x, attn_mask=mask)[0]",
    ),
    "a flag that says what the batch is": (
        "batch_first",
        _ATTENTION.format(", batch_first=batch_first"),
        "x",
        _MASKED.format("t, b, c", "t, t"),
    ),
    "scales of steps, from another input": (
        "",
        "self.a, self.b = nn.Linear(24, 24), nn.Linear(10, 24)",
        "x, cond",
        "return self.a(x) * self.b(cond)",
    ),
    "scales of columns as many as channels": (
        "",
        "self.a, self.scale = nn.Conv2d(3, 24, 1), nn.Parameter(torch.ones(24))",
        "x",
        "return self.a(x) * self.scale",
    ),
    "heads behind the steps of both in an einsum": (
        "",
        _HEADS,
        "x",
        f"{_SPLIT}return torch.einsum('bihd,bjhd->bhij', q, k)",
    ),
    "positions of each head in an einsum": (
        "",
        f"{_HEADS}\nself.table = nn.Parameter(torch.zeros(4, 16, 16))",
        "x",
        f"{_SPLIT}return torch.einsum('bihd,hjd->bhij', q, self.table)",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_runs_only_by_accident_is_an_error(what: str, worker: Any, write: Callable[..., str]) -> None:
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
def test_a_look_alike_is_not_accused(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _accusations(worker.answer(write(net(*SOUND[what])) + ":Net"))


def _accusations(answer: Any) -> list[Any]:
    assert answer["type"] == "report"
    problems = Report.from_json(answer["report"]).problems
    # Problems of torch.fx alone, such as sizes that it traces, are others.
    return [each for each in problems if each.severity in ("error", "warning") and each.code.startswith("FX4")]
