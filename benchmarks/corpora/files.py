"""Cases of a folder of model files.

A file with a list ``TESTCASES`` of ``(class, init arguments, forward arguments, ...)``, as pytorch-jit-paritybench
generates them, states its cases; of any other file the models are taken whose recipes fxlsp finds.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Iterator

from benchmarks.corpora.cases import Case, Half, in_half
from fxlsp.cli.check.candidates import FoundFile, find_models
from fxlsp.cli.tracing.workspace_files import WorkspaceFiles, python_files
from fxlsp.engine.settings.settings import Settings


def model_files(folder: str, half: Half) -> list[str]:
    """Return the files that may contain models.

    Of a checkout of paritybench, the generated ones.
    """
    generated = os.path.join(folder, "generated")
    if os.path.isdir(generated):
        paths = [os.path.join(generated, name) for name in sorted(os.listdir(generated)) if name.startswith("test_")]
    else:
        paths = list(python_files([folder]))
    return [path for path in paths if in_half(path, half)]


def cases_of(path: str) -> list[Case]:
    """Return the cases of one file, none if it does not parse.

    Of several of one name, the second is called ``Name#2``.
    """
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (SyntaxError, ValueError):
        return []
    found = list(_listed(tree)) or list(_with_recipes(path))
    cases: list[Case] = []
    seen: Counter[str] = Counter()
    for name, init, inputs in found:
        seen[name] += 1
        number = f"#{seen[name]}" if seen[name] > 1 else ""
        cases.append(Case(f"{os.path.basename(path)}:{name}{number}", path, None, name, init, inputs))
    return cases


def _listed(tree: ast.Module) -> Iterator[tuple[str, str, str | None]]:
    """Yield name, init and inputs of each entry of ``TESTCASES``."""
    for statement in tree.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.List):
            continue
        if [target.id for target in statement.targets if isinstance(target, ast.Name)] != ["TESTCASES"]:
            continue
        for entry in statement.value.elts:
            if isinstance(entry, ast.Tuple) and len(entry.elts) >= 3:
                name = ast.unparse(entry.elts[0])
                made, fed = (_arguments(item) for item in entry.elts[1:3])
                if made is not None and fed is not None:
                    yield name, f"{name}({made})", fed


def _arguments(function: ast.expr) -> str | None:
    """Return the text of a call's arguments for ``lambda: ([...], {...})``."""
    if not isinstance(function, ast.Lambda) or not isinstance(function.body, ast.Tuple):
        return None
    positional, named = function.body.elts
    if not isinstance(positional, ast.List) or not isinstance(named, ast.Dict):
        return None
    texts = [ast.unparse(argument) for argument in positional.elts]
    for key, value in zip(named.keys, named.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        texts.append(f"{key.value}={ast.unparse(value)}")
    return ", ".join(texts)


def _with_recipes(path: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield name, init and inputs of each model with a recipe.

    Recipes are comments and calls in the file.
    """
    found = find_models(path, Settings(), WorkspaceFiles([]))
    if not isinstance(found, FoundFile):
        return
    for model in found.models:
        for recipe in model.candidate.recipes:
            if recipe is not None and recipe.init:
                yield model.candidate.name, recipe.init, recipe.inputs
