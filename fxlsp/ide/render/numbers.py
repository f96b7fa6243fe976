"""Numbers of parameters and floating-point operations, with three digits."""

from __future__ import annotations

from collections.abc import Iterable

_UNITS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "K"))


def params_text(count: int) -> str:
    """Return ``11.7 M parameters``."""
    return f"{short_count(count)} parameter{'' if count == 1 else 's'}"


def short_count(count: int) -> str:
    """Return ``11.7 M``."""
    return _scaled(count, " ")


def flops_text(flops: int | None) -> str:
    """Return ``3.63 GFLOPs``; None is an unknown count."""
    if flops is None:
        return "FLOPs unknown"
    return f"{_scaled(flops, ' ')}FLOPs" if flops >= 1000 else f"{flops} FLOPs"


def flops_sum_text(parts: Iterable[int | None]) -> str:
    """Return the sum of ``parts``, after ``≥`` if one of them is unknown."""
    counts = list(parts)
    known = [count for count in counts if count is not None]
    if not known and counts:
        return flops_text(None)
    return ("≥ " if len(known) < len(counts) else "") + flops_text(sum(known))


def counted(count: int, noun: str) -> str:
    """Return ``1 node`` or ``71 nodes``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _scaled(count: int, space: str) -> str:
    for factor, unit in _UNITS:
        if count >= factor * 0.9995:
            return f"{_three_digits(count / factor)}{space}{unit}"
    return str(count)


def _three_digits(number: float) -> str:
    """Return ``1.81``, ``11.7`` or ``118``, without trailing zeros after the point."""
    decimals = 2 if number < 9.995 else 1 if number < 99.95 else 0
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
