"""What a process does to torch before it traces anything, or has others trace that are forked from it."""

from __future__ import annotations

import gc

from ...wire.messages import WIRE
from ..building.fake_tensors import make_init_skippable
from ..sandbox.accelerators import redirect_defaults_to_cpu
from ..sandbox.single_process import refuse_process_groups
from ..sandbox.weights import skip_weights
from ..torch_private import disable_accelerators
from .warmup import warm_up


def prepare_torch() -> None:
    """Take from torch what a trace must not do, and do one small trace ahead of time."""
    # Before any package is imported that could keep the originals.
    disable_accelerators()
    redirect_defaults_to_cpu()
    refuse_process_groups()
    skip_weights()
    make_init_skippable()
    warm_up()
    # Here once, and not in each process that is forked.
    WIRE.prepare()
    gc.collect()
    gc.freeze()
