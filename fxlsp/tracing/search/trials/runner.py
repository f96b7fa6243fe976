"""Runs of trials on fake tensors or with data, and how far each went."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from ....report.sizes import ANY_SIZES, Sizes
from ...isolation.sandbox.accelerators import DevicesAreCpu
from ...isolation.torch_private import WITHOUT_DATA, FakeTensor, FakeTensorMode, tensors_in, tree_map
from ...isolation.torch_private.modules import batches_of_one
from ...model import module_tree
from ...model.building.builder import seed
from ...model.building.construction import Constructions, construct
from ...model.building.evaluation import evaluate
from ...model.building.fake_tensors import CopiesOfFakes, as_fake
from ...model.building.state_snapshot import StateSnapshot
from ...model.capture.costs import OperatorCosts, may_be_accepted_by_fakes_alone
from ...model.capture.refused_types import RefusedTypesError, is_autocast, require_features
from ...model.locations.source_map import SourceMap
from .acceptance import InputAcceptance
from .budget import ELEMENTS_OF_WORK, MODULES_OF_WORK, SECONDS, WORK_WITH_DATA, OutOfBudgetError, WorkMeter, work_of
from .duck import DuckUse, DuckValue, duck_value
from .values import INIT, INPUTS, RESULT, Group, Guess, Open, Path, Progress, Tensor, Trial
from .weight_sizes import WeightSizes

_MOST_ELEMENTS = 2**24
"""Parameters of a model that is run with data (64 MiB of float32)."""
_SET_DATA = inspect.getattr_static(torch.Tensor, "data").__set__
"""What torch calls for ``tensor.data = ...``, as a function mode sees it."""


@dataclass(frozen=True)
class TorchCall:
    """A call of one of torch's functions."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    is_autocast: bool = False
    """Whether it was under ``torch.autocast``."""

    @property
    def function(self) -> str:
        """The name without underscores, which mark variants of one function."""
        return self.name.strip("_")

    @property
    def operands(self) -> list[torch.Tensor]:
        """The tensors among the arguments."""
        return [value for value in (*self.args, *self.kwargs.values()) if isinstance(value, torch.Tensor)]

    @property
    def taken(self) -> list[torch.Tensor]:
        """The tensors among the arguments by position, those in lists too."""
        values = [item for arg in self.args for item in (arg if isinstance(arg, (list, tuple)) else [arg])]
        return [each for each in values if isinstance(each, torch.Tensor)]


@dataclass
class TrialOutcome:
    """How far a trial went, and what it left behind."""

    progress: Progress = (0, 0)
    error: BaseException | None = None
    failing: TorchCall | None = None
    """The call of torch's that raised, if one did."""
    uses: dict[Path, DuckUse] = field(default_factory=dict)
    model: torch.nn.Module | None = None
    output: Any = None
    refuses_inputs: bool = True
    """Whether it failed before an operation that accepts each input, or at one that refuses one."""
    is_lenient: bool = False
    """Whether an operation ran that fake tensors accept and data do not."""
    weight_sizes: WeightSizes | None = None
    """Which sizes come from parameters, of a strict run."""
    sizes: frozenset[int] = frozenset()
    """Those of all tensors of a strict run."""
    is_behind_unfit: bool = False
    """Whether it went on behind a linear layer that takes no input of this shape."""
    last: TorchCall | None = None
    """The last call that returned, of a strict run: what Python did then is what it refused."""


@dataclass(frozen=True)
class RunConditions:
    """The fake mode and settings under which models are constructed, as for the trace itself."""

    mode: FakeTensorMode
    places: SourceMap
    real_tensors: bool = False
    """Whether the model is made with data, since it cannot be made without."""
    sizes: Sizes = ANY_SIZES
    """Those that the user wants to see."""
    seconds: float = SECONDS
    """Processor time at which a search ends that never comes to an operation of torch's."""


PartGuesser = Callable[[Open, str], Guess]
"""Guesses a part of an open guess by its name."""


class _Made(NamedTuple):
    """A model that trials share."""

    model: torch.nn.Module
    uses: dict[Path, DuckUse]
    state: StateSnapshot
    """As it was constructed: what one trial or trace leaves in the model is no part of the next."""


class TrialRunner:
    """Runs the trials of one target, and remembers the models that they construct."""

    def __init__(self, module: ModuleType, conditions: RunConditions, part: PartGuesser, meter: WorkMeter) -> None:
        self._module = module
        self._mode = conditions.mode
        self._places = conditions.places
        self._real_tensors = conditions.real_tensors
        self._part = part
        self.meter = meter
        """Counts the work of all runs."""
        self._models: dict[Guess, _Made] = {}
        self._failed: tuple[Guess, TrialOutcome] | None = None
        """The last that could not be constructed: it is asked for again when it is to be run."""

    def note_same(self, init: Guess, detailed: Guess) -> None:
        """Remember that ``detailed`` constructs the same model as ``init``: it only names more parts."""
        if init in self._models:
            self._models.setdefault(detailed, self._models[init])

    def construct(self, trial: Trial) -> TrialOutcome:
        """Construct the model alone."""
        outcome = TrialOutcome()
        known = self._models.get(trial.init)
        if known is not None:
            known.state.restore()
            outcome.model, outcome.uses = known.model, dict(known.uses)
            outcome.progress = (1, 0)
            return outcome
        if self._failed is not None and self._failed[0] == trial.init:
            return self._failed[1]
        constructions = Constructions(self._places)
        realised = _Realised(self._module, self._part)
        try:
            seed()
            make = lambda: realised.value(trial.init, INIT)  # noqa: E731 - one expression, named for the reader
            with CopiesOfFakes():
                model = construct(make, constructions, self._mode, self._real_tensors)
            if not isinstance(model, torch.nn.Module):
                raise TypeError(f"not a module: {type(model).__name__}")
            outcome.model = model
            outcome.progress = (1, 0)
            self._models[trial.init] = _Made(model, realised.uses, StateSnapshot(model, has_globals=False))
        except BaseException as error:
            if isinstance(error, WITHOUT_DATA) and not self._real_tensors:
                # As the trace will do: from now on with data.
                self._real_tensors = True
                return self.construct(trial)
            outcome.error = _checked(error)
            outcome.progress = (0, constructions.count)
            self._failed = trial.init, outcome
        self.meter.count(constructions.count // MODULES_OF_WORK)
        outcome.uses = realised.uses
        return outcome

    def run(self, trial: Trial, is_strict: bool = False, is_past_unfit: bool = False) -> TrialOutcome:
        """Construct the model, and call it.

        Args:
            trial: What the model is made with and given.
            is_strict: Whether operations fail that fake tensors accept and data do not.
            is_past_unfit: Whether a strict run goes on behind linear layers that take no input of this shape.
        """
        outcome = self.construct(trial)
        if outcome.model is None or trial.inputs is None:
            return outcome
        given, realised = trial.inputs, _Realised(self._module, self._part)

        def inputs() -> Any:
            arguments = construct(
                lambda: realised.value(given, INPUTS), Constructions(self._places), self._mode, real_tensors=False
            )
            return tree_map(lambda item: as_fake(self._mode, item), arguments)

        modes = (self._mode, OperatorCosts()) if is_strict else (self._mode,)
        self._run(trial, outcome, inputs, *modes, is_past_unfit=is_past_unfit)
        if isinstance(outcome.error, RefusedTypesError) and outcome.failing is not None and outcome.failing.is_autocast:
            # Whether its types are allowed is known on the device that it is for.
            return self.run(trial)
        outcome.uses.update(realised.uses)
        return outcome

    def run_with_data(self, trial: Trial) -> TrialOutcome | None:
        """Run a concrete trial with data; None if its model is too large for that."""
        model, given = self.construct(trial).model, trial.inputs
        elements = 0 if model is None else sum(each.numel() for each in module_tree.parameters(model))
        if model is None or given is None or elements > _MOST_ELEMENTS:
            return None
        self.meter.count(elements // ELEMENTS_OF_WORK)
        outcome, realised = TrialOutcome(), _Realised(self._module, self._part)

        def inputs() -> Any:
            make = lambda: (realised.value(trial.init, INIT), realised.value(given, INPUTS))  # noqa: E731 - as above
            outcome.model, arguments = construct(make, Constructions(self._places), self._mode, real_tensors=True)
            return arguments

        self._run(trial, outcome, inputs)
        return outcome

    def _run(
        self,
        trial: Trial,
        outcome: TrialOutcome,
        inputs: Callable[[], Any],
        *modes: AbstractContextManager[Any],
        is_past_unfit: bool = False,
    ) -> None:
        """Call ``outcome.model`` with the inputs inside ``modes``, and note how far that goes."""
        has_data = not modes
        is_strict = has_data or any(isinstance(mode, OperatorCosts) for mode in modes)
        watch = _Watch(self.meter, WORK_WITH_DATA if has_data else 1, is_strict, is_past_unfit)
        try:
            seed()
            args, kwargs = inputs()
            watch.acceptance = InputAcceptance((args, kwargs))
            assert outcome.model is not None
            if watch.is_strict:
                outcome.weight_sizes = watch.weight_sizes = WeightSizes(_weights(outcome.model))
            with in_mode_of(trial, outcome.model), DevicesAreCpu(), watch, ExitStack() as entered, batches_of_one():
                for mode in modes:
                    entered.enter_context(mode)
                outcome.output = outcome.model(*args, **kwargs)
        except BaseException as error:
            outcome.error = _checked(error)
            outcome.failing, outcome.last = watch.failing, watch.last
            used = None if watch.failing is None else (watch.failing.args, watch.failing.kwargs)
            outcome.refuses_inputs = watch.acceptance.is_refused(used)
        outcome.progress, outcome.is_lenient = (1, watch.count), watch.is_lenient
        outcome.sizes, outcome.is_behind_unfit = frozenset(watch.sizes), watch.is_behind_unfit


def _checked(error: BaseException) -> BaseException:
    """Return ``error`` if the user's code raised it, and not the budget."""
    if isinstance(error, OutOfBudgetError):
        raise error
    return error


class _Realised:
    """Values of guesses, with duck values for open ones."""

    def __init__(self, module: ModuleType, part: PartGuesser) -> None:
        self.uses: dict[Path, DuckUse] = {}
        self._module = module
        self._part = part

    def value(self, guess: Guess, path: Path) -> Any:
        if isinstance(guess, Open):
            return self._duck(guess, path)
        if isinstance(guess, Tensor) and guess.dtype == "float":
            # As its text would: evaluated a hundred times, texts take longer than the model.
            return torch.randn(guess.shape)
        if not isinstance(guess, Group):
            return evaluate(guess.text, self._module, "search")
        values = {key: self.value(part, (*path, key)) for key, part in guess.items}
        return _collected(guess, values, self._module)

    def _duck(self, guess: Open, path: Path) -> DuckValue:
        known = dict(guess.known)

        def part(key: str, name: str) -> tuple[Guess, Any]:
            found = known.get(key) or self._part(guess, name)
            return found, self.value(found, (*path, key))

        made = duck_value(guess, path, part)
        self.uses[path] = made.fxlsp_use
        return made


def _collected(group: Group, values: Mapping[str, Any], module: ModuleType) -> Any:
    match group.kind:
        case "list":
            return list(values.values())
        case "tuple":
            return tuple(values.values())
        case "dict":
            return {evaluate(key, module, "search"): value for key, value in values.items()}
        case "module":
            return type("Block", (torch.nn.Identity,), dict(values))()
        case "function":
            return lambda *_, **__: values[RESULT]
        case "inputs":
            named = {key[:-1]: value for key, value in values.items() if key.endswith("=")}
            return tuple(value for key, value in values.items() if not key.endswith("=")), named
    further = [each for key, several in values.items() if key[0] == "*" for each in several]
    named = {key: value for key, value in values.items() if key[0] != "*"}
    return evaluate(group.maker, module, "search")(*further, **named)


class _Watch(TorchFunctionMode):
    """Counts the calls of torch's functions that return, and notes the one that raises."""

    def __init__(self, meter: WorkMeter, cost: int, is_strict: bool, is_past_unfit: bool) -> None:
        """``cost`` is the work of one call; the others as in :meth:`TrialRunner.run`."""
        super().__init__()
        self._meter = meter
        self._cost = cost
        self.is_strict = is_strict
        self._is_past_unfit = is_past_unfit
        self.count = 0
        self.failing: TorchCall | None = None
        self.acceptance = InputAcceptance(())
        self.is_lenient = self.is_behind_unfit = False
        self.weight_sizes: WeightSizes | None = None
        self.sizes: set[int] = set()
        self.last: TorchCall | None = None

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func == _SET_DATA and _takes_data_away(*args):
            return None
        run, name = _normalised if func is torch.nn.functional.batch_norm else func, getattr(func, "__name__", "")
        self._meter.count(self._cost * work_of(name, args))
        try:
            if self.is_strict:
                require_features(name, args)
            result = run(*args, **(kwargs or {}))
        except BaseException:
            known = self.weight_sizes if self._is_past_unfit else None
            fitting = None if known is None else known.as_if_fitting(name, args)
            if fitting is None:
                self.failing = TorchCall(name, args, kwargs or {}, is_autocast())
                raise
            self.is_behind_unfit, result = True, fitting
        self.count += 1
        self.is_lenient = self.is_lenient or may_be_accepted_by_fakes_alone(name, args, kwargs or {})
        self.acceptance.note((args, kwargs), result)
        if self.weight_sizes is not None:
            self.last = TorchCall(name, args, kwargs or {})
            self.weight_sizes.note(name, args, kwargs or {}, result)
            self.sizes.update(size for each in tensors_in(result) for size in each.shape)
        return result


def _weights(model: torch.nn.Module) -> Iterator[torch.Tensor]:
    yield from module_tree.parameters(model)
    for module in module_tree.modules(model):
        yield from (each for each in module._buffers.values() if each is not None)


def _takes_data_away(tensor: torch.Tensor, given: object) -> bool:
    """Return whether a parameter would lose its data, for which every later try would fail."""
    return isinstance(given, FakeTensor) and not isinstance(tensor, FakeTensor)


def _normalised(given: torch.Tensor, running_mean: torch.Tensor | None, *rest: Any, **options: Any) -> torch.Tensor:
    """Normalise a batch by its shape: a dozen operators would be most of a run's time."""
    if not given.is_floating_point():
        raise RuntimeError(f"batch_norm not implemented for '{given.dtype}'")
    if running_mean is not None and running_mean.shape[0] != given.shape[1]:
        raise RuntimeError(f"running_mean should contain {given.shape[1]} elements not {running_mean.shape[0]}")
    return torch.empty_like(given)


@contextmanager
def in_mode_of(trial: Trial, model: torch.nn.Module) -> Iterator[None]:
    """Put ``model`` into the mode in which ``trial`` runs it.

    Raises:
        TypeError: its ``eval()`` does not return it, so that no text says both.
    """
    before = [(module, module.training) for module in module_tree.modules(model)] if trial.eval_mode else []
    try:
        if trial.eval_mode and model.eval() is not model:
            raise TypeError("eval() does not return the model")
        yield
    finally:
        for module, training in before:
            module.training = training
