"""What is to blame for certain in models of two inputs that nothing calls, and what is left open behind a failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.mistakes.broken_model import MARK
from tests.tracing.search.frames import net

MADE = "self.image, self.words = nn.Conv2d(3, 32, 3), nn.Linear(50, 32)\n"
MAPS = "a = self.image(image)\n"
POOLED = "a = self.image(image).mean((2, 3))\n"
WORDS = "b = self.words(words)\n"
CERTAIN = {
    "two ranks that are joined": (MADE, f"{POOLED}{WORDS}return torch.cat([a, self.image(image)], 1) + b[:1, :1]"),
    "parts that are unpacked into too many names": (
        MADE,
        f"{POOLED}b, c, d = self.words(words).chunk(2, -1)\nreturn a",
    ),
    "layers in a row behind the first input": (
        f"{MADE}self.out = nn.Linear(30, 4)",
        f"{POOLED}{WORDS}return self.out(a) + b.mean()",
    ),
    "a dimension that does not exist": (MADE, f"{POOLED}{WORDS}return b.mean() + torch.softmax(a, 4)"),
}
OPEN = {
    "maps that are flattened": (
        f"{MADE}self.join = nn.Linear(32 * 425 + 32, 4)",
        f"{MAPS}{WORDS}return self.join(torch.cat([a.flatten(1), b], 1))",
    ),
    "two widths of which one layer takes the sum": (
        "self.gate, self.out = nn.Conv2d(448, 128, 1), nn.Conv2d(128, 8, 1)\n",
        "z = self.gate(torch.cat([image, words], 1))\nreturn self.out(z * image)",
    ),
    "two widths of which a later layer takes one": (
        "self.gate, self.side, self.out = nn.Conv2d(448, 128, 1), nn.Conv2d(320, 8, 1), nn.Conv2d(128, 8, 1)\n",
        "z = self.gate(torch.cat([image, words], 1))\ny = self.side(words)\nreturn self.out(z * image) + y",
    ),
    "as many rows in both": (MADE, f"{POOLED}{WORDS}return a.view(-1, 7, 32) + b"),
}
WRONG_FIRST = "self.image, self.other, self.words = nn.Conv2d(3, 32, 3), nn.Conv2d(30, 32, 3), nn.Linear(50, 32)\n"
BEHIND = {
    "an input that a search has not fitted yet": (
        WRONG_FIRST,
        "image, words",
        "a = self.other(self.image(image))  # <-\nb = self.words(words.view(words.shape[0], 50))\nreturn a.sum() + b",
    ),
    "an input of a name that nothing binds": (
        WRONG_FIRST,
        "image, words",
        "a = othr(self.image(image))  # <-\nb = self.words(words.view(words.shape[0], 50))\nreturn b",
    ),
    "tokens without a batch": (
        "self.embed, self.rnn, self.out = nn.Embedding(90, 64), nn.GRU(64, 128, batch_first=True), nn.Linear(128, 5)\n",
        "tokens",
        "y, (h, c) = self.rnn(self.embed(tokens))  # <-\nlast = y[:, -1]\nreturn self.out(last)",
    ),
}


@pytest.mark.parametrize("what", CERTAIN)
def test_a_failure_between_inputs_that_each_have_a_layer_of_their_own_is_an_error(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    made, run = CERTAIN[what]
    report = worker.report(write(net("", made, "image, words", run)) + ":Net")
    first, *_ = [each for each in report.problems if each.code == "FX401"]
    assert first.severity == "error"


@pytest.mark.parametrize("what", OPEN)
def test_what_other_sizes_of_two_inputs_may_mend_is_a_note_at_most(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    made, run = OPEN[what]
    report = worker.report(write(net("", made, "image, words", run)) + ":Net")
    assert {each.severity for each in report.problems if each.code == "FX401"} <= {"info"}


@pytest.mark.parametrize("what", BEHIND)
def test_only_the_failure_that_is_proven_is_an_error(what: str, worker: Any, write: Callable[..., str]) -> None:
    text = net("", *BEHIND[what])
    report = worker.report(write(text.replace(MARK, "")) + ":Net")
    (marked,) = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]
    found = [(each.location.line, each.severity) for each in report.problems if each.code.startswith("FX4")]
    assert (marked, "error") in found
    assert {severity for line, severity in found if line != marked} <= {"info"}
