"""Fake supervisor whose first data is not a frame, and which does not end."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.engine.workers.fake_wire import Wire

wire = Wire()
wire.send_raw(b"\xff\xff\xff\xffnonsense")
for _ in wire.messages():
    pass
