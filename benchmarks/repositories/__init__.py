"""The parts of ``benchmarks.coverage``: what a check said, how much memory it took, and the figures."""
