"""The comment that holds a recipe: where it goes, and when there is none."""

from __future__ import annotations

import pytest

from fxlsp.ide.recipe_comment import NotWritableError, recipe_comment
from fxlsp.report.recipes import Recipe
from fxlsp.source.models.models import model_classes
from fxlsp.source.recipes.recipes import recipes_for
from fxlsp.source.text.documents import Document

RECIPE = Recipe("Net(16)", "torch.randn(4, 8)", "call-site")
TEXT = "# fxlsp: Net(16)(torch.randn(4, 8))"
NET = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"


def written(text: str, name: str = "Net", recipe: Recipe = RECIPE) -> str:
    """The text after the edit; a second writing changes nothing."""
    document = Document("", "/net.py", None, text)
    edit = recipe_comment(document, name, recipe)
    assert edit is not None
    start = document.lines.offset(edit.span.line, edit.span.column)
    end = document.lines.offset(edit.span.end_line, edit.span.end_column)
    after = Document("", "/net.py", None, text[:start] + edit.new_text + text[end:])
    assert recipe_comment(after, name, recipe) is None
    return after.text


def test_it_goes_above_the_class() -> None:
    assert written(NET) == NET.replace("class", f"{TEXT}\nclass")


def test_parts_that_a_search_made_up_are_not_written() -> None:
    recipe = Recipe("Net(config=__import__('types').SimpleNamespace(width=3))", "torch.randn(4, 8)", "search")
    with pytest.raises(NotWritableError, match=r"^Net\(config=…\)\(torch.randn\(4, 8\)\) cannot be written"):
        recipe_comment(Document("", "/net.py", None, NET), "Net", recipe)


def test_it_goes_above_decorators_and_below_other_comments() -> None:
    decorated = NET.replace("class", "# A net.\n@first\n@second(\n    1,\n)\nclass")
    assert written(decorated) == decorated.replace("@first", f"{TEXT}\n@first")


@pytest.mark.parametrize("indentation", ["    ", "\t", "  "])
def test_it_is_indented_as_its_class(indentation: str) -> None:
    lines = NET.replace("from torch import nn\n\n\n", "").splitlines(keepends=True)
    nested = "from torch import nn\nif True:\n" + "".join(f"{indentation}{line}" for line in lines)
    assert written(nested) == nested.replace("class", f"{TEXT}\n{indentation}class")


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_it_ends_as_the_other_lines_do(newline: str) -> None:
    text = NET.replace("\n", newline)
    assert written(text) == text.replace("class", f"{TEXT}{newline}class")


@pytest.mark.parametrize("old", ["Net(3)", "Net(3", "Net(ä)(x)  "])
def test_it_takes_the_place_of_the_first_comment_that_is_there(old: str) -> None:
    text = NET.replace("class", f"# fxlsp: {old}\n# fxlsp: Net(4)\n@decorated\nclass")
    assert written(text).replace(" \n", "\n").replace(" \n", "\n") == NET.replace(
        "class", f"{TEXT}\n# fxlsp: Net(4)\n@decorated\nclass"
    )


def test_a_comment_on_the_line_of_the_class_is_replaced_there() -> None:
    text = NET.replace("Module):", "Module):  # fxlsp: Net(3)")
    assert written(text) == NET.replace("Module):", f"Module):  {TEXT}")


def test_a_comment_that_ignores_problems_is_none_of_its_own() -> None:
    text = NET.replace("class", "# fxlsp: ignore[FX101]\nclass")
    assert written(text) == text.replace("class", f"{TEXT}\nclass")


def test_what_is_read_again_is_the_same_recipe() -> None:
    recipe = Recipe("Net(\n  16,\n)", "torch.randn(4, 8), # why\nmask=None", "config")
    text = written(NET, recipe=recipe)
    document = Document("", "/net.py", None, text)
    (found,) = recipes_for(document, model_classes(document)[0])
    assert (found.recipe.init, found.recipe.inputs) == ("Net(16)", "torch.randn(4, 8), mask=None")


def test_an_instance_gets_one_too() -> None:
    text = NET + "\n\nnet = Net()\n"
    written_text = written(text, "net", Recipe("net", "torch.randn(1)", "call-site"))
    assert written_text == text.replace("net =", "# fxlsp: net(torch.randn(1))\nnet =")


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe("models['a']", "x", "call-site"),
        Recipe("make()()", None, "call-site"),
        Recipe("ignore(3)", "x", "call-site"),
        Recipe("Net(", "x", "call-site"),
    ],
)
def test_what_would_mean_something_else_is_refused(recipe: Recipe) -> None:
    with pytest.raises(NotWritableError, match="cannot be written as one expression that makes Net"):
        recipe_comment(Document("", "/net.py", None, NET), "Net", recipe)


@pytest.mark.parametrize(("text", "name"), [(NET, "Other"), (NET + "x = (\n", "Net")])
def test_without_a_place_for_it_it_is_refused(text: str, name: str) -> None:
    with pytest.raises(NotWritableError, match="There is no model"):
        recipe_comment(Document("", "/net.py", None, text), name, RECIPE)
