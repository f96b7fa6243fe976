"""Making and feeding a model by its recipe: two Python texts, or what conventions and defaults say."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from ...report.recipes import RecipeSource
from ..loading.lazy_module import WorkspaceModule, ask
from .forward_entry import forward_entry


class UnusableRecipeError(Exception):
    """A recipe cannot be followed; ``needs`` says what the user would have to give."""

    def __init__(self, message: str, needs: str | None = None) -> None:
        super().__init__(message)
        self.needs = needs


@dataclass(frozen=True)
class Arguments:
    """What a model is called with."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def find_target(module: ModuleType, name: str) -> Any:
    """The class, factory or instance called ``name`` (dotted when nested); raises AttributeError."""
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def default_init(target: Any, name: str) -> str:
    """The expression that makes the model when no recipe says so.

    Raises:
        RecipeError: the target needs arguments, or makes no model.
    """
    if isinstance(target, torch.nn.Module):
        return name
    if not callable(target):
        raise UnusableRecipeError(f"{name} is a {type(target).__name__}, not a module class, a factory or a module")
    if isinstance(target, type) and not issubclass(target, torch.nn.Module):
        raise UnusableRecipeError(f"{name} is not a subclass of torch.nn.Module")
    required = required_parameters(target)
    if required:
        wanted = ", ".join(required)
        plural = "s" if len(required) > 1 else ""
        raise UnusableRecipeError(
            f"{name} needs the argument{plural} {wanted}: say how to make it, for example with a comment above it: "
            f"# fxlsp: {name}({', '.join(f'{parameter}=...' for parameter in required)})",
            needs=f"argument{plural} {wanted} of {name}",
        )
    return f"{name}()"


def required_parameters(function: Any) -> list[str]:
    """Names of the parameters without defaults; none where the signature cannot be known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [item.name for item in parameters if item.default is item.empty and item.kind not in variadic]


def evaluate(text: str, module: ModuleType, label: str) -> Any:
    """The value of an expression in the target's module, with ``torch`` at hand.

    Raises whatever it raises; SyntaxError if it is not one expression.
    """
    tree = ast.parse(text.strip(), f"<fxlsp {label}>", "eval")
    return eval(compile(tree, f"<fxlsp {label}>", "eval"), _names(module, tree))


def evaluate_arguments(text: str, module: ModuleType) -> Arguments:
    """The arguments in ``x, mask=None``, ``*xs, **kw`` and the like, evaluated.

    Raises:
        SyntaxError: it is not the text of a call's arguments; else whatever it raises.
    """
    tree = ast.parse(f"_({text.strip()}\n)", "<fxlsp inputs>", "eval")
    if not isinstance(tree.body, ast.Call) or not isinstance(tree.body.func, ast.Name):
        raise SyntaxError(f"not the arguments of one call: {text}")
    names = _names(module, *tree.body.args, *tree.body.keywords)
    names["_"] = lambda *args, **kwargs: Arguments(args, kwargs)
    code = compile(tree, "<fxlsp inputs>", "eval")
    arguments: Arguments = eval(code, names)
    return arguments


def _names(module: ModuleType, *trees: ast.AST) -> dict[str, Any]:
    """The names of the module; what the names in ``trees`` need of its file has run."""
    if isinstance(module, WorkspaceModule):
        ask(module, (node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)))
    return {"torch": torch, "nn": torch.nn, **module.__dict__}


def default_inputs(model: torch.nn.Module, target: Any, module: ModuleType) -> tuple[str, RecipeSource] | None:
    """What to feed a model that no recipe feeds: by convention, else nothing if every argument has a default."""
    by_convention = input_text(model, target, module)
    if by_convention is not None:
        return by_convention, "convention"
    if not required_parameters(forward_entry(model)):
        return "", "default"
    annotated = _annotated_inputs(model)
    return None if annotated is None else (annotated, "default")


def _annotated_inputs(model: torch.nn.Module) -> str | None:
    """Inputs by jaxtyping annotations (``Float[Tensor, "batch 3 32 32"]``) of every required argument."""
    try:
        hints = inspect.get_annotations(type(model).forward, eval_str=True)
    except Exception:
        # An annotation is any expression of the user's; one that raises tells nothing.
        return None
    sizes: dict[str, int] = {}
    texts = []
    for name in required_parameters(forward_entry(model)):
        text = _annotated_input(hints.get(name), sizes)
        if text is None:
            return None
        texts.append(f"{name}={text}")
    return ", ".join(texts)


_NAMED_SIZES = (2, 24, 40, 56, 72, 88, 104, 120)
"""Sizes for named dimensions in order of appearance, distinct so that a shown dimension can be recognised."""


def _annotated_input(hint: Any, sizes: dict[str, int]) -> str | None:
    dimensions = getattr(hint, "dim_str", None)
    dtypes = getattr(hint, "dtypes", None)
    if not isinstance(dimensions, str):
        return None
    shape = []
    for dimension in (text.rpartition("=")[2] for text in dimensions.split()):
        if dimension.isdecimal():
            shape.append(int(dimension))
        elif dimension.isidentifier() and len(sizes) < len(_NAMED_SIZES):
            shape.append(sizes.setdefault(dimension, _NAMED_SIZES[len(sizes)]))
        else:
            return None
    size = ", ".join(map(str, shape))
    if isinstance(dtypes, (list, tuple)) and dtypes and not any("float" in str(dtype) for dtype in dtypes):
        return f"torch.zeros(({size},), dtype=torch.long)" if any("int" in str(dtype) for dtype in dtypes) else None
    return f"torch.randn({size})"


def bind(model: torch.nn.Module, arguments: Arguments) -> Mapping[str, Any]:
    """The arguments by the names of FX's placeholders (``x``, ``*args``, ``**kwargs``), with the defaults of others.

    Raises:
        TypeError: ``forward`` does not take them.
    """
    signature = inspect.signature(forward_entry(model))
    bound = signature.bind(*arguments.args, **arguments.kwargs)
    # Of those of FX's own placeholders that stand for several arguments, none has a default: nothing is passed, then.
    bound.apply_defaults()
    return {_STARS.get(signature.parameters[name].kind, "") + name: value for name, value in bound.arguments.items()}


_STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def input_text(model: torch.nn.Module, target: Any, module: ModuleType) -> str | None:
    """The argument text that the model's own library would use; None where no convention is known."""
    return _torchvision_input(target)


def _torchvision_input(factory: Any) -> str | None:
    """By the crop of torchvision's weights enum, which its factories take as the default of ``weights``.

    Source: the ``weights`` parameter and ``Weights.transforms`` of the "Models and pre-trained weights" page.
    """
    if not callable(factory) or not getattr(factory, "__module__", "").startswith("torchvision.models."):
        return None
    try:
        # Its submodule made the factory: the package is loaded, and fxlsp itself needs no torchvision.
        weights = sys.modules["torchvision.models"].get_model_weights(factory.__name__)
        transforms = weights.DEFAULT.transforms
    except (KeyError, ValueError, AttributeError):
        return None
    crop = inspect.signature(transforms).parameters.get("crop_size")
    keywords = getattr(transforms, "keywords", {})
    size = keywords.get("crop_size", None if crop is None else crop.default)
    if isinstance(size, (list, tuple)):
        height, width = size[0], size[-1]
    elif isinstance(size, int):
        height = width = size
    else:
        return None
    return f"torch.randn(1, 3, {height}, {width})"
