"""torchvision's classification models, one of each architecture, against a real run.

The others are the same code with other sizes; ``python -m benchmarks.corpus --torchvision`` runs them all.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from fxlsp.report.graph import Node
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from tests.tracing.model.capture.eager import EagerRun, plain, run_eagerly, shapes_of_output

pytestmark = pytest.mark.torchvision

COLUMNS = sys.version_info >= (3, 11)
"""Before, code knows its lines alone: a location is the line on which the expression begins."""


ARCHITECTURES = [
    *("alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "inception_v3"),
    *("maxvit_t", "mnasnet0_5", "mnasnet1_3", "mobilenet_v2", "mobilenet_v3_small", "regnet_x_400mf", "regnet_y_400mf"),
    *("resnet18", "resnet50", "resnext50_32x4d", "shufflenet_v2_x0_5", "squeezenet1_0", "squeezenet1_1", "swin_t"),
    *("swin_v2_t", "vgg11", "vgg11_bn", "vit_b_32", "wide_resnet50_2"),
]


def test_every_architecture_of_torchvision_is_among_them() -> None:
    import torchvision.models
    from torchvision.models import get_model_builder, list_models

    modules = {get_model_builder(name).__module__ for name in list_models(module=torchvision.models)}
    assert {get_model_builder(name).__module__ for name in ARCHITECTURES} == modules


@pytest.fixture
def without_init() -> Iterator[None]:
    """Leave weights uninitialised inside this context: drawing 645 million takes a while."""
    functions = {name: getattr(torch.nn.init, name) for name in dir(torch.nn.init) if name.endswith("_")}
    functions = {name: function for name, function in functions.items() if not name.startswith("_")}
    for name in functions:
        setattr(torch.nn.init, name, lambda tensor, *args, **kwargs: tensor)
    yield
    for name, function in functions.items():
        setattr(torch.nn.init, name, function)


def test_resnet18_has_the_module_paths_of_pytorchs_example(worker: Any) -> None:
    report = worker.report("torchvision.models:resnet18")
    rows = [f"Node {node.name} is from module {node.module_path}".rstrip() for node in report.nodes]
    expected = (Path(__file__).parent / "resnet18_module_paths.txt").read_text(encoding="utf-8").splitlines()
    assert rows == [row.rstrip() for row in expected]


def test_a_container_child_is_located_at_the_call_of_the_container(worker: Any) -> None:
    report = worker.report("torchvision.models:resnet18")
    node = next(node for node in report.nodes if node.name == "layer2_0_downsample_0")
    assert node.module_path == node.call_path == "layer2.0.downsample.0"
    assert node.output == {"shape": [1, 128, 28, 28], "dtype": "float32"}
    assert node.location is not None
    assert node.location.function == "forward"
    assert node.location.file.endswith("torchvision/models/resnet.py")
    assert text_at(node.location) == ("self.downsample(x)" if COLUMNS else "identity = self.downsample(x)")


@pytest.mark.filterwarnings("ignore:The default weight initialization:FutureWarning")
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_nodes_of_a_model_are_located_where_it_really_runs(name: str, worker: Any, without_init: None) -> None:
    size = 299 if name == "inception_v3" else 224
    report = worker.report(f"torchvision.models:{name}", f"{name}().eval()", f"torch.randn(1, 3, {size}, {size})")
    import torchvision.models

    torch.manual_seed(0)
    model = torchvision.models.get_model(name).eval()
    graph = traced_by_torch(model)
    if isinstance(graph, Exception):
        assert report.verdict.error is not None
        assert (report.verdict.error.type, report.verdict.error.message) == (type(graph).__name__, str(graph))
        return
    assert report.verdict.traceable
    assert [node.name for node in report.nodes] == [node.name for node in graph.nodes]
    assert report.complete
    run = run_eagerly(model, torch.randn(1, 3, size, size))
    for node in report.nodes:
        check_line(node, run)
        if COLUMNS:
            check_expression(node)
    check_shapes(report, run)


def traced_by_torch(model: torch.nn.Module) -> torch.fx.Graph | Exception:
    try:
        return torch.fx.symbolic_trace(model).graph
    except Exception as error:
        return error


def check_line(node: Node, run: EagerRun) -> None:
    """Check that the location ends on the line of the real run."""
    assert node.location is not None, node
    place = (node.location.file, node.location.end_line)
    if node.op == "call_module":
        assert place in [(file, end_of(file, line)) for file, line in run.leaves[node.target]], node
    elif node.op in ("call_function", "call_method") and has_tensor(node.inputs) and not is_wrapped(node):
        name = "get" if node.target == "builtins.getattr" else plain(node.target.rpartition(".")[2])
        seen = {(file, end_of(file, line)) for file, line, function in run.functions if function == name}
        assert place in seen, (node, [key for key in run.functions if key[1] == place[1]])


def is_wrapped(node: Node) -> bool:
    """Return whether a node is a function wrapped by ``torch.fx.wrap``.

    A mode for torch's functions does not see it.
    """
    return node.target.startswith("torchvision.")


def has_tensor(inputs: tuple[Any, ...]) -> bool:
    """Return whether an operation is on a tensor, not on a list of tensors.

    The latter is Python's own unpacking.
    """
    return isinstance(inputs[0], dict) and ("shape" in inputs[0] or ("list" in inputs[0] and len(inputs) == 1))


@cache
def syntax_by_span(file: str) -> dict[tuple[int, int, int, int], list[ast.AST]]:
    nodes: dict[tuple[int, int, int, int], list[ast.AST]] = {}
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if hasattr(node, "lineno"):
            nodes.setdefault(span(node), []).append(node)
    return nodes


@cache
def end_of(file: str, line: int) -> int:
    """Return the last line of the calls and operations that start on a frame's line.

    A frame's line is where an expression over several lines begins.
    """
    if not COLUMNS:
        return line
    ends = [
        end_line
        for (first_line, _, end_line, _), nodes in syntax_by_span(file).items()
        if first_line == line and any(isinstance(node, (ast.Call, ast.BinOp)) for node in nodes)
    ]
    return max(ends, default=line)


def check_expression(node: Node) -> None:
    """Check that a syntax node at exactly the location has a name that fits the target."""
    assert node.location is not None
    found = syntax_by_span(node.location.file).get(span_of(node.location), [])
    if node.op == "placeholder":
        assert any(isinstance(syntax, ast.arg) for syntax in found), node
    elif node.op == "output":
        assert any(isinstance(syntax, ast.Return) for syntax in found), node
    else:
        assert any(fits(syntax, node) for syntax in found), (node, [ast.dump(syntax) for syntax in found])


def fits(syntax: ast.AST, node: Node) -> bool:
    if node.op == "call_module":
        return isinstance(syntax, ast.Call)
    name = node.target.rpartition(".")[2]
    if node.op == "get_attr" and name.startswith("_tensor_constant"):
        # A tensor that no attribute of the model holds: it stands on the operation that uses it.
        return isinstance(syntax, (ast.Call, ast.BinOp, ast.Subscript))
    if node.op == "get_attr":
        return isinstance(syntax, ast.Attribute) and syntax.attr == name
    if isinstance(syntax, ast.Call):
        called = syntax.func
        return name in (getattr(called, "attr", None), getattr(called, "id", None)) or name.startswith("_")
    if name == "getitem":
        return isinstance(syntax, (ast.Subscript, ast.Name))
    if name == "getattr":
        return isinstance(syntax, ast.Attribute)
    return isinstance(syntax, (ast.BinOp, ast.AugAssign, ast.UnaryOp, ast.Compare))


def span(node: Any) -> tuple[int, int, int, int]:
    return (node.lineno, node.col_offset + 1, node.end_lineno, node.end_col_offset + 1)


def span_of(location: Location) -> tuple[int, int, int, int]:
    return (location.line, location.column, location.end_line, location.end_column)


def text_at(location: Location) -> str:
    line = Path(location.file).read_text(encoding="utf-8").splitlines()[location.line - 1]
    assert location.line == location.end_line
    return line[location.column - 1 : location.end_column - 1]


def check_shapes(report: Report, run: EagerRun) -> None:
    """Check that every call of every module returned the shapes of the real run."""
    seen: dict[str, list[Any]] = {}
    for call in report.calls:
        seen.setdefault(call.module_path, []).append(shapes_of_output(call.output))
    for path, outputs in seen.items():
        assert outputs == run.shapes[path], path
