"""What one file offers: its definitions, and the names that each of them mentions."""

from __future__ import annotations

import pytest

from fxlsp.source.models.file_summary import FileSummary, file_summary_of
from fxlsp.source.text.documents import Document

NET = """\
import torch.nn as nn
from layers import Block as B

width = 8
Alias = nn.Linear

class Net(nn.Module):
    def __init__(self):
        self.block = B(width)

    class Inner(B):
        async def forward(self, x):
            from late import Late
            return Late(x)

def build():
    class Local(nn.Module):
        pass
    return Net()

build()
"""


def offers(text: str) -> FileSummary:
    return file_summary_of(Document("", "/net.py", None, text))


def test_definitions_are_reported_with_what_they_mention() -> None:
    found = offers(NET)
    assert {each.name: each.mentions for each in found.definitions} == {
        "Net": {"Net", "nn.Module", "B", "width", "Late"},
        "Net.Inner": {"B", "Late"},
        "build": {"build", "nn.Module", "Net"},
        "build.<locals>.Local": {"nn.Module"},
    }


@pytest.mark.parametrize("before", ["\n\n\n", "    \n\n", "# nothing\n", "\ufeff", "\r", "é = 1\n"])
def test_what_is_before_the_first_statement_shifts_nothing(before: str) -> None:
    whole = "import layers\n\ndef build():\n    return layers.Net()\nuse(layers.Other)\n"
    assert offers(before + whole).by_name["build"].mentions == {"layers.Net", "build"}


def test_names_beyond_ascii_are_names() -> None:
    found = offers("from layers import Größe\n\ndef build():\n    return Größe(1.5)\n")
    assert found.by_name["build"].mentions == {"Größe", "build"}


def test_an_attribute_of_what_a_call_returns_is_no_name_of_the_file() -> None:
    found = offers("from layers import Net, load\n\ndef build():\n    return load().Net.Net[0].Net\n")
    assert found.by_name["build"].mentions == {"load", "build"}


def test_what_is_called_may_come_from_a_file_of_which_all_is_imported() -> None:
    found = offers("from layers import *\n\ndef build():\n    return Net (8).to(device)\n")
    assert {"Net", "build"} <= found.by_name["build"].mentions


@pytest.mark.parametrize(
    "text",
    [
        "'''\nclass No(nn.Module): pass\nimport no\ndef no(): pass\n'''",
        "# class No: import no; def no(): pass",
        "classes = defined = imports = 1",
        "x.import_ = y.def_",
    ],
)
def test_a_keyword_that_is_none_defines_nothing(text: str) -> None:
    found = offers(text)
    assert (found.definitions, found.imports.names) == ((), {})


def test_statements_are_found_in_the_order_of_the_text() -> None:
    found = offers(
        "class A:\n    def f(self):\n        class B: pass\n    class C: pass\ndef g(): pass\nclass A: pass\n"
    )
    assert [each.name for each in found.definitions] == ["A", "A.f.<locals>.B", "A.C", "A", "g"]


def test_imports_count_in_any_scope_and_in_their_order() -> None:
    found = offers("import a as x\ndef f():\n    import b as x\n    from c import d, e as y\nfrom .g import *\n")
    assert found.imports.names == {"x": "b", "d": "c.d", "y": "c.e"}
    assert found.imports.stars == (".g",)


def test_an_alias_of_a_name_is_what_it_names_at_the_top_alone() -> None:
    found = offers("from torch import nn\nM = nn.Module\nif True:\n    N = nn.Module\ndef f():\n    O = nn.Module\n")
    assert found.imports.names == {"nn": "torch.nn", "M": "nn.Module"}


def test_a_text_that_does_not_parse_offers_what_is_known() -> None:
    found = offers(
        "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return x +\n\nclass B(Net: 1\n"
    )
    assert "Net" in found.by_name
    assert found.by_name["Net"].takes_inputs
