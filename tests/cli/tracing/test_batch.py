from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Fxlsp, interpreter

PROJECT = Path(__file__).parents[3]


def test_answers_come_in_the_order_of_the_lines_whatever_they_say(
    fxlsp: Fxlsp, model_file: Path, fake_python: str
) -> None:
    names = ["Net", "Failing", "Dying", "Big", "Net"]
    lines = [json.dumps({"target": f"model.py:{name}"}) for name in names]
    ran = fxlsp("trace", "--batch", "--python", fake_python, stdin="\n".join(lines))
    assert ran.code == 0
    assert [answer["target"] for answer in ran.lines] == [f"model.py:{name}" for name in names]
    assert [answer.get("failure", {}).get("code") for answer in ran.lines] == [None, "FX903", "FX905", None, None]


def test_a_bad_line_has_a_failure_and_the_batch_goes_on(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    lines = [
        "nonsense",
        "[]",
        '{"target": 3}',
        '{"target": "model.py:Net", "init": 3}',
        "\udcff",
        "",
        '{"target": "x"}',
    ]
    text = "\n".join([*lines, '{"target": "model.py:Net"}']).encode("utf-8", "surrogateescape")
    (model_file.parent / "lines.jsonl").write_bytes(text)
    ran = fxlsp("trace", "--batch", "lines.jsonl", "--python", fake_python)
    assert ran.code == 0
    *failures, last = ran.lines
    assert [answer["failure"]["code"] for answer in failures] == ["FX902"] * 6
    assert "line 5" in failures[4]["failure"]["message"]
    assert last["nodes"]


def test_lines_bring_their_own_recipe(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    line = {"target": "model.py:Net", "init": "Net(3)", "inputs": "torch.ones(1)"}
    fxlsp("trace", "--batch", "--python", fake_python, stdin=json.dumps(line))
    request = json.loads((model_file.parent / "log.jsonl").read_text())
    assert request["recipe"] == {"init": "Net(3)", "inputs": "torch.ones(1)", "source": "option"}


def test_an_empty_batch_is_no_mistake(fxlsp: Fxlsp) -> None:
    ran = fxlsp("trace", "--batch", stdin="")
    assert (ran.code, ran.out) == (0, "")


def test_a_batch_that_no_interpreter_can_run_is_exit_code_2(fxlsp: Fxlsp, model_file: Path) -> None:
    refusing = interpreter(model_file.parent, "refuses")
    ran = fxlsp("trace", "--batch", "--python", refusing, stdin='{"target": "model.py:Net"}\n')
    assert ran.code == 2
    assert [answer["failure"]["code"] for answer in ran.lines] == ["FX906"]


def start_batch(python: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "fxlsp", "trace", "--batch", "--python", python]
    return subprocess.Popen(command, cwd=PROJECT, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def test_each_line_is_answered_before_the_next_is_needed(model_file: Path, fake_python: str) -> None:
    with start_batch(fake_python) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        for name in ("First", "Second"):
            batch.stdin.write(json.dumps({"target": f"{model_file}:{name}"}) + "\n")
            batch.stdin.flush()
            assert json.loads(batch.stdout.readline())["target"] == f"{model_file}:{name}"
        batch.stdin.close()
        assert batch.wait() == 0


def test_a_reader_that_leaves_ends_the_batch_quietly(model_file: Path, fake_python: str) -> None:
    with start_batch(fake_python) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        assert batch.stderr is not None
        batch.stdout.close()
        batch.stdin.write(json.dumps({"target": f"{model_file}:Net"}) + "\n")
        batch.stdin.close()
        assert batch.stderr.read() == ""
        assert batch.wait() == 2
