"""First guesses of what a model is fed: by the first uses, names and annotations of its inputs, and by its layers."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import replace

import torch

from ..entry import entry_of
from .axes import UNKNOWN
from .bodies import looped_over
from .first_uses import first_uses
from .guesses import Group, Guess, Open, Size, Tensor, Text, Trial, changed
from .layers import BATCH, inputs_of_layers, spatial
from .lengths import several
from .names import IMAGE, SEQUENCE, image_sizes

FEATURES = 32
"""Channels where no layer says how many."""

_LISTED, _MOST_LISTED = 3, 8
"""Tensors in a list, where nothing tells how many; and in the longest list."""
_IDS = re.compile(
    r".*(_ids?|tokens?|token_ids|idx|indices|words|captions?|sentences?|text|sents?|sequences?_id|ids|users?|items?|nodes|_index)$|ids|index"
)
_SOME_ID = re.compile(r"\w+_id(s?)")
"""What is an integer beside features too: one of each image or sequence, or of each step."""
_MASK = re.compile(r".*mask.*|.*padding.*")
_LENGTHS = re.compile(r".*(length|len)s?$|seqlens?|lens?(_[a-z])?")
_TIMES = re.compile(r"t|ts|time_?steps?|timesteps?|times?|noise_level|sigmas?")
_IMAGES = re.compile(r".*(img|image|pixel_values|frame|rgb|photo|picture)s?\d*$")
_POINTS = re.compile(r".*(xyz\d*|points?|point_cloud|pc|coords?|pcd|new_xyz|pos)$")
_STEPS = re.compile(
    r"q|k|v|query|queries|keys?|values?|hidden_states?|memory|tgt|src|\w+_(hiddens?|states?|seq|sequence)"
)
_FLAG = re.compile(
    r"""(return|use|is|with|output|do|need|get|if)_(?!(size|shape|dim|len)s?$)\w+|train(ing)?|mode|verbose|eval|test|debug|inference|sample""",
    re.VERBOSE,
)
_EDGE = re.compile(r"[HWhw]|height|width|.*_(height|width)|\w+_size[12]")
_NUMBER = re.compile(
    r"""(num|n)_\w+|[TkKN]|.*_(size|num|len|idx|factor|level)|size|step|epoch|iteration|out_size|scale|layer|index
    |stage|level""",
    re.VERBOSE,
)
_DEVICE = re.compile(r"(.*_)?device")
_DTYPE = re.compile(r"(.*_)?dtype")
_EDGES = re.compile(r"edge_index|edges|edge_idx")
_ADJACENCY = re.compile(r"adj\w*|laplacian|graph|A|L")
_SCORES_OF_OBJECTS = re.compile(r"pred_logits")
_BOXES_OF_OBJECTS = re.compile(r"pred_boxes")
"""What detectors that predict a set of objects return under these names."""
_SIZES_OF_IMAGES = re.compile(r"(\w+_)?target_sizes")
_BOXES = re.compile(r"(.*_)?(boxes|rois|proposals|bbox(es)?|anchors)")


def first_feed(model: torch.nn.Module) -> Group:
    """The likeliest arguments of the model's call."""
    uses = first_uses(model)
    parameters = inspect.signature(entry_of(model)).parameters.values()
    main = next(inputs_of_layers(model), None)
    filled: dict[str, Guess] = {}
    for parameter in parameters:
        if not is_wanted(parameter):
            continue
        key = parameter.name + "=" * (parameter.kind is parameter.KEYWORD_ONLY)
        filled[key] = likely_input(parameter, uses.get(parameter.name), main, filled)
    return Group("fed", tuple(filled.items()))


def written_feed(text: str) -> Group:
    """The arguments that an earlier search wrote."""
    call = ast.parse(f"_({text}\n)", mode="eval").body
    assert isinstance(call, ast.Call)
    args = [(f"argument_{index}", argument) for index, argument in enumerate(call.args)]
    named = [(f"{keyword.arg}=", keyword.value) for keyword in call.keywords]
    return Group("fed", tuple((key, Text(ast.unparse(value))) for key, value in (*args, *named)))


def is_wanted(parameter: inspect.Parameter) -> bool:
    """Whether a call must give it; of ``*inputs`` one is given."""
    return parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD


def likely_input(
    parameter: inspect.Parameter, used: Tensor | Group | None, main: Tensor | None, before: dict[str, Guess]
) -> Guess:
    """What an input is, by its first use, annotation and name; ``main`` is what the model's first layer takes."""
    annotated = of_annotation(parameter.annotation, main)
    if annotated is not None:
        return annotated
    if isinstance(used, Group):
        first = next((guess for guess in before.values() if isinstance(guess, Tensor)), main) or spatial(FEATURES, 2)
        return replace(used, items=tuple((key, first if part == Tensor(()) else part) for key, part in used.items))
    if used is not None and UNKNOWN not in used.shape:
        return used
    named = of_name(parameter.name, main, before)
    if used is not None and not (isinstance(named, Tensor) and _are_alike(named, used)):
        channels = _channels(main, before)
        return replace(used, shape=tuple(channels if size == UNKNOWN else size for size in used.shape))
    return named


def _are_alike(named: Tensor, used: Tensor) -> bool:
    """Whether two tensors have the same rank, and channels and batch at the same place."""
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
    """Where the channels are: where they are unknown, behind the batch of a map or a signal, else last."""
    if UNKNOWN in tensor.shape:
        return tensor.shape.index(UNKNOWN)
    rank = len(tensor.shape)
    return 1 if rank >= 4 or (rank == 3 and tensor.shape[-1] == IMAGE) else rank - 1


def of_annotation(annotation: object, main: Tensor | None) -> Guess | None:
    """What an annotation says beyond that it is a tensor."""
    if isinstance(annotation, str):
        plain = annotation.replace("typing.", "").replace("torch.", "")
        scalars = {"int": Size(2), "float": Text("0.5"), "bool": Text("False"), "str": Text("''")}
        if re.fullmatch(r"[Tt]uple\[int(, int)*\]", plain):
            return image_sizes(plain.count("int"))
        lists = re.fullmatch(r"(?:List|list|Sequence)\[Tensor\]", plain)
        return list_of(main) if lists else scalars.get(plain)
    if annotation is int:
        return Size(2)
    if annotation in (float, bool, str):
        return Text({float: "0.5", bool: "False", str: "''"}[annotation])
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple and arguments and all(each is int for each in arguments):
        return image_sizes(len(arguments))
    if origin in (list, tuple) and arguments and arguments[0] is torch.Tensor:
        count = len(arguments) if origin is tuple and Ellipsis not in arguments else 2
        return list_of(main, count)
    return None


def list_of(main: Tensor | None, count: int = 2) -> Group:
    """As many tensors in a list; images one by one, without a batch, as detectors take them."""
    each = spatial(3, 2) if main is None else main
    shape = each.shape[1:] if len(each.shape) == 4 and each.shape[1] in (1, 3) else each.shape
    return Group("list", tuple((f"[{index}]", replace(each, shape=shape)) for index in range(count)))


def of_name(name: str, main: Tensor | None, before: dict[str, Guess]) -> Guess:
    """What an input of this name is likely to be; ``before`` are the guesses for those before it."""
    first = next((guess for guess in before.values() if isinstance(guess, Tensor)), None)
    if first is None and main is None and _STEPS.fullmatch(name):
        return Tensor((BATCH, SEQUENCE, FEATURES))
    usual = first or main or spatial(FEATURES, 2)
    if name == "k" and "q" in before:
        return usual
    found = _apart_from_values(name, bool(before), usual)
    if found is not None:
        return found
    if main is not None and main.dtype == "long" and first is None:
        return main
    if _POINTS.fullmatch(name) and (main is None or 3 in main.shape):
        return Tensor((BATCH, SEQUENCE, 3))
    if _IDS.fullmatch(name) and (main is None or main.dtype == "long"):
        return Tensor((BATCH, SEQUENCE), "long")
    if (numbers := _SOME_ID.fullmatch(name)) is not None:
        return Tensor((BATCH, _length(usual)) if numbers.group(1) else (BATCH,), "long")
    if _IMAGES.fullmatch(name) and (main is None or len(main.shape) != 4):
        return spatial(3, 2)
    return replace(usual, dtype="float") if first is not None and usual.dtype != "long" else usual


def _apart_from_values(name: str, is_later: bool, usual: Tensor) -> Guess | None:
    """An input that only says something about others: flags, masks, lengths, sizes, edges."""
    length = _length(usual)
    always: tuple[tuple[re.Pattern[str], Guess], ...] = (
        (_FLAG, Text("False")),
        (_DEVICE, Text("'cpu'")),
        (_DTYPE, Text("torch.float32")),
        (_MASK, Tensor((BATCH, length), "bool")),
        (_LENGTHS, Tensor((BATCH,), "long", length)),
        (_EDGES, Tensor((2, SEQUENCE), "long")),
        (_SCORES_OF_OBJECTS, Tensor((BATCH, SEQUENCE, FEATURES))),
        (_BOXES_OF_OBJECTS, Tensor((BATCH, SEQUENCE, 4))),
        (_SIZES_OF_IMAGES, Tensor((BATCH, 2), "long", IMAGE)),
        (_BOXES, Tensor((BATCH, 5 if "roi" in name else 4))),
    )
    later = (
        (_TIMES, Tensor((BATCH,))),
        (_ADJACENCY, Tensor((length, length))),
        (_EDGE, Size(IMAGE)),
        (_NUMBER, Size(2)),
    )
    rules = (*always, *later) if is_later else always
    return next((guess for pattern, guess in rules if pattern.fullmatch(name)), None)


def _length(tensor: Tensor) -> int:
    is_sequence = len(tensor.shape) == (2 if tensor.dtype == "long" else 3)
    return tensor.shape[1] if is_sequence else SEQUENCE


def feeds_of_lists(model: torch.nn.Module, feed: Group) -> Iterator[Group]:
    """The inputs that are looped over as lists of tensors: as many as the model has layers in a list, or three."""
    # A scripted class refuses to be asked for its ``forward``.
    looped = looped_over(inspect.unwrap(inspect.getattr_static(type(model), "forward")))
    layers = [len(module) for module in model.modules() if isinstance(module, torch.nn.ModuleList) and len(module) > 1]
    count = next((number for number in layers if number <= _MOST_LISTED), _LISTED)
    items = tuple(
        (key, several(part, count) if key.rstrip("=") in looped and isinstance(part, Tensor) else part)
        for key, part in feed.items
    )
    if items != feed.items:
        yield Group("fed", items)


def other_inputs(model: torch.nn.Module) -> Iterator[Tensor]:
    """Tensors that some layer of the model takes, then usual ones, all of them different."""
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
    """A part of an input that is a dict or an object."""
    return of_name(name, None, {})


def further_inputs(model: torch.nn.Module, fed: Group | None) -> Iterator[Group]:
    """Two and three of what ``*name`` takes one of."""
    known = dict(fed.items) if fed is not None else {}
    for parameter in inspect.signature(entry_of(model)).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL and parameter.name in known and fed is not None:
            for count in (2, 3):
                more = tuple((f"{parameter.name}_{number}", known[parameter.name]) for number in range(1, count))
                yield replace(fed, items=fed.items + more)


def optional_inputs(model: torch.nn.Module, fed: Group | None) -> Iterator[tuple[str, Guess]]:
    """What may be passed for the inputs that default to None, and are not passed yet."""
    known = dict(fed.items) if fed is not None else {}
    main = next(inputs_of_layers(model), None)
    before = {key: guess for key, guess in known.items() if isinstance(guess, Tensor)}
    uses = first_uses(model)
    for parameter in inspect.signature(entry_of(model)).parameters.values():
        key = f"{parameter.name}="
        if parameter.default is None and key not in known:
            yield key, likely_input(parameter, uses.get(parameter.name), main, dict(before))


def other_masks(trial: Trial, words: set[str]) -> Iterator[Trial]:
    """Masks of other shapes, and none at all: nothing but the way it is used tells which a mask is.

    Of those that are named by ``words``, if there are any, or of all, if these name one: it may have been handed on.
    """
    is_any = not words or any(_MASK.fullmatch(word) for word in words)
    for key, part in trial.fed.items if trial.fed is not None else ():
        if not is_any and key.rstrip("=") not in words:
            continue
        if not _MASK.fullmatch(key.rstrip("=")) or not isinstance(part, Tensor):
            continue
        length = part.shape[-1] if part.shape else SEQUENCE
        yield changed(trial, ("fed", key), Text("None"))
        for shape in ((BATCH, length, length), (length, length), (BATCH, 1, 1, length), (BATCH, 1, length, length)):
            yield changed(trial, ("fed", key), replace(part, shape=shape))
