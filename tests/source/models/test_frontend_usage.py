"""Telling whether a text uses torch.export or torch.compile."""

from __future__ import annotations

import pytest

from fxlsp.source.models.frontend_usage import frontend_uses, may_use_frontends


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("net = torch.compile(net)\n", {"compile"}),
        ("@torch.compile\ndef f(x): ...\n", {"compile"}),
        ("from torch import compile\n", {"compile"}),
        ("from torch import (\n    compile,\n)\n", {"compile"}),
        ("import torch as th\nnet = th.compile(net)\n", {"compile"}),
        ("import torch._dynamo\n", {"compile"}),
        ("trainer = Trainer(torch_compile=True)\n", {"compile"}),
        ("program = torch.export.export(net, (x,))\n", {"export"}),
        ("from torch.export import Dim\n", {"export"}),
        ("from torch import nn, export\n", {"export"}),
        ("from torch import compile, export\n", {"compile", "export"}),
        ("from torch import export, compile\n", {"compile", "export"}),
        ("torch.compile(net)\ntorch.export.export(net, (x,))\n", {"compile", "export"}),
        ("torch.onnx.dynamo_export(net, x)\n", {"export"}),
    ],
)
def test_what_other_front_ends_a_text_uses_is_known(text: str, names: set[str]) -> None:
    assert frontend_uses(text, onnx_by_export=False) == names
    assert may_use_frontends(f"import torch\n{text}".encode())


@pytest.mark.parametrize(
    "text",
    [
        "# torch.compile is slower here\n",
        '"""Works with torch.compile and torch.export."""\n',
        "torch.compiler.is_compiling()\ntorch.exports\n",
        "import re\nre.compile('torch')\n",
        "net.compile()\n",
        "from tf import compile\nfrom . import export\n",
        "trainer = Trainer(torch_compile=False)\n",
        "torch.compile(\n",
    ],
)
def test_other_text_does_not_use_them(text: str) -> None:
    assert frontend_uses(text, onnx_by_export=True) == set()


@pytest.mark.parametrize(
    ("call", "by_default", "with_newer_torch"),
    [
        ("torch.onnx.export(net, (x,), 'net.onnx')\n", False, True),
        ("from torch.onnx import export\nexport(net, (x,))\n", False, True),
        ("torch.onnx.export(net, (x,), dynamo=True)\n", True, True),
        ("torch.onnx.export(net, (x,), dynamo=DYNAMO)\n", True, True),
        ("torch.onnx.export(net, (x,), dynamo=False)\n", False, False),
    ],
)
def test_an_export_to_onnx_uses_torch_export_by_its_argument_or_the_default_of_its_torch(
    call: str, by_default: bool, with_newer_torch: bool
) -> None:
    assert bool(frontend_uses(call, onnx_by_export=False)) == by_default
    assert bool(frontend_uses(call, onnx_by_export=True)) == with_newer_torch
