import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.engine.workers.fake_wire import Wire

Wire().send({"type": "refused", "code": "FX906", "message": "python3.12 has no torch"})
