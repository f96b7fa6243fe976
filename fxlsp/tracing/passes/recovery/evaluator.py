"""Interpreter that runs each node when it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import torch
import torch.fx

from ...isolation.torch_private import FakeTensorMode
from ...model.capture.interpreter import NodeValue, Trust, ValueInterpreter
from ...model.capture.outputs import UNKNOWN, Unknown, output_of
from ...model.capture.tracer import ModulePathTracer
from ...model.operations.operation import Operation


class Evaluator(ValueInterpreter):
    """Runs one node at a time, on the values of its arguments."""

    def __init__(
        self,
        root: torch.nn.Module,
        tracer: ModulePathTracer,
        mode: FakeTensorMode,
        inputs: Mapping[str, Any],
        real: bool,
    ) -> None:
        """Create an evaluator without values.

        Args:
            root: The module that is traced.
            tracer: The tracer that makes the nodes.
            mode: The mode of the fake tensors.
            inputs: The inputs of the root by the names of their placeholders.
            real: Whether tensors have data.
        """
        super().__init__(root, tracer, mode)
        self._unregistered = tracer.unregistered
        self.has_data = real
        self._inputs = dict(inputs)
        self.attributes_as_values: Callable[[torch.nn.Module], AbstractContextManager[None]] = lambda _: nullcontext()
        """Replaces the proxies that a module's attributes hold while it is called."""
        self._arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})

    def evaluate(self, node: torch.fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Run ``node`` on these arguments; its value or its error is then in ``values``."""
        self._arguments = (args, kwargs)
        with self.running():
            self.run_node(node)

    def set_value(self, node: torch.fx.Node, value: Any, inputs: tuple[Any, ...] = (), flops: int | None = 0) -> None:
        """Set the value of ``node``."""
        shown = tuple(output_of(item) for item in inputs)
        self.values[node] = NodeValue(value, inputs, flops, trust=self.trust_in(node), shown_inputs=shown)

    def assume(self, node: torch.fx.Node, operation: Operation, error: BaseException) -> bool:
        """Set the value of ``node``, which failed, to the output that it would have if its operands fitted.

        Returns whether that is known.
        """
        inputs = (*operation.args, *operation.kwargs.values())
        shown = tuple(output_of(item) for item in inputs)
        failed = NodeValue(UNKNOWN, inputs, None, error, trust=self.trust_in(node), shown_inputs=shown)
        with self.running():
            known = self.assumed(failed, operation)
        if failed.trust is not Trust.RUN and any(self._has_alternative(each) for each in node.all_input_nodes):
            # Values are not run with a second repair, so whether this follows from the first failure is unknown.
            known = replace(known, follows=True)
        self.values[node] = known
        return not isinstance(self.values[node].output, Unknown)

    def value_of(self, node: torch.fx.Node) -> Any:
        """Return the value of ``node``; unknown if it did not run."""
        known = self.values.get(node)
        return UNKNOWN if known is None else known.output

    def fetch_args_kwargs_from_env(self, n: torch.fx.Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self._arguments

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with self.attributes_as_values(self.fetch_attr(target)):
            return super().call_module(target, args, kwargs)

    def fetch_attr(self, target: str) -> Any:
        return self._unregistered[target] if target in self._unregistered else super().fetch_attr(target)

    @contextmanager
    def running(self) -> Iterator[None]:
        # Devices and batches of one are handled around the whole pass.
        with nullcontext() if self.has_data else self._mode:
            yield

    def convert_input(self, value: Any) -> Any:
        return value if self.has_data else super().convert_input(value)

    def repeat_on_real_tensors(
        self, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], raised: BaseException
    ) -> tuple[Any, BaseException | None]:
        return (UNKNOWN, raised) if self.has_data else super().repeat_on_real_tensors(op, target, args, kwargs, raised)
