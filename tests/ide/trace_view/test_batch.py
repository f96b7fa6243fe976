"""The number of samples is known where a layer shows that the first dimension is the batch."""

from __future__ import annotations

import pytest

from fxlsp.ide.trace_view.report_index import batch_size
from fxlsp.report.graph import Output
from fxlsp.report.report import Report
from tests.ide.builder import Trace, tensor
from tests.ide.nets import TEXT


def report(made: str, given: Output | None, result: Output | None, *, taken: Output | None = None) -> Report:
    """Return the report of a model with one layer, which takes the input unless ``taken`` is given."""
    trace = Trace(TEXT).node("x", "x", given, op="placeholder", target="x")
    trace.leaf("stem", "self.stem(x)", made, taken or given or {}, tensor(1))
    trace.node("output", "return self.head(x)", result, op="output", target="output", path=None, inputs=[result])
    found = trace.state().report
    assert found is not None
    return found


IMAGES = tensor(8, 3, 32, 32)


@pytest.mark.parametrize(
    ("made", "given", "result"),
    [
        ("Conv2d(3, 4)", IMAGES, tensor(8, 10)),
        ("Conv1d(3, 4)", tensor(8, 3, 32), tensor(8, 10)),
        ("BatchNorm3d(3)", tensor(8, 3, 4, 4, 4), {"list": [tensor(8, 1), tensor(8, 2)]}),
        ("AdaptiveAvgPool2d(1)", IMAGES, {"dict": {"out": tensor(8, 10)}}),
    ],
)
def test_a_layer_of_images_shows_the_batch(made: str, given: Output, result: Output) -> None:
    assert batch_size(report(made, given, result)) == 8


@pytest.mark.parametrize(
    ("made", "given", "result"),
    [
        ("LSTM(4, 8)", tensor(12, 3, 4), tensor(12, 3, 8)),
        ("Linear(4, 8)", tensor(12, 4), tensor(12, 8)),
        ("Conv2d(3, 4)", tensor(3, 32, 32), tensor(3, 32, 32)),
        ("Conv2d(3, 4)", IMAGES, tensor(10)),
        ("Conv2d(3, 4)", IMAGES, tensor()),
        ("Conv2d(3, 4)", IMAGES, {"list": [tensor(8, 1), tensor(4, 2)]}),
        ("Conv2d(3, 4)", None, None),
    ],
)
def test_any_other_first_size_is_no_batch(made: str, given: Output | None, result: Output | None) -> None:
    assert batch_size(report(made, given, result)) is None


def test_frames_that_are_folded_into_the_batch_are_no_samples() -> None:
    video = tensor(2, 16, 3, 32, 32)
    assert batch_size(report("Conv2d(3, 4)", video, tensor(2, 10), taken=tensor(32, 3, 32, 32))) is None
