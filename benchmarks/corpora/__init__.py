"""The parts of ``benchmarks.corpus``: cases, the reference, fxlsp's answers, and what differs."""
