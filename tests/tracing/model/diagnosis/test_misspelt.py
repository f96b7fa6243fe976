"""Names that were probably meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pytest
import torch
from torch import nn
from torch.nn import functional

from fxlsp.tracing.model.diagnosis.failures import message_of


@dataclass
class Configuration:
    width: int = 8


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.register_buffer("scale", torch.ones(1))
        self.configuration = Configuration()

    def missing_self(self) -> Any:
        return conv  # type: ignore[name-defined]  # noqa: F821

    def misspelt_variable(self) -> Any:
        hidden = self.conv
        return hiden or hidden  # type: ignore[name-defined]  # noqa: F821


class Guarded(nn.Module):
    """Module whose own code must not run for a suggestion."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(1, 1)

    def __dir__(self) -> list[str]:
        raise RuntimeError("code of the user ran")


class Broken(nn.Module):
    """Module whose tables cannot be read."""

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["_modules"] = 3

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no {name}")


def _without_a_name() -> Any:
    raise AttributeError("no text", name=cast(Any, 3), obj=Net())


def _any(owner: object) -> Any:
    """Return an object of which the type checker does not know what it lacks."""
    return owner


@pytest.mark.parametrize(
    ("use", "end"),
    [
        (lambda: _any(Net()).cnov, "; did you mean conv?"),
        (lambda: _any(Net()).scales, "; did you mean scale?"),
        (lambda: Net().missing_self(), "; did you mean self.conv?"),
        (lambda: Net().misspelt_variable(), "; did you mean hidden?"),
        (lambda: _any(Net().configuration).widht, "; did you mean width?"),
        (lambda: _any(functional).rleu, "; did you mean relu?"),
        (lambda: _any(torch).flaten(1), "; did you mean flatten?"),
        (lambda: _any(torch.ones(2)).unsqeeze(0), "; did you mean unsqueeze?"),
        (lambda: _any(Guarded()).fcs, "; did you mean fc?"),
        (lambda: _any(Net()).decoder, "'Net' object has no attribute 'decoder'"),
        (lambda: _any(Broken()).conv, "no conv"),
        (_without_a_name, "no text"),
        (lambda: _any(object()).widht, "'object' object has no attribute 'widht'"),
    ],
)
def test_a_message_ends_with_the_name_that_was_probably_meant(use: Callable[[], Any], end: str) -> None:
    with pytest.raises((AttributeError, NameError)) as caught:
        use()
    assert message_of(caught.value).endswith(end)
