"""Loading the file of a model as it stands in the editor, without running more of it than the model needs."""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from types import CodeType, ModuleType

from ..report.wire import text_digest
from .expressions import Expressions
from .frames import is_installed
from .needed import needed_part
from .sources import Sources


class Loader:
    """Imports workspace files from their unsaved texts and notes what it read."""

    def __init__(self, sources: Sources, expressions: Expressions, roots: Sequence[str]) -> None:
        """``roots`` are the workspace folders, put on ``sys.path`` after the folder of the file itself."""
        self.read: dict[str, str] = {}
        """Digest of the text of every workspace file that was executed, by real path."""
        self._sources = sources
        self._expressions = expressions
        self._roots = tuple(roots)
        self._modules: list[str] = []

    def load_file(self, path: str, names: Sequence[str] | None) -> ModuleType:
        """Execute what ``names`` need of the file, or all of it if they are None.

        Raises whatever the file raises; SyntaxError if it does not parse; FileNotFoundError.
        """
        if self._sources.text(path) is None:
            raise FileNotFoundError(f"there is no file {path}, or it is not Python text")
        name, folder = _module_name(path)
        self._prepare(folder)
        if "." in name:
            importlib.import_module(name.rpartition(".")[0])
            if name in sys.modules:
                # Its package imports it: what registers itself must do so once.
                return sys.modules[name]
        module = ModuleType(name if not _is_taken(name) else f"_fxlsp_target_{name}")
        module.__file__ = path
        is_package = os.path.basename(path) == "__init__.py" and name != "__init__"
        module.__spec__ = importlib.util.spec_from_file_location(name, path)
        module.__package__ = name if is_package else name.rpartition(".")[0]
        if is_package:
            # All of it runs: its submodules import from it what they like.
            names, module.__path__ = None, [os.path.dirname(path)]
        self._execute(module, path, self.compile(path, names))
        return module

    def loaded(self, path: str) -> ModuleType | None:
        """The module of a workspace file that has been executed already."""
        modules = (sys.modules.get(name) for name in self._modules)
        files = ((module, getattr(module, "__file__", None)) for module in modules if module is not None)
        return next((module for module, file in files if file and os.path.realpath(file) == path), None)

    def load_module(self, name: str) -> ModuleType:
        """Import ``package.module``; raises what the import raises."""
        self._prepare(None)
        return importlib.import_module(name)

    def forget(self) -> None:
        """Drop every workspace module, so that the next load executes them anew."""
        for name in self._modules:
            sys.modules.pop(name, None)
        self._modules.clear()

    def compile(self, path: str, names: Sequence[str] | None) -> CodeType:
        """The code of a workspace file, reduced to what ``names`` need; all of it if they are None.

        Raises:
            SyntaxError: it does not parse.
        """
        text = (self._sources.text(path) or "").removeprefix("\ufeff")
        tree = ast.parse(text, path)
        self.read[path] = text_digest(self._sources.text(path) or "")
        self._expressions.add_tree(path, tree)
        # ``torch.fx.wrap`` requires that top-level code is named ``<module>``, as compile() names it.
        return compile(tree if names is None else needed_part(tree, names), path, "exec", dont_inherit=True)

    def is_workspace(self, path: str) -> bool:
        """Whether a file is the workspace's: not installed, or open in the editor (editable installs are workspace)."""
        return self._sources.is_overlay(path) or not is_installed(path)

    def _execute(self, module: ModuleType, path: str, code: CodeType) -> None:
        self.note_module(module.__name__)
        sys.modules[module.__name__] = module
        exec(code, module.__dict__)

    def note_module(self, name: str) -> None:
        """Remember that ``name`` in ``sys.modules`` comes from the workspace."""
        self._modules.append(name)

    def _prepare(self, folder: str | None) -> None:
        for place in reversed([folder, *self._roots] if folder is not None else [*self._roots]):
            if place in sys.path:
                sys.path.remove(place)
            sys.path.insert(0, place)
        if not any(isinstance(finder, _WorkspaceFinder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _WorkspaceFinder(self))
        importlib.invalidate_caches()


class _WorkspaceFinder(importlib.abc.MetaPathFinder):
    """Lets modules of the workspace be loaded from their unsaved texts."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        real = os.path.realpath(spec.loader.path)
        if not self._loader.is_workspace(real):
            return None
        spec.loader = _WorkspaceLoader(fullname, spec.loader.path, real, self._loader)
        return spec


class _WorkspaceLoader(importlib.machinery.SourceFileLoader):
    """Compiles a workspace module from the text that the editor shows; never writes bytecode."""

    def __init__(self, fullname: str, path: str, real: str, loader: Loader) -> None:
        super().__init__(fullname, path)
        self._real = real
        self._loader = loader

    def get_code(self, fullname: str) -> CodeType | None:
        self._loader.note_module(fullname)
        return self._loader.compile(self._real, None)


def _module_name(path: str) -> tuple[str, str]:
    """The dotted name by which a file would be imported, and the folder that must be on ``sys.path`` for it."""
    folder, file = os.path.split(path)
    parts = [os.path.splitext(file)[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts), folder


def _is_taken(name: str) -> bool:
    """Whether a file of this name would replace a module that others rely on (``random.py`` beside a script)."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return name in sys.stdlib_module_names or (file is not None and is_installed(file))


def third_party(before: Mapping[str, object]) -> list[str]:
    """Names of modules of installed packages in ``sys.modules`` that were not in ``before``."""
    return sorted(
        name
        for name, module in list(sys.modules.items())
        if name not in before and _in_packages(getattr(module, "__file__", None))
    )


def _in_packages(file: str | None) -> bool:
    return file is not None and is_installed(file) and "-packages" in file
