"""Proxy classes that return what eager mode returns where torch.fx refuses.

They are ``torch.fx``'s own proxies in everything that those support, so that torch's functions treat them alike. For
each operation that a plain proxy refuses, a method here calls the tracer's :class:`.ProxyOperations`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, SupportsIndex

import torch.fx
from torch.fx.proxy import Attribute

from ...checks.silent.tensor_attributes import ASSIGNABLE
from ..functions.refused_functions import REPLACED
from .proxy_operations import ProxyOperations


def _operations(proxy: Any) -> ProxyOperations:
    operations: ProxyOperations = proxy.tracer.proxy_operations
    return operations


class _Valued:
    """Operations that a plain proxy refuses, and the class that ``isinstance`` sees."""

    @property
    def __class__(self) -> type:
        # ``isinstance`` reads this if the proxy's real type does not match: eager mode sees the value's class.
        return _operations(self).types.class_of(self, sys._getframe(1))

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("__class__ assignment is not supported for a traced value")

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Any:
        return torch.fx.Proxy.__torch_function__(getattr(orig_method, REPLACED, orig_method), types, args, kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in ASSIGNABLE:
            _operations(self).assign_attribute(self, name, value)

    def __getattr__(self, name: str) -> Any:
        return _operations(self).types.attribute(self, name, sys._getframe(1))

    def __iter__(self) -> Iterator[Any]:
        return _operations(self).iterator(self, sys._getframe(1))

    def __len__(self) -> int:
        return _operations(self).length(self, sys._getframe(1))

    def __reversed__(self) -> Any:
        return _operations(self).reversed(self)

    def __contains__(self, item: Any) -> bool:
        return _operations(self).contains(self, item)

    def __index__(self) -> int:
        return _operations(self).index(self, sys._getframe(1))

    def __int__(self) -> int:
        return int(_operations(self).number(self, int))

    def __float__(self) -> float:
        return float(_operations(self).number(self, float))

    def __complex__(self) -> complex:
        return complex(_operations(self).number(self, complex))

    def __round__(self, digits: SupportsIndex | None = None) -> Any:
        return _operations(self).number(self, lambda value: round(value, digits))

    def __setitem__(self, key: Any, value: Any) -> None:
        _operations(self).assign_item(self, key, value)

    def __delitem__(self, key: Any) -> None:
        _operations(self).delete_item(self, key)

    def __hash__(self) -> int:
        return _operations(self).hash_of(self, sys._getframe(1))

    def __eq__(self, other: object) -> Any:
        return _operations(self).equals(self, other, sys._getframe(1))

    def __str__(self) -> str:
        return _operations(self).text(self, str, sys._getframe(1))

    def __repr__(self) -> str:
        return _operations(self).text(self, repr, sys._getframe(1))

    def __format__(self, spec: str) -> str:
        return _operations(self).text(self, lambda value: format(value, spec), sys._getframe(1))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return _operations(self).foreign.array(self, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _operations(self).foreign.ufunc(self, ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _operations(self).foreign.function(function, args, kwargs)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self


class ValueProxy(_Valued, torch.fx.Proxy):
    """Proxy whose value the tracer knows."""


class ValueAttribute(_Valued, Attribute):
    """Attribute of a proxy with a value, which becomes a node when it is used."""


# Python's own messages name the type that refused; they must be the same as for plain torch.fx.
for _proxy in (ValueProxy, ValueAttribute):
    _proxy.__name__ = "Proxy" if _proxy is ValueProxy else "Attribute"
    _proxy.__module__ = "torch.fx.proxy"
