"""Names of an input's dimensions where the code states them: einops patterns, unpacked shapes, comments, annotations.

Only what is stated of the input itself counts: nothing behind the statement that binds its name anew, and nothing that
runs under a condition.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from ...model.building.forward_entry import forward_entry
from ..trials.values import Tensor
from .class_body import tree_of
from .first_uses import UNKNOWN
from .patterns import PATCHES, Axes, pattern_axes
from .tables import BATCH, BATCHES, CHANNELS, COLOURS, DEPTHS, EDGES, IMAGE, SEQUENCE, STEPS, VOLUME

_PATTERNED = frozenset({"rearrange", "reduce", "repeat", "parse_shape", "asnumpy"})
"""Functions of einops that take a tensor and then its axes."""
_AXIS = r"(?:<=?\s*)?[A-Za-z_]\w*(?:[ _][a-z]\w*){0,2}(?:\s*[*/+-]{1,2}\s*\w+)?|\d+"
_LISTED = re.compile(rf"[(\[]\s*((?:{_AXIS})(?:\s*,\s*(?:{_AXIS}))+)\s*,?\s*[)\]]")
"""``(B, C, H, W)``, ``[batch size, src len]``."""
_TIMES = re.compile(r"(?<![\w.])((?:[A-Za-z]\w{0,8}|\d+)(?:\s*(?: x |×)\s*(?:[A-Za-z]\w{0,8}|\d+))+)(?![\w.])")
"""``B x C x H x W``."""
_NO_AXIS = re.compile(
    r"(?i:(torch\.)?\w*tensor|int|float|str|bool|list|tuple|dict|optional|none|default|true|false|ndarray|callable|any"
    r"|required|batch_first|module)"
)
"""Words in brackets behind an argument's name that are types or remarks."""
_IN_QUOTES = re.compile(r"""["']([^"']+)["']""")
_INTEGERS = re.compile(r"(?i:longtensor|inttensor|\bint(32|64)?\b|\blong\b|integers?|indices|\bids?\b)")
_MOST_AXES = 6


@dataclass(frozen=True)
class StatedShape:
    """What the code states of one input."""

    axes: Axes
    is_integer: bool = False
    """Whether a statement says that it holds integers."""
    is_divided: bool = False
    """Whether its edges are divided into patches: it is an image, whatever the first layer takes."""

    def sizes(self, model: Any) -> tuple[int, ...]:
        """Return the size of each dimension; :data:`UNKNOWN` for that of the features."""
        axes = self.axes
        batch = _batch_of(axes)
        letters = {axis.lower()[:1] for axis in axes}
        has_edges = {"h", "w"} <= letters
        kinds = [_kind(axis, has_edges) for axis in axes]
        features = next((kind for kind in ("channels", "depth", "width") if kind in kinds), None)
        place = kinds.index(features) if features is not None else len(axes) - 1
        found = []
        for index, (axis, kind) in enumerate(zip(axes, kinds, strict=True)):
            own = getattr(model, axis, None) if len(axis) > 1 else None
            if index == batch:
                found.append(BATCH)
            elif axis.isdecimal():
                found.append(int(axis))
            elif type(own) is int and own > 0:
                found.append(own)
            elif index == place and (features is not None or kind == ""):
                found.append(UNKNOWN)
            else:
                found.append((IMAGE if len(axes) < 5 else VOLUME) if kind == "edge" else SEQUENCE)
        return tuple(found)

    def applied(self, guess: Tensor, channels: int, model: Any) -> Tensor:
        """Return a guess with the dimensions that are stated; ``channels`` where these do not say how many features."""
        sizes = self.sizes(model)
        if self.is_divided and len(sizes) >= 4:
            channels = COLOURS
        wanted = tuple(channels if size == UNKNOWN else size for size in sizes)
        if UNKNOWN in sizes and not self.is_integer:
            return Tensor(wanted)
        return replace(guess, shape=wanted, dtype="long" if self.is_integer else guess.dtype)


def _batch_of(axes: Axes) -> int | None:
    """Return where the batch is."""
    named = [index for index, axis in enumerate(axes) if BATCHES.fullmatch(axis)]
    if named:
        return named[0]
    if axes[1:2] == ("N",) and axes[0] in ("L", "S", "T"):
        return 1
    return 0 if axes[0] in ("n", "N") else None


def _kind(axis: str, has_edges: bool) -> str:
    if has_edges and EDGES.fullmatch(axis):
        return "edge"
    if CHANNELS.fullmatch(axis):
        return "channels"
    if DEPTHS.fullmatch(axis):
        return "depth"
    if STEPS.fullmatch(axis) or _MANY.fullmatch(axis):
        return "steps"
    return "width" if _WIDE.fullmatch(axis) else ""


_MANY = re.compile(r"(?i:.*(len|length|ctx|steps?|frames?|tokens?|patch(es)?|points?|nodes?|seq)|(num|n)_\w+|[a-z])")
"""Names of dimensions that are steps of something."""
_WIDE = re.compile(r"(?i:.*(dim|size|channels?|features?|feats?|state|hidden|emb\w*|units|bins|mels?))")
"""Names of dimensions that are features."""


def stated_shapes(model: Any) -> dict[str, StatedShape]:
    """Return for each input what is stated of its shape; the surest statement counts."""
    entry = inspect.unwrap(forward_entry(model))
    function = getattr(entry, "__func__", entry)
    if not isinstance(function, FunctionType):
        return {}
    parameters = inspect.signature(function).parameters
    found: dict[str, StatedShape] = {}
    tree = next((node for node in tree_of(function.__code__).body if isinstance(node, ast.FunctionDef)), None)
    statements = (
        *_in_annotations(parameters),
        *(_in_body(tree.body, set(parameters)) if tree is not None else ()),
        *_in_comments(function, tree, set(parameters)),
        *_in_text(inspect.getdoc(function) or "", set(parameters)),
        *_in_text(inspect.getdoc(type(model)) or "", set(parameters)),
    )
    for name, stated in statements:
        if 1 < len(stated.axes) <= _MOST_AXES:
            found.setdefault(name, stated)
    return found


def _in_annotations(parameters: Mapping[str, inspect.Parameter]) -> Iterator[tuple[str, StatedShape]]:
    """Yield ``Float[Tensor, "batch channels length"]``, as jaxtyping has it."""
    for name, parameter in parameters.items():
        annotation = parameter.annotation
        text = annotation if isinstance(annotation, str) else ""
        axes = getattr(annotation, "dim_str", None) or next(iter(_IN_QUOTES.findall(text)), None)
        words = axes.split() if isinstance(axes, str) else []
        if words and all(word.isidentifier() or word.isdecimal() for word in words):
            kind = text or getattr(annotation, "__name__", "")
            yield name, StatedShape(tuple(words), re.match(r"(U?Int|Long)", kind) is not None)


def _in_body(body: list[ast.stmt], names: set[str]) -> Iterator[tuple[str, StatedShape]]:
    """Yield what unconditional statements state, in their order; a name that is bound anew is the input's no more."""
    left = set(names)
    for statement in body:
        if isinstance(statement, (ast.If, ast.For, ast.While, ast.Try, ast.FunctionDef, ast.ClassDef)):
            left -= _bound_in(statement)
        elif isinstance(statement, ast.With):
            yield from _in_body(statement.body, left)
            left -= _bound_in(statement)
        else:
            yield from _unpacked(statement, left)
            for node in ast.walk(statement):
                if isinstance(node, ast.Call):
                    yield from _in_call(node, left)
            left -= _bound_in(statement)


def _bound_in(statement: ast.stmt) -> set[str]:
    bound = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in bound}


def _unpacked(statement: ast.stmt, names: set[str]) -> Iterator[tuple[str, StatedShape]]:
    """Yield ``b, c, h, w = x.shape``, also where more is unpacked: ``b, n, _, h = *x.shape, self.heads``."""
    if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)):
        return
    targets, value = statement.targets[0].elts, statement.value
    if isinstance(value, ast.Tuple) and value.elts and isinstance(value.elts[0], ast.Starred):
        targets, value = targets[: 1 - len(value.elts) or None], value.elts[0].value
    name = _shape_owner(value)
    if name in names and all(isinstance(target, ast.Name) for target in targets):
        yield name, StatedShape(tuple(target.id for target in targets if isinstance(target, ast.Name)))


def _shape_owner(value: ast.expr) -> str:
    match value:
        case ast.Attribute(value=ast.Name(id=name), attr="shape"):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[]):
            return name
    return ""


def _in_call(call: ast.Call, names: set[str]) -> Iterator[tuple[str, StatedShape]]:
    """Yield the axes in a pattern of einops or ``einsum``."""
    called = ast.unparse(call.func).rpartition(".")[2]
    if called in _PATTERNED:
        match call.args[:2]:
            case [ast.Name(id=name), ast.Constant(value=str(pattern))] if name in names:
                axes = pattern_axes(pattern)
                if axes is not None:
                    yield name, StatedShape(axes, is_divided=len(PATCHES.findall(pattern.partition("->")[0])) > 1)
    elif called == "einsum":
        patterns = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        operands = [each for each in call.args if not isinstance(each, ast.Constant)]
        parts = patterns[0].partition("->")[0].split(",") if patterns else []
        for operand, part in zip(operands, parts, strict=False):
            axes = pattern_axes(part if " " in part.strip() else " ".join(part.strip()))
            if isinstance(operand, ast.Name) and operand.id in names and axes is not None:
                yield operand.id, StatedShape(axes)


def _in_comments(
    function: FunctionType, tree: ast.FunctionDef | None, names: set[str]
) -> Iterator[tuple[str, StatedShape]]:
    """Yield what comments state, up to the line that binds the name anew."""
    if tree is None:
        return
    try:
        lines, _ = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return
    first = tree.body[0].lineno
    ends = {name: _rebound_at(tree, name) for name in names}
    for number, line in enumerate(lines, 1):
        code, mark, comment = line.partition("#")
        if not mark:
            continue
        for name, stated in _in_text(comment, names):
            if number < ends[name] and (not code.strip() or number < first):
                yield name, stated
        declared = re.match(r"\s*(\w+)\s*[:,=)]", code)
        if number < first and declared is not None and declared[1] in names:
            yield from ((declared[1], StatedShape(axes)) for axes in _axes_in(comment))


def _rebound_at(tree: ast.FunctionDef, name: str) -> int:
    stored = (
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    )
    return min(stored, default=1 << 30)


def _in_text(text: str, names: set[str]) -> Iterator[tuple[str, StatedShape]]:
    """Yield what a docstring or a comment states of arguments, each in the lines behind its name."""
    if not names:
        return
    alternatives = "|".join(map(re.escape, names))
    starts = list(
        re.finditer(rf"^[\s\-*:]*(?:(?:param|arg)\s+)?[`*]*({alternatives})[`*]*\s*[:(=\[]", text, re.MULTILINE)
    )
    for number, start in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        # The bracket that ended the name may be that of the axes.
        part = re.split(r"\n\s*\n|\n\s*(?:Returns?|Outputs?|Yields?)\b|->|=>", text[start.end() - 1 : end], maxsplit=1)[
            0
        ]
        yield from ((start[1], StatedShape(axes, bool(_INTEGERS.search(part)))) for axes in _axes_in(part))


def _axes_in(text: str) -> Iterator[Axes]:
    """Yield the first list of axes in a text, if it has one."""
    for found in (*_LISTED.finditer(text), *_TIMES.finditer(text)):
        axes = tuple(_plain(axis) for axis in re.split(r",| x |×", found[1]))
        if not any(_NO_AXIS.fullmatch(axis) for axis in axes):
            yield axes
            return


def _plain(axis: str) -> str:
    """Return ``src_len`` for ``src len`` and ``n_ctx`` for ``<= n_ctx``; of ``H / 4`` the name."""
    words = re.sub(r"[<=]|[*/+-].*", "", axis).split()
    return "_".join(words)
