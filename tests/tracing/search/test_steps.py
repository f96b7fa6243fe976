"""Layers of sequences that get what convolutions return, with its channels in the place of the steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.tracing.search.frames import net

_Net = tuple[str, str, str, str]
_SIGNAL = "self.conv, self.rnn = nn.Conv1d(40, 64, 5), nn.LSTM(64, 24, batch_first=True)"
_PATCHES = "self.conv, self.norm = nn.Conv2d(3, 384, 16, 16), nn.LayerNorm(384)"
_ATTENTION = "self.conv, self.attn = nn.Conv2d(3, 96, 8, 8), nn.MultiheadAttention(96, 4, batch_first=True)"
_STEPS = "x = self.conv(x).flatten(2)"
WRONG: dict[str, tuple[_Net, _Net]] = {
    "a recurrent layer behind a convolution": (
        ("", _SIGNAL, "x", "return self.rnn(torch.relu(self.conv(x)))[0]"),
        ("", _SIGNAL, "x", "return self.rnn(torch.relu(self.conv(x)).transpose(1, 2))[0]"),
    ),
    "a normalisation of patches": (
        ("", _PATCHES, "x", f"{_STEPS}\nreturn self.norm(x)"),
        ("", _PATCHES, "x", f"{_STEPS}.transpose(1, 2)\nreturn self.norm(x)"),
    ),
    "attention between patches": (
        ("", _ATTENTION, "x", f"{_STEPS}\nreturn self.attn(x, x, x)[0]"),
        ("", _ATTENTION, "x", f"{_STEPS}.mT\nreturn self.attn(x, x, x)[0]"),
    ),
}
SOUND: dict[str, _Net] = {
    "a recurrent layer of as many features as an argument states for the length": (
        "channels=64, length=64",
        "self.conv, self.rnn = nn.Conv1d(40, channels, 1), nn.LSTM(length, 24, batch_first=True)",
        "x",
        "return self.rnn(self.conv(x))[0]",
    ),
    "a recurrent layer of as many features as two arguments state": (
        "a=64, b=64",
        "self.conv, self.rnn = nn.Conv1d(40, a, 1), nn.LSTM(b, 24, batch_first=True)",
        "x",
        "return self.rnn(self.conv(x))[0]",
    ),
    "a recurrent layer along the channels": (
        "",
        "self.conv, self.rnn = nn.Conv1d(40, 64, 1), nn.LSTM(48, 24, batch_first=True)",
        "x",
        "return self.rnn(self.conv(x))[0]",
    ),
    "a normalisation along a signal": (
        "",
        "self.conv, self.norm = nn.Conv1d(2, 96, 1), nn.LayerNorm(96)",
        "x",
        "return self.norm(self.conv(x))",
    ),
    "as many patches as channels, of a square image": (
        "",
        "self.conv, self.norm = nn.Conv2d(3, 64, 8, 8), nn.LayerNorm(64)",
        "x",
        f"{_STEPS}\nreturn self.norm(x)",
    ),
    "patches of an image with two edges": (
        "size=(128, 192)",
        "self.conv, self.norm = nn.Conv2d(3, 384, 8, 8), nn.LayerNorm(384)",
        "x",
        f"{_STEPS}\nreturn self.norm(x)",
    ),
    "attention between channels": (
        "",
        "self.conv, self.attn = nn.Conv2d(3, 48, 8, 8), nn.MultiheadAttention(96, 4, batch_first=True)",
        "x",
        f"{_STEPS}\nreturn self.attn(x, x, x)[0]",
    ),
    "positions pooled to a number": (
        "",
        "self.conv, self.rnn = nn.Conv1d(40, 64, 5), nn.LSTM(64, 24, batch_first=True)",
        "x",
        "return self.rnn(F.adaptive_avg_pool1d(self.conv(x), 64))[0]",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_steps_in_the_place_of_features_are_an_error(what: str, worker: Any, write: Callable[..., str]) -> None:
    text = net(*WRONG[what][0])
    first, *_ = _accusations(worker.answer(write(text) + ":Net"))
    assert (first.code, first.severity) == ("FX401", "error")
    assert first.message.startswith("runs only where ")
    assert text.splitlines()[first.location.line - 1].strip() == WRONG[what][0][3].splitlines()[-1]


@pytest.mark.parametrize("what", WRONG)
def test_features_in_their_place_are_sound(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _accusations(worker.answer(write(net(*WRONG[what][1])) + ":Net"))


@pytest.mark.parametrize("what", SOUND)
def test_positions_that_may_be_meant_are_not_accused(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _accusations(worker.answer(write(net(*SOUND[what])) + ":Net"))


def _accusations(answer: Any) -> list[Any]:
    assert answer["type"] == "report"
    return [each for each in Report.from_json(answer["report"]).problems if each.severity in ("error", "warning")]
