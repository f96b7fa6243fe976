"""Options that several commands share, checked before anything runs."""

from __future__ import annotations

import argparse
import ast

from fxlsp.engine.settings.value_checks import is_object_reference
from fxlsp.report.codes import BAD_RECIPE
from fxlsp.report.problems import Failure


def add_project_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that override the settings of every project."""
    parser.add_argument("--python", metavar="PATH", help="the interpreter that traces, instead of the project's")
    parser.add_argument("--profile", choices=["fx", "shapes"], help="tell what concerns torch.fx alone, or only hint")
    parser.add_argument(
        "--tracer",
        metavar="NAME",
        type=_tracer,
        help="a subclass of torch.fx.Tracer: package.module:Name, file.py:Name",
    )


def _tracer(text: str) -> str:
    if not is_object_reference(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not package.module:Name or file.py:Name")
    return text


class OptionError(Exception):
    """A text that its option does not accept."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.failure = Failure("", BAD_RECIPE, message)


def check_init(text: str) -> None:
    """Raise OptionError if ``text`` is not one Python expression.

    Example:
        >>> check_init("Net(10, hidden=128)")
    """
    if _expression(text.strip()) is None:
        raise OptionError(f"init is not one Python expression that makes a model, such as Net(10): {text}")


def check_inputs(text: str) -> None:
    """Raise OptionError if ``text`` is not the arguments of one call.

    Example:
        >>> check_inputs("torch.randn(1, 3), mask=None")
    """
    call = _expression(f"_({text.strip()}\n)")
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise OptionError(f"inputs are not the arguments of one call, such as torch.randn(1, 3), mask=None: {text}")


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
