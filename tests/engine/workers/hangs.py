"""Fake supervisor that never sends hello, and does not end with its stream."""

import signal
import sys
import threading

signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stderr.write("still importing torch\n")
threading.Event().wait()
