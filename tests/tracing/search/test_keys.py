"""Inputs that are looked up in a dict become one of its keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.tracing.search.frames import net

CONFIGURATION = """
CFG = {"NAME": "a", "TRAIN": {"TOP_N": 2}, "TEST": {"TOP_N": 1}}


"""


def test_an_item_of_an_input_is_the_key_of_a_global_configuration_that_holds_what_is_read(
    worker: Any, write: Callable[..., str]
) -> None:
    text = net("", "self.a = nn.Linear(8, 2)", "x", "y, key = x[0], x[1]\nreturn self.a(y)[:, : CFG[key]['TOP_N']]")
    text = text.replace("(self, ):", "(self):").replace("class Net", f"{CONFIGURATION}class Net")
    assert worker.report(write(text) + ":Net").recipe.inputs == "(torch.randn(2, 16, 8), 'TRAIN')"
