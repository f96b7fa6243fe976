"""The command line of a traced script: empty, and no reason to stop."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any


class _Given:
    all = True


def arguments_are_missing() -> bool:
    """Whether something has parsed the command line that requires more of it."""
    return not _Given.all


def make_arguments_optional() -> None:
    """From now on a script that parses its command line gets the defaults; what it requires is None."""
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
