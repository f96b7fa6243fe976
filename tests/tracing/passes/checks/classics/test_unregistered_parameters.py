"""Tensors that are meant to be trained and are no parameters are reported, others are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Net(nn.Module):
    def __init__(self{arguments}):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        {init}

    def forward(self, x):
        return self.lin(x) * {used}
"""


def net(init: str, used: str = "self.scale", more: str = "", arguments: str = "") -> str:
    return NET.format(init=init, used=used, arguments=arguments) + more


UNTRAINED = {
    "a plain tensor": net("⟦self.scale⟧ = torch.ones(4, requires_grad=True)"),
    "a large one": net("⟦self.scale⟧ = torch.randn(4096, 4096, requires_grad=True)", "self.scale.mean()"),
    "a tensor after requires_grad_()": net("⟦self.scale⟧ = torch.randn(4).requires_grad_()"),
    "a Variable": net("⟦self.scale⟧ = torch.autograd.Variable(torch.ones(4), requires_grad=True)"),
    "a parameter times a number": net("⟦self.scale⟧ = nn.Parameter(torch.ones(4)) * 0.1"),
    "a list of parameters": net("⟦self.scales⟧ = [nn.Parameter(torch.ones(4)) for _ in range(2)]", "self.scales[0]"),
    "a dict of parameters": net("⟦self.scales⟧ = {'a': nn.Parameter(torch.ones(4))}", "self.scales['a']"),
    "a list of lists of parameters": net("⟦self.scales⟧ = [[nn.Parameter(torch.ones(4))]]", "self.scales[0][0]"),
    "a name that torch's layers have too": net(
        "⟦self.weight⟧ = torch.ones(4, requires_grad=True)",
        "self.weight",
        "\ndef initialise(module):\n    nn.init.zeros_(module.weight)\n",
    ),
    "one that a method initialises": net(
        "⟦self.scale⟧ = torch.empty(4, requires_grad=True); self.reset()",
        more="\n    def reset(self):\n        with torch.no_grad():\n            self.scale.fill_(1.0)\n",
    ),
    "in a module of the model": """
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                ⟦self.scale⟧ = torch.ones(4, requires_grad=True)

            def forward(self, x):
                return x * self.scale

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Sequential(nn.Linear(4, 4), Scale())

            def forward(self, x):
                return self.body(x)
        """,
}
HARMLESS = {
    "a parameter": net("self.scale = nn.Parameter(torch.ones(4))"),
    "a buffer": net("self.register_buffer('scale', torch.ones(4))"),
    "a plain constant": net("self.scale = torch.ones(4)"),
    "nn.ParameterList": net("self.scales = nn.ParameterList([torch.ones(4)])", "self.scales[0]"),
    "a list of registered parameters": net("self.scales = [self.lin.weight, self.lin.bias]", "self.scales[1]"),
    "a parameter registered by name": net(
        "self.scales = [nn.Parameter(torch.ones(4))]; self.register_parameter('scale', self.scales[0])",
        "self.scales[0]",
    ),
    "what is computed from a registered parameter": net("self.scale = self.lin.bias * 2"),
    "a frozen parameter in a list": net(
        "self.scales = [nn.Parameter(torch.ones(4), requires_grad=False)]", "self.scales[0]"
    ),
    "one that forward does not use": net("self.target = torch.ones(4, requires_grad=True)", "2"),
    "one that an optimizer of its own gets": net(
        "self.delta = torch.zeros(4, requires_grad=True)",
        "self.delta",
        "\ndef attack(model):\n    return torch.optim.Adam([model.delta])\n",
    ),
    "one that the class gives to an optimizer": net(
        "self.delta = torch.zeros(4, requires_grad=True)",
        "self.delta",
        "\n    def configure_optimizers(self):\n        return torch.optim.Adam([self.delta])\n",
    ),
}


@pytest.mark.parametrize("name", UNTRAINED)
def test_a_tensor_that_no_optimizer_gets_is_reported_where_it_is_assigned(name: str, mistakes: Mistakes) -> None:
    mistakes(UNTRAINED[name], "FX602")


@pytest.mark.parametrize("name", HARMLESS)
def test_a_tensor_that_is_registered_or_trained_otherwise_is_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes(HARMLESS[name])


def test_a_tensor_from_outside_the_model_is_not_reported(mistakes: Mistakes) -> None:
    mistakes(net("self.scale = scale", arguments=", scale"), init="Net(torch.ones(4, requires_grad=True))")


@pytest.mark.torchvision
def test_a_plain_tensor_in_a_published_model_is_reported(published: Callable[..., str], mistakes: Mistakes) -> None:
    text = published(
        "convnext",
        (
            "self.layer_scale = nn.Parameter(torch.ones(dim, 1, 1) * layer_scale)",
            "⟦self.layer_scale⟧ = nn.Parameter(torch.ones(dim, 1, 1)) * layer_scale",
        ),
    )
    init = "ConvNeXt([CNBlockConfig(16, 32, 1), CNBlockConfig(32, None, 1)])"
    mistakes(text, "FX602", "torch.ones(1, 3, 64, 64)", init, "ConvNeXt")
