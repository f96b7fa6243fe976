"""What the machine lacks is no error of the model: kernels, streams, process groups, operations of another device."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.cases import skip_if_lacking
from tests.support.marked import PREAMBLE
from tests.support.reference import output_shapes

NET = """
import torch.distributed as dist
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        {init}

    def forward(self, x):
        x = self.lin(x)
        {body}
"""

KNOWN = {
    "a sum over processes": (
        "pass",
        "total = x.sum()\n        dist.all_reduce(total)\n        return x / total",
        (2, 8),
    ),
    "the number of processes": ("self.world = dist.get_world_size()", "return x / self.world", (2, 8)),
    "the rank": ("self.rank = dist.get_rank()", "return x + self.rank", (2, 8)),
    "a gathered list": (
        "pass",
        (
            "xs = [torch.zeros_like(x) for _ in range(dist.get_world_size())]\n        dist.all_gather(xs, x)\n"
            "        return torch.cat(xs)"
        ),
        (2, 8),
    ),
    "a gathered tensor": (
        "pass",
        "y = torch.empty(2, 8)\n        dist.all_gather_into_tensor(y, x)\n        return y",
        (2, 8),
    ),
    "a broadcast": ("pass", "dist.broadcast(x, 0)\n        dist.barrier()\n        return x", (2, 8)),
    "a group": ("self.group = dist.new_group([0])", "dist.all_reduce(x, group=self.group)\n        return x", (2, 8)),
    "a group that the model joins": (
        "dist.init_process_group('nccl') if not dist.is_initialized() else None",
        "return x / dist.get_world_size()",
        (2, 8),
    ),
    "a stream": (
        "self.stream = torch.cuda.Stream()",
        (
            "with torch.cuda.stream(self.stream):\n            x = x * 2\n"
            "        torch.cuda.current_stream().wait_stream(self.stream)\n        return x"
        ),
        (2, 8),
    ),
    "events": (
        "self.event = torch.cuda.Event(enable_timing=True)",
        "self.event.record()\n        torch.cuda.synchronize()\n        return x",
        (2, 8),
    ),
    "a range for a profiler": (
        "pass",
        "torch.cuda.nvtx.range_push('a')\n        x = x * 2\n        torch.cuda.nvtx.range_pop()\n        return x",
        (2, 8),
    ),
    "a device": ("self.lin.cuda()", "with torch.cuda.device(0):\n            return x.cuda() * 2", (2, 8)),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_needs_no_hardware_for_its_shape_runs(name: str, worker: Any, write: Callable[..., str]) -> None:
    init, body, shape = KNOWN[name]
    text = PREAMBLE + textwrap.dedent(NET).format(init=init, body=body)
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.randn(2, 8)")
    assert report.complete, report.problems
    assert output_shapes(report) == shape
    assert not [problem for problem in report.problems if problem.code.startswith("FX4")], report.problems


KERNEL = """
import triton
import triton.language as tl

{decorators}
@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
"""

LAUNCHES = {
    "a kernel": ("", "double[(1,)](x, y, 16, B=16)"),
    "a grid that is computed": ("", "double[lambda meta: (triton.cdiv(16, meta['B']),)](x, y, x.numel(), B=16)"),
    "a tuned kernel": (
        "@triton.autotune(configs=[triton.Config({'B': 16}, num_warps=1)], key=['n'])",
        "double[(1,)](x, y, 16)",
    ),
    "heuristics": ("@triton.heuristics({'B': lambda args: 16})", "double[(1,)](x, y, 16)"),
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_kernels_of_triton_write_nothing(name: str, worker: Any, write: Callable[..., str]) -> None:
    pytest.importorskip("triton")
    decorators, launch = LAUNCHES[name]
    body = f"y = torch.empty_like(x)\n        {launch}\n        return y"
    text = PREAMBLE + KERNEL.format(decorators=decorators) + textwrap.dedent(NET).format(init="pass", body=body)
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.randn(2, 8)")
    assert report.complete, report.problems
    assert output_shapes(report) == (2, 8)
    assert not report.verdict.traceable
    assert [problem.code for problem in report.problems] == ["FX105"], report.problems


LACKING = {
    "properties of a device": "return x * torch.cuda.get_device_properties(0).multi_processor_count",
    "a check": "if not x.is_cuda:\n            raise RuntimeError('this layer needs a CUDA device')\n        return x",
    "an assertion": "assert torch.cuda.is_available(), 'CUDA is required'\n        return x",
    "a refusal of the CPU": "raise NotImplementedError(\"'fused' not implemented for 'CPU'\")",
    "an operator of another device": "return torch.ops.aten._thnn_fused_gru_cell(x, x, x)",
}


@pytest.mark.parametrize("name", LACKING)
def test_what_cannot_run_here_is_no_error(name: str, worker: Any, write: Callable[..., str]) -> None:
    text = PREAMBLE + textwrap.dedent(NET).format(init="pass", body=LACKING[name])
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.randn(2, 8)")
    assert not [problem for problem in report.problems if problem.severity == "error"], report.problems


def test_attention_that_has_no_backward_on_the_cpu_is_no_error(worker: Any, write: Callable[..., str]) -> None:
    skip_if_lacking("parsers")
    text = PREAMBLE + textwrap.dedent(NET).format(
        init="from torch.nn.attention.flex_attention import flex_attention\n        self.attend = flex_attention",
        body="x = x.view(1, 2, 16, 8)\n        return self.attend(x, x, x)",
    )
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.randn(32, 8)")
    assert not [problem for problem in report.problems if problem.severity == "error"], report.problems
    assert len([problem for problem in report.problems if problem.code.startswith("FX1")]) == 1, report.problems
