"""Never says hello, and does not end when the channel is closed."""

import signal
import sys
import threading

signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stderr.write("still importing torch\n")
threading.Event().wait()
