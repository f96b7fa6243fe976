"""Messages between server, supervisor and workers as JSON, and handling of malformed ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fxlsp.report.frontends import FrontendVerdict
from fxlsp.report.locations import Location
from fxlsp.report.recipes import Recipe
from fxlsp.report.sizes import Sizes
from fxlsp.report.symbolic_sizes import SymbolicSizes
from fxlsp.report.tracer_choice import ObjectReference, TracerChoice
from fxlsp.wire import messages
from fxlsp.wire.frames import Decoder, WireError, encode
from fxlsp.wire.messages import (
    PROTOCOL,
    WIRE,
    Bye,
    Cancel,
    CheckpointForked,
    Declined,
    DumpStack,
    EarlyReport,
    FailureMessage,
    FileRead,
    FrontendMessage,
    Hello,
    Limits,
    Log,
    ModeDifference,
    Overlay,
    Preload,
    Provisional,
    Ready,
    RecipeGuess,
    RecipeRequest,
    RecoveredMessage,
    Refused,
    ReportMessage,
    ShapesMessage,
    StackFrame,
    Stage,
    SymbolsMessage,
    TraceRequest,
    TraceTarget,
    WorkerDied,
)
from fxlsp.wire.vocabulary import UnknownMessage, WireMessage
from tests.report.test_json_text import PROBLEM, REPORT

TRACE = TraceRequest(
    TraceTarget("Net", file="/net.py"),
    RecipeRequest(
        *("Net()", "torch.ones(1)", "call-site", "/use.py", True),
        alternatives=(Recipe("Net(1)", None, "comment"),),
        guess=RecipeGuess("Net(2)", None),
    ),
    overlays={"/net.py": "ab12"},
    roots=("/",),
    tracer=TracerChoice(ObjectReference("m:T"), ("Block",)),
    sizes=Sizes(2),
    limits=Limits(5.0, 100),
    id=3,
    texts={"/net.py": "x = 1"},
)
TRAVELLING: list[tuple[WireMessage, dict[str, Any]]] = [
    (
        Overlay("/net.py", "ab12", "é\ud800"),
        {"type": "overlay", "path": "/net.py", "digest": "ab12", "text": "é\ud800"},
    ),
    (
        TRACE,
        {
            "type": "trace",
            "id": 3,
            "target": {"file": "/net.py", "name": "Net"},
            "recipe": {
                "init": "Net()",
                "inputs": "torch.ones(1)",
                "source": "call-site",
                "file": "/use.py",
                "only": True,
                "alternatives": [{"init": "Net(1)", "inputs": None, "source": "comment"}],
                "guess": {"init": "Net(2)", "inputs": None},
            },
            "overlays": {"/net.py": "ab12"},
            "texts": {"/net.py": "x = 1"},
            "roots": ["/"],
            "tracer": {"tracer": {"text": "m:T", "place": None}, "leaf_modules": ["Block"], "wrap": []},
            "sizes": {"batch": 2, "image": None, "sequence": None},
            "limits": {
                "seconds": 5.0,
                "megabytes": 100,
                "processes": 32,
                "open_files": 4096,
                "written_megabytes": 1024,
            },
        },
    ),
    (
        TraceRequest(TraceTarget("Net", module="pkg.net"), id=1),
        {
            "type": "trace",
            "id": 1,
            "target": {"module": "pkg.net", "name": "Net"},
            "recipe": {"init": None, "inputs": None, "source": None},
            "overlays": {},
            "roots": [],
            "tracer": {"tracer": None, "leaf_modules": [], "wrap": []},
            "sizes": {"batch": None, "image": None, "sequence": None},
            "limits": {
                "seconds": 10.0,
                "megabytes": 4096,
                "processes": 32,
                "open_files": 4096,
                "written_megabytes": 1024,
            },
        },
    ),
    (Cancel(3), {"type": "cancel", "id": 3}),
    (Preload(("timm",)), {"type": "preload", "names": ["timm"]}),
    (Bye(), {"type": "bye"}),
    (
        Hello(PROTOCOL, "3.11.7", "2.15.0", "/bin/python", 12, True, True),
        {
            "type": "hello",
            "protocol": 1,
            "python": "3.11.7",
            "torch": "2.15.0",
            "executable": "/bin/python",
            "pid": 12,
            "fork": True,
            "positions": True,
        },
    ),
    (Refused("FX906", "no torch"), {"type": "refused", "code": "FX906", "message": "no torch"}),
    (Log("warning", "old"), {"type": "log", "level": "warning", "message": "old"}),
    (Stage(3, "load"), {"type": "stage", "id": 3, "name": "load"}),
    (
        EarlyReport(3, {"any": [1]}, (FileRead("/net.py", "ab12"),)),
        {"type": "early", "id": 3, "report": {"any": [1]}, "reads": [{"path": "/net.py", "digest": "ab12"}]},
    ),
    (
        ReportMessage(3, {"any": [1]}, (FileRead("/net.py", "ab12"),), ("timm",)),
        {
            "type": "report",
            "id": 3,
            "report": {"any": [1]},
            "reads": [{"path": "/net.py", "digest": "ab12"}],
            "imports": ["timm"],
        },
    ),
    (
        FrontendMessage(3, FrontendVerdict("export", "ok", "exports with a dynamic batch", batch="dynamic")),
        {
            "type": "frontend",
            "id": 3,
            "verdict": {
                "frontend": "export",
                "verdict": "ok",
                "summary": "exports with a dynamic batch",
                "problems": [],
                "batch": "dynamic",
            },
        },
    ),
    (
        FailureMessage(3, {"any": 1}),
        {"type": "failure", "id": 3, "failure": {"any": 1}, "reads": [], "imports": []},
    ),
    (
        WorkerDied(3, "trace", None, 11, "time", (StackFrame("/net.py", 4, "forward"),), "bye"),
        {
            "type": "failed",
            "id": 3,
            "stage": "trace",
            "exit": None,
            "signal": 11,
            "limit": "time",
            "stack": [{"file": "/net.py", "line": 4, "function": "forward"}],
            "stderr_tail": "bye",
        },
    ),
    (Ready(), {"type": "ready"}),
    (Declined(), {"type": "declined"}),
    (CheckpointForked(7), {"type": "holder", "pid": 7}),
    (Provisional(), {"type": "provisional"}),
    (DumpStack(), {"type": "tell"}),
    (
        RecoveredMessage(REPORT, (PROBLEM,), (0, 2)),
        {"type": "recovered", "report": REPORT.to_json(), "findings": [PROBLEM.to_json()], "followed": [0, 2]},
    ),
    (ShapesMessage(({"x": [2, 3]},)), {"type": "shapes", "runs": [{"x": [2, 3]}]}),
    (
        SymbolsMessage(SymbolicSizes({"B": 2}, (["B", 3],), ([0],), ([],))),
        {
            "type": "symbols",
            "sizes": {"symbols": {"B": 2}, "shapes": [["B", 3]], "nodes": [[0]], "calls": [[]]},
        },
    ),
    (
        ModeDifference(True, 5, 3, (Location("/net.py", 1, 1, 1, 2),), ("head",), "TraceError: no"),
        {
            "type": "mode",
            "training": True,
            "nodes": 5,
            "other_nodes": 3,
            "places": [Location("/net.py", 1, 1, 1, 2).to_json()],
            "entered": ["head"],
            "other_error": "TraceError: no",
        },
    ),
]
CLASSES = [each for each in vars(messages).values() if isinstance(each, type) and issubclass(each, WireMessage)]


@pytest.mark.parametrize(("message", "travelling"), TRAVELLING, ids=[each.type for each, _ in TRAVELLING])
def test_a_message_arrives_as_it_was_sent(message: WireMessage, travelling: dict[str, Any]) -> None:
    (arrived,) = Decoder().feed(message.encoded())
    assert arrived == travelling
    assert WIRE.parse(arrived) == message


def test_every_message_is_in_the_vocabulary_and_has_an_example() -> None:
    declared = {each for each in CLASSES if each is not WireMessage}
    assert {type(message) for message, _ in TRAVELLING} == declared
    assert len({each.type for each in declared}) == len(declared)
    assert all(isinstance(WIRE.parse(travelling), type(message)) for message, travelling in TRAVELLING)


def test_unknown_fields_are_ignored_and_unknown_types_come_with_their_name() -> None:
    assert WIRE.parse({"type": "cancel", "id": 3, "why": "new"}) == Cancel(3)
    assert WIRE.parse({"type": "resize", "id": 3}) == UnknownMessage("resize")


def test_a_report_is_passed_on_without_a_look_inside() -> None:
    report: dict[str, Any] = {"nonsense": object()}
    message = WIRE.parse({"type": "report", "id": 1, "report": report})
    assert isinstance(message, ReportMessage)
    assert message.report is report


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"type": "cancel"}, "a message 'cancel' lacks 'id'"),
        ({"type": "cancel", "id": "3"}, "a message 'cancel' has str as its 'id'"),
        ({"type": "cancel", "id": None}, "a message 'cancel' has NoneType as its 'id'"),
        ({"type": "preload", "names": "timm"}, "a message 'preload' has str as its 'names'"),
        ({"type": "trace", "id": 1}, "a message 'trace' lacks 'target'"),
        ({"type": "trace", "id": 1, "target": {"file": "/net.py"}}, "a message 'trace' lacks 'name'"),
        ({"type": "trace", "target": {"name": "Net"}, "limits": []}, "a message 'trace' has list as its 'limits'"),
        ({"type": "report", "id": 1, "report": None}, "a message 'report' has NoneType as its 'report'"),
        ({"type": "report", "id": 1, "report": {}, "reads": [None]}, "a message 'report' is malformed: "),
        ({"type": "failed", "id": 1, "limit": 3}, "a message 'failed' has int as its 'limit'"),
    ],
)
def test_a_malformed_message_is_an_error_that_names_what_is_wrong(data: dict[str, Any], words: str) -> None:
    with pytest.raises(WireError) as raised:
        WIRE.parse(data)
    assert str(raised.value).startswith(words)


@pytest.mark.parametrize("payload", [b"", b"\xff", b"[]", b"{}", b'{"type": 1}', b'"trace"'])
def test_what_is_no_message_at_all_is_an_error(payload: bytes) -> None:
    with pytest.raises(WireError):
        WIRE.decode(payload)


def test_the_target_has_a_public_name() -> None:
    assert [str(TraceTarget("Net", "/net.py")), str(TraceTarget("A.B", module="m"))] == ["/net.py:Net", "m:A.B"]


def test_frames_come_in_any_pieces() -> None:
    stream = Cancel(1).encoded() + encode({"type": "log", "text": "ü" * 1000})
    decoder = Decoder()
    arrived = [message for byte in stream for message in decoder.feed(bytes([byte]))]
    assert [message["type"] for message in arrived] == ["cancel", "log"]
    with pytest.raises(WireError, match="over the limit"):
        decoder.feed(b"\xff\xff\xff\xff")


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_each_message_is_documented(cls: type[WireMessage]) -> None:
    # A dataclass without a docstring is given one that begins with its name.
    assert cls.__doc__
    assert not cls.__doc__.startswith(f"{cls.__name__}(")


def test_json_text_of_a_small_message() -> None:
    assert Stage(1, "load").encoded()[4:] == json.dumps(
        {"type": "stage", "id": 1, "name": "load"}, separators=(",", ":")
    ).encode("ascii")
