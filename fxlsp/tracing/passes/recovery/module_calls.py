"""Calls of modules, each of which confines a failure to the module it occurs in.

A ``forward`` that raises with proxies is run again on their values, each operation recorded as it runs; one that raises
then too fails in eager mode as well. In both cases the caller continues.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
import torch.fx

from ....report.code_records import Trait
from ....report.codes import COMPILED, OPERATION_FAILS, UNTRACEABLE, codes_with
from ...isolation.sandbox.accelerators import DevicesAreCpu
from ...isolation.torch_private import WITHOUT_DATA
from ...isolation.torch_private.modules import batches_of_one, compiled_module
from ...model.building.fake_tensors import OnCpu
from ...model.building.forward_entry import forward_entry
from ...model.capture.outputs import UNKNOWN, Unknown
from ...model.diagnosis.failures import code_of_error, text_of
from ...model.diagnosis.own_mistakes import is_own_mistake
from ...model.locations.bytecode.instructions import Instruction
from .context import GraphRecorder, Mark, NeedsDataError, RecoveryContext
from .eager_recording import EagerRecording
from .findings import RecoveryFinding
from .functions.refused_functions import DYNAMO, RefusedFunctions
from .made_modules import made_from_values, values_in_attributes
from .pytree import is_proxy, leaves

Run = Callable[..., Any]


class ModuleCalls:
    """Module calls of one pass."""

    def __init__(self, context: RecoveryContext, recorder: GraphRecorder) -> None:
        self._context = context
        self._recorder = recorder
        self.runs_on_values = False
        """Whether the ``forward`` that is running does so on values, not on proxies."""
        self.result: Any = UNKNOWN
        """The root's result, in values."""

    def root(self, function: Run, args: tuple[Any, ...]) -> Any:
        """Run the root's ``forward``."""
        context, recorder = self._context, self._recorder
        refused, eager = RefusedFunctions(context, recorder), EagerRecording(context, recorder)
        context.evaluator.attributes_as_values = lambda module: values_in_attributes(module, context)
        with made_from_values(context), refused.replaced(), DevicesAreCpu(), OnCpu(), batches_of_one(), eager:
            result = self._followed(function, args, {}, recorder.root)
        self.result = context.values_in(result)
        return result

    def root_without_self(self, root: torch.nn.Module, *args: Any) -> Any:
        """Run a root's ``forward`` by its signature, where torch.fx cannot call it."""
        entry = forward_entry(root)

        def run(*given: Any) -> Any:
            # The caller passes the items of ``*args``; the model does not iterate them.
            with self._context.silent():
                positional, named = self._call_arguments(inspect.signature(entry), given)
            return entry(*positional, **named)

        return self.root(run, args)

    def _call_arguments(self, signature: inspect.Signature, given: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments as a caller writes them.

        Those equal to their default are left out where that is possible.
        """
        positional: list[Any] = []
        named: dict[str, Any] = {}
        is_variadic = any(item.kind is item.VAR_POSITIONAL for item in signature.parameters.values())
        left_out = False
        for value, parameter in zip(given, signature.parameters.values(), strict=False):
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional.extend(value)
            elif parameter.kind is parameter.VAR_KEYWORD:
                named.update(value)
            elif self._is_default(value, parameter) and not is_variadic and parameter.kind is not _POSITIONAL_ONLY:
                left_out = True
            elif left_out or parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                positional.append(value)
        return positional, named

    def _is_default(self, value: Any, parameter: inspect.Parameter) -> bool:
        return parameter.default is (self._context.value_of(value) if is_proxy(value) else value)

    def module(
        self, module: torch.nn.Module, forward: Run, enter: Run, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a module: ``enter`` calls it as a tracer does, ``forward`` as Python does."""
        on_values = self.runs_on_values
        if on_values:
            args, kwargs = self._context.proxies_in((args, kwargs))
        try:
            if _is_compiled(module):
                result = self._compiled(module, forward, args, kwargs)
            else:
                self.runs_on_values = False
                result = self._followed(enter, args, kwargs, module)
        finally:
            self.runs_on_values = on_values
        return self._context.tensors_in(result) if on_values else result

    def _followed(self, run: Run, args: tuple[Any, ...], kwargs: dict[str, Any], module: torch.nn.Module) -> Any:
        context = self._context
        mark, found = context.mark(), len(context.findings)
        try:
            return run(*args, **kwargs)
        except BaseException as error:
            first = self._finding(error, module)
        context.roll_back(mark)
        self.runs_on_values = True
        try:
            result = run(*self._context.tensors_in(args), **self._context.tensors_in(kwargs))
        except BaseException as error:
            self._note_failure(error, first, module, (args, kwargs), mark)
            return self._opaque(module, args, kwargs)
        finally:
            self.runs_on_values = False
        if not isinstance(first.error, NeedsDataError):
            context.findings.note(first, at=found)
        return self._context.proxies_in(result)

    def _finding(self, error: BaseException, module: torch.nn.Module) -> RecoveryFinding:
        recorder = self._recorder
        outer = recorder.call_stack()
        path = recorder.submodule_paths.get(module, "") if recorder.submodule_paths else ""
        inner = tuple(Instruction(code, offset, path) for code, offset in self._context.places.raised_by(error))
        return RecoveryFinding(code_of_error(error, text_of(error)), error, (*outer, *inner), path)

    def _note_failure(
        self, error: BaseException, first: RecoveryFinding, module: torch.nn.Module, given: Any, mark: Mark
    ) -> None:
        """Add findings for a ``forward`` that fails on values as well."""
        context = self._context
        if isinstance(error, (NeedsDataError, *WITHOUT_DATA)) or _is_fake_tensor_error(error):
            context.needs_data = True
            if first.code != UNTRACEABLE:
                context.findings.note(first)
            return
        if self._meets_unknown(given, mark) and not is_own_mistake(error, self._recorder.root, is_given=False):
            # Unknown values have a finding where they became unknown.
            return
        if context.met_doubt_since(mark, given):
            # Another repair of the failure before it may avoid this one.
            return
        second = self._finding(error, module)
        if second.code in _ONLY_WHILE_TRACED:
            context.findings.note(second)
            return
        headline = context.headline_of(error)
        context.findings.note(
            RecoveryFinding(OPERATION_FAILS, error, second.call_stack, second.module_path, headline=headline)
        )
        if first.code != UNTRACEABLE and first.call_stack != second.call_stack:
            context.findings.note(first)

    def _meets_unknown(self, given: Any, mark: Mark) -> bool:
        """Return whether an argument, or the value of an operation since ``mark``, is unknown."""
        values = leaves(self._context.values_in(given))
        return any(isinstance(leaf, Unknown) for leaf in values) or self._context.met_unknown_since(mark)

    def _opaque(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the proxy of a node that represents a call that did not return."""
        context, recorder = self._context, self._recorder
        if module is recorder.root:
            return UNKNOWN
        node = recorder.create_node(
            "call_module", recorder.path_of_module(module), recorder.create_arg(args), recorder.create_arg(kwargs)
        )
        recorder.origins[node].module_path = recorder.current_path
        recorder.opaque_nodes.add(node)
        context.set_value(node, UNKNOWN, flops=None)
        return recorder.proxy(node)

    def _compiled(self, module: torch.nn.Module, forward: Run, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a scripted module as one node, or run what ``torch.compile`` wrapped."""
        recorder = self._recorder
        original = compiled_module(module)
        if original is not None:
            self._context.note(COMPILED, RuntimeError(DYNAMO))
            return original(*args, **kwargs)
        self._context.note_refusal(lambda: forward(*args, **kwargs), COMPILED)
        return recorder.create_proxy("call_module", recorder.path_of_module(module), args, kwargs)


_POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY

_ONLY_WHILE_TRACED = codes_with(Trait.WHILE_TRACING)
"""These are no failures of the model."""


def _is_compiled(module: torch.nn.Module) -> bool:
    return isinstance(module, torch.jit.ScriptModule) or type(module).__name__ == "OptimizedModule"


def _is_fake_tensor_error(error: BaseException) -> bool:
    return "FakeTensor" in text_of(error) or "fake tensor" in text_of(error).lower()
