"""The parts of ``benchmarks.corpus``: cases, reference, answers, differences."""
