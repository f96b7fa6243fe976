"""``from_pretrained(name)`` without weights, from cached configurations."""

from __future__ import annotations

import inspect
import sys
from typing import Any


class NotCachedError(FileNotFoundError):
    """The configuration of a pretrained model is not cached.

    A trace downloads nothing.
    """

    def __init__(self, name: object) -> None:
        super().__init__(
            f"the configuration of {name!r} is not in the cache, and fxlsp downloads nothing: fetch it once, for "
            f"example with transformers.AutoConfig.from_pretrained({name!r})"
        )


def _model_from_configuration(cls: Any, /, name: Any = None, *args: Any, config: Any = None, **kwargs: Any) -> Any:
    """Return a model in eval mode, as ``PreTrainedModel.from_pretrained`` does."""
    if not hasattr(config, "to_dict"):
        config, kwargs = _configuration(cls.config_class, config or name, kwargs)
    taken = inspect.signature(cls.__init__).parameters
    return cls(config, *args, **{key: value for key, value in kwargs.items() if key in taken}).eval()


def _auto_from_configuration(cls: Any, /, name: Any = None, *args: Any, config: Any = None, **kwargs: Any) -> Any:
    """Return a model by its configuration, as ``AutoModel.from_pretrained`` does."""
    if not hasattr(config, "to_dict"):
        config, _ = _configuration(sys.modules["transformers"].AutoConfig, config or name, kwargs)
    return cls.from_config(config).eval()


def _configuration(config_class: Any, name: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return a configuration updated by ``kwargs``, and the unused ones of these.

    Raises:
        NotCachedError: no cache has the configuration.
    """
    options = {**kwargs, "local_files_only": True, "return_unused_kwargs": True}
    try:
        config, unused = config_class.from_pretrained(name, **options)
    except OSError as error:
        raise NotCachedError(name) from error
    return config, unused


def _change_models(module: Any) -> None:
    module.PreTrainedModel.from_pretrained = classmethod(_model_from_configuration)


def _change_auto(module: Any) -> None:
    module._BaseAutoModelClass.from_pretrained = classmethod(_auto_from_configuration)


CHANGES = {
    "transformers.modeling_utils": _change_models,
    "transformers.models.auto.auto_factory": _change_auto,
}
"""Patches of modules of transformers, applied when they are imported."""
