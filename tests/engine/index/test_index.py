"""Names, base classes and call sites across the files of a workspace."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

import pytest

from fxlsp.engine.index.index import Index, SymbolId
from fxlsp.engine.index.python_files import StoppedError
from fxlsp.engine.index.scan import IndexCache, content_digest, read_index
from fxlsp.engine.state.cross_file_recipes import CrossFileRecipes
from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.models.models import model_classes
from fxlsp.source.recipes.markdown_blocks import read_source
from fxlsp.source.text.class_kind import ClassKind
from fxlsp.source.text.documents import Document, read_document

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()

    def forward(self, x):
        return x
"""


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr("fxlsp.engine.storage.index_files.cache_folder", lambda: folder)
    return folder


class Files:
    """Workspace on disk."""

    def __init__(self, folder: Path, **texts: str) -> None:
        self.folder = folder
        for name, text in texts.items():
            self.write(name.replace("__", "/") + ".py", text)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))

    def path(self, name: str) -> str:
        return str(self.folder / f"{name}.py")

    @property
    def index(self) -> Index:
        return read_index([str(self.folder)])

    def recipes(self, name: str = "Net", home: str = "models") -> list[tuple[str, str | None, str | None]]:
        """Return init, inputs and the file whose names they use, if not the model's."""
        elsewhere = CrossFileRecipes(self.index, read_source)
        found = elsewhere.recipes_for(read_document(self.path(home)), name)
        return [
            (each.recipe.init, each.recipe.inputs, Path(each.recipe.file).stem if each.recipe.file else None)
            for each in found
        ]

    def classes(self, home: str) -> list[str]:
        bases = self.index.external_bases(self.path(home))
        return [model.qualname for model in model_classes(read_document(self.path(home)).with_external_bases(bases))]


@pytest.mark.parametrize(
    ("imports", "base"),
    [
        ("from base import Base", "Base"),
        ("from base import Base as B", "B"),
        ("import base", "base.Base"),
        ("import base as b", "b.Base"),
        ("from base import *", "Base"),
        ("from package import Base", "Base"),
        ("from package.inner import Base", "Base"),
        ("from common import M", "M"),
        ("from lightning import LightningModule", "LightningModule"),
        ("from timm.models.resnet import ResNet", "ResNet"),
        ("from transformers import BertModel", "BertModel"),
    ],
)
def test_a_subclass_of_a_module_of_another_file_is_one(tmp_path: Path, imports: str, base: str) -> None:
    files = Files(
        tmp_path,
        base="from torch import nn\nclass Base(nn.Module):\n    def forward(self, x): ...\n",
        common="from torch.nn import Module as M\n",
        package__inner="from base import Base\n",
        net=f"import torch\n{imports}\nclass Net({base}):\n    pass\n",
    )
    (tmp_path / "package" / "__init__.py").write_text("from .inner import *\n")
    assert files.classes("net") == ["Net"]


def test_a_class_whose_base_in_another_file_is_no_module_is_none(tmp_path: Path) -> None:
    files = Files(
        tmp_path,
        base="import torch\nclass Solver:\n    pass\n",
        net="import torch\nfrom base import Solver\nclass Net(Solver):\n    def forward(self, x): ...\n",
    )
    assert files.classes("net") == []


def test_classes_that_derive_from_each_other_are_no_modules(tmp_path: Path) -> None:
    files = Files(
        tmp_path,
        a="import torch\nfrom b import B\nclass A(B): ...\n",
        b="import torch\nfrom a import A\nclass B(A): ...\n",
    )
    assert files.index.kind_of(SymbolId(files.path("a"), "A")) is ClassKind.UNKNOWN


def test_the_nearest_file_of_a_name_counts(tmp_path: Path) -> None:
    files = Files(tmp_path, models=NET, one__models=NET, one__train="from models import Net\nimport torch\n")
    assert files.index.resolve(files.path("one/train"), "Net") == SymbolId(files.path("one/models"), "Net")


def test_a_file_that_cannot_be_imported_from_there_does_not_count(tmp_path: Path) -> None:
    files = Files(tmp_path, one__models=NET, two__train="from models import Net\nimport torch\n")
    assert files.index.resolve(files.path("two/train"), "Net") is None


def test_a_source_folder_needs_no_name(tmp_path: Path) -> None:
    files = Files(tmp_path, src__package__models=NET, tests__test="from package.models import Net\nimport torch\n")
    assert files.recipes(home="src/package/models") == []
    assert files.index.resolve(files.path("tests/test"), "Net") == SymbolId(files.path("src/package/models"), "Net")


@pytest.mark.parametrize(
    ("text", "init", "inputs"),
    [
        ("from models import Net\nNet(3)(torch.ones(2))", "Net(3)", "torch.ones(2)"),
        ("import models as m\nnet = m.Net(3)\nnet(torch.ones(2))", "Net(3)", "torch.ones(2)"),
        ("from models import Net as N\nN(width=3)", "Net(width=3)", None),
        ("from models import *\nNet(3)", "Net(3)", None),
        ("from models import Net\nW = 3\nV = W * 2\nNet(V, depth=W)", "Net(3 * 2, depth=3)", None),
        ("from models import Net\ncfg = {'width': 3}\nNet(**cfg)", "Net(width=3)", None),
        ("from models import Net\ncfg = [3, 4]\nNet(*cfg)", "Net(3, 4)", None),
        ("from models import Net\nfrom torch import randn\nNet(3)(randn(2))", "Net(3)", "torch.randn(2)"),
        ("from models import Net\nimport numpy as np\ndef f():\n    w = 3\n    return Net(w)", "Net(3)", None),
    ],
)
def test_a_call_site_of_another_file_is_reported_in_the_words_of_the_model(
    tmp_path: Path, text: str, init: str, inputs: str | None
) -> None:
    files = Files(tmp_path, models=NET, train=f"import torch\n{text}\n")
    assert files.recipes() == [(init, inputs, None)] or (init, inputs, None) in files.recipes()


@pytest.mark.parametrize(
    ("text", "init"),
    [
        ("from config import WIDTH\nNet(WIDTH)", "Net(WIDTH)"),
        ("cfg = {}\ncfg['width'] = 3\nNet(**cfg)", "Net(**cfg)"),
        ("body = torch.nn.ReLU()\nbody.freeze(1)\nNet(body)", "Net(body)"),
        ("@dataclass\nclass Config:\n    width: int = 3\nNet(Config().width)", "Net(Config().width)"),
        (
            "def main():\n    cfg = json.load(open('cfg.json'))\n    Net(cfg['width'])",
            "Net(json.load(open('cfg.json'))['width'])",
        ),
    ],
)
def test_what_only_the_other_file_knows_is_left_to_it(tmp_path: Path, text: str, init: str) -> None:
    head = "import torch, json\nfrom dataclasses import dataclass\nfrom models import Net\n"
    files = Files(tmp_path, models=NET, train=f"{head}{text}\n")
    assert files.recipes() == [(init, None, "train")]


def test_a_function_of_another_file_that_returns_the_model_makes_it(tmp_path: Path) -> None:
    files = Files(
        tmp_path,
        models=NET,
        zoo="import torch\nfrom models import Net\ndef small():\n    return Net(3)\n",
        train="import torch\nfrom zoo import small\nnet = small()\nnet(torch.ones(2))\n",
    )
    assert ("small()", "torch.ones(2)", "train") in files.recipes()
    assert ("Net(3)", None, None) in files.recipes()


def test_a_class_is_part_of_what_makes_it_in_another_file(tmp_path: Path) -> None:
    files = Files(
        tmp_path,
        models=NET,
        big="""
            from torch import nn
            from models import Net

            def stack():
                return nn.Sequential(Net(1), Net(2))

            class Big(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.nets = stack()
                def forward(self, x):
                    return self.nets(x)
        """,
    )
    elsewhere = CrossFileRecipes(files.index, read_document)
    assert elsewhere.parents_of(SymbolId(files.path("models"), "Net")) == {SymbolId(files.path("big"), "Big")}


def test_an_edit_changes_what_its_own_file_offers_alone(tmp_path: Path) -> None:
    files = Files(tmp_path, models=NET, train="import torch\nfrom models import Net\nNet(3)\n")
    index = files.index
    text = NET.replace("class Net", "class Other")
    edited = index.with_file(files.path("models"), file_summary_of(Document("", files.path("models"), 2, text)))
    assert edited.resolve(files.path("train"), "Net") is None
    assert index.resolve(files.path("train"), "Net") is not None
    assert edited.files[files.path("train")] is index.files[files.path("train")]
    assert edited.with_file(files.path("models"), None).files.keys() == {files.path("train")}


def test_the_cache_answers_by_content(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Files(tmp_path, models=NET, broken="import torch\nclass (:\n", latin="# coding: nonsense\nimport torch\n")
    first = files.index
    parsed: list[str] = []
    monkeypatch.setattr("fxlsp.engine.index.scan.file_summary_of", lambda document: parsed.append(document.path))
    assert files.index.files == first.files
    assert parsed == []
    files.write("new.py", "import torch\n")
    assert files.index.files.keys() == first.files.keys()
    assert parsed == [files.path("new")]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": "0"}', "\0", '{"version": null, "files": 3}'])
def test_a_cache_that_holds_nonsense_holds_nothing(tmp_path: Path, content: str) -> None:
    cache = IndexCache("/project", tmp_path)
    cache.write({content_digest(b""): None}, [content_digest(b"")])
    assert cache.read() == {content_digest(b""): None}
    (written,) = tmp_path.iterdir()
    written.write_text(content)
    assert cache.read() == {}


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    IndexCache("/project", tmp_path / "file").write({}, [])


def test_a_readme_shows_how_a_model_is_made_and_fed(tmp_path: Path) -> None:
    files = Files(tmp_path, models=NET, other="import torch\n\ndef encoder():\n    return torch.nn.Identity()\n")
    (tmp_path / "README.md").write_text(
        "# Nets\n```python\nimport torch\nfrom models import Net\nnet = Net(3)\nnet(torch.ones(2))\n```\n"
        "```python\nfrom models import Net\nfrom other import encoder\nNet(encoder())\n```\n"
        "```python\nfrom models import Net\nNet(something_of_before)\n```\n"
    )
    assert files.recipes() == [
        ("Net(3)", None, None),
        ("Net(3)", "torch.ones(2)", None),
        ("Net(__import__('other', fromlist=['encoder']).encoder())", None, None),
    ]
    (site, *_) = CrossFileRecipes(files.index, read_source).recipes_for(read_document(files.path("models")), "Net")
    assert (site.file, site.span.line) == (str(tmp_path / "README.md"), 5)


def test_a_module_that_only_hands_on_what_another_defines_is_known(tmp_path: Path) -> None:
    files = Files(
        tmp_path,
        models=NET,
        handing="from models import Net\n",
        train="import torch\nfrom handing import Net\nNet(3)\n",
    )
    assert files.recipes() == [("Net(3)", None, None)]


def test_a_class_method_makes_its_class(tmp_path: Path) -> None:
    text = (
        NET
        + """
    @classmethod
    def small(cls, depth):
        return cls(1, depth)

    @classmethod
    def count(cls):
        return 3
"""
    )
    files = Files(
        tmp_path, models=text, train="import torch\nfrom models import Net\nnet = Net.small(2)\nnet(torch.ones(2))\n"
    )
    assert ("Net.small(2)", "torch.ones(2)", None) in files.recipes()


def test_what_is_beside_the_model_is_called_as_there(tmp_path: Path) -> None:
    files = Files(
        tmp_path,
        models=NET + "\nclass Config:\n    width = 3\n",
        train="import torch\nfrom models import Net, Config as C\nNet(C().width)\n",
    )
    assert files.recipes() == [("Net(Config().width)", None, None)]


def test_a_reading_that_nobody_waits_for_ends_at_the_next_file_and_leaves_no_cache(
    tmp_path: Path, cache_folder: Path
) -> None:
    folder = Files(tmp_path, a=NET, b=NET).folder
    answers = iter([False, True])
    with pytest.raises(StoppedError):
        read_index([str(folder)], lambda: next(answers))
    assert list(cache_folder.iterdir()) == []


def test_excluded_files_offer_nothing(tmp_path: Path) -> None:
    for name in ("kept.py", "left.py"):
        (tmp_path / name).write_text("from torch import nn\n\n\nclass Net(nn.Module):\n    pass\n")
    index = read_index([str(tmp_path)], is_excluded=lambda path: path.endswith("left.py"))
    assert [Path(path).name for path in index.files] == ["kept.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on Windows")
def test_a_pipe_that_has_the_name_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    os.mkfifo(tmp_path / "pipe.py")
    assert list(read_index([str(tmp_path)]).files) == [str(tmp_path / "net.py")]
