from __future__ import annotations

from dataclasses import replace

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.hints import hints
from fxlsp.ide.hover.hover import hover
from fxlsp.ide.lenses import lenses
from fxlsp.ide.trace_view.instances import instance_choices
from tests.ide.builder import PATH, Trace, edited, place, snapshot, tensor
from tests.ide.nets import TEXT, trace

SECOND = ForwardInstance(PATH, "Net", "blocks.1", 1)


def chosen(shown: Snapshot, instance: ForwardInstance = SECOND, name: str = "Block") -> Snapshot:
    return replace(shown, instances={SymbolId(PATH, name): instance})


def hint_at(shown: Snapshot, expression: str) -> str:
    line = place(shown.documents[PATH].text, expression).line
    return next(hint.text for hint in hints(shown, PATH, line, line))


def lines_at(shown: Snapshot, expression: str) -> list[str]:
    location = place(shown.documents[PATH].text, expression)
    found = hover(shown, PATH, location.line, location.column + 1)
    assert found is not None
    return found.text.plain.split("\n")


def lens_texts(shown: Snapshot) -> list[str]:
    return [lens.text for lens in lenses(shown, PATH) if lens.kind == "forward"]


def test_every_call_that_ran_a_forward_can_be_chosen() -> None:
    choices = instance_choices(snapshot(TEXT, trace().state()), PATH, "Block")
    assert [(each.text, each.flow) for each in choices] == [
        ("Net · blocks.0", "(1, 4, 8, 8) → (1, 4, 8, 8)"),
        ("Net · blocks.1", "(1, 4, 8, 8) → (1, 4, 4, 4)"),
    ]
    assert len({each.id for each in choices}) == 2


def test_the_chosen_instance_is_marked_and_keeps_its_id_through_edits_and_traces() -> None:
    before = chosen(snapshot(TEXT, trace().state()))
    later = chosen(snapshot("# a line more\n" + TEXT, trace("# a line more\n" + TEXT).state()))
    first, second = instance_choices(before, PATH, "Block")
    assert (first.chosen, second.chosen) == (False, True)
    assert [each.id for each in instance_choices(later, PATH, "Block")] == [first.id, second.id]


def test_calls_of_one_module_are_instances_with_a_number() -> None:
    made = trace()
    wide = tensor(1, 4, 8, 8)
    forward = "    def forward(self, x):\n        y ="
    made.call("blocks.0", "Block", (9, 10), [wide], wide, at="self.head(x)", forward=forward)
    texts = [each.text for each in instance_choices(snapshot(TEXT, made.state()), PATH, "Block")]
    assert texts == ["Net · blocks.0 · call 1 of 2", "Net · blocks.1", "Net · blocks.0 · call 2 of 2"]


def test_without_a_choice_the_first_instance_is_shown_and_that_there_are_more() -> None:
    shown = snapshot(TEXT, trace().state())
    assert hint_at(shown, "self.conv(x)") == "(1, 4, 8, 8) …"
    assert lens_texts(shown)[0] == "blocks.0 (+1 more): (1, 4, 8, 8) → (1, 4, 8, 8)"


def test_hints_lens_and_hover_follow_the_chosen_instance() -> None:
    shown = chosen(snapshot(TEXT, trace().state()))
    assert hint_at(shown, "self.conv(x)") == "(1, 4, 4, 4)"
    assert hint_at(shown, "y + x") == "(1, 4, 4, 4)"
    assert lens_texts(shown)[0] == "blocks.1 (+1 more): (1, 4, 8, 8) → (1, 4, 4, 4) · chosen"
    lines = lines_at(shown, "self.conv(x)")
    assert lines[0] == "Conv2d(4, 4, kernel_size=(1, 1)) · (1, 4, 8, 8) → (1, 4, 4, 4) float32, and 1 more"
    assert lines[1] == "node blocks_1_conv · call_module · module path blocks.1.conv"
    assert [line.split()[0] for line in lines[3:5]] == ["blocks.0.conv", "▸"]


def test_what_did_not_run_inside_the_chosen_instance_shows_what_it_did() -> None:
    plain, shown = snapshot(TEXT, trace().state()), chosen(snapshot(TEXT, trace().state()))
    assert hint_at(shown, "self.stem(x)") == hint_at(plain, "self.stem(x)") == "(1, 4, 8, 8)"
    assert lines_at(shown, "self.stem(x)") == lines_at(plain, "self.stem(x)")


def test_an_instance_that_is_gone_leaves_the_first_one_shown() -> None:
    gone = ForwardInstance(PATH, "Net", "blocks.7", 1)
    plain = snapshot(TEXT, trace().state())
    assert lens_texts(chosen(plain, gone)) == lens_texts(plain)
    assert hint_at(chosen(plain, gone), "self.conv(x)") == hint_at(plain, "self.conv(x)")


def test_the_choice_is_followed_through_an_edit() -> None:
    shown = chosen(edited(snapshot(TEXT, trace().state()), "import torch\n", "import torch\n\n\n"))
    assert hint_at(shown, "self.conv(x)") == "(1, 4, 4, 4)"


def test_of_two_choices_the_inner_one_counts_for_what_it_runs() -> None:
    text = TEXT.replace(
        "class Net", "class Gate(nn.Module):\n    def forward(self, g):\n        return g * 2\n\n\nclass Net"
    ).replace("return y + x", "return self.gate(y)")
    made = Trace(text)
    wide, narrow = tensor(1, 4, 8, 8), tensor(1, 4, 4, 4)
    net, block = "    def forward(self, x):\n        x =", "    def forward(self, x):\n        y ="
    made.call("", "Net", (0, 2), [wide], narrow, forward=net)
    for index, size in enumerate([wide, narrow]):
        made.call(f"blocks.{index}", "Block", (index, index + 1), [size], size, at="self.blocks(x)", forward=block)
        gate = f"blocks.{index}.gate"
        made.call(gate, "Gate", (index, index + 1), [size], size, at="self.gate(y)", forward="    def forward(self, g)")
        made.node(f"mul_{index}", "g * 2", size, path=gate, inputs=[size])
    both = {
        SymbolId(PATH, "Block"): ForwardInstance(PATH, "Net", "blocks.0", 1),
        SymbolId(PATH, "Gate"): ForwardInstance(PATH, "Net", "blocks.1.gate", 1),
    }
    shown = replace(snapshot(text, made.state()), instances=both)
    assert hint_at(shown, "g * 2") == "(1, 4, 4, 4)"
    assert hint_at(shown, "self.gate(y)") == "(1, 4, 8, 8)"
