"""From a running instruction to the source expression that a person would point at.

In: frames and the texts that run, unsaved buffers first. Out: :class:`~fxlsp.report.locations` places and spans. A
place is either exact or not given; files of torch, of fxlsp and installed packages are told apart here alone.
"""
