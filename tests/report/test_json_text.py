"""JSON text of everything that is written for other programs, byte for byte.

``json_text.jsonl`` contains one line for each of :data:`EXAMPLES`, with each field, its name and its position. Readers
of fxlsp's output rely on it: a change there is a change of the public JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from fxlsp.cli.check.results import ModelEntry
from fxlsp.cli.doctor.finding import DoctorFinding
from fxlsp.cli.doctor.settings import SettingRow
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.engine.state.pinned_recipes import PinnedRecipe
from fxlsp.ide.navigation.hierarchy_items import Reference
from fxlsp.report.graph import Module, ModuleCall, Node, TraceError, Verdict
from fxlsp.report.locations import Location, RelatedPlace, Step
from fxlsp.report.problems import Failure, Problem
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Environment, Report
from fxlsp.report.sizes import ANY_SIZES, Sizes
from fxlsp.report.tracer_choice import TORCH_FX, ObjectReference, TracerChoice
from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.recipes.recipes import FoundRecipe
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

LINES = Path(__file__).with_name("json_text.jsonl").read_text(encoding="utf-8").splitlines()


class Written(Protocol):
    def to_json(self) -> dict[str, Any]: ...


PLACE = Location("/project/net.py", 12, 9, 12, 30, "forward")
IN_CELL = Location("/project/é.ipynb", 3, 5, 4, 1, "<module>", 7)
BARE = Location("/project/net.py", 1, 1, 1, 2)
TENSOR = {"shape": [2, 3], "dtype": "float32"}
LIST = {"list": [TENSOR, {"value": 1.5}, None, {"dict": {"a": {"type": "Size"}}}]}
RELATED = (RelatedPlace("assigned here", PLACE), RelatedPlace("of this cell", IN_CELL))
NODE = Node(
    name="conv",
    op="call_module",
    target="layer.0.conv",
    module_path="layer.0.conv",
    call_path="alias.0.conv",
    module_type="Conv2d",
    location=PLACE,
    stack=(Step(BARE, ""), Step(IN_CELL, None)),
    output=LIST,
    inputs=(TENSOR, None, {"value": None}),
    params=1728,
    flops=3456,
    recovered=True,
    opaque=True,
    module_arguments="3, 64, kernel_size=(3, 3)",
    input_nodes=("x", "y"),
    variables={"z": "x", "a": "y"},
)
PLAIN_NODE = Node("x", "placeholder", "x", None, None, None, None, (), None, (), 0, None)
CHILD = Module("layer.0", ("layer.1", "other"), "Block", 12, 2, PLACE, "3, bias=False", BARE)
PLAIN_MODULE = Module("", (), "Net", 0, 1, None)
CALL = ModuleCall("layer.0", "other", "Block", True, PLACE, BARE, (TENSOR, None), LIST, 5, 6, 1, 2, {"x": "conv"})
PLAIN_CALL = ModuleCall("", None, "Net", False, None, None, (), None, 0, None, 0, 0)
PROBLEM = Problem("FX101", "error", "a\n“b”", PLACE, RELATED, "layer.0", "net.py:Net")
PLAIN_PROBLEM = Problem("FX902", "hint", "why", None)
RECIPE = Recipe("Net(1)", "torch.zeros(2), mask=None", "call-site", "/project/use.py")
REPORT = Report(
    target="net.py:Net",
    environment=Environment("3.11.7", "2.15.0+cpu"),
    recipe=RECIPE,
    mode="eval",
    verdict=Verdict(False, TraceError("TraceError", "symbolically traced variables", PLACE)),
    complete=False,
    opaque=1,
    nodes=(NODE, PLAIN_NODE),
    modules=(PLAIN_MODULE, CHILD),
    calls=(PLAIN_CALL, CALL),
    problems=(PROBLEM, PLAIN_PROBLEM),
    timing_ms={"load": 1.25, "total": 3.0},
)
PLAIN_RECIPE = Recipe("", None, "search")
PLAIN_REPORT = Report(
    "m:Net", Environment("3.10", "2.6"), PLAIN_RECIPE, "train", Verdict(True), True, 0, (), (), (), (), {}
)
TRACER = TracerChoice(
    ObjectReference("m:T", PLACE),
    ("Block*", "timm.*"),
    (ObjectReference("/project/f.py:g"), ObjectReference("m:h", IN_CELL)),
)
FOUND = tuple(FoundRecipe(replace(RECIPE, source=source), Span(1, 1, 1, 2)) for source in ("comment", "call-site"))
SOURCE = (
    "import torch.nn as nn\nfrom .sizes import *\n\nwidth = 4\n\n"
    "class Net(nn.Module):\n    def forward(self, x):\n        return nn.relu(x)\n\ndef make():\n    return Net()\n"
)

EXAMPLES: Mapping[str, Written] = {
    "location": PLACE,
    "location in a cell": IN_CELL,
    "location, bare": BARE,
    "step": Step(PLACE, "layer.0"),
    "related place": RELATED[0],
    "node": NODE,
    "node, plain": PLAIN_NODE,
    "module": CHILD,
    "module, plain": PLAIN_MODULE,
    "call": CALL,
    "call, plain": PLAIN_CALL,
    "trace error": TraceError("NameError", "x", None),
    "verdict": Verdict(True),
    "problem": PROBLEM,
    "problem, plain": PLAIN_PROBLEM,
    "failure": Failure("net.py:Net", "FX903", "no 'width'", PLACE, RELATED, "the argument 'width' of Net"),
    "failure, plain": Failure("net.py:Net", "FX905", "died"),
    "recipe": RECIPE,
    "recipe of its own file": PLAIN_RECIPE,
    "environment": Environment("3.13.1", "2.15.0"),
    "report": REPORT,
    "report, plain": PLAIN_REPORT,
    "sizes": Sizes(2, 64, 8),
    "any sizes": ANY_SIZES,
    "tracer": TRACER,
    "torch's tracer": TORCH_FX,
    "instance": ForwardInstance("/project/net.py", "Net.Inner", "layer1.0", 2),
    "pin": PinnedRecipe(RECIPE, FOUND),
    "reference": Reference("/project/net.py", "Net", 3, 9, "layer1.0"),
    "offers": file_summary_of(Document("", "/project/net.py", None, SOURCE)),
    "finding of the doctor": DoctorFinding("torch", "warning", "old", ("one", "two"), "update it"),
    "row of the doctor": SettingRow("limits.seconds", 10, "default"),
    "entry": ModelEntry("net.py:Net", PLACE, "traced", "", RECIPE, 3, "net.py:Outer"),
    "entry, plain": ModelEntry("net.py:Net", PLACE, "skipped"),
}


def _is_read_whole(example: Written) -> bool:
    """Return whether a class can be read back from its complete JSON, unlike a pin."""
    return hasattr(example, "from_json") and not isinstance(example, PinnedRecipe)


@pytest.mark.parametrize(("name", "line"), [*zip(EXAMPLES, LINES, strict=True)])
def test_what_is_written_is_the_same_to_the_byte(name: str, line: str) -> None:
    assert json.dumps(EXAMPLES[name].to_json(), ensure_ascii=False) == line


@pytest.mark.parametrize("name", [name for name, each in EXAMPLES.items() if _is_read_whole(each)])
def test_what_is_written_can_be_read_again(name: str) -> None:
    example: Any = EXAMPLES[name]
    assert type(example).from_json(json.loads(json.dumps(example.to_json()))) == example


def test_a_lacking_field_is_not_made_up() -> None:
    data = REPORT.to_json()
    del data["nodes"]
    with pytest.raises(KeyError, match="nodes"):
        Report.from_json(data)
