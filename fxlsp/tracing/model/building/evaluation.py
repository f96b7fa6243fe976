"""Evaluation of recipes: construction and inputs of models, with their defaults.

Inputs that no recipe states follow conventions of the model's library, annotations and defaults.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from ....report.recipes import RecipeSource
from ..loading.lazy_module import WorkspaceModule, ask, execution_behind
from .forward_entry import forward_entry


class UnusableRecipeError(Exception):
    """A recipe cannot be used; ``needs`` names what the user would have to supply."""

    def __init__(self, message: str, needs: str | None = None) -> None:
        super().__init__(message)
        self.needs = needs


@dataclass(frozen=True)
class Arguments:
    """Arguments of a model's call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def find_target(module: ModuleType, name: str) -> Any:
    """Return the class, factory or instance with a name, which is dotted if nested.

    Raises:
        AttributeError: there is none.
    """
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def target_names(module: ModuleType, name: str) -> Iterator[str]:
    """Yield the public names that a module, or the class that ``name`` is nested in, has in the place of ``name``."""
    outer, dot, _ = name.rpartition(".")
    if not dot:
        # To list the names of a workspace file would run all of it.
        names = [*execution_behind(module).bound_names] if isinstance(module, WorkspaceModule) else dir(module)
    else:
        try:
            names = dir(find_target(module, outer))
        except AttributeError:
            return
    yield from (f"{outer}{dot}{each}" for each in names if not each.startswith("_"))


def default_init(target: Any, name: str) -> str:
    """Return the expression that constructs a model without a recipe.

    Raises:
        UnusableRecipeError: the target needs arguments, or constructs no model.
    """
    if isinstance(target, torch.nn.Module):
        return name
    if not callable(target):
        raise UnusableRecipeError(f"{name} is a {type(target).__name__}, not a module class, a factory or a module")
    if isinstance(target, type) and not issubclass(target, torch.nn.Module):
        raise UnusableRecipeError(f"{name} is not a subclass of torch.nn.Module")
    required = required_parameters(target)
    if required:
        raise without_arguments(name, required)
    return f"{name}()"


def without_arguments(name: str, required: list[str]) -> UnusableRecipeError:
    """Return the error of a target that needs arguments which nothing states."""
    wanted = ", ".join(required)
    plural = "s" if len(required) > 1 else ""
    return UnusableRecipeError(
        f"{name} needs the argument{plural} {wanted}: say how to make it, for example with a comment above it: "
        f"# fxlsp: {name}({', '.join(f'{parameter}=...' for parameter in required)})",
        needs=f"argument{plural} {wanted} of {name}",
    )


def required_parameters(function: Any) -> list[str]:
    """Return the names of a function's parameters without defaults.

    The list is empty if the signature is unknown.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [item.name for item in parameters if item.default is item.empty and item.kind not in variadic]


def evaluate(text: str, module: ModuleType, label: str) -> Any:
    """Return the value of an expression in a module's namespace.

    ``torch`` and ``nn`` are available in it.

    Raises:
        SyntaxError: the text is not one expression.
        BaseException: errors of the expression.
    """
    tree = ast.parse(text.strip(), f"<fxlsp {label}>", "eval")
    return eval(compile(tree, f"<fxlsp {label}>", "eval"), _names(module, tree))


def evaluate_arguments(text: str, module: ModuleType) -> Arguments:
    """Return the evaluated arguments of a text such as ``x, mask=None``.

    Stars are allowed too: ``*xs, **kw``.
    Raises:
        SyntaxError: the text is not the arguments of one call.
        BaseException: errors of the expressions.
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
    """Return a module's namespace, after running what the names in ``trees`` need."""
    if isinstance(module, WorkspaceModule):
        ask(module, (node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)))
    return {"torch": torch, "nn": torch.nn, **module.__dict__}


def default_inputs(model: torch.nn.Module, target: Any) -> tuple[str, RecipeSource] | None:
    """Return the inputs of a model without a recipe, and their source.

    By convention of its library, else no arguments if all have defaults other than None and there is no ``*args`` or
    ``**kwargs``, else by annotations; None if unknown.
    """
    by_convention = _torchvision_input(target)
    if by_convention is not None:
        return by_convention, "convention"
    if not required_parameters(forward_entry(model)):
        return None if _may_need_one(forward_entry(model)) else ("", "default")
    annotated = _annotated_inputs(model)
    return None if annotated is None else (annotated, "default")


_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _may_need_one(function: Any) -> bool:
    """Return whether a parameter defaults to None, or takes any number: callers may have to pass one all the same."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(parameter.default is None or parameter.kind in _ANY_NUMBER for parameter in parameters)


def _annotated_inputs(model: torch.nn.Module) -> str | None:
    """Return inputs by jaxtyping annotations: ``Float[Tensor, "batch 3 32 32"]``.

    None unless every required argument has one.
    """
    try:
        hints = inspect.get_annotations(type(model).forward, eval_str=True)
    except Exception:
        # Annotations are arbitrary expressions of the user; one that raises gives no information.
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
"""Sizes of named dimensions in order of appearance, distinct so that a dimension can be recognised in a shape."""


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
    size = ", ".join(map(str, shape)) or "()"
    if isinstance(dtypes, (list, tuple)) and dtypes and not any("float" in str(dtype) for dtype in dtypes):
        return f"torch.zeros({size}, dtype=torch.long)" if any("int" in str(dtype) for dtype in dtypes) else None
    return f"torch.randn({size})"


def bind(model: torch.nn.Module, arguments: Arguments) -> Mapping[str, Any]:
    """Return arguments by the names of FX's placeholders, defaults included.

    The names are those of parameters, with their stars: ``x``, ``*args``, ``**kwargs``.

    Raises:
        TypeError: ``forward`` does not take these arguments.
    """
    signature = inspect.signature(forward_entry(model))
    bound = signature.bind(*arguments.args, **arguments.kwargs)
    # FX's placeholders for several arguments have no defaults: this passes them nothing.
    bound.apply_defaults()
    return {_STARS.get(signature.parameters[name].kind, "") + name: value for name, value in bound.arguments.items()}


_STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def _torchvision_input(factory: Any) -> str | None:
    """Return the inputs of a torchvision model by its weights' crop size.
    Source: the ``weights`` parameter and ``Weights.transforms`` of the "Models and pre-trained weights" page.
    """
    if not callable(factory) or not getattr(factory, "__module__", "").startswith("torchvision.models."):
        return None
    try:
        # A submodule defines the factory, so the package is loaded; fxlsp itself does not need torchvision.
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
