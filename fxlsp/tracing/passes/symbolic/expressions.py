"""Sizes as integer expressions of named symbols, in one normal form: ``(H+31)//32``.

An expression is a sum of products of symbols and of quotients, each quotient rounded down and by a positive number.
Quotients of quotients become one, so that five convolutions of stride 2 read as one division by 32.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import gcd, prod
from typing import Union

Monomial = tuple["Atom", ...]
"""Factors of a product, sorted; empty for a constant."""


@dataclass(frozen=True, slots=True)
class SymbolicSize:
    """Sum of products; two sizes that have the same terms are equal."""

    terms: tuple[tuple[Monomial, int], ...]
    """Products with their factors, sorted, none of which is 0."""

    @property
    def constant(self) -> int | None:
        """The number that this is; None if it depends on a symbol."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def symbols(self) -> frozenset[str]:
        """Names of all symbols."""
        atoms = (atom for factors, _ in self.terms for atom in factors)
        return frozenset().union(*({atom} if isinstance(atom, str) else atom.dividend.symbols for atom in atoms))

    def __add__(self, other: SymbolicSize) -> SymbolicSize:
        return _sum((*self.terms, *other.terms))

    def __mul__(self, other: SymbolicSize) -> SymbolicSize:
        return _sum(
            (tuple(sorted((*left, *right), key=_order)), first * second)
            for left, first in self.terms
            for right, second in other.terms
        )

    def __floordiv__(self, divisor: int) -> SymbolicSize:
        """Return the quotient, rounded down, by a positive number."""
        whole: list[tuple[Monomial, int]] = []
        rest: list[tuple[Monomial, int]] = []
        for factors, count in self.terms:
            quotient, remainder = divmod(count, divisor)
            if not factors or remainder == 0:
                whole.append((factors, quotient))
                rest.append((factors, remainder))
            else:
                rest.append((factors, count))
        return _sum(whole) + _proper_quotient(_sum(rest), divisor)

    def value(self, symbols: Mapping[str, int]) -> int:
        """Return the number for values of the symbols."""
        total = 0
        for factors, count in self.terms:
            values = (symbols[atom] if isinstance(atom, str) else atom.value(symbols) for atom in factors)
            total += prod(values, start=count)
        return total

    @property
    def text(self) -> str:
        """Python expression, without blanks."""
        if not self.terms:
            return "0"
        # The constant last, as people write it.
        ordered = sorted(self.terms, key=lambda term: (not term[0], term[1] < 0))
        texts = [_term_text(factors, count) for factors, count in ordered]
        return texts[0] + "".join(text if text.startswith("-") else f"+{text}" for text in texts[1:])


@dataclass(frozen=True, slots=True)
class Quotient:
    """Quotient of a size, rounded down, that has no simpler form."""

    dividend: SymbolicSize
    divisor: int

    def value(self, symbols: Mapping[str, int]) -> int:
        """Return the number for values of the symbols."""
        return self.dividend.value(symbols) // self.divisor

    @property
    def text(self) -> str:
        """Python expression, without blanks."""
        dividend = self.dividend.text
        return f"({dividend})//{self.divisor}" if len(self.dividend.terms) > 1 else f"{dividend}//{self.divisor}"


Atom = Union[str, Quotient]  # noqa: UP007  # A forward reference above, which | does not take.


def number(value: int) -> SymbolicSize:
    """Return a number as a size."""
    return SymbolicSize((((), value),) if value else ())


def symbol(name: str) -> SymbolicSize:
    """Return a symbol as a size."""
    return SymbolicSize((((name,), 1),))


def _sum(terms: Iterable[tuple[Monomial, int]]) -> SymbolicSize:
    counts: dict[Monomial, int] = {}
    for factors, count in terms:
        counts[factors] = counts.get(factors, 0) + count
    kept = [(factors, count) for factors, count in counts.items() if count]
    return SymbolicSize(tuple(sorted(kept, key=lambda term: [_order(atom) for atom in term[0]])))


def _proper_quotient(rest: SymbolicSize, divisor: int) -> SymbolicSize:
    """Return the quotient of what no factor of the divisor could be taken out of; its constant is in [0, divisor)."""
    constant = next((count for factors, count in rest.terms if not factors), 0)
    varying = [(factors, count) for factors, count in rest.terms if factors]
    if not varying:
        return number(0)
    common = reduce(gcd, (count for _, count in varying), divisor)
    if common > 1:
        smaller = _sum([(factors, count // common) for factors, count in varying]) + number(constant // common)
        return smaller if common == divisor else smaller // (divisor // common)
    (factors, count), *others = varying
    if not others and count == 1 and len(factors) == 1 and isinstance(factors[0], Quotient):
        inner = factors[0]
        return (inner.dividend + number(constant * inner.divisor)) // (inner.divisor * divisor)
    return SymbolicSize((((Quotient(rest, divisor),), 1),))


def _order(atom: Atom) -> tuple[bool, str]:
    return (False, atom) if isinstance(atom, str) else (True, atom.text)


def _term_text(factors: Monomial, count: int) -> str:
    if not factors:
        return str(count)
    if len(factors) == 1 and count == 1:
        return factors[0] if isinstance(factors[0], str) else factors[0].text
    texts = [atom if isinstance(atom, str) else f"({atom.text})" for atom in factors]
    product = "*".join(texts)
    return {1: product, -1: f"-{product}"}.get(count, f"{count}*{product}")
