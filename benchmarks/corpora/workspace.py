"""The environment in which both the reference and fxlsp run.

The files, packages and limits are the same.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
_STAND_INS = Path(__file__).resolve().parent / "stand_ins"
_HELPERS = "_paritybench_helpers"
_ASKED_BY_TORCH = ("tensorboard", "google", "expecttest")
"""Packages that parts of torch import, which files import."""


class Workspace:
    """A temporary folder with stand-ins for missing packages.

    It also contains copies of the files that need the helper of paritybench.
    """

    def __init__(self, folder: Path, seconds: int) -> None:
        """``seconds`` is the time that a trace of a file may take."""
        self.packages = folder / "site-packages"
        self.files = folder / "files"
        self.packages.mkdir()
        self.files.mkdir()
        for path in _STAND_INS.glob("_*.py"):
            if path.name != "__init__.py":
                shutil.copy(path, self.packages)
        limits = f"[tool.fxlsp.limits]\nseconds = {seconds}\n"
        (self.files / "pyproject.toml").write_text(limits, encoding="utf-8")

    def prepare(self, paths: Sequence[str]) -> list[str]:
        """Create stand-ins for what ``paths`` import and is not installed.

        Files that import the helper of paritybench are copied: beside the originals they would find the original.

        Returns:
            The paths to use in place of ``paths``.
        """
        beside = {Path(path).stem for path in paths}
        missing = {name for name in _ASKED_BY_TORCH if importlib.util.find_spec(name) is None}
        placed = []
        for path in paths:
            imported = set(_imported_packages(path))
            missing |= {name for name in imported - beside if not _is_installed(name, path)}
            placed.append(str(shutil.copy(path, self.files)) if _HELPERS in imported else path)
        for name in missing - {_HELPERS}:
            self._stand_in(name)
        return placed

    def _stand_in(self, name: str) -> None:
        package = self.packages / name
        package.mkdir(exist_ok=True)
        text = "import _corpus_stand_ins\n\n_corpus_stand_ins.stand_in(__name__)\n"
        (package / "__init__.py").write_text(text, encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """Return the environment variables of a process that uses the folder."""
        path = os.pathsep.join([str(self.packages), str(REPOSITORY)])
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        return {**os.environ, **one_thread, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""}


def _imported_packages(path: str) -> Iterator[str]:
    """Top-level names of the packages that a file imports anywhere."""
    try:
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _is_installed(name: str, importer: str) -> bool:
    beside = Path(importer).parent / name
    if name in sys.builtin_module_names or beside.is_dir() or beside.with_suffix(".py").is_file():
        return True
    return importlib.util.find_spec(name) is not None
