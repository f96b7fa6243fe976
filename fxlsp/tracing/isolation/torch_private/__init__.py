"""Private parts of torch that fxlsp uses: they are named in this folder only (``tests/test_private_torch.py``).

Where a version lacks one, its name here has the fallback that is stated beside it, so that one feature is less good and
every other trace goes on. Checked with torch 2.6, 2.13, 2.14 and 2.15.

``operators``: fake tensors, dispatch modes and operators, without which there are no traces, and names of nodes.
``layers``: families of layers. ``modules``: functions in modules and what wraps them. ``processes``: process groups.
``export_and_compile``: what torch.export and torch.compile decide on the way.
"""

from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from .operators import (
    CHECKPOINT_PARTS,
    WITHOUT_DATA,
    Operator,
    compile_in_process,
    decompose,
    disable_accelerators,
    fake_device,
    flop_formula,
    is_batch_norm,
    is_lstm_layer,
    is_view,
    mutated_arguments,
    native_writers,
    never_grows,
    overload_packet,
    pretty_target,
    reads_number,
    restore_used_names,
    storage_key,
    tensors_in,
    used_names,
)

__all__ = [
    "CHECKPOINT_PARTS",
    "WITHOUT_DATA",
    "FakeTensor",
    "FakeTensorMode",
    "Operator",
    "TorchDispatchMode",
    "compile_in_process",
    "decompose",
    "disable_accelerators",
    "fake_device",
    "flop_formula",
    "is_batch_norm",
    "is_lstm_layer",
    "is_view",
    "mutated_arguments",
    "native_writers",
    "never_grows",
    "no_dispatch",
    "overload_packet",
    "pretty_target",
    "reads_number",
    "restore_used_names",
    "storage_key",
    "tensors_in",
    "tree_map",
    "used_names",
]
