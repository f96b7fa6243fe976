"""Fake supervisor that answers a trace with data that is not a frame."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.engine.workers.fake_wire import HELLO, Wire

wire = Wire()
wire.send(HELLO)
for message in wire.messages():
    if message["type"] == "trace":
        wire.send_raw(b"\xff\xff\xff\xffnonsense")
