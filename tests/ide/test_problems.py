from __future__ import annotations

from dataclasses import replace

from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.state.snapshot import ModelState, Snapshot, Status
from fxlsp.ide.problems import problems
from fxlsp.report.codes import DIED, NOT_BUILT, NOT_FED, NOT_LOADED
from fxlsp.report.locations import Location, RelatedPlace
from fxlsp.report.problems import Failure, Problem
from fxlsp.report.recipes import Recipe
from fxlsp.source.recipes.recipes import FoundRecipe
from fxlsp.source.text.positions import Span
from tests.ide.builder import PATH, Trace, edited, failed, place, snapshot
from tests.ide.nets import TEXT


def told(shown: Snapshot) -> list[tuple[str, str, int]]:
    return [(problem.code, problem.message, problem.span.line) for problem in problems(shown, PATH)]


def two_blocks() -> ModelState:
    made = Trace(TEXT)
    for index in (0, 1):
        made.problem("FX401", "self.conv(x)", f"expected 4 channels (blocks.{index})", path=f"blocks.{index}")
    return made.state()


def test_one_span_has_one_problem_however_many_instances_meet_it() -> None:
    assert told(snapshot(TEXT, two_blocks())) == [
        ("FX401", "expected 4 channels (blocks.0).\nAlso in blocks.1.", place(TEXT, "self.conv(x)").line)
    ]


def test_problems_move_with_the_text() -> None:
    shown = edited(snapshot(TEXT, two_blocks()), "import torch\n", "import torch\n\n\n")
    assert [line for _, _, line in told(shown)] == [place(TEXT, "self.conv(x)").line + 2]


def test_an_edit_of_the_expression_takes_its_problem_away() -> None:
    assert told(edited(snapshot(TEXT, two_blocks()), "self.conv(x)", "self.conv(x, 1)")) == []


def fed_wrongly(text: str) -> ModelState:
    """A model whose recipe, a comment above it, cannot be fed to it."""
    made = Trace(text)
    made.recipe = Recipe("Net()", "nope", "comment")
    made.node("y", "y + x", None)
    made.problems.append(Problem(NOT_FED, "warning", "cannot feed Net with (nope)", None, model="Net"))
    return made.state()


def test_inputs_that_do_not_fit_are_reported_at_the_recipe_that_gives_them() -> None:
    text = TEXT.replace("class Net", "# fxlsp: Net()(nope)\nclass Net")
    state = fed_wrongly(text)
    assert state.report is not None
    written = place(text, "Net()(nope)")
    found = FoundRecipe(state.report.recipe, Span(written.line, written.column, written.line, written.end_column))
    shown = snapshot(text, replace(state, found=(found,)))
    assert told(shown) == [(NOT_FED, "cannot feed Net with (nope)", written.line)]
    assert [problem.is_failure for problem in problems(shown, PATH)] == [True]
    half_typed = edited(shown, "import torch", "import torch\n(\n")
    assert (NOT_FED, "cannot feed Net with (nope)", written.line + 2) in told(half_typed)


def test_inputs_that_no_recipe_of_the_file_gives_are_reported_at_the_name_of_the_class() -> None:
    assert told(snapshot(TEXT, fed_wrongly(TEXT)))[0][2] == place(TEXT, "class Net").line


def test_a_failure_is_located_at_its_place() -> None:
    failure = Failure("Net", DIED, "did not finish within 10 s", place(TEXT, "self.head(x)"))
    assert told(snapshot(TEXT, failed(TEXT, "Net", failure))) == [
        (DIED, "did not finish within 10 s", place(TEXT, "self.head(x)").line)
    ]


def test_a_failure_without_a_place_is_located_at_the_name_of_its_class() -> None:
    failure = Failure("Net", NOT_LOADED, "No module named 'timm'")
    (problem,) = problems(snapshot(TEXT, failed(TEXT, "Net", failure)), PATH)
    line = place(TEXT, "class Net").line
    assert (problem.span, problem.is_failure) == (Span(line, 7, line, 10), True)


def test_a_failure_in_a_file_that_is_not_open_points_there() -> None:
    failure = Failure("Net", NOT_LOADED, "boom", Location("/project/other.py", 3, 1, 3, 9))
    (problem,) = problems(snapshot(TEXT, failed(TEXT, "Net", failure)), PATH)
    assert [(place.path, place.span.line) for place in problem.related] == [("/project/other.py", 3)]


def test_what_only_the_user_can_give_is_no_problem() -> None:
    failure = Failure("Net", NOT_FED, "The inputs are not known", needs="inputs")
    assert told(snapshot(TEXT, failed(TEXT, "Net", failure))) == []


def test_a_failure_replaces_the_problems_of_the_report_before_it() -> None:
    failure = Failure("Net", NOT_LOADED, "boom", place(TEXT, "import torch"))
    state = replace(two_blocks(), status=Status.FAILED, failure=failure, failure_texts=two_blocks().texts)
    assert [code for code, _, _ in told(snapshot(TEXT, state))] == [NOT_LOADED]


def test_a_text_that_does_not_parse_is_reported_where_and_old_problems_stay() -> None:
    shown = edited(snapshot(TEXT, two_blocks()), "return self.head(x)", "return self.head(x")
    last_line = place(TEXT, "return self.head(x)").line
    assert told(shown)[1:] == [(NOT_LOADED, "The file does not parse: '(' was never closed", last_line)]
    found = problems(shown, PATH)[1]
    assert (found.is_failure, found.severity) == (True, "error")


def test_a_long_text_that_one_parser_refuses_is_reported_where_as_a_warning() -> None:
    long = TEXT + "# a comment\n" * 2000
    shown = edited(snapshot(long), "return self.head(x)", "return self.head(x")
    assert [(code, message) for code, message, _ in told(shown)] == [(NOT_LOADED, "The file does not parse here")]
    assert [each.severity for each in problems(shown, PATH)] == ["warning"]


def test_a_failure_that_no_arguments_mend_is_an_error() -> None:
    failure = Failure("Net", NOT_BUILT, "5 heads", place(TEXT, "import torch"), is_certain=True)
    for each, severity in ((failure, "error"), (replace(failure, is_certain=False), "warning")):
        state = replace(two_blocks(), status=Status.FAILED, failure=each, failure_texts=two_blocks().texts)
        assert [problem.severity for problem in problems(snapshot(TEXT, state), PATH)] == [severity]


def test_a_text_without_models_may_be_what_it_likes() -> None:
    assert told(snapshot("x = (\n")) == []


def test_related_places_that_were_edited_away_are_left_out() -> None:
    made = Trace(TEXT).problem("FX401", "self.conv(x)", "boom")
    related = (RelatedPlace("made here", place(TEXT, "y + x")), RelatedPlace("too", place(TEXT, "self.stem(x)")))
    made.problems = [replace(problem, related=related) for problem in made.problems]
    (problem,) = problems(edited(snapshot(TEXT, made.state()), "y + x", "y - x"), PATH)
    assert [place.message for place in problem.related] == ["too"]


def test_settings_decide_what_is_reported_and_how_severe_it_is() -> None:
    shown = snapshot(TEXT, two_blocks())
    policy = Policy(levels={"FX4": "info"})
    assert [problem.severity for problem in problems(replace(shown, policies={"": policy}), PATH)] == ["info"]
    assert told(replace(shown, policies={"/project": Policy(levels={"FX401": "off"})})) == []
    assert len(told(replace(shown, policies={"/project": Policy(), "/": Policy(levels={"FX401": "off"})}))) == 1


def test_a_comment_silences_a_problem_as_soon_as_it_is_typed() -> None:
    shown = snapshot(TEXT, two_blocks())
    line = next(line for line in TEXT.splitlines() if "self.conv(x)" in line)
    assert told(edited(shown, line, f"{line}  # fxlsp: ignore[FX401]")) == []
    assert len(told(edited(shown, line, f"{line}  # fxlsp: ignore[FX1]"))) == 1


def test_a_comment_without_effect_has_a_hint_where_it_is() -> None:
    text = TEXT.replace("class Net(", "# fxlsp Net()\nclass Net(", 1)
    (found,) = problems(snapshot(text), PATH)
    assert (found.code, found.severity, found.span.line) == ("FX907", "hint", place(text, "# fxlsp Net()").line)


def test_comments_of_a_file_without_models_are_left_alone() -> None:
    assert problems(snapshot("# fxlsp Net()\nx = 1  # fxlsp: ignore[FX999]\n"), PATH) == []
