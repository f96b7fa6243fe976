"""Pinned recipes while the texts change."""

from __future__ import annotations

import json

import pytest

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.settings.settings import Settings
from fxlsp.engine.state.analysis import Analysis, Candidate, analyse
from fxlsp.engine.state.pinned_recipes import PinnedRecipe, apply_pinned_recipes
from fxlsp.report.recipes import Recipe
from fxlsp.source.text.documents import Document

TEXT = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x


Net(1)(torch.randn(2))
Net(3)(torch.randn(4))
"""
PLACE = SymbolId("/net.py", "Net")
CHOSEN = Recipe("Net(3)", "torch.randn(4)", "call-site")


def analysed(text: str) -> Analysis:
    analysis = analyse(Document("", PLACE.path, None, text), Settings())
    assert analysis is not None
    return analysis


def net(analysis: Analysis) -> Candidate:
    return next(each for each in analysis.candidates if each.name == PLACE.name)


@pytest.fixture
def pinned_recipes() -> dict[SymbolId, PinnedRecipe]:
    return {PLACE: PinnedRecipe(CHOSEN, net(analysed(TEXT)).found)}


def recipe(text: str, pinned_recipes: dict[SymbolId, PinnedRecipe]) -> tuple[str, bool]:
    """Return the init of the first recipe, and whether the user chose it."""
    candidate = net(apply_pinned_recipes(analysed(text), pinned_recipes))
    first = candidate.recipes[0]
    assert first is not None
    return first.init, candidate.pinned


def test_the_chosen_one_counts_alone(pinned_recipes: dict[SymbolId, PinnedRecipe]) -> None:
    candidate = net(apply_pinned_recipes(analysed(TEXT), pinned_recipes))
    assert (candidate.recipes, candidate.alternatives) == ((CHOSEN,), ())
    assert (candidate.requested, candidate.pinned) == (True, True)
    assert recipe(TEXT, {}) == ("Net(1)", False)


def test_it_is_followed_while_it_is_edited_in_its_line(pinned_recipes: dict[SymbolId, PinnedRecipe]) -> None:
    for number in ("30", "300", "5"):
        assert recipe(TEXT.replace("Net(3)", f"Net({number})"), pinned_recipes) == (f"Net({number})", True)


def test_it_is_followed_to_another_line_and_edited_there(pinned_recipes: dict[SymbolId, PinnedRecipe]) -> None:
    moved = TEXT.replace("Net(1)", "\n\nNet(1)")
    assert recipe(moved, pinned_recipes) == ("Net(3)", True)
    assert recipe(moved.replace("Net(3)", "Net(7)"), pinned_recipes) == ("Net(7)", True)


def test_once_it_is_gone_the_first_one_counts_until_it_comes_back(pinned_recipes: dict[SymbolId, PinnedRecipe]) -> None:
    assert recipe(TEXT.replace("Net(3)(torch.randn(4))\n", ""), pinned_recipes) == ("Net(1)", False)
    assert recipe(TEXT, pinned_recipes) == ("Net(3)", True)


def test_another_one_that_moves_to_its_line_does_not_take_its_place(
    pinned_recipes: dict[SymbolId, PinnedRecipe],
) -> None:
    swapped = TEXT.replace("Net(1)(torch.randn(2))\n", "").replace("Net(3)(torch.randn(4))", "\nNet(1)(torch.randn(2))")
    assert recipe(swapped, pinned_recipes) == ("Net(1)", False)


def test_a_comment_that_is_written_later_counts_instead(pinned_recipes: dict[SymbolId, PinnedRecipe]) -> None:
    assert recipe(TEXT.replace("class", "# fxlsp: Net(9)\nclass"), pinned_recipes) == ("Net(9)", False)
    assert pinned_recipes == {}


def test_a_comment_that_was_there_before_does_not(pinned_recipes: dict[SymbolId, PinnedRecipe]) -> None:
    commented = TEXT.replace("class", "# fxlsp: Net(9)\nclass")
    pinned_recipes = {PLACE: PinnedRecipe(CHOSEN, net(analysed(commented)).found)}
    assert recipe(commented, pinned_recipes) == ("Net(3)", True)


def test_a_chosen_comment_is_followed_while_it_is_edited() -> None:
    commented = TEXT.replace("class", "# fxlsp: Net(8)\n# fxlsp: Net(9)\nclass")
    pinned_recipes = {PLACE: PinnedRecipe(Recipe("Net(9)", None, "comment"), net(analysed(commented)).found)}
    assert recipe(commented, pinned_recipes) == ("Net(9)", True)
    assert recipe(commented.replace("Net(9)", "Net(10)"), pinned_recipes) == ("Net(10)", True)


def earlier(text: str) -> dict[SymbolId, PinnedRecipe]:
    """Return the choice that a session which ended with ``text`` stored."""
    pinned_recipe = PinnedRecipe(CHOSEN, net(analysed(text)).found)
    return {PLACE: PinnedRecipe.from_json(json.loads(json.dumps(pinned_recipe.to_json())))}


def test_one_of_an_earlier_session_counts_while_it_is_there() -> None:
    pinned_recipes = earlier(TEXT)
    assert recipe(TEXT.replace("Net(3)(torch.randn(4))\n", ""), pinned_recipes) == ("Net(1)", False)
    assert recipe("\n\n" + TEXT, pinned_recipes) == ("Net(3)", True)
    assert recipe("\n\n" + TEXT.replace("Net(3)", "Net(7)"), pinned_recipes) == ("Net(7)", True)


def test_one_of_an_earlier_session_is_not_looked_for_where_it_stood_then() -> None:
    assert recipe(TEXT.replace("Net(3)", "Net(7)"), earlier(TEXT)) == ("Net(1)", False)


def test_one_of_an_earlier_session_ends_only_with_a_comment_that_was_not_there_then() -> None:
    commented = TEXT.replace("class", "# fxlsp: Net(9)\nclass")
    assert recipe(commented, earlier(commented)) == ("Net(3)", True)
    assert recipe(commented, earlier(TEXT)) == ("Net(9)", False)
