"""First guesses of a model's inputs, by their first uses, names and annotations, and by its layers."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch

from ...model import module_tree
from ...model.building.forward_entry import forward_entry
from ..trials.values import Group, Guess, Open, Size, Tensor, Text, several
from .class_body import looped_over
from .first_uses import UNKNOWN, first_uses
from .flat_models import as_rows, takes_rows
from .layers import image_sizes, inputs_of_layers, spatial
from .stated_shapes import StatedShape, stated_shapes
from .tables import (
    BATCH,
    COLOURS,
    FEATURES,
    IDS,
    IMAGE,
    IMAGES,
    LABELS,
    MASK,
    ONE_OF_EACH,
    POINTS,
    SEQUENCE,
    SOME_ID,
    STEPS_INPUT,
    VALUES,
    beside_values,
)

_LISTED, _MOST_LISTED = 3, 8
"""Tensors in a list, where nothing says how many; and in the longest list."""


def first_inputs(model: torch.nn.Module) -> list[Group]:
    """Return the likeliest arguments of the model's call, the best first.

    Behind those with the shapes that the code states come those without: a comment may be wrong.
    """
    uses, stated = first_uses(model), stated_shapes(model)
    found = [_inputs(model, uses, stated)]
    if stated and (unstated := _inputs(model, uses, {})) != found[0]:
        found.append(unstated)
    return found


def _inputs(model: torch.nn.Module, uses: Mapping[str, Tensor | Group], stated: Mapping[str, StatedShape]) -> Group:
    parameters = inspect.signature(forward_entry(model)).parameters.values()
    main = next(inputs_of_layers(model), None)
    filled: dict[str, Guess] = {}
    for parameter in parameters:
        if not is_wanted(parameter) or (parameter.kind is parameter.VAR_POSITIONAL and filled):
            continue
        key = parameter.name + "=" * (parameter.kind is parameter.KEYWORD_ONLY)
        used = uses.get(parameter.name)
        guess = likely_input(parameter, used, main, filled)
        if parameter.name in stated and isinstance(guess, Tensor) and _is_open(used):
            guess = _as_stated(guess, stated[parameter.name], main, filled, model)
        if used is None and main is None and guess == spatial(FEATURES, 2):
            guess = _usual_in_file(model)
        filled[key] = guess
    given = Group("inputs", tuple(filled.items()))
    return as_rows(given, stated.keys()) if takes_rows(model) else given


def _usual_in_file(model: torch.nn.Module) -> Tensor:
    """Return a tensor of the rank for which the file of a model is written that takes any rank."""
    try:
        lines, _ = inspect.findsource(type(model))
    except (OSError, TypeError):
        return spatial(FEATURES, 2)
    text = "".join(lines)
    counts = {rank: len(re.findall(rf"\b[Cc]onv{rank}d", text)) for rank in (2, 1, 3)}
    most = max(counts, key=lambda rank: counts[rank])
    if counts[most]:
        return spatial(FEATURES, most)
    is_of_sequences = "onv" not in text and _SEQUENCES.search(text) is not None
    return Tensor((BATCH, SEQUENCE, FEATURES)) if is_of_sequences else spatial(FEATURES, 2)


_SEQUENCES = re.compile(r"\b(LayerNorm|RMSNorm|MultiheadAttention|Embedding|LSTM|GRU|Transformer\w*)\(")
"""Layers of torch's that are those of sequences, where there is no convolution."""


def _is_open(used: Tensor | Group | None) -> bool:
    """Return whether the first use of an input leaves its rank open, as a linear layer does."""
    return used is None or (isinstance(used, Tensor) and used.shape[:2] == (BATCH, SEQUENCE) and len(used.shape) < 4)


def _as_stated(
    guess: Tensor, stated: StatedShape, main: Tensor | None, before: dict[str, Guess], model: torch.nn.Module
) -> Tensor:
    """Return the guess with the dimensions that the code states."""
    channels = (
        guess.shape[_place(guess)] if guess.dtype == "float" and len(guess.shape) > 1 else _channels(main, before)
    )
    return stated.applied(guess, channels, model)


def is_wanted(parameter: inspect.Parameter) -> bool:
    """Return whether a call must give it; of ``*inputs`` one is given, if there is no other input."""
    return parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD


def likely_input(
    parameter: inspect.Parameter, used: Tensor | Group | None, main: Tensor | None, before: dict[str, Guess]
) -> Guess:
    """Guess an input by its first use, annotation and name; ``main`` is what the model's first layer takes."""
    annotated = of_annotation(parameter.annotation, main)
    if annotated is not None:
        return annotated
    if isinstance(used, Group):
        first = next((guess for guess in before.values() if isinstance(guess, Tensor)), main) or spatial(FEATURES, 2)
        return replace(used, items=tuple((key, first if part == Tensor(()) else part) for key, part in used.items))
    if MASK.fullmatch(parameter.name) and isinstance(used, Tensor) and _is_map(used) and before:
        # It is multiplied with, the same for all channels.
        return replace(used, shape=(used.shape[0], 1, *used.shape[2:]))
    is_ids = isinstance(used, Tensor) and used.dtype == "long" and used.shape == (BATCH, SEQUENCE)
    is_of_map = any(isinstance(guess, Tensor) and len(guess.shape) >= 4 for guess in before.values())
    if is_ids and is_of_map and ONE_OF_EACH.fullmatch(parameter.name):
        return Tensor((BATCH,), "long")
    if used is not None and UNKNOWN not in used.shape:
        return used
    named = of_name(parameter.name, main, before)
    if used is not None and not (isinstance(named, Tensor) and _are_alike(named, used)):
        channels = _channels(main, before)
        return replace(used, shape=tuple(channels if size == UNKNOWN else size for size in used.shape))
    return named


def _are_alike(named: Tensor, used: Tensor) -> bool:
    """Return whether two tensors have the same rank, and channels and batch at the same place."""
    if len(named.shape) != len(used.shape):
        return False
    is_batch_second = used.shape[1:2] == (BATCH,)
    return _place(named) == _place(used) and (not is_batch_second or named.shape[1:2] == (BATCH,))


def _channels(main: Tensor | None, before: dict[str, Guess]) -> int:
    for known in (main, *(guess for guess in before.values())):
        if isinstance(known, Tensor) and known.dtype == "float" and len(known.shape) > 1:
            return known.shape[_place(known)]
    return FEATURES


def _place(tensor: Tensor) -> int:
    """Return where the channels are: where they are unknown, behind the batch of a map or a signal, else last."""
    if UNKNOWN in tensor.shape:
        return tensor.shape.index(UNKNOWN)
    rank = len(tensor.shape)
    return 1 if rank >= 4 or (rank == 3 and tensor.shape[-1] == IMAGE) else rank - 1


def of_annotation(annotation: object, main: Tensor | None) -> Guess | None:
    """Guess an input by its annotation, if that says more than that it is a tensor."""
    if isinstance(annotation, str):
        plain = annotation.replace("typing.", "").replace("torch.", "")
        scalars = {"int": Size(2), "float": Text("0.5"), "bool": Text("False"), "str": Text("''")}
        if re.fullmatch(r"[Tt]uple\[int(, int)*\]", plain):
            return image_sizes(plain.count("int"))
        lists = re.fullmatch(r"(?:List|list|Sequence)\[Tensor\]", plain)
        return _listed(main) if lists else scalars.get(plain)
    if annotation is int:
        return Size(2)
    if annotation in (float, bool, str):
        return Text({float: "0.5", bool: "False", str: "''"}[annotation])
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple and arguments and all(each is int for each in arguments):
        return image_sizes(len(arguments))
    if origin in (list, tuple) and arguments and arguments[0] is torch.Tensor:
        count = len(arguments) if origin is tuple and Ellipsis not in arguments else 2
        return _listed(main, count)
    return None


def _listed(main: Tensor | None, count: int = 2) -> Group:
    """Return as many tensors in a list; images one by one, without a batch, as detectors take them."""
    each = spatial(3, 2) if main is None else main
    shape = each.shape[1:] if len(each.shape) == 4 and each.shape[1] in (1, 3) else each.shape
    return several(replace(each, shape=shape), count)


def of_name(name: str, main: Tensor | None, before: dict[str, Guess]) -> Guess:
    """Guess an input by its name; ``before`` are the guesses for those before it."""
    first = next((guess for guess in before.values() if isinstance(guess, Tensor)), None)
    if first is None and main is None and STEPS_INPUT.fullmatch(name):
        return Tensor((BATCH, SEQUENCE, FEATURES))
    usual = first or main or spatial(FEATURES, 2)
    if name == "k" and "q" in before:
        return usual
    found = beside_values(_length(usual), bool(before)).of(name)
    if found is not None:
        return found
    if usual.dtype == "long" and IMAGES.fullmatch(name):
        return spatial(COLOURS, 2)
    if usual.dtype == "long" and VALUES.fullmatch(name):
        return Tensor((BATCH, SEQUENCE, FEATURES))
    if main is not None and main.dtype == "long" and first is None:
        return main
    if POINTS.fullmatch(name) and (main is None or 3 in main.shape):
        return Tensor((BATCH, SEQUENCE, 3))
    if IDS.fullmatch(name) and (main is None or main.dtype == "long"):
        return Tensor((BATCH, SEQUENCE), "long")
    if (numbers := SOME_ID.fullmatch(name)) is not None:
        return Tensor((BATCH, _length(usual)) if numbers.group(1) else (BATCH,), "long")
    if IMAGES.fullmatch(name) and (main is None or len(main.shape) != 4):
        return spatial(3, 2)
    if LABELS.fullmatch(name) and first is not None and first.dtype == "float":
        return Tensor((BATCH,), "long")
    return replace(usual, dtype="float") if first is not None and usual.dtype != "long" else usual


def _is_map(tensor: Tensor) -> bool:
    """Return whether a tensor has channels behind the batch, and edges."""
    return tensor.dtype == "float" and (len(tensor.shape) == 4 or (len(tensor.shape) == 3 and _place(tensor) == 1))


def _length(tensor: Tensor) -> int:
    is_sequence = len(tensor.shape) == (2 if tensor.dtype == "long" else 3)
    return tensor.shape[1] if is_sequence else SEQUENCE


def lists_of_inputs(model: torch.nn.Module, given: Group) -> Iterator[Group]:
    """Yield inputs that are looped over as lists: as long as a list of the model's layers, or three."""
    # A scripted class refuses to be asked for its ``forward``.
    looped = looped_over(inspect.unwrap(inspect.getattr_static(type(model), "forward")))
    layers = [
        len(module)
        for module in module_tree.modules(model)
        if isinstance(module, torch.nn.ModuleList) and len(module) > 1
    ]
    count = next((number for number in layers if number <= _MOST_LISTED), _LISTED)
    items = tuple(
        (key, several(part, count) if key.rstrip("=") in looped and isinstance(part, Tensor) else part)
        for key, part in given.items
    )
    if items != given.items:
        yield Group("inputs", items)


def other_inputs(model: torch.nn.Module) -> Iterator[Tensor]:
    """Yield tensors that some layer of the model takes, then usual ones, each once."""
    seen: set[Tensor] = set()
    for tensor in (*inputs_of_layers(model), *_usual(model)):
        if tensor not in seen:
            seen.add(tensor)
            yield tensor


def _usual(model: torch.nn.Module) -> Iterator[Tensor]:
    width = next((tensor.shape[-1] for tensor in inputs_of_layers(model) if len(tensor.shape) == 3), FEATURES)
    yield spatial(3, 2)
    yield spatial(FEATURES, 2)
    yield Tensor((BATCH, SEQUENCE, width))
    yield Tensor((BATCH, width))
    yield Tensor((BATCH, SEQUENCE), "long")
    yield spatial(width, 1)
    yield Tensor((BATCH,), "long")
    yield spatial(3, 3)
    yield Tensor((BATCH,))


def part_of_input(open_: Open, name: str) -> Guess:
    """Guess a part of an input that is a dict or an object."""
    return of_name(name, None, {})


def further_inputs(model: torch.nn.Module, given: Group | None) -> Iterator[Group]:
    """Yield inputs with more of what ``*name`` takes, up to three."""
    known = dict(given.items) if given is not None else {}
    for parameter in inspect.signature(forward_entry(model)).parameters.values():
        if parameter.kind is not parameter.VAR_POSITIONAL or given is None:
            continue
        each = known.get(parameter.name) or next((part for part in known.values() if isinstance(part, Tensor)), None)
        for count in (2, 3) if parameter.name in known else (1, 2, 3):
            first = 1 if parameter.name in known else 0
            names = (parameter.name if number == 0 else f"{parameter.name}_{number}" for number in range(first, count))
            if each is not None:
                yield replace(given, items=given.items + tuple((name, each) for name in names))


def optional_inputs(model: torch.nn.Module, given: Group | None) -> Iterator[tuple[str, Guess]]:
    """Yield inputs that default to None and are not passed yet, and what they may be."""
    known = dict(given.items) if given is not None else {}
    main = next(inputs_of_layers(model), None)
    before = {key: guess for key, guess in known.items() if isinstance(guess, Tensor)}
    uses = first_uses(model)
    for parameter in inspect.signature(forward_entry(model)).parameters.values():
        key = f"{parameter.name}="
        if parameter.default is None and key not in known:
            yield key, likely_input(parameter, uses.get(parameter.name), main, dict(before))
