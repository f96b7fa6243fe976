"""Loaders of weights that read nothing.

They return a marker that ``load_state_dict`` accepts and ignores.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import torch

from ..torch_private.modules import all_keys_match, read_pickled_storages_with
from .pretrained import CHANGES as FROM_CONFIGURATIONS


class UnreadWeights(dict[str, Any]):
    """Marker in place of a loaded checkpoint: every lookup returns a marker."""

    def __missing__(self, key: str) -> UnreadWeights:
        return self

    def __getattr__(self, name: str) -> UnreadWeights:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> UnreadWeights:
        return self

    def get(self, key: str, default: Any = None) -> Any:
        return self

    def pop(self, key: str, *default: Any) -> Any:
        return self


class _Asked:
    for_weights = False
    """Whether any marker has been returned: then an empty state dict may be derived from one."""


def skip_weights() -> None:
    """Replace the loaders of weights in torch and in packages.

    Called once, before a package can keep references to the originals.
    """
    _keep_pickles(torch.load)
    # Separate functions: Dynamo requires that no function has two names.
    torch.load = lambda *args, **kwargs: _not_read()
    torch.hub.load_state_dict_from_url = _not_read
    torch.hub.download_url_to_file = _nothing
    model_zoo: Any = sys.modules.get("torch.utils.model_zoo")
    if model_zoo is not None:
        model_zoo.load_url = _not_read
    original = torch.nn.Module.load_state_dict

    def load_state_dict(self: torch.nn.Module, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_unread(state_dict):
            return all_keys_match()
        return original(self, state_dict, *args, **kwargs)

    torch.nn.Module.load_state_dict = load_state_dict  # type: ignore[method-assign]
    patch_on_import({**_CHANGES, **FROM_CONFIGURATIONS})


def _keep_pickles(load: Callable[..., Any]) -> None:
    """Let ``pickle.loads`` read the storages of the tensors that ``pickle.dumps`` wrote: these are no weights."""

    def load_from_bytes(data: bytes) -> Any:
        return load(io.BytesIO(data), weights_only=False)

    read_pickled_storages_with(load_from_bytes)


def _is_unread(state_dict: Any) -> bool:
    """Return whether a state dict is a marker or derived from one.

    It is derived from one in ``{name: ckpt[name] for name in ckpt}``.
    """
    if isinstance(state_dict, UnreadWeights):
        return True
    if not isinstance(state_dict, Mapping):
        return False
    if not state_dict:
        return _Asked.for_weights
    return any(isinstance(value, UnreadWeights) for value in state_dict.values())


def _not_read(*args: Any, **kwargs: Any) -> UnreadWeights:
    _Asked.for_weights = True
    return UnreadWeights()


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None


class _NothingOpened:
    """Replacement for ``safetensors.safe_open``: a file without tensors."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _Asked.for_weights = True

    def __enter__(self) -> _NothingOpened:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def keys(self) -> list[str]:
        return []

    def metadata(self) -> dict[str, str]:
        return {}

    def get_tensor(self, name: str) -> UnreadWeights:
        return UnreadWeights()


def _change_safetensors(module: Any) -> None:
    module.safe_open = _NothingOpened


def _change_safetensors_torch(module: Any) -> None:
    module.load_file = module.load = _not_read
    module.load_model = lambda model, *args, **kwargs: ([], [])


def _change_timm(module: Any) -> None:
    """Replace the functions that timm's factories call for ``pretrained=True``."""
    for name in ("load_pretrained", "load_custom_pretrained"):
        if hasattr(module, name):
            setattr(module, name, _nothing)


_CHANGES = {
    "safetensors": _change_safetensors,
    "safetensors.torch": _change_safetensors_torch,
    "timm.models._builder": _change_timm,
    "timm.models.helpers": _change_timm,
}


Change = Callable[[Any], None]
"""Patch of an imported module.

It checks which attributes exist, because they depend on the version.
"""


def patch_on_import(changes: Mapping[str, Change]) -> None:
    """Apply each change to the named module as soon as it has been imported."""
    for name, change in changes.items():
        if name in sys.modules:
            change(sys.modules[name])
    sys.meta_path.insert(0, _Finder(changes))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, changes: Mapping[str, Change]) -> None:
        self._changes = changes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        change = self._changes.get(fullname)
        spec = None if change is None else importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if change is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            change(module)

        # On the loader that was found, because importlib.resources and inspect use other methods of it.
        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
