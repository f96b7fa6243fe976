"""State in containers of the user's own classes is compared and restored without their code."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import Any, NoReturn

import pytest
from torch import nn

from fxlsp.tracing.model.building.state_snapshot import StateSnapshot


class _Refusing:
    """Refuses what a class of the user may have changed."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("the user's code ran")

    copy = clear = update = extend = values = items = keys = _refuse
    __iter__ = __len__ = __getitem__ = __contains__ = __eq__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class _Ordered(_Refusing, OrderedDict[str, int]):
    def __init__(self, mapping: dict[str, int]) -> None:
        OrderedDict.update(self, mapping)


class _Dict(_Refusing, dict[str, int]):
    pass


class _Default(_Refusing, defaultdict[str, int]):
    pass


class _List(_Refusing, list[int]):
    pass


class _Deque(_Refusing, deque[int]):
    pass


class _Set(_Refusing, set[int]):
    pass


def _add(value: Any) -> None:
    if isinstance(value, dict):
        (OrderedDict if isinstance(value, OrderedDict) else dict).__setitem__(value, "b", 2)
    elif isinstance(value, set):
        set.add(value, 2)
    else:
        (list if isinstance(value, list) else deque).append(value, 2)


def _plain(value: Any) -> Any:
    if isinstance(value, OrderedDict):
        return dict(OrderedDict.items(value))
    if isinstance(value, dict):
        return dict(dict.items(value))
    return list(next(kind for kind in (list, deque, set) if isinstance(value, kind)).__iter__(value))


@pytest.mark.parametrize(
    "value",
    [
        _Ordered({"a": 1}),
        _Dict({"a": 1}),
        _Default(int, {"a": 1}),
        _List([1]),
        _Deque([1]),
        _Set([1]),
        OrderedDict(a=1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_change_of_a_container_is_found_and_taken_back(value: Any) -> None:
    model = nn.Identity()
    model.kept = value
    snapshot = StateSnapshot(model, has_globals=False)
    before = _plain(value)
    assert list(snapshot.changes()) == []
    _add(value)
    (change,) = snapshot.changes()
    assert change.owner is value
    assert (_plain(change.before) if isinstance(change.before, (dict, list)) else list(change.before)) == before
    snapshot.restore()
    assert _plain(value) == before
    assert list(snapshot.changes()) == []
