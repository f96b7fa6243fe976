"""The attacks of ``benchmarks/reliability`` are files and messages as they claim to be."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from random import Random

import pytest

from benchmarks.reliability.acts import ACTS, CLASSES, PLACES, hostile_text, random_model, zoo
from benchmarks.reliability.progress import Outcome, Progress, Share
from benchmarks.reliability.protocol import RandomMessages


def test_the_zoo_has_a_model_for_each_act_in_each_kind_of_place() -> None:
    models = zoo()
    assert len({model.text for model in models}) == len(models) == len(ACTS) + len(CLASSES) >= 80
    assert all(any(model.name.endswith(f"_in_{place}") for model in models) for place in PLACES)


@pytest.mark.parametrize("place", PLACES)
def test_every_act_is_a_statement_at_every_place(place: str) -> None:
    for act in ACTS.values():
        ast.parse(hostile_text({place: [act, act]}, list(CLASSES.values())))


def test_a_seed_gives_the_same_random_models() -> None:
    first, second, other = ([random_model(random) for _ in range(20)] for random in map(Random, (1, 1, 2)))
    assert first == second != other
    assert all(ast.parse(model.text) for model in first)


def test_random_messages_that_expect_an_answer_are_requests(tmp_path: Path) -> None:
    messages = RandomMessages(Random(0), tmp_path)
    sent = [messages.next() for _ in range(2000)]
    requests = [(key, json.loads(body)) for key, body in sent if key is not None]
    assert len(requests) > 500
    assert all(key == json.dumps(message["id"]) and "method" in message for key, message in requests)


def test_an_attack_goes_on_where_it_stopped_as_long_as_the_code_is_the_same(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "progress.json"
    progress = Progress(seed=7)
    progress.add("messages", Outcome(2000, []), file)
    progress.add("messages", Outcome(1000, ["no answer"]), file)
    assert Progress.read(file) == progress
    assert (progress.done, progress.wrong) == ({"messages": 3000}, ["messages: no answer"])
    file.write_text(json.dumps({**vars(progress), "code": "of another state"}), encoding="utf-8")
    assert Progress.read(file) is None
    assert Progress.read(tmp_path / "absent.json") is None


def test_each_run_of_a_resumed_attack_makes_other_choices() -> None:
    first, later = Share(seed=1, seconds=1.0), Share(seed=1, seconds=1.0, done=5, wanted=8)
    assert first.name("messages") != later.name("messages")
    assert later.left == 3
