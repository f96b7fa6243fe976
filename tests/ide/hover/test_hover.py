from __future__ import annotations

from dataclasses import replace

from fxlsp.engine.state.snapshot import Snapshot, Status
from fxlsp.ide.hover.hover import hover
from fxlsp.ide.hover.text import HoverText
from fxlsp.report.codes import NOT_BUILT
from fxlsp.report.problems import Failure
from fxlsp.report.recipes import Recipe
from tests.ide.builder import PATH, Trace, edited, failed, place, snapshot, tensor
from tests.ide.nets import TEXT, trace


def at(shown: Snapshot, expression: str, offset: int = 1, occurrence: int = 0) -> HoverText | None:
    """The hover some characters into an expression."""
    location = place(shown.documents[PATH].text, expression, occurrence)
    return hover(shown, PATH, location.line, location.column + offset)


def lines_at(shown: Snapshot, expression: str, offset: int = 1) -> list[str]:
    found = at(shown, expression, offset)
    assert found is not None
    return found.text.plain.split("\n")


def test_a_leaf_module_shows_its_arguments_paths_shapes_and_cost() -> None:
    lines = lines_at(snapshot(TEXT, trace().state()), "self.stem(x)")
    assert lines == [
        "Conv2d(3, 4, kernel_size=(3, 3)) · (1, 3, 8, 8) → (1, 4, 8, 8) float32",
        "node stem · call_module · module path stem",
        "108 parameters",
        "Net: Net()(torch.randn(1, 3)) from a call site · train mode",
    ]


def test_a_shape_of_which_expressions_are_known_is_there_with_the_values_of_their_symbols() -> None:
    made = trace()
    made.nodes[1] = replace(made.nodes[1], output={**tensor(1, 4, 8, 8), "symbolic": ["B", 4, "(H+1)//2", 8]})
    report = replace(made.report(), symbols={"B": 1, "H": 16, "W": 16})
    lines = lines_at(snapshot(TEXT, replace(made.state(), report=report)), "self.stem(x)")
    assert "(B, 4, (H+1)//2, 8) for B = 1, H = 16" in lines


def test_a_shape_that_is_assumed_says_so() -> None:
    made = trace()
    made.nodes[-2] = replace(made.nodes[-2], assumed=True)
    lines = lines_at(snapshot(TEXT, made.state()), "self.head(x)")
    assert lines[3] == "Assumed: an operation fails, and this is its shape, or follows from it, once its operands fit."


def test_an_expression_of_several_instances_has_a_row_for_each() -> None:
    lines = lines_at(snapshot(TEXT, trace().state()), "self.conv(x)")
    assert lines[0].endswith("(1, 4, 8, 8) → (1, 4, 8, 8) float32, and 1 more")
    assert lines[1].split() == ["module", "path", "node", "in", "out", "parameters"]
    assert lines[2].split()[:2] == ["blocks.0.conv", "blocks_0_conv"]
    assert lines[3].endswith("(1, 4, 8, 8)  (1, 4, 4, 4)         100")


def test_the_innermost_expression_answers() -> None:
    shown = snapshot(TEXT, trace().state())
    assert "relu" in lines_at(shown, "torch.relu(self.conv(x))")[0]
    assert "Conv2d" in lines_at(shown, "self.conv(x)")[0]
    assert "relu" in lines_at(shown, "torch.relu(self.conv(x))", offset=len("torch.relu(self.conv(x)"))[0]


def test_a_sequential_shows_what_goes_through_it_and_its_parts() -> None:
    lines = lines_at(snapshot(TEXT, trace().state()), "self.blocks(x)")
    assert lines[0] == "Sequential · (1, 4, 8, 8) → (1, 4, 4, 4) float32"
    assert lines[1] == "6 nodes inside · module path blocks"
    assert [line.split()[0] for line in lines[4:6]] == ["blocks.0", "blocks.1"]


def test_a_call_of_a_plain_function_lists_the_nodes_made_in_it() -> None:
    text = TEXT.replace("return self.head(x)", "return helper(x)") + "\n\ndef helper(x):\n    return x * 2\n"
    made = Trace(text)
    made.node("mul", "x * 2", tensor(1, 3), through=["helper(x)"])
    lines = lines_at(snapshot(text, made.state()), "helper(x)")
    assert lines[0] == "1 node from the functions called here"


def test_a_return_shows_what_comes_out_of_the_model() -> None:
    lines = lines_at(snapshot(TEXT, trace().state()), "return self.head(x)")
    assert lines[:2] == ["output · (1, 10) float32", "node output · output"]


def test_no_answer_where_no_node_arises() -> None:
    shown = snapshot(TEXT, trace().state())
    assert at(shown, "import torch") is None


def test_an_unknown_output_says_so() -> None:
    made = Trace(TEXT).node("head", "self.head(x)", None, inputs=[tensor(1, 3)])
    assert lines_at(snapshot(TEXT, made.state()), "self.head(x)")[0] == "torch.relu · (1, 3) → unknown"


def test_a_hover_follows_edits_above_and_says_that_it_is_stale() -> None:
    shown = edited(snapshot(TEXT, trace().state()), "import torch\n", "import torch\n\nWIDTH = 3\n")
    lines = lines_at(shown, "self.stem(x)")
    assert lines[0].endswith("(stale)")
    assert lines[-1].endswith("of an earlier text")


def test_an_edit_that_changes_no_program_leaves_nothing_stale() -> None:
    shown = edited(snapshot(TEXT, trace().state()), "import torch\n", "import torch  # here\n", Status.FRESH)
    assert "stale" not in lines_at(shown, "self.stem(x)")[0]


def test_the_class_name_shows_the_verdict_recipe_and_environment() -> None:
    lines = lines_at(snapshot(TEXT, trace().state()), "Net(nn.Module)")
    assert lines[0].startswith("Net · 10 nodes · 1.23 K parameters")
    assert lines[-1] == "Python 3.11.7, torch 2.15.0 (/bin/python) · traced in 33 ms"


def test_a_class_name_says_once_why_there_is_no_graph() -> None:
    shown = snapshot(TEXT, failed(TEXT, "Net", Failure("Net", NOT_BUILT, "cannot build Net: ValueError: no")))
    first, advice = lines_at(shown, "Net(nn.Module)")
    assert first == "Net · not traced: cannot build Net: ValueError: no"
    assert advice.startswith("FX903: Repair __init__, or give arguments")
    long = "cannot build Net: " + "no " * 40
    shown = snapshot(TEXT, failed(TEXT, "Net", Failure("Net", NOT_BUILT, long)))
    assert lines_at(shown, "Net(nn.Module)")[2] == long


def test_a_class_that_other_traces_run_is_not_asked_for_a_recipe() -> None:
    needy = failed(TEXT, "Block", Failure("Block", NOT_BUILT, "Block needs the argument n", needs="the argument n"))
    lines = lines_at(snapshot(TEXT, trace().state(), needy), "Block(nn.Module)")
    assert lines[0] == "Block · traced inside Net · 2 calls"
    assert "needs" not in lines[1]


def test_a_class_whose_inputs_nobody_gives_shows_how_to_give_them() -> None:
    made = trace()
    made.recipe = Recipe("Net(3)", None, "default")
    lines = lines_at(snapshot(TEXT, made.state()), "Net(nn.Module)")
    assert lines[-2].endswith("comment above it: # fxlsp: Net(3)(torch.randn(1, 3, 32, 32))")


def test_the_name_of_a_forward_shows_every_call_of_it() -> None:
    lines = lines_at(snapshot(TEXT, trace().state()), "forward(self, x):\n        y")
    assert lines[0] == "Block.forward · blocks.0 (+1 more): (1, 4, 8, 8) → (1, 4, 8, 8)"
    assert lines[3].split()[0] == "blocks.1"


def test_markdown_and_plain_text_say_the_same() -> None:
    found = at(snapshot(TEXT, trace().state()), "self.stem(x)")
    assert found is not None
    assert "`Conv2d(3, 4, kernel_size=(3, 3))`" in found.text.markdown
    assert "`" not in found.text.plain
