"""Weights are never read: models that load them are traced as before the loading."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from typing import Any

import pytest

NET = """
import torch
from torch import nn
{imports}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 2)
        {load}

    def forward(self, x):
        return self.lin(x)
"""


@pytest.mark.parametrize(
    ("imports", "load"),
    [
        ("", "self.load_state_dict(torch.load('missing.pt'))"),
        ("", "self.load_state_dict(torch.load('missing.pt', map_location='cpu')['state_dict'])"),
        ("", "self.load_state_dict({k[7:]: v for k, v in torch.load('missing.pt')['model'].items()})"),
        ("", "self.lin.load_state_dict(torch.load('missing.pt').state_dict())"),
        ("", "state = torch.load('x.pt'); state['lin.weight'] = state.pop('w'); self.load_state_dict(state)"),
        ("", "self.load_state_dict({'lin.weight': torch.load('x.pt')['w'], 'lin.bias': torch.load('x.pt')['b']})"),
        ("import torch.utils.model_zoo as zoo", "self.load_state_dict(zoo.load_url('http://127.0.0.1:1/x.pt'))"),
        ("from torch.hub import load_state_dict_from_url as get", "self.load_state_dict(get('http://127.0.0.1:1/x'))"),
    ],
)
def test_a_checkpoint_is_not_read(imports: str, load: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(NET.format(imports=imports, load=load))
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


@pytest.mark.skipif(importlib.util.find_spec("safetensors") is None, reason="safetensors is not installed")
@pytest.mark.parametrize(
    ("imports", "load"),
    [
        ("from safetensors.torch import load_file", "self.load_state_dict(load_file('missing.safetensors'))"),
        ("import safetensors.torch as st", "st.load_model(self, 'missing.safetensors')"),
        (
            "from safetensors import safe_open",
            "with safe_open('x', framework='pt') as f: self.load_state_dict({k: f.get_tensor(k) for k in f.keys()})",
        ),
    ],
)
def test_safetensors_are_not_read(imports: str, load: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(NET.format(imports=imports, load=load))
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


@pytest.mark.parametrize("arguments", ["weights='DEFAULT'", "weights=torchvision.models.ResNet18_Weights.DEFAULT"])
def test_weights_of_torchvision_are_not_downloaded(arguments: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(f"import torchvision\nnet = torchvision.models.resnet18({arguments})\n")
    assert worker.report(f"{path}:net", "net", "torch.randn(1, 3, 64, 64)").complete


@pytest.mark.skipif(importlib.util.find_spec("timm") is None, reason="timm is not installed")
def test_weights_of_timm_are_not_downloaded(worker: Any, write: Callable[..., str]) -> None:
    path = write("import timm\nnet = timm.create_model('resnet18', pretrained=True, num_classes=7)\n")
    report = worker.report(f"{path}:net", "net", "torch.randn(2, 3, 64, 64)")
    assert report.nodes[-1].output == {"shape": [2, 7], "dtype": "float32"}


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="transformers is not installed")
def test_a_pretrained_model_is_made_of_its_configuration(worker: Any, write: Callable[..., str]) -> None:
    config = {"model_type": "bert", "hidden_size": 24, "num_attention_heads": 2, "num_hidden_layers": 1}
    write(json.dumps(config), "b/config.json")
    path = write(
        "import os\nfrom transformers import AutoModel, BertModel\nhere = os.path.dirname(__file__)\n"
        "auto = AutoModel.from_pretrained(os.path.join(here, 'b'))\n"
        "bert = BertModel.from_pretrained(os.path.join(here, 'b'))\n"
        "other = AutoModel.from_pretrained('nobody/has-this-one')\n"
    )
    for name in ("auto", "bert"):
        report = worker.report(f"{path}:{name}", name, "torch.zeros((1, 5), dtype=torch.long)")
        assert report.mode == "eval"
        arguments = {module.path: module.arguments for module in report.modules}
        assert arguments["pooler.dense"] == "in_features=24, out_features=24, bias=True"
    failure = worker.answer(f"{path}:other", "other", "torch.zeros((1, 5), dtype=torch.long)")["failure"]["failure"]
    assert "the configuration of 'nobody/has-this-one' is not in the cache" in failure["message"]
