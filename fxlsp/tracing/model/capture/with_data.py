"""Values of a graph on inputs with data, where its shapes depend on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...isolation.sandbox.accelerators import DevicesAreCpu
from ...isolation.torch_private.modules import batches_of_one
from ..building.fake_tensors import OnCpu
from .interpreter import ValueInterpreter
from .outputs import UNKNOWN


class DataInterpreter(ValueInterpreter):
    """Interpreter of a graph whose model was built with data."""

    has_data = True

    @contextmanager
    def running(self) -> Iterator[None]:
        with DevicesAreCpu(), OnCpu(), batches_of_one():
            yield

    def convert_input(self, value: Any) -> Any:
        return value

    def repeat_on_real_tensors(
        self, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], raised: BaseException
    ) -> tuple[Any, BaseException | None]:
        return UNKNOWN, raised
