"""A worker on a system where forked processes do not survive, as they may not on macOS."""

from __future__ import annotations

import os
import runpy
import sys

os.register_at_fork(after_in_child=lambda: os._exit(9))
runpy.run_path(os.environ["FXLSP_TEST_BOOTSTRAP"], run_name="__main__")
sys.exit()
