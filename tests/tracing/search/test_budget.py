"""What a search finds depends on the work that it does, not on the time that the machine takes for it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch

from fxlsp.tracing.model.building.builder import Builder
from fxlsp.tracing.model.building.fake_tensors import new_fake_mode
from fxlsp.tracing.model.loading.loader import Loader
from fxlsp.tracing.model.locations.expressions import Expressions
from fxlsp.tracing.model.locations.source_map import SourceMap
from fxlsp.tracing.model.locations.sources import Sources
from fxlsp.tracing.model.targets import ModelTarget
from fxlsp.tracing.search import api
from fxlsp.tracing.search.api import RecipeSearch
from fxlsp.tracing.search.engine import SearchResult
from fxlsp.tracing.search.trials import budget
from fxlsp.tracing.search.trials.budget import WORK, Budget, OutOfBudgetError, WorkMeter, work_of
from fxlsp.tracing.search.trials.runner import RunConditions
from tests.tracing.search.frames import MODELS, net

SECONDS = 240.0
"""Of the net: a machine that is eight times as slow as a slow one does not come to it."""
HEADS = (
    "B, T, C = x.shape\nq = self.q(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)\n"
    "k = self.k(x).view(B, T, self.heads, C // self.heads).transpose(1, 2)\nreturn q @ k.transpose({}, {})"
)
HEADS_MADE = "self.q, self.k, self.heads = nn.Linear(dim, dim), nn.Linear(dim, dim), heads"
GUESSED_HEADS = net("dim, heads", HEADS_MADE, "x", HEADS.format(1, 2))
SOUND_HEADS = net("dim, heads", HEADS_MADE, "x", HEADS.format(2, 3))
ONE_HEAD = net("dim, heads=1", HEADS_MADE, "x", HEADS.format(2, 3))
GREY = net(
    "in_channels, classes=10",
    "self.conv, self.head = nn.Conv2d(in_channels, 8, 3, padding=1), nn.Linear(8 * 28 * 28, classes)",
    "x",
    "x = x.view(-1, 1, 28, 28)\nreturn self.head(self.conv(x).flatten(1))",
)
ONE_HEAD_ALONE = net("width, heads", "assert heads == 1\nself.fc = nn.Linear(width, width)", "x", "return self.fc(x)")
TEXTS = {
    **{
        f"{kind}, {state}": (MODELS[kind].name, getattr(MODELS[kind], state))
        for kind, state in [
            ("sentiment", "wrong"),
            ("sentiment", "sound"),
            ("attention from scratch", "wrong"),
            ("attention from scratch", "sound"),
            ("VAE", "sound"),
            ("graph network", "sound"),
            ("text convolutions", "sound"),
            ("recurrent policy", "wrong"),
            ("recurrent policy", "sound"),
            ("mixture of experts", "sound"),
        ]
    },
    "guessed heads, wrong": ("Net", GUESSED_HEADS),
    "guessed heads, sound": ("Net", SOUND_HEADS),
    "one head by default": ("Net", ONE_HEAD),
}


def searched(path: str, name: str) -> SearchResult:
    sources = Sources({})
    expressions = Expressions(sources)
    places, mode = SourceMap(sources, expressions), new_fake_mode()
    target = ModelTarget(path, None, name, None, None, None)
    loader = Loader(sources, expressions, [])
    loaded = Builder(target, loader, places, mode, False).load()
    try:
        return RecipeSearch(target, loaded, RunConditions(mode, places, seconds=SECONDS)).found(None)
    finally:
        loader.unload()


def answer(found: SearchResult) -> tuple[object, ...]:
    """Return the recipe, and all that the problems depend on."""
    return found.init, found.inputs, found.tries, found.work, found.fails, found.only, found.sizes_note, found.failing


def with_clock(monkeypatch: pytest.MonkeyPatch, times: float) -> None:
    """Let the clock of the searches run so many times as fast."""

    def setitimer(which: int, seconds: float, interval: float = 0.0) -> object:
        return signal.setitimer(which, seconds / times, interval)

    process_time = time.process_time
    monkeypatch.setattr(budget, "time", SimpleNamespace(process_time=lambda: process_time() * times))
    if hasattr(signal, "setitimer"):
        given = {name: getattr(signal, name) for name in ("signal", "SIGPROF", "ITIMER_PROF")}
        monkeypatch.setattr(budget, "signal", SimpleNamespace(**given, setitimer=setitimer))


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("title", TEXTS)
def test_a_search_finds_the_same_however_fast_the_clock_runs(
    title: str, write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, text = TEXTS[title]
    path, answers = write(text), []
    for times in (8.0, 1 / 8):
        with monkeypatch.context() as patch:
            with_clock(patch, times)
            answers.append(answer(searched(path, name)))
    assert answers[0] == answers[1]
    assert answers[0][4] is title.endswith("wrong")


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("title", ["sentiment, wrong", "attention from scratch, wrong", "guessed heads, wrong"])
def test_a_search_with_four_times_the_work_finds_the_same_mistake(
    title: str, write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, text = TEXTS[title]
    path = write(text)
    found = searched(path, name)
    monkeypatch.setattr(api, "Budget", lambda meter: Budget(meter, work=4 * WORK))
    more = searched(path, name)
    assert (more.init, more.inputs, more.fails, more.only) == (found.init, found.inputs, True, found.only)


@pytest.mark.parametrize(("text", "only"), [(GREY, "in_channels=1"), (ONE_HEAD_ALONE, "heads=1")])
def test_a_model_that_is_sound_with_a_size_of_one_is_found(text: str, only: str, write: Callable[..., str]) -> None:
    found = searched(write(text), "Net")
    assert (found.fails, found.only) == (False, "")
    assert only in (found.init or "")


def test_a_try_that_calls_torch_for_ever_is_ended_by_its_work() -> None:
    meter = WorkMeter(SECONDS)
    with pytest.raises(OutOfBudgetError):
        call_for_ever(meter)
    assert meter.done < 1000
    # The limit has gone with it.
    meter.count(10_000)


def call_for_ever(meter: WorkMeter) -> None:
    with Budget(meter, work=100).enforced():
        while True:
            meter.count(1)


def test_no_try_begins_behind_the_net() -> None:
    assert not Budget(WorkMeter(seconds=0)).begin_try()


def test_budgets_of_one_meter_count_from_where_they_begin() -> None:
    meter = WorkMeter()
    first = Budget(meter, work=20, large=0)
    meter.count(30)
    assert first.is_spent
    assert not Budget(meter, work=20, large=0).is_spent


def test_a_recurrent_layer_is_as_much_work_as_it_has_steps_and_layers() -> None:
    given, weights = torch.ones(2, 16, 4), [torch.ones(4)] * 8
    assert work_of("gru", (given, None, weights, True)) == 2 * work_of("gru", (given, None, weights[:4], True)) > 100
    assert work_of("lstm", (given, (given, given), weights[:4], True)) == 16
    assert (work_of("linear", (given,)), work_of("__get__", (given,)), work_of("lstm", ([1],))) == (1, 0, 1)
