"""Running of a workspace file what is asked for, when it is asked for.

A statement that fails costs only those who ask for what it binds: its error is kept, and raised to them. So a script
whose data, arguments or packages are missing still gives the models that do without.
"""

from __future__ import annotations
import __future__

import ast
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any, TypeAlias

from ..locations.code_origin import is_workspace_code
from .missing_names import import_missing_submodule, untaken_bindings
from .slicing import ModuleSlicer, SlicedStatement

_STAR = "*"
_RAN = "ran"
_NOT_IMPORTED = re.compile(r"cannot import name '(\w+)'")


class NotImported:
    """Stands for what could not be imported: whoever uses it gets the error of the import."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise self._again()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._again()

    def __getitem__(self, key: Any) -> Any:
        raise self._again()

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise self._again()

    def _again(self) -> BaseException:
        """The error once more, to be raised where it matters."""
        try:
            error = type(self._error)(*self._error.args)
        except TypeError:
            return self._error
        error.__cause__ = self._error
        return error


AfterHead: TypeAlias = "Callable[[Execution], None]"


class Execution:
    """The statements of one file, run in one namespace as their names are asked for."""

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
            names: known to be asked for: what they need runs in the order of the file.
            after_head: called once, when the head of the file has run, and nothing else that needs more of it.
        """
        self.namespace = namespace
        self._path = path
        self._take(tree)
        self._names = names
        self._after_head = after_head
        self._asked: set[str] = set()
        self.uses_untaken_branch = False
        """Whether a name has its value from a branch that was not taken."""
        self._needed: set[str] = set()
        """What has been asked for, with all that it depends on."""
        self._whole = False
        self._ran: dict[int, str] = {}
        """The text of each statement that ran, by its place: of a compound one, more may be needed later."""
        self._failed: set[int] = set()
        """The places of statements that failed: nothing makes them succeed but that everything runs."""
        self._failures: dict[str, BaseException] = {}
        """What each of them raised, by the names that are not there for it."""

    def _take(self, tree: ast.Module) -> None:
        self._needs = ModuleSlicer(tree)
        self._body = tree.body
        self._flags = _future_flags(tree)

    def resume_with(self, tree: ast.Module) -> None:
        """The rest of the file is that of another text, with the same head."""
        self._take(tree)

    def head_of(self, tree: ast.Module, names: Iterable[str]) -> list[str]:
        """What runs of the head of a text of this file, places included, if ``names`` are asked for."""
        needs = ModuleSlicer(tree)
        parts = needs.parts(needs.closure({*self._asked, *names}))
        return [ast.dump(part.statement, include_attributes=True) for part in parts if part.place < needs.head]

    @property
    def is_past_head(self) -> bool:
        """Whether more of the file has run than its head: what its imports ask of it."""
        return any(place >= self._needs.head for place in self._ran)

    @property
    def failures(self) -> Iterable[BaseException]:
        """What its statements raised."""
        return self._failures.values()

    def ask(self, names: Iterable[str]) -> None:
        """Run what ``names`` need and what has not run yet.

        Raises:
            BaseException: what the statement raised that should have bound one of them.
        """
        wanted = self._needs.bound.intersection(names)
        if not wanted <= self._needed:
            self._asked |= wanted
            self.run()
        for name in wanted:
            if self.is_failed(name):
                raise self._failures[name]

    def run_exported(self) -> None:
        """Run what may be asked for by whoever does not say which names; nothing is raised."""
        names = self._needs.exported()
        if not names <= self._needed:
            self._asked |= names
            self.run()

    def is_failed(self, name: str) -> bool:
        """Whether there should be ``name``, and is not."""
        if name not in self._failures:
            return False
        return name not in self.namespace or isinstance(self.namespace[name], NotImported)

    def bind_from_untaken_branch(self, name: str) -> bool:
        """Bind a name that no branch bound which was taken, as the first one does that can; False if none can."""
        if name in self.namespace:
            return False
        for statement in untaken_bindings(self._body, name):
            with suppress(BaseException):
                self._execute(statement, self._flags)
                self.uses_untaken_branch = True
                return True
        return False

    def run_whole(self) -> bool:
        """Run everything, what failed too; False if that was done before."""
        if self._whole:
            return False
        self._whole = True
        for place in self._failed:
            del self._ran[place]
        self._failed.clear()
        self._failures.clear()
        self.run()
        return True

    def run(self) -> None:
        """Run what is needed of what has been asked for so far."""
        after_head, self._after_head = self._after_head, None
        if after_head is not None:
            self._run_parts(self._needs.head)
            after_head(self)
        self._run_parts()

    def _run_parts(self, end: int = sys.maxsize) -> None:
        """Run those before the place ``end``."""
        self._needed = self._needs.closure({*self._asked, *self._names})
        for part in list(self._needs.all_parts() if self._whole else self._needs.parts(self._needed)):
            if part.place >= end:
                break
            text = ast.dump(part.statement) if part.is_partial else _RAN
            if self._ran.get(part.place) != text:
                # Before it runs: what it calls may ask for more.
                self._ran[part.place] = text
                self._run(part)

    def _run(self, part: SlicedStatement) -> None:
        try:
            self._execute_with_submodules(part.statement)
        except BaseException as error:
            # SystemExit too, of a script that does not get its arguments.
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
        code = compile(ast.Module([statement], []), self._path, "exec", flags, dont_inherit=True)
        exec(code, self.namespace)

    def _defined_without_annotations(self, statement: ast.stmt) -> bool:
        """A class or function whose annotations alone name what is not there does its work without them."""
        try:
            self._execute(statement, self._flags | __future__.annotations.compiler_flag)
        except BaseException:
            # The first error is the one to tell.
            return False
        return True

    def _fail(self, part: SlicedStatement, error: BaseException) -> None:
        cause = self.cause_of(error) or error
        for name in part.names:
            self._failures[name] = cause
            if not part.is_import:
                # Half made or unchanged, it is not what the file says: whoever uses it is told why it is not there.
                self.namespace.pop(name, None)
            elif name != _STAR:
                self.namespace.setdefault(name, NotImported(cause))

    def cause_of(self, error: BaseException) -> BaseException | None:
        """The failure behind a name that is not defined or not imported, if this file should have it."""
        if any(error.__cause__ is failure for failure in self._failures.values()):
            return error.__cause__
        if isinstance(error, ImportError) and os.path.realpath(error.path or "") == self._path:
            # ``from this import name`` takes an AttributeError for a name that is not there.
            missed = _NOT_IMPORTED.match(str(error))
            return None if missed is None else self._failures.get(missed.group(1))
        if not isinstance(error, NameError) or not self.raised(error):
            return None
        return self._failures.get(error.name or "") or self._failures.get(_STAR)

    def raised(self, error: BaseException) -> bool:
        """Whether ``error`` was raised by code of this file."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_next is not None:
            traceback = traceback.tb_next
        return traceback is not None and traceback.tb_frame.f_globals is self.namespace


class WorkspaceModule(ModuleType):
    """A module that runs what is asked of it."""

    __slots__ = ("execution",)

    execution: Execution

    def __getattribute__(self, name: str) -> Any:
        get = super().__getattribute__
        if name == "__dict__":
            # Also the first step of ``import *``. What dataclasses and the like look up there is there.
            if is_workspace_code(sys._getframe(1).f_code.co_filename):
                execution_behind(self).run_exported()
        elif name == "__all__":
            execution_behind(self).ask([name])
            return _without_failed(get(name), execution_behind(self))
        elif not (name.startswith("__") and name.endswith("__")):
            execution_behind(self).ask([name])
        return get(name)


def start_execution(
    module: WorkspaceModule, path: str, tree: ast.Module, names: Sequence[str], after_head: AfterHead | None = None
) -> Execution:
    """The execution of a module, of which nothing has run yet; what fails is told to whoever asks for it."""
    module.execution = Execution(path, tree, ModuleType.__getattribute__(module, "__dict__"), names, after_head)
    return module.execution


def ask(module: WorkspaceModule, names: Iterable[str]) -> None:
    """Run what ``names`` need; raises what kept one of them from being bound."""
    execution_behind(module).ask(names)


def execution_behind(module: WorkspaceModule) -> Execution:
    """The execution of a module."""
    execution: Execution = object.__getattribute__(module, "execution")
    return execution


def _without_failed(names: Any, execution: Execution) -> Any:
    """``__all__`` without what is not there: ``import *`` is to bring the others."""
    if not isinstance(names, (list, tuple)):
        return names
    for name in names:
        try:
            execution.ask([name])
        except BaseException:
            # It is left out below.
            continue
    there = [name for name in names if not execution.is_failed(name)]
    return names if len(there) == len(names) else there


def _future_flags(tree: ast.Module) -> int:
    """The compiler flags of ``from __future__ import ...``, which hold for all of a file."""
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
