"""Recipes of one file, rewritten with the names of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from fxlsp.engine.index.index import Index
from fxlsp.engine.state.import_rewriting import module_name, rewrite_recipe
from fxlsp.report.recipes import Recipe
from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.text.documents import Document

HOME = "from torch import nn\n\nclass Net(nn.Module): ...\n"
OTHER = """\
import torch as t
from torch.nn import Linear
from models import Net as Model

width = read()
"""


def told(folder: Path, init: str, inputs: str | None, home: str = HOME, other: str = OTHER) -> Recipe | None:
    texts = {str(folder / "models.py"): home, str(folder / "train.py"): other}
    own, another = (Document("", path, None, text) for path, text in texts.items())
    index = Index({document.path: file_summary_of(document) for document in (own, another)})
    recipe = Recipe(init, inputs, "call-site", another.path)
    return rewrite_recipe(recipe, own, another, index, [str(folder)])


def test_names_of_torch_and_of_the_file_itself_are_its_own_words(tmp_path: Path) -> None:
    assert told(tmp_path, "Model(Linear(1, 2))", "t.randn(3), *range(2)") == Recipe(
        "Net(torch.nn.Linear(1, 2))", "torch.randn(3), *range(2)", "call-site"
    )


def test_what_the_other_file_alone_knows_is_imported(tmp_path: Path) -> None:
    assert told(tmp_path, "Model(width)", None) == Recipe(
        "Net(__import__('train', fromlist=['width']).width)", None, "call-site"
    )


def test_a_builtin_that_the_file_hides_is_imported_too(tmp_path: Path) -> None:
    recipe = told(tmp_path, "Model(len('ab'))", None, HOME + "len = 3\n")
    assert recipe is not None
    assert recipe.init == "Net(__import__('builtins', fromlist=['len']).len('ab'))"


@pytest.mark.parametrize("init", ["Model(unknown)", "Model(", "Model(args.width)"])
def test_what_cannot_be_known_is_none(tmp_path: Path, init: str) -> None:
    assert told(tmp_path, init, None) is None


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("train.py", "train"),
        ("scripts/train.py", "scripts.train"),
        ("pkg/other.py", "pkg.other"),
        ("pkg/__init__.py", "pkg"),
        ("src/lib/deep.py", "src.lib.deep"),
        ("my-train.py", None),
        ("random.py", None),
        ("../beside.py", None),
    ],
)
def test_a_module_is_named_as_a_trace_finds_it(tmp_path: Path, file: str, name: str | None) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    path = str((tmp_path / file).resolve())
    assert module_name(path, str(tmp_path / "pkg" / "models.py"), [str(tmp_path)]) == name


def test_a_module_that_another_one_hides_has_no_name(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "train.py").write_text("")
    importer = str(tmp_path / "inner" / "models.py")
    assert module_name(str(tmp_path / "train.py"), importer, [str(tmp_path)]) is None
