"""What an import failed to bind is missing for the import's reason, however it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

NET = """
import torch
from torch import nn
from missing_package import WIDTH

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 2)
        {made}

    def forward(self, x):
        x = {used}
        return self.lin(x)
"""


@pytest.mark.parametrize(
    "made",
    [
        "self.out = nn.Linear(2, WIDTH)",
        "self.out = nn.Linear(WIDTH * 2, 2)",
        "self.out = nn.Conv2d(WIDTH, 4, 3)",
        "self.out = nn.Embedding(num_embeddings=WIDTH, embedding_dim=4)",
        "self.out = nn.ModuleList(nn.Linear(2, 2) for _ in range(WIDTH))",
        "self.scale = nn.Parameter(torch.full((2,), WIDTH))",
        "sizes = [4, *WIDTH]",
        "half, rest = WIDTH // 2, 4",
        "drop = nn.Dropout(1 / WIDTH)",
    ],
)
def test_a_model_that_is_made_of_it_is_not_loaded(made: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(NET.format(made=made, used="x"))
    failure = worker.answer(f"{path}:Net", "Net()", "torch.randn(1, 4)")["failure"]["failure"]
    assert failure["code"] == "FX901"
    assert "No module named 'missing_package'" in failure["message"]
    assert failure["location"]["line"] == 4


@pytest.mark.parametrize(
    "used", ["x * WIDTH", "WIDTH - x", "x[:, :WIDTH]", "x.view(WIDTH, 1)", "x + torch.ones(WIDTH)"]
)
def test_a_forward_that_uses_it_fails_with_the_reason(used: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(NET.format(made="pass", used=used))
    error = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").verdict.error
    assert "No module named 'missing_package'" in error.message
    assert error.location.line == 13


@pytest.mark.parametrize("made", ["has = WIDTH is not None", "has = WIDTH is None or not WIDTH", "has = WIDTH == 4"])
def test_a_model_may_ask_whether_it_is_there(made: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(NET.format(made=made, used="x"))
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete
