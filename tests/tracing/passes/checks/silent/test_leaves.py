"""Modules that are no leaves where one would think so, and the other way round."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.report.problems import Problem

Found = Callable[..., list[Problem]]

NET = """
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(4, 4)

        def forward(self, x):
            return BLOCK

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(4, 4)
            self.act = nn.ReLU()
            self.blocks = nn.ModuleList([Block(), Block()])

        def helper(self, x):
            return HELPER

        def forward(self, x):
            FORWARD
    """


def net(forward: str = "return self.lin(x)", helper: str = "x", block: str = "self.lin(x)") -> str:
    forward = forward.replace("\n", "\n            ")
    return NET.replace("FORWARD", forward).replace("HELPER", helper).replace("BLOCK", block)


@pytest.mark.parametrize(
    "text",
    [
        net("return ⟦self.lin.forward(x)⟧ + 1"),
        net("return ⟦self.act.forward(\n    x\n)⟧ + 1"),
        net("return self.helper(x)", helper="⟦self.blocks[0].forward(x)⟧"),
        net("for block in self.blocks:\n    x = block(x)\nreturn x", block="⟦self.lin.forward(x)⟧"),
        net("for block in self.blocks:\n    x = ⟦block.forward(x)⟧\nreturn x"),
        net("lin = self.lin\nreturn ⟦lin.forward(x)⟧"),
    ],
)
def test_a_forward_that_is_called_by_name_is_reported(text: str, found: Found) -> None:
    found(text, "FX315")


ITS_OWN = {
    "super": """
        class Base(nn.Module):
            def forward(self, x):
                return x + 1

        class Net(Base):
            def forward(self, x):
                return super().forward(x) * super(Net, self).forward(x)
        """,
    "a base by name": """
        class Base(nn.Module):
            def forward(self, x):
                return x + 1

        class Net(Base):
            def forward(self, x):
                return Base.forward(self, x)
        """,
    "a leaf's own": """
        class Scaled(nn.Linear):
            def forward(self, x):
                return super().forward(x) * 2

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = Scaled(4, 4)

            def forward(self, x):
                return self.lin(x)
        """,
    "of what is no module": """
        class Plan:
            def forward(self, x):
                return x * 2

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.plan = Plan()

            def forward(self, x):
                return self.plan.forward(x)
        """,
}


@pytest.mark.parametrize("name", ITS_OWN)
def test_a_forward_of_its_own_is_no_problem(name: str, found: Found) -> None:
    found(ITS_OWN[name])


EXPECTED = {
    "a layer": """
        class ⟦Dense⟧(nn.Linear):
            pass

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = Dense(4, 4)

            def forward(self, x):
                return self.lin(x)
        """,
    "a layer of another class's, nested": """
        class Dense(nn.Linear):
            def __init__(self, size):
                super().__init__(size, size)

            class ⟦Wide⟧(nn.Linear):
                pass

        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(Dense.Wide(4, 8), nn.Sequential(Dense.Wide(8, 4)))
        """,
    "a subclass of a subclass, in a helper": """
        class Base(nn.LayerNorm):
            pass

        class ⟦Norm⟧(Base):
            pass

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = Norm(4)

            def helper(self, x):
                return self.norm(
                    x,
                )

            def forward(self, x):
                return self.helper(x)
        """,
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_subclass_of_a_layer_that_is_traced_through_is_a_hint(name: str, found: Found) -> None:
    (problem,) = found(EXPECTED[name], "FX316")
    assert problem.severity == "hint"


@pytest.mark.parametrize("base", ["nn.Module", "nn.Sequential"])
def test_containers_and_modules_are_traced_through_as_expected(base: str, found: Found) -> None:
    text = """
        class Stack(nn.Sequential):
            pass

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.stack = Stack(nn.Linear(4, 4), nn.ReLU())

            def forward(self, x):
                return self.stack(x)
        """
    found(text)


@pytest.mark.parametrize(
    ("call", "block"),
    [
        ("⟦self.inner(x)⟧ + 1", "x"),
        ("self.wrapped(x)", "⟦self.inner(x)⟧"),
        ("⟦self.inner(\n            x\n        )⟧", "x"),
    ],
)
def test_a_wrapper_that_hides_a_model_is_reported_where_it_is_called(call: str, block: str, found: Found) -> None:
    text = """
        class Wrapped(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.DataParallel(nn.Linear(4, 4))

            def forward(self, x):
                return BLOCK

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.DataParallel(nn.Linear(4, 4))
                self.wrapped = Wrapped()

            def forward(self, x):
                return CALL
        """
    (problem,) = found(text.replace("CALL", call.replace("\n", "\n                ")).replace("BLOCK", block), "FX317")
    assert problem.severity == "info"
