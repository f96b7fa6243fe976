"""Fake supervisor with an outdated version of the protocol."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.engine.workers.fake_wire import HELLO, Wire

wire = Wire()
wire.send({**HELLO, "protocol": 0})
for _ in wire.messages():
    pass
