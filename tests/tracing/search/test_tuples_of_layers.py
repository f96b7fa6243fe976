"""A layer of torch that returns a tuple whatever it is given is to blame where nothing says what the model is fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tracing.search.frames import HEAD, net

ATTENTION = "self.attention = nn.MultiheadAttention(width, 4, batch_first=True)"
USED = "y = self.attention(x, x, x, key_padding_mask=mask)\nreturn x + y"


@pytest.mark.parametrize(
    ("arguments", "made", "signature", "run", "line"),
    [
        pytest.param("width=32", ATTENTION, "x, mask=None", USED, "return x + y", id="an optional mask"),
        pytest.param("width, classes", ATTENTION, "x, mask=None", USED, "return x + y", id="guessed widths"),
        pytest.param(
            "width",
            "self.rnn, self.fc = None, nn.Linear(width, 4)\nself.cells = nn.LSTMCell(width, width)",
            "x, state=None",
            "y = self.cells(x, state)\nreturn self.fc(x) - y",
            "return self.fc(x) - y",
            id="a cell",
        ),
        pytest.param(
            "cfg",
            "self.rnn = nn.GRU(cfg.width, cfg.width, dropout=cfg.dropout, num_layers=2)",
            "x, state=None",
            "y = self.rnn(x, state)\nreturn y.relu() + cfg_free(x)",
            "return y.relu() + cfg_free(x)",
            id="a configuration",
        ),
    ],
)
def test_the_tuple_of_a_layer_that_is_used_as_a_tensor_is_an_error(
    arguments: str, made: str, signature: str, run: str, line: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net(arguments, made, signature, run).replace("class Base", "def cfg_free(x):\n    return x\n\nclass Base")
    report = worker.report(write(text) + ":Net")
    (problem,) = [each for each in report.problems if each.code == "FX401"]
    assert problem.severity == "error"
    assert text.splitlines()[problem.location.line - 1].strip() == line
    assert " is the tuple that layer `" in problem.message


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(f"{ATTENTION} if kind > 1 else Own(width)", id="one of two"),
        pytest.param(f"if kind > 1:\n    {ATTENTION}\nelse:\n    self.attention = Own(width)", id="in a branch"),
        pytest.param(f"{ATTENTION}\nif kind < 2:\n    self.attention = Own(width)", id="replaced"),
    ],
)
def test_a_layer_that_other_arguments_replace_is_not_to_blame(
    made: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("width, kind", made, "x, mask=None", USED)
    own = """class Own(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x, y, z, key_padding_mask=None):
        return self.fc(x)


"""
    report = worker.report(write(text.replace(HEAD, HEAD + own)) + ":Net")
    assert [each.severity for each in report.problems if each.code == "FX401"] in ([], ["info"])
