"""Registry of fixes by problem code, and the fixes at a selection."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.fixes.assertions import assertion_fixes
from fxlsp.ide.fixes.buffers import buffer_fixes
from fxlsp.ide.fixes.containers import (
    module_attribute_fixes,
    module_container_fixes,
    parameter_attribute_fixes,
    parameter_container_fixes,
)
from fxlsp.ide.fixes.factories import factory_size_fixes
from fxlsp.ide.fixes.fix import Fix, FixContext
from fxlsp.ide.fixes.forward_call import forward_call_fixes
from fxlsp.ide.fixes.frontends.batch_sizes import batch_size_fixes
from fxlsp.ide.fixes.frontends.cond import cond_fixes
from fxlsp.ide.fixes.frontends.outside_graphs import check_fixes, message_fixes
from fxlsp.ide.fixes.frontends.tensor_numbers import tensor_number_fixes
from fxlsp.ide.fixes.ignore import ignore_fix
from fxlsp.ide.fixes.layer_numbers import layer_number_fixes
from fxlsp.ide.fixes.local_variables import local_variable_fixes
from fxlsp.ide.fixes.misspelt_attributes import misspelt_attribute_fixes
from fxlsp.ide.fixes.move_to_init import move_to_init_fixes
from fxlsp.ide.fixes.tensor_attributes import tensor_attribute_fixes
from fxlsp.ide.fixes.where import where_fixes
from fxlsp.ide.fixes.wrap import wrap_helper_fixes, wrap_length_fixes
from fxlsp.ide.problems import FileProblem, MovedNumber, problems
from fxlsp.report.codes import (
    CODE_FAILS,
    COMPILED,
    CONSTANT,
    CONTROL_FLOW,
    CONVERSION,
    FACTORY,
    FOREIGN_FUNCTION,
    INDEX,
    ITEM_ASSIGNMENT,
    ITERATION,
    LEAF_BYPASSED,
    LENGTH,
    LOCAL_INSTEAD_OF_ATTRIBUTE,
    MADE_IN_FORWARD,
    MODULES_NOT_REGISTERED,
    OPERATION_FAILS,
    PARAMETER_NOT_REGISTERED,
    TENSOR_ATTRIBUTE,
    UNREGISTERED_MODULE,
    UNREGISTERED_PARAMETER,
)
from fxlsp.report.frontend_codes import BREAK_AT_CODE, BREAK_AT_VALUE, EXPORT_BRANCH, EXPORT_FIXED, EXPORT_NUMBER
from fxlsp.source.python.python_tree import python_tree
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

Fixer = Callable[[FixContext], Iterator[Fix]]

FIXERS: Mapping[str, tuple[Fixer, ...]] = {
    CONTROL_FLOW: (assertion_fixes, where_fixes, wrap_helper_fixes),
    ITERATION: (factory_size_fixes, wrap_helper_fixes),
    LENGTH: (wrap_length_fixes, wrap_helper_fixes),
    CONVERSION: (wrap_helper_fixes,),
    INDEX: (wrap_helper_fixes,),
    FACTORY: (factory_size_fixes, wrap_helper_fixes),
    ITEM_ASSIGNMENT: (wrap_helper_fixes,),
    FOREIGN_FUNCTION: (wrap_helper_fixes,),
    COMPILED: (wrap_helper_fixes,),
    UNREGISTERED_MODULE: (module_container_fixes, move_to_init_fixes),
    UNREGISTERED_PARAMETER: (parameter_container_fixes, move_to_init_fixes),
    MADE_IN_FORWARD: (move_to_init_fixes,),
    CONSTANT: (buffer_fixes, parameter_container_fixes),
    LEAF_BYPASSED: (forward_call_fixes,),
    TENSOR_ATTRIBUTE: (tensor_attribute_fixes,),
    OPERATION_FAILS: (layer_number_fixes,),
    CODE_FAILS: (misspelt_attribute_fixes,),
    MODULES_NOT_REGISTERED: (module_attribute_fixes,),
    PARAMETER_NOT_REGISTERED: (parameter_attribute_fixes,),
    LOCAL_INSTEAD_OF_ATTRIBUTE: (local_variable_fixes,),
    EXPORT_BRANCH: (where_fixes, cond_fixes, tensor_number_fixes, check_fixes),
    EXPORT_NUMBER: (tensor_number_fixes,),
    EXPORT_FIXED: (batch_size_fixes,),
    BREAK_AT_VALUE: (where_fixes, cond_fixes, tensor_number_fixes, check_fixes),
    BREAK_AT_CODE: (message_fixes,),
}

_NOT_TRACED = "FX9"
"""Prefix of codes that say why there is no trace: there is nothing to ignore."""


@dataclass(frozen=True, slots=True)
class QuickFix:
    """A fix, and the problems that it fixes."""

    fix: Fix
    problems: tuple[FileProblem, ...]


def quick_fixes(
    snapshot: Snapshot, path: str, selected: Span, named: Collection[tuple[str, Span]] = ()
) -> list[QuickFix]:
    """Return the fixes for the problems that a selection or cursor touches.

    One edit that fixes several of them is one fix.

    Args:
        named: codes and spans of further problems whose fixes are requested.
    """
    document = snapshot.documents.get(path)
    if document is None:
        return []
    asked = [
        problem
        for problem in problems(snapshot, path)
        if _touches(problem.span, selected) or (problem.code, problem.span) in named
    ]
    fixed: dict[Fix, list[FileProblem]] = {}
    for problem in asked:
        for fix in fixes_and_ignore(document, problem.code, problem.span, problem.number, problem.refused_sizes):
            fixed.setdefault(fix, []).append(problem)
    return [QuickFix(fix, tuple(found)) for fix, found in fixed.items()]


def fixes_and_ignore(
    document: Document,
    code: str,
    span: Span,
    number: MovedNumber | None = None,
    refused_sizes: tuple[str, ...] = (),
) -> list[Fix]:
    """Return the fixes of one problem, the best first, the ignoring one last."""
    found = fixes_for(document, code, span, number, refused_sizes)
    ignored = None if code.startswith(_NOT_TRACED) else ignore_fix(document, code, span)
    return found if ignored is None else [*found, ignored]


def fixes_for(
    document: Document,
    code: str,
    span: Span,
    number: MovedNumber | None = None,
    refused_sizes: tuple[str, ...] = (),
) -> list[Fix]:
    """Return the fixes that change the program so that the problem is gone.

    The best comes first.
    """
    fixers = FIXERS.get(code, ())
    tree = python_tree(document) if fixers else None
    if tree is None:
        return []
    context = FixContext(tree, code, span, number, refused_sizes)
    return [fix for fixer in fixers for fix in fixer(context)]


def _touches(problem: Span, selected: Span) -> bool:
    return (problem.line, problem.column) <= (selected.end_line, selected.end_column) and (
        (selected.line, selected.column) <= (problem.end_line, problem.end_column)
    )
