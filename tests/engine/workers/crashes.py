"""Fake supervisor that ends before its first message."""

import sys

sys.stderr.write("Traceback (most recent call last):\nRuntimeError: libtorch is broken\n")
sys.exit(7)
