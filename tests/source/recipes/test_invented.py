"""Parts of a recipe that a search made up are not shown as if a person had written them."""

from __future__ import annotations

import pytest

from fxlsp.report.recipes import Recipe
from fxlsp.source.recipes.invented import has_invented_parts, shown

CONFIG = "__import__('types').SimpleNamespace(width=3, sizes=[1, 2])"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"Net(config={CONFIG}, depth=2)", "Net(config=…, depth=2)"),
        ("Net(type('Config', (dict,), {'__getattr__': dict.__getitem__})(width=3))", "Net(…)"),
        ("Net(type('Block', (torch.nn.Identity,), {'out': 3}), norm=torch.nn.ReLU)", "Net(…, norm=torch.nn.ReLU)"),
        ("Net((lambda *_, **__: 3), 4)", "Net((…), 4)"),
        ("Net((lambda **fields: [fields][0])(width=3))", "Net(…)"),
        (f"Net([{CONFIG}, {CONFIG}])", "Net([…, …])"),
        ("Net(Config(width=3), name='…')", "Net(Config(width=3), name='…')"),
        ("Net(getattr(module, 'type')(1))", "Net(getattr(module, 'type')(1))"),
    ],
)
def test_objects_classes_and_functions_that_were_made_up_are_an_ellipsis(text: str, read: str) -> None:
    recipe = Recipe(text, "torch.randn(2, 3)", "search")
    assert shown(text, recipe) == read
    assert has_invented_parts(recipe) == (text != read)


def test_inputs_may_be_made_up_too() -> None:
    recipe = Recipe("Net()", f"torch.randn(2), {CONFIG}", "search")
    assert shown(recipe.inputs or "", recipe) == "torch.randn(2), …"
    assert has_invented_parts(recipe)


def test_what_a_person_wrote_stays_as_it_is() -> None:
    recipe = Recipe(f"Net({CONFIG})", None, "comment")
    assert shown(recipe.init, recipe) == recipe.init
    assert not has_invented_parts(recipe)


def test_a_text_that_is_no_expression_stays_as_it_is() -> None:
    assert shown("Net(", Recipe("Net(", None, "search")) == "Net("
