"""What failed assertions and raised errors say of what was wanted: their conditions are read, and made to hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tracing.search.frames import constructed, fed


@pytest.mark.parametrize(
    ("signature", "body", "init"),
    [
        pytest.param(
            "img_size, patch_size",
            "assert img_size % (patch_size * 3) == 0",
            "Net(img_size=48, patch_size=8)",
            id="a remainder",
        ),
        pytest.param(
            "mode", "self.mode = mode\nassert self.mode in ['mean', 'sum']", "Net(mode='mean')", id="one of several"
        ),
        pytest.param("kind", "if kind not in {'b', 'a'}:\n    raise ValueError", "Net(kind='a')", id="none of several"),
        pytest.param(
            "depth",
            "if depth == 7:\n    self.n = 1\nelif depth == 9:\n    self.n = 2\nelse:\n    raise ValueError",
            "Net(depth=7)",
            id="the end of a chain",
        ),
        pytest.param(
            "c, num_heads",
            "self.n = c // num_heads\nassert self.n * num_heads == c",
            "Net(c=4, num_heads=4)",
            id="a product of what was divided",
        ),
        pytest.param("ratio", "assert 0 < ratio < 1", "Net(ratio=0.5)", id="a range"),
        pytest.param(
            "sizes, width",
            "assert len(sizes) == 5 and width > 0",
            "Net(sizes=[32, 32, 32, 32, 32], width=64)",
            id="a length",
        ),
        pytest.param("width, flag=False", "assert flag", "Net(width=64, flag=True)", id="a default that will not do"),
        pytest.param("size", "assert type(size) is int", "Net(size=32)", id="a type itself"),
        pytest.param("names", "assert isinstance(names, dict)", "Net(names={})", id="a type"),
        pytest.param(
            "width, depth=None",
            "assert depth is not None\nself.n = width * depth",
            "Net(width=64, depth=2)",
            id="no None",
        ),
    ],
)
def test_an_argument_is_what_is_asserted(
    signature: str, body: str, init: str, worker: Any, write: Callable[..., str]
) -> None:
    assert worker.report(write(constructed(signature, body)) + ":Net").recipe.init == init


@pytest.mark.parametrize(
    ("signature", "body", "inputs"),
    [
        pytest.param("x", "assert x.dim() == 3\nreturn x", "torch.randn(2, 16, 32)", id="a rank"),
        pytest.param(
            "x",
            "if len(x.shape) != 5: raise ValueError\nreturn x",
            "torch.randn(2, 32, 32, 32, 32)",
            id="a shape's length",
        ),
        pytest.param(
            "x",
            "if x.dim() not in (2, 3):\n    raise ValueError\nreturn x",
            "torch.randn(2, 16, 32)",
            id="the nearest of several ranks",
        ),
        pytest.param("x", "assert x.shape[1] == 12\nreturn x", "torch.randn(2, 12, 64, 64)", id="a size"),
        pytest.param(
            "x",
            "if x.shape[0] > 1:\n    raise RuntimeError('one at a time')\nreturn x",
            "torch.randn(1, 32, 64, 64)",
            id="the size of the batch",
        ),
        pytest.param(
            "x",
            "try:\n    return x[:, 0, 0, 0, 0]\nexcept IndexError as error:\n    raise ValueError('wrong') from error",
            "torch.randn(2, 32, 32, 32, 32)",
            id="what another error was raised for",
        ),
    ],
)
def test_an_input_is_what_is_asserted(
    signature: str, body: str, inputs: str, worker: Any, write: Callable[..., str]
) -> None:
    assert worker.report(write(fed(signature, body)) + ":Net").recipe.inputs == inputs
