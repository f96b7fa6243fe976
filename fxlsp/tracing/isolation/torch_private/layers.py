"""Families of layers, by the base classes that torch keeps private.

Fallback: the public classes of the family. Only layers that a user derives from the private base are missed then.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from torch import nn
from torch.nn import modules


def _family(module: ModuleType, base: str, *public: type[nn.Module]) -> Any:
    """Return the classes of a family for ``isinstance``."""
    found = getattr(module, base, None)
    return public if found is None else (found,)


TRANSPOSED_CONVOLUTIONS: tuple[type[modules.conv._ConvTransposeNd], ...] = _family(
    modules.conv, "_ConvTransposeNd", nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d
)
CONVOLUTIONS: tuple[type[modules.conv._ConvNd], ...] = _family(
    modules.conv, "_ConvNd", nn.Conv1d, nn.Conv2d, nn.Conv3d, *TRANSPOSED_CONVOLUTIONS
)
BATCH_NORMS: tuple[type[modules.batchnorm._BatchNorm], ...] = _family(
    modules.batchnorm, "_BatchNorm", nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm
)
INSTANCE_NORMS: tuple[type[modules.instancenorm._InstanceNorm], ...] = _family(
    modules.instancenorm, "_InstanceNorm", nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d
)
NORMS: tuple[type[modules.batchnorm._NormBase], ...] = (*BATCH_NORMS, *INSTANCE_NORMS)
POOLS: tuple[type[nn.Module], ...] = (
    *_family(modules.pooling, "_MaxPoolNd", nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d),
    *_family(modules.pooling, "_AvgPoolNd", nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d),
)
DROPOUTS: tuple[type[nn.Module], ...] = _family(
    modules.dropout,
    "_DropoutNd",
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout),
)
