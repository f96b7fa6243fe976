"""Values that are kept and state that changes while a model is traced are told at the expression that does it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.report.problems import Problem

Found = Callable[..., list[Problem]]

KEPT = {
    "an attribute": """
        class Net(nn.Module):
            def forward(self, x):
                ⟦self.last⟧ = x * 2
                return self.last
        """,
    "setattr over several lines": """
        class Net(nn.Module):
            def forward(self, x):
                ⟦setattr(
                    self,
                    "last",
                    x * 2,
                )⟧
                return x
        """,
    "several targets": """
        class Net(nn.Module):
            def forward(self, x):
                y = ⟦self.a⟧ = x + 1
                ⟦self.b⟧, z = x * 2, x * 3
                return y + z
        """,
    "a tuple of values": """
        class Net(nn.Module):
            def forward(self, x):
                ⟦self.pair⟧ = (1, [x])
                return x + 1
        """,
    "a child, by its parent": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                ⟦self.lin.seen⟧ = x
                return self.lin(x)
        """,
    "a shared block, in a helper": """
        class Block(nn.Module):
            def forward(self, x):
                return self.remember(x + 1)

            def remember(self, x):
                ⟦self.last⟧ = x
                return x

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = Block()
                self.b = nn.Sequential(self.a, Block())

            def forward(self, x):
                return self.b(self.a(x))
        """,
    "a list": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.seen = []

            def forward(self, x):
                ⟦self.seen.append(x)⟧
                return x + 1
        """,
    "a dict of a child in a function": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.seen = {}

            def forward(self, x):
                self.keep("x", x)
                return x + 1

            def keep(self, name, x):
                ⟦self.seen[name]⟧ = x

        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(Block(), Block())
        """,
    "a list that is made anew": """
        class Net(nn.Module):
            def forward(self, x):
                self.seen = []
                for _ in range(2):
                    x = x + 1
                    ⟦self.seen.append(x)⟧
                return x
        """,
    "an object of a class": """
        class State:
            hidden = None

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.state = State()

            def forward(self, x):
                ⟦self.state.hidden⟧ = x
                return x + 1
        """,
    "a global": """
        SEEN = []

        def keep(x):
            ⟦SEEN.append(x)⟧
            return x

        class Net(nn.Module):
            def forward(self, x):
                return keep(x) + 1
        """,
    "a buffer": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.zeros(4))

            def forward(self, x):
                ⟦self.mean⟧ = torch.lerp(self.mean, x.mean(0), 0.1)
                return x - self.mean
        """,
    "a buffer, augmented": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.zeros(4))

            def forward(self, x):
                ⟦self.mean⟧ += x.mean(0)
                return x
        """,
}


@pytest.mark.parametrize("name", KEPT)
def test_a_traced_value_that_is_kept_is_reported_where_it_is_stored(name: str, found: Found) -> None:
    found(KEPT[name], "FX307")


CHANGED = {
    "a counter": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.n = 0

            def forward(self, x):
                ⟦self.n⟧ += 1
                return x * self.n
        """,
    "a counter of a child, in a helper": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.calls = 0

            def count(self):
                ⟦self.calls⟧ = self.calls + 1

            def forward(self, x):
                self.count()
                return x + 1

        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(Block(), Block())
        """,
    "a flag that is read first": """
        class Net(nn.Module):
            started = False

            def forward(self, x):
                if not self.started:
                    ⟦self.started⟧ = True
                    x = x * 2
                return x
        """,
    "a value computed once": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.mask = None

            def forward(self, x):
                if self.mask is None:
                    ⟦self.mask⟧ = torch.ones(4)
                return x * self.mask
        """,
    "a cache": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cache = {}

            def ones(self, n):
                if n not in self.cache:
                    ⟦self.cache[n]⟧ = torch.ones(n)
                return self.cache[n]

            def forward(self, x):
                return x + self.ones(4)
        """,
    "a list": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.log = []

            def forward(self, x):
                ⟦self.log.append(
                    len(self.log)
                )⟧
                return x + len(self.log)
        """,
    "a global": """
        COUNT = 0

        def count():
            global COUNT
            ⟦COUNT⟧ += 1

        class Net(nn.Module):
            def forward(self, x):
                count()
                return x + COUNT
        """,
}


@pytest.mark.parametrize("name", CHANGED)
def test_state_that_changes_with_each_run_is_reported_where_it_is_assigned(name: str, found: Found) -> None:
    found(CHANGED[name], "FX305")


SAME = {
    "a value set alike each time": """
        class Net(nn.Module):
            def forward(self, x):
                self.width = 3
                return x * self.width
        """,
    "a value set for a helper": """
        class Net(nn.Module):
            def helper(self, x):
                return x * self.width

            def forward(self, x):
                self.width = 3
                return self.helper(x)
        """,
    "a traced value kept for a while": """
        class Net(nn.Module):
            def forward(self, x):
                self.now = x * 2
                y = self.now + 1
                self.now = None
                return y
        """,
    "a list that is emptied again": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.seen = []

            def forward(self, x):
                self.seen.append(x)
                y = self.seen.pop()
                return y + 1
        """,
    "a list in the function": """
        class Net(nn.Module):
            def forward(self, x):
                seen = []
                seen.append(x)
                return torch.cat(seen)
        """,
    "a list filled anew": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.sizes = []

            def forward(self, x):
                self.sizes.clear()
                self.sizes.append(3)
                return x + 1
        """,
    "an object made in the function": """
        class State:
            hidden = None

        class Net(nn.Module):
            def forward(self, x):
                state = State()
                state.hidden = x
                return state.hidden + 1
        """,
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_the_same_after_each_run_is_no_problem(name: str, found: Found) -> None:
    found(SAME[name])


def test_the_message_names_the_attribute_and_what_is_baked_in(found: Found) -> None:
    (problem,) = found(CHANGED["a counter"], "FX305")
    assert problem.severity == "warning"
    assert problem.message.startswith("self.n changes whenever this runs (from 0 to 1 while tracing)")
    assert [place.location.line for place in problem.related] == [16]


def test_the_message_about_a_buffer_says_what_becomes_of_it(found: Found) -> None:
    (problem,) = found(KEPT["a buffer"], "FX307")
    assert "The buffer self.mean becomes a traced value here: the graph never updates it" in problem.message
