"""What a process does to torch before it traces anything, or has others trace that are forked from it."""

from __future__ import annotations

import gc

from ...wire.messages import WIRE
from ..building.fake_tensors import let_init_be_skipped
from ..sandbox.accelerators import let_defaults_be_cpu
from ..sandbox.single_process import stay_alone
from ..sandbox.weights import leave_weights_unread
from ..torch_private import never_start_accelerators
from .warmup import warm_up


def prepare_torch() -> None:
    """Take from torch what a trace must not do, and do one small trace ahead of time."""
    # Before any package is imported that could keep the originals.
    never_start_accelerators()
    let_defaults_be_cpu()
    stay_alone()
    leave_weights_unread()
    let_init_be_skipped()
    warm_up()
    # Here once, and not in each process that is forked.
    WIRE.prepare()
    gc.collect()
    gc.freeze()
