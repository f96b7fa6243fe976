"""Loader of workspace files from the editor's texts.

Of each file it runs only what the models need.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType

from ....wire.frames import text_digest
from ...isolation.sandbox.argv import arguments_are_missing
from ..locations.code_origin import is_installed
from ..locations.expressions import Expressions
from ..locations.sources import Sources
from .import_names import ImportName, import_name_of
from .lazy_module import AfterHead, Execution, WorkspaceModule, ask, start_execution
from .missing_names import import_missing_submodule


class Loader:
    """Loader of workspace files from their unsaved texts; records what it read."""

    def __init__(self, sources: Sources, expressions: Expressions, roots: Sequence[str]) -> None:
        """
        Args:
            roots: workspace folders, put on ``sys.path`` after the folder of the file itself.
        """
        self.read: dict[str, str] = {}
        """Digests of the texts of all workspace files that were executed, by real path."""
        self._sources = sources
        self._expressions = expressions
        self._roots = tuple(roots)
        self._modules: list[WorkspaceModule] = []
        self._executions: list[Execution] = []
        self._wanted: dict[str, Sequence[str]] = {}
        """Names requested of files that are about to be loaded, by real path."""
        self._after_head: dict[str, AfterHead] = {}
        self._after_file: dict[str, Callable[[ModuleType], None]] = {}
        self.on_lookup: Callable[[str, Iterable[str], importlib.machinery.ModuleSpec | None], None] | None = None
        """Called for each module that is looked up, with its name, the folders, and the spec found."""

    def load_file(self, path: str, names: Sequence[str]) -> ModuleType:
        """Load a file, execute what ``names`` need of it, and return its module.

        Raises:
            FileNotFoundError: there is no such file.
            SyntaxError: the file does not parse.
            BaseException: the error of the statement that should have bound one of the names.
        """
        if self._sources.text(path) is None:
            raise FileNotFoundError(f"there is no file {path}, or it is not Python text")
        loaded = self._loaded(path)
        if loaded is not None:
            ask(loaded, names)
            return loaded
        place = import_name_of(path, relative_level(self._expressions.parsed(path)))
        self._prepare(self._home(place.folder), place.package_folders)
        self._wanted[path] = names
        module = self._imported(place, path) or self._executed(place, path)
        if isinstance(module, WorkspaceModule):
            ask(module, names)
        return module

    def pause_after_head(self, path: str, then: AfterHead) -> None:
        """Call ``then`` once, when the head of the file has run, also if it is imported."""
        self._after_head[path] = then

    def call_after_file(self, path: str, then: Callable[[ModuleType], None]) -> None:
        """Call ``then`` once with the module of the file, when what is needed of it has run, also if it is imported."""
        self._after_file[path] = then

    def resume_with(self, execution: Execution, path: str) -> None:
        """Continue an execution after the head of its file with the file's new text.

        Raises:
            SyntaxError: the new text does not parse.
        """
        execution.resume_with(self._expressions.parsed(path))
        self.read[path] = text_digest(self._sources.text(path) or "")
        importlib.invalidate_caches()

    @property
    def failures(self) -> Iterator[BaseException]:
        """Errors of the statements of all executed files."""
        yield from (failure for each in self._executions for failure in each.failures)

    def load_module(self, name: str) -> ModuleType:
        """Import ``package.module`` and return it; errors of the import are raised."""
        self._prepare(None)
        return importlib.import_module(name)

    def unload(self) -> None:
        """Drop every workspace module, so that the next load executes them again."""
        names = {module.__name__ for module in self._modules}
        for name in (*names, *_namespaces_around(names)):
            sys.modules.pop(name, None)
        self._modules.clear()
        self._executions.clear()

    def cause_of(self, error: BaseException) -> BaseException:
        """Return the stored error that explains an undefined name, or ``error``."""
        for _ in self._executions:
            # The name that one file lacks may be one that another file failed to bind.
            cause = next((cause for each in self._executions if (cause := each.cause_of(error)) is not None), error)
            if cause is error:
                break
            error = cause
        return error

    def provide_missing(self, error: BaseException) -> bool:
        """Provide the name whose lookup raised ``error``; return whether that succeeded.

        For an attribute of a package, its submodule of that name is imported. For a NameError without a stored cause,
        the name is bound by a branch that was not taken, if command-line arguments are missing; otherwise the whole
        file that raised it runs.
        """
        if import_missing_submodule(error):
            return True
        if not isinstance(error, NameError) or self.cause_of(error) is not error:
            return False
        raised = [each for each in self._executions if each.raised(error)]
        if arguments_are_missing() and any(each.bind_from_untaken_branch(error.name or "") for each in raised):
            return True
        return any(each.run_whole() for each in raised)

    def run_setup(self) -> bool:
        """Run what the executed files do at top level beside what the model needs; return whether anything ran.

        What the model lacks may be set up by a call whose effect the slicer does not see.
        """
        ran = [each.run_setup() for each in self._executions]
        return any(ran)

    @property
    def uses_untaken_branch(self) -> bool:
        """Whether a name was bound by a branch that was not taken."""
        return any(each.uses_untaken_branch for each in self._executions)

    def is_workspace(self, path: str) -> bool:
        """Return whether a file is not installed, or open in the editor.

        Editable installs belong to the workspace.
        """
        return self._sources.is_overlay(path) or not is_installed(path)

    def execute(self, module: WorkspaceModule, path: str) -> None:
        """Start the execution of a workspace file.

        Raises:
            SyntaxError: the file does not parse.
        """
        tree = self._expressions.parsed(path)
        self.read[path] = text_digest(self._sources.text(path) or "")
        self._modules.append(module)
        execution = start_execution(module, path, tree, self._wanted.pop(path, ()), self._after_head.pop(path, None))
        self._executions.append(execution)
        execution.run()
        after_file = self._after_file.pop(path, None)
        if after_file is not None:
            after_file(module)

    def _loaded(self, path: str) -> WorkspaceModule | None:
        """Return the module of a workspace file that was executed already, if any."""
        return next((module for module in self._modules if os.path.realpath(module.__file__ or "") == path), None)

    def _imported(self, place: ImportName, path: str) -> ModuleType | None:
        """Import a file as a module of its package; None if its name imports another file."""
        if "." not in place.name and not place.is_package:
            return None
        try:
            module = importlib.import_module(place.name)
        except ImportError:
            return None
        return module if os.path.realpath(getattr(module, "__file__", None) or "") == path else None

    def _executed(self, place: ImportName, path: str) -> WorkspaceModule:
        """Execute a file as a script, whichever other module has its name."""
        module = WorkspaceModule(place.name if not _is_taken(place.name) else f"_fxlsp_target_{place.name}")
        module.__file__ = path
        module.__spec__ = importlib.util.spec_from_file_location(place.name, path)
        module.__package__ = place.package
        if place.is_package:
            module.__path__ = [os.path.dirname(path)]
        sys.modules[module.__name__] = module
        self.execute(module, path)
        return module

    def _home(self, folder: str) -> str | None:
        """Return the folder to run in: an existing one, or the first workspace folder.

        A buffer that was never saved may have a folder that does not exist.
        """
        return next(filter(os.path.isdir, (folder, *self._roots)), None)

    def _prepare(self, folder: str | None, packages: Iterable[str] = ()) -> None:
        """Set ``sys.path``, on which packages that scripts may have added are last, and the working directory."""
        sources = [os.path.join(root, "src") for root in self._roots]
        places = [*([folder] if folder else []), *self._roots, *filter(os.path.isdir, sources)]
        if folder:
            # The usual working directory of a script, which its relative paths are resolved against.
            os.chdir(folder)
        for place in reversed(places):
            if place in sys.path:
                sys.path.remove(place)
            sys.path.insert(0, place)
        sys.path.extend(package for package in packages if package not in sys.path)
        self._find_what_is_imported()
        importlib.invalidate_caches()

    def _find_what_is_imported(self) -> None:
        """Install the import hook of this loader.

        It replaces that of an earlier pass in this process.
        """
        others = [finder for finder in sys.meta_path if not isinstance(finder, _WorkspaceFinder)]
        sys.meta_path[:] = [_WorkspaceFinder(self), *others]


class _WorkspaceFinder(importlib.abc.MetaPathFinder):
    """Finder that loads workspace modules from their unsaved texts, as far as needed."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if self._loader.on_lookup is not None:
            self._loader.on_lookup(fullname, sys.path if path is None else path, spec)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        real = os.path.realpath(spec.loader.path)
        if not self._loader.is_workspace(real):
            return None
        spec.loader = _WorkspaceLoader(fullname, spec.loader.path, real, self._loader)
        return spec


class _WorkspaceLoader(importlib.machinery.SourceFileLoader):
    """Import loader that executes a workspace module lazily and writes no bytecode."""

    def __init__(self, fullname: str, path: str, real: str, loader: Loader) -> None:
        super().__init__(fullname, path)
        self._real = real
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return WorkspaceModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        assert isinstance(module, WorkspaceModule)
        self._loader.execute(module, self._real)


def relative_level(tree: ast.Module) -> int:
    """Return the largest number of dots of an import.

    That many packages contain the file.
    """
    return max((node.level for node in _statements(tree) if isinstance(node, ast.ImportFrom)), default=0)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield every statement below a node, without descending into expressions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, ast.expr):
            yield from _statements(child)


def _is_taken(name: str) -> bool:
    """Return whether a module of this name would replace an installed one.

    Example: ``random.py`` beside a script.
    """
    file = getattr(sys.modules.get(name), "__file__", None)
    return name in sys.stdlib_module_names or (file is not None and is_installed(file))


def third_party(before: Mapping[str, object]) -> list[str]:
    """Return the names of installed modules that were imported since ``before``."""
    return sorted(
        name
        for name, module in list(sys.modules.items())
        if name not in before and _in_packages(getattr(module, "__file__", None))
    )


def _in_packages(file: str | None) -> bool:
    return file is not None and is_installed(file) and "-packages" in file


def _namespaces_around(names: Iterable[str]) -> list[str]:
    """Return the names of packages without a file that modules are part of, or that are part of one.

    Python looks the parents of the latter up in ``sys.modules``; the former have the modules as attributes.
    """
    parents = {name[:end] for name in names for end, letter in enumerate(name) if letter == "."}
    tops = tuple(f"{name}." for name in names)
    found = {name: module for name, module in sys.modules.items() if name in parents or name.startswith(tops)}
    return [name for name, each in found.items() if getattr(each, "__file__", "") is None and hasattr(each, "__path__")]
