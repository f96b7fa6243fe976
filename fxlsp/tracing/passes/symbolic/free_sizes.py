"""Search for the dimensions of a model's inputs that may have any size, by running it at others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from .axes import STEPS, AxisGroup, InputAxes, merged
from .graph_runs import RunSizes

Schedules = Mapping[AxisGroup, int]
"""Which of its schedules each free group uses."""
Run = Callable[[Mapping[AxisGroup, int]], "RunSizes | None"]
"""Runs the model with other sizes; None if it does not run."""


class FreeSizes:
    """Dimensions that may vary, and the sizes of all nodes where they did."""

    def __init__(self, axes: InputAxes, run: Run, is_spent: Callable[[], bool]) -> None:
        """
        Args:
            axes: the dimensions of the model's inputs.
            run: runs the model.
            is_spent: returns whether the time is spent; what is known by then is the result.
        """
        self._axes = axes
        self._run = run
        self._is_spent = is_spent
        self._free: dict[AxisGroup, int] = {}
        self._first: RunSizes | None = None
        self._second: RunSizes | None = None
        """Sizes of all nodes at the first two sizes of each free group."""

    def find(self) -> bool:
        """Look for the dimensions that are free, and return whether there are any."""
        likely = [group for group in self._axes.groups if group.is_likely]
        if not self._together(likely):
            for group in likely:
                self._add((group,))
        for group in self._axes.groups:
            if not group.is_likely:
                self._add((group,), most=1)
        # A dimension may follow another one of its size, such as both of a square mask.
        fixed = [group for group in self._axes.groups if self._is_fixed(group)]
        for group in merged(fixed) if any(group.is_likely for group in fixed) else ():
            if group not in fixed:
                self._add((group,))
        return self._is_confirmed()

    def _is_confirmed(self) -> bool:
        """Return whether free groups remain that take a second size too; others only happened to fit."""
        while self._free and self._first is not None:
            self._second = self._run(self._sizes(self._free, 1))
            if self._second is not None:
                return True
            self._free.popitem()
            self._first = self._run(self._sizes(self._free, 0)) if self._free else None
        return False

    @property
    def groups(self) -> tuple[AxisGroup, ...]:
        """The free groups."""
        return tuple(self._free)

    def runs(self) -> Iterator[tuple[dict[AxisGroup, int], RunSizes]]:
        """Yield runs in which every free group has another size each time, with these sizes.

        Each is made when it is asked for. Sizes with which the model does not run are left out.
        """
        for step in range(STEPS):
            sizes = self._sizes(self._free, step)
            found = (self._first, self._second)[step] if step < 2 else self._run(sizes)
            if found is not None:
                yield sizes, found

    def _is_fixed(self, group: AxisGroup) -> bool:
        return all(set(group.axes).isdisjoint(free.axes) for free in self._free)

    def _together(self, groups: Sequence[AxisGroup]) -> bool:
        """Return whether all groups are free, those of equal size perhaps only together."""
        joined = merged(groups)
        choices = [groups] if len(joined) == len(groups) else [groups, joined]
        return bool(groups) and any(self._add(choice) for choice in choices)

    def _add(self, groups: Sequence[AxisGroup], most: int | None = None) -> bool:
        """Add groups to the free ones if the model runs with other sizes of them, by one of their schedules."""
        schedules = max(len(group.schedules()) for group in groups)
        for number in range(schedules if most is None else most):
            if self._is_spent():
                return False
            chosen = {group: min(number, len(group.schedules()) - 1) for group in groups}
            found = self._run(self._sizes({**self._free, **chosen}, 0))
            if found is not None:
                self._free.update(chosen)
                self._first = found
                return True
        return False

    def _sizes(self, schedules: Schedules, step: int) -> dict[AxisGroup, int]:
        return {group: group.schedules()[number][step] for group, number in schedules.items()}
