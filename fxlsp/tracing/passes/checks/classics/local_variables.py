"""Local variables of a constructor that were meant as attributes (FX604)."""

from __future__ import annotations

from collections.abc import Iterator

from .....report.codes import LOCAL_INSTEAD_OF_ATTRIBUTE
from .....report.problems import Problem
from ....model import module_tree
from ....model.diagnosis.local_variables import MeantAttribute, meant_attributes
from ....model.locations.class_text import methods_of
from ..base.check import Check
from ..base.executed_functions import UNRESOLVED, attribute_of
from ..base.pass_result import PassResult
from ..unused.attribute_reads import is_of_torch


class LocalVariables(Check):
    """Check of the constructors of the model's classes.

    That an attribute does not exist is known from the modules themselves.
    """

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        by_class: dict[type, tuple[MeantAttribute, ...]] = {}
        for path, module in module_tree.named_modules(traced.root):
            cls = type(module)
            if is_of_torch(cls):
                continue
            if cls not in by_class:
                by_class[cls] = tuple(meant_attributes(methods_of(cls, traced.places)))
            for meant in by_class[cls]:
                if attribute_of(module, meant.name) is UNRESOLVED:
                    yield traced.problem(
                        LOCAL_INSTEAD_OF_ATTRIBUTE,
                        meant.message,
                        meant.constructor.location(meant.target),
                        path,
                        meant.related(),
                    )
