"""Command line of a traced script: empty, with missing arguments allowed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any


class _Given:
    all = True


def arguments_are_missing() -> bool:
    """Return whether a parser has required arguments that the command line lacks."""
    return not _Given.all


def make_arguments_optional() -> None:
    """Make argparse parse an empty command line, with None for required arguments."""
    original = argparse.ArgumentParser.parse_known_args

    def parse_known_args(self: argparse.ArgumentParser, args: Any = None, namespace: Any = None) -> Any:
        if args is not None:
            return original(self, args, namespace)
        for requirement in _required(self):
            requirement.required = False
            _Given.all = False
        return original(self, [], namespace)

    argparse.ArgumentParser.parse_known_args = parse_known_args  # type: ignore[method-assign]


def _required(parser: argparse.ArgumentParser) -> Iterable[Any]:
    yield from (action for action in parser._actions if action.required)
    yield from (group for group in parser._mutually_exclusive_groups if group.required)
