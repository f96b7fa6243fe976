"""Results of calls that are not what the ``return`` of the called function says, which blames no one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tracing.search.frames import HEAD

_MODEL = (
    HEAD
    + """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(x), x
{part}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = {made}
{hooked}
    def forward(self, x):
        a, b, c = self.part(x)
        return a + c
"""
)
_LSTM = "nn.LSTM(8, 8, batch_first=True)"
_CALL = """
    def __call__(self, x):
        a, b = super().__call__(x)
        return (a, b, a) if x.shape[1] > 50 else (a, b)
"""
_HOOK = """
        def three(module, args, output):
            return (*output, output[0]) if args[0].shape[1] > 50 else output

        self.part.register_forward_hook(three)
"""
REPLACED = {
    "a class with a call of its own": ("Part()", {"part": _CALL}),
    "a hook of a layer": (_LSTM, {"hooked": _HOOK}),
    "a hook of a module": ("Part()", {"hooked": _HOOK}),
}


def errors(text: str, worker: Any, write: Callable[..., str]) -> list[str]:
    problems = worker.answer(write(text) + ":Net")["report"]["problems"]
    return [each["code"] for each in problems if each["severity"] == "error"]


def text_of(made: str, **parts: str) -> str:
    return _MODEL.format(made=made, **{"part": "", "hooked": "", **parts})


@pytest.mark.parametrize("what", REPLACED)
def test_a_result_that_may_be_replaced_is_no_error(what: str, worker: Any, write: Callable[..., str]) -> None:
    made, parts = REPLACED[what]
    assert not errors(text_of(made, **parts), worker, write)


@pytest.mark.parametrize("made", ["Part()", _LSTM], ids=["a module", "a layer"])
def test_a_result_that_nothing_replaces_is_an_error(made: str, worker: Any, write: Callable[..., str]) -> None:
    assert errors(text_of(made), worker, write) == ["FX401"]
