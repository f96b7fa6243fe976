"""Modules whose statements run when the names that they bind are requested.

The error of a statement is stored, and raised only where a name that it should have bound is requested. So a script
whose data, arguments or packages are missing still provides the models that do not need them.
"""

from __future__ import annotations
import __future__

import ast
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any, TypeAlias

from ..locations.code_origin import is_workspace_code
from .missing_names import error_of_import, import_missing_submodule, untaken_bindings
from .not_imported import NotImported, placeholder_refused
from .setup_calls import sets_up
from .slicing import ModuleSlicer, SlicedStatement

_MOST_FILES = 512
"""Number of files whose slicers are kept: a process that loads edited files again and again would keep them all."""
_MOST_STATEMENTS = 2**14
"""Number of statements whose code is kept."""
_STAR = "*"
_RAN = "ran"
_NOT_IMPORTED = re.compile(r"cannot import name '(\w+)'")


AfterHead: TypeAlias = "Callable[[Execution], None]"


class Execution:
    """Statements of one file, run in one namespace as their names are requested."""

    def __init__(
        self,
        path: str,
        tree: ast.Module,
        namespace: dict[str, Any],
        names: Sequence[str],
        after_head: AfterHead | None = None,
    ) -> None:
        """
        Args:
            names: names that will be requested: what they need runs in the order of the file.
            after_head: called once, when the head of the file has run and nothing after it.
        """
        self.namespace = namespace
        self._path = path
        self._take(tree)
        self._names = names
        self._after_head = after_head
        self._asked: set[str] = set()
        self.uses_untaken_branch = False
        """Whether a name was bound by a branch that was not taken."""
        self._needed: set[str] = set()
        """Names that have been requested, with all that they depend on."""
        self._whole = False
        self._set_up = False
        """Whether all statements have been requested that may set something up."""
        self._ran: dict[int, str] = {}
        """Text of each statement that ran, by its index: of a compound one, more may be needed later."""
        self._failed: set[int] = set()
        """Indexes of statements that failed: they are repeated only when the whole file runs."""
        self._failures: dict[str, BaseException] = {}
        """Errors of these statements, by the names that they did not bind."""

    def _take(self, tree: ast.Module) -> None:
        self._needs = _slicer_of(tree)
        self._body = tree.body
        self._flags = _future_flags(tree)

    def resume_with(self, tree: ast.Module) -> None:
        """Take the rest of the file from another text with the same head."""
        self._take(tree)

    def head_of(self, tree: ast.Module, names: Iterable[str]) -> list[str]:
        """Return dumps of the statements in the head of a text that ``names`` need.

        ``tree`` is a text of this file; the dumps include positions, so that equal lists mean equal heads.
        """
        needs = _slicer_of(tree)
        parts = needs.parts(needs.closure({*self._asked, *names}))
        return [ast.dump(part.statement, include_attributes=True) for part in parts if part.place < needs.head]

    @property
    def bound_names(self) -> frozenset[str]:
        """All names that a statement of the file binds, whether it has run or not."""
        return self._needs.bound

    @property
    def statements(self) -> Sequence[ast.stmt]:
        """The top-level statements of the file."""
        return self._body

    @property
    def is_past_head(self) -> bool:
        """Whether statements after the head have run, because its imports requested them."""
        return any(place >= self._needs.head for place in self._ran)

    @property
    def failures(self) -> Iterable[BaseException]:
        """Errors of the statements."""
        return self._failures.values()

    @property
    def failure_of_star(self) -> BaseException | None:
        """Error of an ``import *``, which may have bound any name."""
        return self._failures.get(_STAR)

    def ask(self, names: Iterable[str]) -> None:
        """Run the statements that ``names`` need and that have not run yet.

        Raises:
            BaseException: the error of the statement that should have bound one of them.
        """
        names = set(names)
        wanted = self._needs.bound & names
        if wanted < names:
            # Python asks this function for the others.
            wanted |= self._needs.bound & {"__getattr__"}
        if not wanted <= self._needed:
            self._asked |= wanted
            self.run()
        for name in wanted:
            if self.is_failed(name):
                raise self._failures[name]

    def run_exported(self) -> None:
        """Run the statements of all exported names; their errors are stored, not raised."""
        names = self._needs.exported()
        if not names <= self._needed:
            self._asked |= names
            self.run()

    def is_failed(self, name: str) -> bool:
        """Return whether a name is unbound because its statement failed."""
        if name not in self._failures:
            return False
        return name not in self.namespace or isinstance(self.namespace[name], NotImported)

    def bind_from_untaken_branch(self, name: str) -> bool:
        """Bind a name by a branch that was not taken; return whether that succeeded.

        The first branch whose assignment does not raise is used.
        """
        if name in self.namespace:
            return False
        for statement in untaken_bindings(self._body, name):
            with suppress(BaseException):
                self._execute(statement, self._flags)
                self.uses_untaken_branch = True
                return True
        return False

    def run_whole(self) -> bool:
        """Run the whole file, repeating failed statements; return False if already done."""
        if self._whole:
            return False
        self._whole = True
        for place in self._failed:
            del self._ran[place]
        self._failed.clear()
        self._failures.clear()
        self.run()
        return True

    def run_setup(self) -> bool:
        """Run every statement that may set something up; return whether one ran that had not run yet."""
        if self._set_up or self._whole:
            return False
        self._set_up = True
        before = len(self._ran)
        self.run()
        return len(self._ran) > before

    def run(self) -> None:
        """Run what the names requested so far need."""
        after_head, self._after_head = self._after_head, None
        if after_head is not None:
            self._run_parts(self._needs.head)
            after_head(self)
        self._run_parts()

    def _run_parts(self, end: int = sys.maxsize) -> None:
        """Run the needed statements before index ``end``."""
        self._needed = self._needs.closure({*self._asked, *self._names})
        for part in list(self._parts()):
            if part.place >= end:
                break
            if part.asked is not None and not sets_up(part.asked, self.namespace):
                continue
            text = ast.dump(part.statement) if part.is_partial else _RAN
            if self._ran.get(part.place) != text:
                # Recorded before it runs, because code that it calls may request more names.
                self._ran[part.place] = text
                self._run(part)

    def _parts(self) -> Iterator[SlicedStatement]:
        if self._whole:
            return self._needs.all_parts()
        return self._needs.setup_parts() if self._set_up else self._needs.parts(self._needed)

    def _run(self, part: SlicedStatement) -> None:
        try:
            self._execute_with_submodules(part.statement)
        except BaseException as error:
            # SystemExit included, which scripts raise if arguments are missing.
            if not part.is_definition or not self._defined_without_annotations(part.statement):
                self._failed.add(part.place)
                self._fail(part, error)

    def _execute_with_submodules(self, statement: ast.stmt) -> None:
        while True:
            try:
                return self._execute(statement, self._flags)
            except AttributeError as error:
                if not import_missing_submodule(error):
                    raise

    def _execute(self, statement: ast.stmt, flags: int) -> None:
        # ``torch.fx.wrap`` requires that top-level code is named ``<module>``, as compile() names it.
        exec(_compiled(statement, self._path, flags), self.namespace)

    def _defined_without_annotations(self, statement: ast.stmt) -> bool:
        """Run a definition without its annotations; return whether that succeeded.

        A class or function of which only annotations fail works without them.
        """
        try:
            self._execute(statement, self._flags | __future__.annotations.compiler_flag)
        except BaseException:
            # The first error is the one to report.
            return False
        return True

    def _fail(self, part: SlicedStatement, error: BaseException) -> None:
        cause = self.cause_of(error) or error
        for name in part.names:
            self._failures[name] = cause
            if not part.is_import:
                # Incomplete or unchanged, the value is not what the file defines: its users get the error instead.
                self.namespace.pop(name, None)
            if name != _STAR and (part.is_import or part.is_definition):
                self.namespace.setdefault(name, NotImported(cause))

    def cause_of(self, error: BaseException) -> BaseException | None:
        """Return the stored error that made a name undefined, if this file should bind it."""
        refused = placeholder_refused(error)
        if refused is not None:
            return refused.error
        if any(error.__cause__ is failure for failure in self._failures.values()):
            return error.__cause__
        if isinstance(error, ImportError) and os.path.realpath(error.path or "") == self._path:
            # ``from this import name`` turns the AttributeError of a missing name into an ImportError.
            missed = _NOT_IMPORTED.match(str(error))
            return None if missed is None else self._failures.get(missed.group(1))
        if not isinstance(error, NameError) or not self.raised(error):
            return None
        name = error.name or ""
        failure = self._failures.get(name) or self._failures.get(_STAR)
        return failure or error_of_import(self._body, name, self._path, self.namespace)

    def raised(self, error: BaseException) -> bool:
        """Return whether ``error`` was raised by code of this file."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_next is not None:
            traceback = traceback.tb_next
        return traceback is not None and traceback.tb_frame.f_globals is self.namespace


@lru_cache(maxsize=_MOST_FILES)
def _slicer_of(tree: ast.Module) -> ModuleSlicer:
    """Return the slicer of a file, which all loads of this process share."""
    return ModuleSlicer(tree)


@lru_cache(maxsize=_MOST_STATEMENTS)
def _compiled(statement: ast.stmt, path: str, flags: int) -> CodeType:
    code: CodeType = compile(ast.Module([statement], []), path, "exec", flags, dont_inherit=True)
    return code


class WorkspaceModule(ModuleType):
    """Module that runs the statements of a name when the name is looked up."""

    __slots__ = ("execution",)

    execution: Execution

    def __getattribute__(self, name: str) -> Any:
        get = super().__getattribute__
        if name == "__dict__":
            # Also the first step of ``import *``. Names that dataclasses and other library code look up are bound.
            if is_workspace_code(sys._getframe(1).f_code.co_filename):
                execution_behind(self).run_exported()
        elif name == "__all__":
            execution_behind(self).ask([name])
            return _without_failed(get(name), execution_behind(self))
        elif not (name.startswith("__") and name.endswith("__")):
            execution_behind(self).ask([name])
        try:
            return get(name)
        except AttributeError as error:
            failure = execution_behind(self).failure_of_star
            if failure is None:
                raise
            # ``import *`` may have bound it.
            raise error from failure


def start_execution(
    module: WorkspaceModule, path: str, tree: ast.Module, names: Sequence[str], after_head: AfterHead | None = None
) -> Execution:
    """Return a new execution of a module, of which nothing has run yet."""
    module.execution = Execution(path, tree, ModuleType.__getattribute__(module, "__dict__"), names, after_head)
    return module.execution


def ask(module: WorkspaceModule, names: Iterable[str]) -> None:
    """Run what ``names`` of a module need.

    Raises:
        BaseException: the error of the statement that should have bound one of them.
    """
    execution_behind(module).ask(names)


def execution_behind(module: WorkspaceModule) -> Execution:
    """Return the execution of a module."""
    execution: Execution = object.__getattribute__(module, "execution")
    return execution


def _without_failed(names: Any, execution: Execution) -> Any:
    """Return ``__all__`` without failed names, so that ``import *`` binds the others."""
    if not isinstance(names, (list, tuple)):
        return names
    for name in names:
        try:
            execution.ask([name])
        except BaseException:
            # The name is left out below.
            continue
    there = [name for name in names if not execution.is_failed(name)]
    return names if len(there) == len(names) else there


def _future_flags(tree: ast.Module) -> int:
    """Return the compiler flags of a file's ``from __future__ import ...``."""
    names = [
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    ]
    flags = 0
    for name in names:
        feature = getattr(__future__, name, None)
        flags |= 0 if feature is None else feature.compiler_flag
    return flags
