"""Fake supervisor that is killed while it starts for the first time, and works then."""

import os
import runpy
import signal
from pathlib import Path

starts = Path(os.environ["FXLSP_TEST_STARTS"])
if not starts.exists():
    starts.touch()
    os.kill(os.getpid(), signal.SIGKILL)
runpy.run_path(str(Path(__file__).with_name("good.py")), run_name="__main__")
