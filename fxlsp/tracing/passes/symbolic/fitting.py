"""Expressions for sizes of which only the numbers in several runs are known.

The numbers of one size in all runs are its series. A series that was explained before has the same expression again,
so only the few sizes that an operation changes are fitted: by what operations do to a size (scale it, shift it, slide a
window over it, multiply or add sizes), from the sizes of the operation's own operands. The result agrees with all
numbers; whether it is right at other sizes is for the caller to verify.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations

from .expressions import SymbolicSize, number, symbol

Series = tuple[int, ...]
"""Numbers of one size, one for each run."""
Window = tuple[int, int]
"""Divisor and offset of a window that slides over a size: ``(size + offset) // divisor``."""

_LARGEST_DIVISOR = 64
_MOST_OPERANDS = 10
"""Operands of which all pairs and triples are tried."""


class SizeFitter:
    """Expressions of all series that were explained so far."""

    def __init__(self, symbols: Mapping[str, Series], *, guesses_windows: bool = True) -> None:
        """
        Args:
            symbols: the sizes that were chosen for each run.
            guesses_windows: whether windows are tried that no layer is known to have.
        """
        self._guesses_windows = guesses_windows
        self._known: dict[Series, SymbolicSize | None] = {series: symbol(name) for name, series in symbols.items()}
        self._symbols = tuple(symbols.values())

    def known(self, series: Series) -> SymbolicSize | None:
        """Return the expression of a series that is constant, or was explained before."""
        return number(series[0]) if len(set(series)) == 1 else self._known.get(series)

    def add(self, series: Series, size: SymbolicSize) -> None:
        """Explain a series."""
        self._known[series] = size

    def fitted(
        self, series: Series, operands: Sequence[Sequence[Series]], windows: Sequence[Window] = ()
    ) -> SymbolicSize | None:
        """Return the expression of a series; None if there is none.

        Args:
            series: the numbers to explain.
            operands: for each operand of the operation, its sizes.
            windows: the windows that the operation slides over its operands.
        """
        if len(set(series)) == 1:
            return number(series[0])
        if series not in self._known:
            every = dict.fromkeys(each for operand in operands for each in operand)
            explained = [each for each in every if self._known.get(each) and len(set(each)) > 1]
            sources = list(dict.fromkeys((*explained[:_MOST_OPERANDS], *self._symbols)))
            found = chain(self._candidates(series, sources, windows), self._joined(series, operands))
            self._known[series] = next(found, None)
        return self._known[series]

    def _joined(self, series: Series, operands: Sequence[Sequence[Series]]) -> Iterator[SymbolicSize]:
        """Yield the sum of one size of each operand, as ``torch.cat`` makes it."""
        for sizes in zip(*operands, strict=False):
            if series == tuple(map(sum, zip(*sizes, strict=True))):
                parts = [self.fitted(each, ()) for each in sizes]
                total = number(0)
                for part in parts:
                    if part is None:
                        break
                    total += part
                else:
                    yield total

    def _candidates(self, series: Series, sources: list[Series], windows: Sequence[Window]) -> Iterator[SymbolicSize]:
        """Yield expressions that agree with a series, the likeliest first."""
        for source in sources:
            yield from self._shifted(series, source)
        for source in sources:
            yield from (self._windowed(source, *window) for window in windows if _fits(series, source, *window))
        for count in (1, 2, 3, 4):
            for chosen in combinations(sources, count):
                yield from self._product(series, chosen)
        for first, second in combinations(sources, 2):
            yield from self._sum(series, first, second)
        for source in sources if self._guesses_windows else ():
            yield from self._any_window(series, source)

    def _of(self, source: Series) -> SymbolicSize:
        known = self._known[source]
        assert known is not None
        return known

    def _shifted(self, series: Series, source: Series) -> Iterator[SymbolicSize]:
        """Yield ``a * source + c``."""
        other = next(index for index, value in enumerate(source) if value != source[0])
        slope = Fraction(series[other] - series[0], source[other] - source[0])
        if slope.denominator != 1 or slope == 0:
            return
        offset = series[0] - int(slope) * source[0]
        if all(value == int(slope) * at + offset for value, at in zip(series, source, strict=True)):
            yield self._of(source) * number(int(slope)) + number(offset)

    def _windowed(self, source: Series, divisor: int, offset: int) -> SymbolicSize:
        return (self._of(source) + number(offset)) // divisor

    def _product(self, series: Series, chosen: Sequence[Series]) -> Iterator[SymbolicSize]:
        """Yield a multiple or an exact part of a product."""
        values = [1] * len(series)
        for source in chosen:
            values = [value * factor for value, factor in zip(values, source, strict=True)]
        if any(value == 0 for value in values):
            return
        ratio = Fraction(series[0], values[0])
        if ratio == 0 or any(value != ratio * whole for value, whole in zip(series, values, strict=True)):
            return
        product = number(ratio.numerator)
        for source in chosen:
            product *= self._of(source)
        yield product // ratio.denominator

    def _sum(self, series: Series, first: Series, second: Series) -> Iterator[SymbolicSize]:
        """Yield the sum or difference of two sizes, and a number."""
        for left, right in ((1, 1), (1, -1), (-1, 1)):
            rest = {value - left * a - right * b for value, a, b in zip(series, first, second, strict=True)}
            if len(rest) == 1:
                yield self._of(first) * number(left) + self._of(second) * number(right) + number(rest.pop())

    def _any_window(self, series: Series, source: Series) -> Iterator[SymbolicSize]:
        """Yield a window over a size, or the size rounded to a multiple.

        Of the offsets that agree, that which rounds down or up, else the one nearest to 0.
        """
        for divisor in range(2, _LARGEST_DIVISOR + 1):
            if all(value % divisor == 0 for value in series):
                parts = tuple(value // divisor for value in series)
                for offset in _offsets(parts, source, divisor):
                    yield self._windowed(source, divisor, offset) * number(divisor)
            for offset in _offsets(series, source, divisor):
                yield self._windowed(source, divisor, offset)


def _fits(series: Series, source: Series, divisor: int, offset: int) -> bool:
    return all(value == (at + offset) // divisor for value, at in zip(series, source, strict=True))


def _offsets(series: Series, source: Series, divisor: int) -> tuple[int, ...]:
    """Return the likeliest offset with which a window over ``source`` yields ``series``; none if there is none."""
    pairs = list(zip(series, source, strict=True))
    lowest = max(divisor * value - at for value, at in pairs)
    highest = min(divisor * value - at + divisor - 1 for value, at in pairs)
    if lowest > highest:
        return ()
    for usual in (0, divisor - 1):
        if lowest <= usual <= highest:
            return (usual,)
    return (min(range(lowest, highest + 1), key=abs),)
