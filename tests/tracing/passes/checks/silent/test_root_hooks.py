"""What runs around the root's ``forward``, or in its place, is told where it is given to the root."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.report.problems import Problem

Found = Callable[..., list[Problem]]

DROPPED = {
    "a forward hook": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                ⟦self.register_forward_hook(lambda module, inputs, output: output * 2)⟧

            def forward(self, x):
                return x + 1
        """,
    "a pre-hook, in a method of a base": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.prepare()

            def prepare(self):
                ⟦self.register_forward_pre_hook(
                    lambda module, inputs: (inputs[0] * 2,)
                )⟧

        class Net(Base):
            def forward(self, x):
                return x + 1
        """,
    "spectral_norm": """
        from torch.nn.utils import spectral_norm

        class Net(nn.Linear):
            def __init__(self):
                super().__init__(4, 4)
                ⟦spectral_norm(self)⟧
        """,
    "a hook from outside": """
        class ⟦Hooked⟧(nn.Module):
            def forward(self, x):
                return x + 1

        def Net():
            net = Hooked()
            net.register_forward_hook(lambda module, inputs, output: output * 2)
            return net
        """,
    "a forward of its own": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                ⟦self.forward⟧ = self.other

            def other(self, x):
                return x * 2

            def forward(self, x):
                return x + 1
        """,
    "a forward from outside": """
        import types

        class ⟦Patched⟧(nn.Module):
            def forward(self, x):
                return x + 1

        def Net():
            net = Patched()
            net.forward = types.MethodType(lambda self, x: x * 2, net)
            return net
        """,
    "a call of its own": """
        class Net(nn.Module):
            def ⟦__call__⟧(self, x):
                return super().__call__(x) * 2

            def forward(self, x):
                return x + 1
        """,
}


@pytest.mark.parametrize("name", DROPPED)
def test_what_the_root_does_beside_its_forward_is_reported_where_it_is_given(name: str, found: Found) -> None:
    found(DROPPED[name], "FX313")


TRACED = {
    "hooks of a child": """
        class Block(nn.Module):
            def forward(self, x):
                return x + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()
                self.block.register_forward_hook(lambda module, inputs, output: output * 2)

            def forward(self, x):
                return self.block(x)
        """,
    "a child's own forward": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = nn.Sequential(nn.ReLU())
                self.block.forward = lambda x: x * 2

            def forward(self, x):
                return self.block(x)
        """,
    "a parametrised root": """
        from torch.nn.utils.parametrizations import weight_norm

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(4, 4))
                weight_norm(self)

            def forward(self, x):
                return x @ self.weight
        """,
    "a call that is annotated": """
        class Net(nn.Module):
            def __call__(self, x: torch.Tensor) -> torch.Tensor:
                return super().__call__(x)

            def forward(self, x):
                return x + 1
        """,
}


@pytest.mark.parametrize("name", TRACED)
def test_what_is_traced_is_no_problem(name: str, found: Found) -> None:
    found(TRACED[name])
