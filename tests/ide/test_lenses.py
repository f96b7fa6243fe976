from __future__ import annotations

from dataclasses import replace

import pytest

from fxlsp.engine.state.snapshot import ModelKey, ModelState, Snapshot, Status
from fxlsp.ide.lenses import lenses
from fxlsp.report.codes import NOT_BUILT, NOT_FED
from fxlsp.report.graph import Verdict
from fxlsp.report.problems import Failure
from fxlsp.report.recipes import Recipe, RecipeSource
from fxlsp.source.recipes.recipes import FoundRecipe
from fxlsp.source.text.positions import Span
from tests.ide.builder import PATH, Trace, edited, failed, snapshot, tensor
from tests.ide.nets import TEXT, trace


def texts(shown: Snapshot) -> list[str]:
    return [lens.text for lens in lenses(shown, PATH)]


def test_a_traced_class_shows_size_cost_and_verdict_and_its_forward_the_shapes() -> None:
    assert texts(snapshot(TEXT, trace().state())) == [
        "traced inside Net · 2 calls",
        "blocks.0 (+1 more): (1, 4, 8, 8) → (1, 4, 8, 8)",
        "10 nodes · 1.23 K parameters · traceable",
        "recipe: Net()(torch.randn(1, 3)) · call site",
        "graph",
        "(1, 3, 8, 8) → (1, 10)",
    ]


def test_only_what_has_a_graph_offers_to_show_it() -> None:
    found = lenses(snapshot(TEXT, trace().state()), PATH)
    assert [(lens.name, lens.action) for lens in found if lens.kind == "graph"] == [("Net", "graph")]
    assert "graph" not in texts(snapshot(TEXT, failed(TEXT, "Net", Failure("Net", NOT_BUILT, "no"))))


def test_a_base_class_without_a_forward_has_no_lens() -> None:
    base = "class Base(nn.Module):\n    def loss(self, x):\n        return x\n"
    assert [lens.name for lens in lenses(snapshot(TEXT + base), PATH)] == ["Block", "Net"]


def test_problems_are_counted() -> None:
    made = trace().problem("FX401", "self.head(x)", "mat1 and mat2 shapes cannot be multiplied")
    assert "10 nodes · 1.23 K parameters · traceable · 1 problem" in texts(snapshot(TEXT, made.state()))


def test_a_class_that_several_models_run_names_them() -> None:
    other = trace()
    other.name = "Other"
    text = texts(snapshot(TEXT, trace().state(), other.state()))[0]
    assert text == "traced inside Net and 1 more · 4 calls"


def test_a_class_whose_models_last_trace_failed_says_so() -> None:
    state = replace(trace().state(Status.FAILED), failure=Failure("Net", NOT_BUILT, "no"))
    assert texts(snapshot(TEXT, state))[0] == "traced inside Net · 2 calls · the last trace failed"


def test_the_cost_of_a_graph_that_ends_early_is_a_lower_bound() -> None:
    made = trace().node("more", "y + x", None, flops=4000)
    state = made.state()
    assert state.report is not None
    assert "11 nodes · 1.23 K parameters · 4 KFLOPs · traceable" in texts(snapshot(TEXT, state))
    state = replace(state, report=replace(state.report, verdict=Verdict(False), complete=False))
    assert "11 nodes · 1.23 K parameters · ≥ 4 KFLOPs · not traceable" in texts(snapshot(TEXT, state))


def test_the_cost_of_a_batch_is_shown_for_one_sample_too() -> None:
    images, classes = tensor(8, 3, 32, 32), tensor(8, 10)
    made = Trace(TEXT).node("x", "x", images, op="placeholder", target="x")
    made.leaf("stem", "self.stem(x)", "Conv2d(3, 10)", images, classes)
    made.nodes[-1] = replace(made.nodes[-1], flops=16_000)
    made.node("output", "return self.head(x)", classes, op="output", target="output", path=None, inputs=[classes])
    assert any("16 KFLOPs, 2 K a sample · traceable" in text for text in texts(snapshot(TEXT, made.state())))
    made.nodes[-1] = replace(made.nodes[-1], inputs=(tensor(10),))
    assert any("16 KFLOPs · traceable" in text for text in texts(snapshot(TEXT, made.state())))


def test_a_model_whose_inputs_nobody_gives_asks_for_them() -> None:
    made = trace()
    made.recipe = Recipe("Net()", None, "default")
    assert (
        texts(snapshot(TEXT, made.state()))[2]
        == "10 nodes · 1.23 K parameters · traceable · shapes unknown: give inputs"
    )


def test_without_trust_lenses_are_located_at_every_class_and_offer_to_trust() -> None:
    found = lenses(snapshot(TEXT, trusted=False), PATH)
    assert [(lens.name, lens.text, lens.action) for lens in found] == [
        ("Block", "not traced: trust this workspace first", "trust"),
        ("Net", "not traced: trust this workspace first", "trust"),
    ]


def test_a_class_that_needs_something_says_what() -> None:
    failure = Failure("Net", NOT_FED, "The inputs are not known", needs="inputs")
    assert texts(snapshot(TEXT, failed(TEXT, "Net", failure)))[1] == "not traced: give inputs"


def test_a_failure_is_reported_on_one_line() -> None:
    failure = Failure("Net", NOT_BUILT, "NameError: name 'foo' is not defined\nmore")
    assert texts(snapshot(TEXT, failed(TEXT, "Net", failure)))[1] == (
        "not traced: NameError: name 'foo' is not defined"
    )


def test_a_class_whose_trace_is_under_way_says_so() -> None:
    state = ModelState(ModelKey("p", PATH, "Net", None), Status.RUNNING)
    assert texts(snapshot(TEXT, state)) == ["not traced yet", "tracing…"]


def test_a_class_in_a_text_that_never_parsed_says_so() -> None:
    text = TEXT + "x = 1 +\n"
    assert texts(snapshot(text)) == ["not traced: the file does not parse"] * 2


def test_lenses_keep_their_texts_while_the_text_does_not_parse() -> None:
    before = snapshot(TEXT, trace().state())
    assert texts(edited(before, "return self.head(x)", "return self.head(x")) == texts(before)
    assert texts(edited(before, "from torch import nn", "(\nfrom torch import nn")) == texts(before)


def test_the_lens_of_a_forward_stays_while_its_def_line_is_edited() -> None:
    before = snapshot(TEXT, trace().state())
    after = edited(before, "def forward(self, x):\n        y", "def forward(self, x, mask):\n        y")
    assert texts(after) == texts(before)


def test_a_failure_after_a_good_trace_keeps_the_text_and_says_so() -> None:
    state = replace(trace().state(Status.FAILED), failure=Failure("Net", NOT_BUILT, "no"))
    assert "10 nodes · 1.23 K parameters · traceable · the last trace failed" in texts(snapshot(TEXT, state))


@pytest.mark.parametrize(
    ("source", "file", "words"),
    [
        ("comment", None, "comment net.py:7"),
        ("config", "/project/pyproject.toml", "pyproject.toml:7"),
        ("config", "", "settings"),
        ("call-site", None, "call site net.py:7"),
        ("call-site", "/project/tests/test_net.py", "call site tests/test_net.py:7"),
    ],
)
def test_the_recipe_has_a_lens_that_says_where_it_is_written(
    source: RecipeSource, file: str | None, words: str
) -> None:
    made = trace()
    made.recipe = Recipe("Net()", "x", source)
    found = FoundRecipe(made.recipe, Span(7, 1, 7, 9), file)
    (lens,) = [
        each for each in lenses(snapshot(TEXT, replace(made.state(), found=(found,))), PATH) if each.kind == "recipe"
    ]
    assert (lens.text, lens.action) == (f"recipe: Net()(x) · {words}", "choose")


@pytest.mark.parametrize(("source", "words"), [("default", "defaults"), ("search", "guess"), ("convention",) * 2])
def test_a_recipe_that_nobody_wrote_says_so(source: RecipeSource, words: str) -> None:
    made = trace()
    made.recipe = Recipe("Net()", "x", source)
    found = FoundRecipe(Recipe("Net(3)", "y", "call-site"), Span(7, 1, 7, 9))
    assert f"recipe: Net()(x) · {words}" in texts(snapshot(TEXT, made.state()))
    two = (found, replace(found, recipe=Recipe("Net(4)", "y", "call-site")))
    assert f"recipe: Net()(x) · {words} · 2 others" in texts(snapshot(TEXT, replace(made.state(), found=two)))


def test_shapes_and_cost_of_a_guess_have_the_mark_of_hints() -> None:
    made = trace()
    made.nodes[-2] = replace(made.nodes[-2], flops=3000)
    certain = texts(snapshot(TEXT, made.state()))
    assert "(1, 3, 8, 8) → (1, 10)" in certain
    assert any("· 3 KFLOPs ·" in text for text in certain)
    made.recipe = Recipe("Net()", "y", "search")
    guessed = texts(snapshot(TEXT, made.state()))
    assert "~(1, 3, 8, 8) → (1, 10)" in guessed
    assert "blocks.0 (+1 more): ~(1, 4, 8, 8) → (1, 4, 8, 8)" in guessed
    assert any("· ~3 KFLOPs ·" in text for text in guessed)


def test_of_a_guess_a_cost_that_is_partly_unknown_has_both_marks() -> None:
    made = trace()
    made.recipe = Recipe("Net()", "y", "search")
    made.nodes[-2], made.nodes[1] = replace(made.nodes[-2], flops=3000), replace(made.nodes[1], flops=None)
    assert any("· ≥ ~3 KFLOPs ·" in text for text in texts(snapshot(TEXT, made.state())))


def test_a_recipe_with_parts_that_a_search_made_up_says_so() -> None:
    made = trace()
    made.recipe = Recipe("Net(__import__('types').SimpleNamespace(width=3))", "y", "search")
    assert "recipe: Net(…)(y) · guess, … is invented" in texts(snapshot(TEXT, made.state()))


def test_a_guess_without_the_sizes_of_the_settings_says_so() -> None:
    made = trace()
    made.recipe = Recipe("Net()", "y", "search", sizes_note="runs with a sequence of 16, not 13 as set")
    assert "recipe: Net()(y) · guess · runs with a sequence of 16, not 13 as set" in texts(snapshot(TEXT, made.state()))


def test_a_guess_that_an_edit_has_changed_names_the_inputs_of_before() -> None:
    made = trace()
    made.recipe = Recipe("Net()", "y", "search")
    state = replace(made.state(), former_guess=Recipe("Net()", "x", "search"))
    assert "recipe: Net()(y) · guess, was x" in texts(snapshot(TEXT, state))


@pytest.mark.parametrize(
    ("source", "ends"),
    [
        ("search", " · guess · call on line {line} not used: `x` is known only when the code runs"),
        ("default", "defaults"),
    ],
)
def test_a_guess_names_the_call_that_is_not_used(source: RecipeSource, ends: str) -> None:
    text = TEXT + "\n\ndef main(loader):\n    for x in loader:\n        Net()(x)\n"
    made = Trace(text, source=source).node("y", "self.head(x)", tensor(1, 10))
    (lens,) = (each for each in lenses(snapshot(text, made.state()), PATH) if each.kind == "recipe")
    assert lens.text.endswith(ends.format(line=len(text.splitlines())))


def test_a_long_recipe_is_cut() -> None:
    made = trace()
    made.recipe = Recipe("Net()", "x, " * 40, "default")
    (text,) = [text for text in texts(snapshot(TEXT, made.state())) if text.startswith("recipe")]
    assert text == "recipe: Net()(" + ("x, " * 40)[:73] + "… · defaults"
