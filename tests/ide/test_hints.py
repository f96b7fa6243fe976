from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fxlsp.engine.settings.settings import HintKinds, SizeStyle
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.hints import Hint, hints
from fxlsp.report.graph import Output
from tests.ide.builder import PATH, Trace, edited, place, snapshot, tensor
from tests.ide.nets import TEXT, trace


def all_hints(shown: Snapshot) -> list[Hint]:
    return hints(shown, PATH, 1, 1000)


def texts(shown: Snapshot) -> dict[str, str]:
    """The hints by the text that stands before them on their line."""
    lines = shown.documents[PATH].lines
    return {lines.line_text(hint.line)[: hint.column - 1].strip(): hint.text for hint in all_hints(shown)}


EXPECTED = {
    "def forward(self, x": "(1, 3, 8, 8)",
    "y = torch.relu(self.conv(x))": "(1, 4, 8, 8) …",
    "return y + x": "(1, 4, 8, 8) …",
    "x = self.stem(x)": "(1, 4, 8, 8)",
    "x = self.blocks(x)": "(1, 4, 4, 4)",
    "return self.head(x)": "(1, 10)",
}


def test_each_line_shows_the_shape_of_its_last_expression() -> None:
    shown = snapshot(TEXT, trace().state())
    assert texts(shown) == EXPECTED
    assert len({hint.line for hint in all_hints(shown)}) == len(all_hints(shown))


def test_a_forward_that_runs_inside_another_shows_its_argument() -> None:
    (first, *_) = all_hints(snapshot(TEXT, trace().state()))
    assert (first.line, first.text) == (6, "(1, 4, 8, 8)")


def test_a_shape_that_is_assumed_ends_with_a_question_mark() -> None:
    made = trace()
    made.nodes[-2] = replace(made.nodes[-2], assumed=True)
    assert texts(snapshot(TEXT, made.state())) == EXPECTED | {"return self.head(x)": "(1, 10)?"}


def symbolic(*, sizes: SizeStyle, dims: tuple[str | int, ...] = ("B", 4, "(H+1)//2", "(W+1)//2")) -> str:
    """Return the hint of a shape of which expressions are known."""
    made = trace()
    made.nodes[1] = replace(made.nodes[1], output={**tensor(1, 4, 8, 8), "symbolic": list(dims)})
    shown = replace(snapshot(TEXT, made.state()), hints={"": HintKinds(sizes=sizes)})
    return texts(shown)["x = self.stem(x)"]


def test_a_shape_is_written_as_the_setting_says() -> None:
    assert symbolic(sizes="numbers") == "(1, 4, 8, 8)"
    assert symbolic(sizes="symbolic") == "(B, 4, (H+1)//2, (W+1)//2)"
    assert symbolic(sizes="both") == "(B, 4, (H+1)//2, (W+1)//2) = (1, 4, 8, 8)"


def test_a_shape_without_an_expression_is_written_in_numbers_whatever_the_setting_says() -> None:
    shown = replace(snapshot(TEXT, trace().state()), hints={"": HintKinds(sizes="both")})
    assert texts(shown) == EXPECTED


def test_of_a_long_shape_the_longest_expressions_are_numbers() -> None:
    dims = ("B", 4, "2*((H+15)//16)*((W+15)//16)", "(W+15)//16")
    assert symbolic(sizes="symbolic", dims=dims) == "(B, 4, 8, (W+15)//16)"


def test_only_the_lines_that_were_asked_for_have_hints() -> None:
    assert [hint.line for hint in hints(snapshot(TEXT, trace().state()), PATH, 13, 14)] == [13, 14]


def test_hints_stay_while_their_line_is_edited() -> None:
    shown = edited(snapshot(TEXT, trace().state()), "self.stem(x)", "self.stem(x.half())")
    assert texts(shown)["x = self.stem(x.half())"] == "(1, 4, 8, 8)"


def test_a_new_line_below_leaves_a_hint_on_its_line() -> None:
    shown = edited(snapshot(TEXT, trace().state()), "self.stem(x)\n", "self.stem(x)\n        \n")
    assert texts(shown)["x = self.stem(x)"] == "(1, 4, 8, 8)"


def test_text_that_does_not_parse_keeps_its_hints() -> None:
    shown = edited(snapshot(TEXT, trace().state()), "import torch\n", "import torch\nif (\n")
    assert texts(shown) == EXPECTED


def test_a_removed_line_takes_its_hint_along() -> None:
    shown = edited(snapshot(TEXT, trace().state()), "        x = self.stem(x)\n", "")
    assert "x = self.stem(x)" not in texts(shown)
    assert texts(shown)["x = self.blocks(x)"] == "(1, 4, 4, 4)"


PAIR = """\
import torch
from torch import nn


class Pair(nn.Module):
    def forward(self, x):
        return self.mu(x), self.logvar(x)
"""


def pair(text: str = PAIR, first: Output | None = None, second: Output | None = None) -> Trace:
    """Return a trace in which ``Pair`` runs inside another module and returns the results of two layers."""
    mu, logvar = first or tensor(2, 4), second or tensor(2, 4)
    made = Trace(text, "Outer").leaf("pair.mu", "self.mu(x)", "Linear(8, 4)", tensor(2, 8), mu)
    made.leaf("pair.logvar", "self.logvar(x)", "Linear(8, 4)", tensor(2, 8), logvar)
    forward = "    def forward(self, x):"
    return made.call("pair", "Pair", (0, 2), [tensor(2, 8)], {"list": [mu, logvar]}, at="Pair", forward=forward)


def returned(text: str, made: Trace | None = None) -> str:
    """Return the hint of the line with ``self.logvar``."""
    shown = texts(snapshot(text, (made or pair(text)).state()))
    return next(hint for line, hint in shown.items() if "logvar" in line)


def test_a_tuple_that_is_returned_has_the_shapes_of_all_its_items() -> None:
    assert returned(PAIR) == "2 × (2, 4)"
    assert returned(PAIR, pair(second=tensor(2, 5))) == "(2, 4), (2, 5)"
    assert returned(PAIR, pair(second=tensor(2, 4, dtype="int64"))) == "(2, 4), (2, 4) int64"
    assert returned(PAIR.replace("self.mu(x), self.logvar(x)", "(self.mu(x), self.logvar(x),)")) == "2 × (2, 4)"
    assert returned(PAIR.replace("self.mu(x), self.logvar(x)", "[self.mu(x), self.logvar(x)]")) == "2 × (2, 4)"
    assert returned(PAIR.replace("    def forward", "    @torch.no_grad()\n    def forward")) == "2 × (2, 4)"


def test_a_dictionary_that_is_returned_has_the_shapes_of_all_its_items() -> None:
    text = PAIR.replace("self.mu(x), self.logvar(x)", '{"mu": self.mu(x), "logvar": self.logvar(x)}')
    made = pair(text)
    made.calls[-1] = replace(made.calls[-1], output={"dict": {"mu": tensor(2, 4), "logvar": tensor(2, 4)}})
    assert returned(text, made) == "{mu: (2, 4), logvar: (2, 4)}"


def test_the_tooltip_of_what_is_returned_shows_the_last_item_too() -> None:
    hint = all_hints(snapshot(PAIR, pair().state()))[-1]
    (whole, items) = hint.tooltip.plain.split("before that on this line:")
    assert "2 × (2, 4)" in whole
    assert "pair.{mu,logvar}" in items


def test_what_is_returned_stays_while_its_line_does_not_parse() -> None:
    shown = edited(snapshot(PAIR, pair().state()), "self.logvar(x)", "self.logvar((x)")
    assert texts(shown)["return self.mu(x), self.logvar((x)"] == "2 × (2, 4)"


def test_a_tuple_that_got_another_item_waits_for_the_next_trace() -> None:
    shown = edited(snapshot(PAIR, pair().state()), "return self.mu(x)", "return x, self.mu(x)")
    assert texts(shown)["return x, self.mu(x), self.logvar(x)"] == "(2, 4)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        return", "        if self.training:\n            return x, x\n        return"),
        ("self.mu(x), self.logvar(x)", "*x, self.mu(x), self.logvar(x)"),
        ("self.mu(x), self.logvar(x)", "self.join(self.mu(x), self.logvar(x))"),
        ("return self.mu(x), self.logvar(x)", "def inner():\n            return self.mu(x), self.logvar(x)"),
        ("    def forward", "    @doubled\n    def forward"),
    ],
)
def test_what_is_not_certain_to_be_returned_has_the_hint_of_its_last_expression(old: str, new: str) -> None:
    assert returned(PAIR.replace(old, new)) == "(2, 4)"


def test_of_several_returns_the_one_that_the_graph_ends_with_is_shown() -> None:
    text = PAIR.replace("        return", "        if self.training:\n            return x, x\n        return")
    made = pair(text, second=tensor(2, 5))
    output: Output = {"list": [tensor(2, 4), tensor(2, 5)]}
    made.node("output", "return self.mu(x), self.logvar(x)", output, op="output", target="output", path=None)
    shown = texts(snapshot(text, made.state()))
    assert shown["return self.mu(x), self.logvar(x)"] == "(2, 4), (2, 5)"
    assert "return x, x" not in shown


def test_a_call_that_returned_nothing_does_not_look_known() -> None:
    made = pair()
    made.calls.append(replace(made.calls[-1], output=None))
    assert returned(PAIR, made) == "2 × (2, 4) …"
    made.calls[:] = [replace(call, output=None) for call in made.calls]
    assert returned(PAIR, made) == "(2, 4)"


SIZES = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        B, _, C = x.size()
        return self.head(x)
"""


def unpacked(text: str = SIZES, shape: Output | None = None, names: Sequence[str] = ("B", "_", "C")) -> Trace:
    """Return a trace of the text, in which the sizes of (2, 7, 16) are unpacked."""
    values: Output = {"list": [{"value": 2}, {"value": 7}, {"value": 16}]}
    made = Trace(text).node("size", "x.size()", values, target="size", inputs=[shape or tensor(2, 7, 16)])
    for number, (name, value) in enumerate(zip(names, values["list"], strict=True)):
        index: Output = {"value": number}
        made.node(f"getitem_{number}", name, value, target="operator.getitem", inputs=[values, index])
        made.nodes[-1] = replace(made.nodes[-1], input_nodes=("size",))
    return made


def test_sizes_that_are_bound_to_names_have_the_names() -> None:
    assert texts(snapshot(SIZES, unpacked().state())) == {"B, _, C = x.size()": "B = 2, C = 16"}
    guessed = unpacked()
    guessed.recipe = replace(guessed.recipe, source="search")
    assert texts(snapshot(SIZES, guessed.state())) == {"B, _, C = x.size()": "~B = 2, C = 16"}
    assert texts(of_kinds(snapshot(SIZES, unpacked().state()), HintKinds(shapes=False))) == {}


def test_a_size_that_depends_on_data_has_a_name_but_no_number() -> None:
    chosen: Output = {**tensor(2, 7, 16), "symbolic": ["u0", 7, "H//4"]}
    assert texts(snapshot(SIZES, unpacked(shape=chosen).state())) == {"B, _, C = x.size()": "B = u0, C = 16"}


def test_sizes_of_which_data_may_decide_have_no_hint() -> None:
    report = replace(unpacked(shape=tensor(1)).state().report or unpacked().report(), symbols={"u0": None})
    state = replace(unpacked(shape=tensor(1)).state(), report=report)
    assert texts(snapshot(SIZES, state)) == {}


def test_a_size_whose_name_is_edited_is_left_out_until_the_next_trace() -> None:
    shown = edited(snapshot(SIZES, unpacked().state()), "B, _, C", "N, _, C")
    assert texts(shown) == {"N, _, C = x.size()": "C = 16"}


def test_items_of_sizes_that_no_name_gets_have_no_hint() -> None:
    text = SIZES.replace("B, _, C = x.size()", "t = x.size()[0], x.size()[1], x.size()[2]")
    items = ("x.size()[0]", "x.size()[1]", "x.size()[2]")
    assert texts(snapshot(text, unpacked(text, names=items).state())) == {}
    made = unpacked()
    made.nodes.pop()
    assert texts(snapshot(SIZES, made.state())) == {}


def test_an_argument_of_several_tensors_has_brackets_beside_another() -> None:
    text = TEXT.replace("def forward(self, x):\n        x", "def forward(self, image, pair=None):\n        x")
    made = Trace(text).node("image", "image", tensor(1, 3), op="placeholder", target="image")
    both: Output = {"list": [tensor(1), tensor(2)]}
    made.node("pair", "pair", both, op="placeholder", target="pair")
    assert texts(snapshot(text, made.state())) == {"def forward(self, image, pair": "image: (1, 3), pair: [(1,), (2,)]"}


def test_an_unusual_dtype_is_written_out() -> None:
    made = (
        Trace(TEXT)
        .node("a", "self.conv(x)", tensor(1))
        .node("b", "y + x", tensor(1))
        .node("c", "self.head(x)", tensor(5, dtype="int64"))
    )
    assert texts(snapshot(TEXT, made.state()))["return self.head(x)"] == "(5,) int64"


def test_a_guessed_recipe_makes_a_guessed_shape() -> None:
    made = Trace(TEXT, source="search").node("a", "self.head(x)", tensor(1, 10))
    assert texts(snapshot(TEXT, made.state())) == {"return self.head(x)": "~(1, 10)"}


def test_several_parameters_on_a_line_share_a_hint() -> None:
    text = TEXT.replace("def forward(self, x):\n        x", "def forward(self, image, mask=None):\n        x")
    made = Trace(text).node("image", "image", tensor(1, 3), op="placeholder", target="image")
    made.node("mask", "mask", tensor(1, dtype="bool"), op="placeholder", target="mask")
    assert texts(snapshot(text, made.state())) == {"def forward(self, image, mask": "image: (1, 3), mask: (1,) bool"}


def two_parameters(call: str) -> Trace:
    text = TEXT.replace("def forward(self, x):\n        y", "def forward(self, x, skip):\n        y")
    text = text.replace("self.blocks(x)", call)
    made = Trace(text)
    block_forward = "    def forward(self, x, skip):\n        y ="
    return made.call("blocks", "Block", (0, 0), [tensor(1), tensor(2)], tensor(1), at=call, forward=block_forward)


def test_arguments_of_an_inner_call_by_position_are_located_at_their_parameters() -> None:
    made = two_parameters("self.blocks(x, self.stem(x) == 1)")
    shown = texts(snapshot(made.text, made.state()))
    assert shown["def forward(self, x, skip"] == "x: (1,), skip: (2,)"


def test_arguments_by_keyword_are_not_guessed() -> None:
    made = two_parameters("self.blocks(skip=x, x=x)")
    assert not [line for line in texts(snapshot(made.text, made.state())) if line.startswith("def")]


def test_values_that_are_no_tensors_have_no_hint() -> None:
    made = Trace(TEXT).node("size", "self.head(x)", {"value": 3}).node("list", "y + x", {"list": [{"value": 3}]})
    assert texts(snapshot(TEXT, made.state())) == {}


def test_a_condition_is_not_taken_for_the_value_of_its_line() -> None:
    text = TEXT.replace("return self.head(x)", "return self.head(x) if x.sum() > 0 else x")
    made = Trace(text).node("head", "self.head(x)", tensor(1, 10)).node("sum", "x.sum()", tensor())
    made.node("gt", "x.sum() > 0", tensor(dtype="bool"))
    assert texts(snapshot(text, made.state())) == {"return self.head(x)": "(1, 10)"}


def test_the_tooltip_lists_every_run() -> None:
    shown = snapshot(TEXT, trace().state())
    line = place(TEXT, "y + x").line
    (hint,) = hints(shown, PATH, line, line)
    assert "blocks.0" in hint.tooltip.plain
    assert "(1, 4, 4, 4)" in hint.tooltip.plain
    assert "from a call site" in hint.tooltip.plain


def test_a_line_that_failed_in_one_instance_does_not_look_known_in_all() -> None:
    made = Trace(TEXT).node("a", "self.head(x)", None, path="a").node("b", "self.head(x)", tensor(1, 10), path="b")
    assert texts(snapshot(TEXT, made.state())) == {"return self.head(x)": "(1, 10) …"}


def test_a_line_that_failed_in_every_instance_has_no_hint() -> None:
    made = Trace(TEXT).node("a", "self.head(x)", None)
    assert texts(snapshot(TEXT, made.state())) == {}


def of_kinds(shown: Snapshot, kinds: HintKinds) -> Snapshot:
    return replace(shown, hints={"": kinds})


def test_each_kind_can_be_turned_off() -> None:
    shown = snapshot(TEXT, trace().state())
    lines = {line: text for line, text in EXPECTED.items() if not line.startswith("def forward")}
    assert texts(of_kinds(shown, HintKinds(arguments=False))) == lines
    arguments = {line: text for line, text in EXPECTED.items() if line.startswith("def forward")}
    assert texts(of_kinds(shown, HintKinds(shapes=False))) == arguments
    made = Trace(TEXT).node("a", "y + x", tensor(1)).node("b", "self.head(x)", tensor(5, dtype="int64"))
    made = made.node("c", "self.conv(x)", tensor(1))
    shown = snapshot(TEXT, made.state())
    assert texts(of_kinds(shown, HintKinds(dtypes=False)))["return self.head(x)"] == "(5,)"


def test_the_tooltip_shows_the_other_operations_on_the_line() -> None:
    made = Trace(TEXT).node("a", "self.conv(x)", tensor(1, 4, 8, 8)).node("b", "torch.relu(self.conv(x))", tensor(1, 9))
    (hint,) = all_hints(snapshot(TEXT, made.state()))
    tooltip = hint.tooltip.plain
    assert tooltip.index("(1, 9)") < tooltip.index("before that on this line:") < tooltip.index("(1, 4, 8, 8)")
