"""The parts of ``benchmarks.coverage``: results of a check, memory, figures."""
