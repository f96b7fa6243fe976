"""Fake supervisor that sends hello, and then neither answers nor ends."""

import signal
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.engine.workers.fake_wire import HELLO, Wire

signal.signal(signal.SIGTERM, signal.SIG_IGN)
wire = Wire()
wire.send({**HELLO})
threading.Event().wait()
