"""Context managers that the graph leaves out are told where they are entered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.report.problems import Problem

Found = Callable[..., list[Problem]]

DROPPED = {
    "with": """
        class Net(nn.Module):
            def forward(self, x):
                with ⟦torch.no_grad()⟧:
                    y = x * 2
                return y + x
        """,
    "several items": """
        class Net(nn.Module):
            def forward(self, x):
                with ⟦torch.no_grad()⟧, ⟦torch.autocast("cpu", dtype=torch.bfloat16)⟧ as _:
                    y = x * 2
                return y + x
        """,
    "two of a kind over several lines": """
        class Net(nn.Module):
            def forward(self, x):
                with (
                    ⟦torch.autocast("cpu")⟧,
                    ⟦torch.autocast(
                        "cpu",
                        dtype=torch.float16,
                    )⟧,
                ):
                    y = x * 2
                return y + x
        """,
    "an alias in a nested block": """
        from torch import no_grad as frozen

        class Block(nn.Module):
            def forward(self, x):
                with ⟦frozen()⟧:
                    return x + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.Sequential(Block(), Block())

            def forward(self, x):
                return self.blocks(x)
        """,
    "a variable": """
        class Net(nn.Module):
            def forward(self, x):
                context = torch.inference_mode()
                with ⟦context⟧:
                    return x + 1
        """,
    "a context manager of the user's": """
        import contextlib

        @contextlib.contextmanager
        def frozen():
            with ⟦torch.no_grad()⟧:
                yield

        class Net(nn.Module):
            def forward(self, x):
                with frozen():
                    return x + 1
        """,
    "an exit stack": """
        import contextlib

        class Net(nn.Module):
            def forward(self, x):
                with contextlib.ExitStack() as stack:
                    ⟦stack.enter_context(torch.no_grad())⟧
                    return x + 1
        """,
    "around a child": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                with ⟦torch.set_grad_enabled(False)⟧:
                    return self.lin(x)
        """,
    "a setting by a call": """
        class Net(nn.Module):
            def forward(self, x):
                ⟦torch.set_grad_enabled(False)⟧
                y = x * 2
                torch.set_grad_enabled(True)
                return y
        """,
    "on forward": """
        class Net(nn.Module):
            @⟦torch.no_grad()⟧
            def forward(self, x):
                return x + 1
        """,
    "on the forward of a block": """
        class Block(nn.Module):
            @⟦torch.inference_mode()⟧
            def forward(self, x):
                return x + 1

        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(Block(), Block())
        """,
    "on a helper, among others": """
        import functools

        def same(function):
            @functools.wraps(function)
            def run(*args):
                return function(*args)
            return run

        @same
        @⟦torch.autocast("cpu", dtype=torch.bfloat16)⟧
        def helper(x):
            return x * 2

        class Net(nn.Module):
            def forward(self, x):
                return helper(x) + 1
        """,
    "on a method": """
        class Net(nn.Module):
            def forward(self, x):
                return self.targets(x) + x

            @⟦torch.no_grad()⟧
            def targets(self, x):
                return x * 2
        """,
}


@pytest.mark.parametrize("name", DROPPED)
def test_a_context_that_the_graph_leaves_out_is_reported_where_it_is_entered(name: str, found: Found) -> None:
    problems = found(DROPPED[name], "FX310")
    assert all(problem.severity == "warning" for problem in problems)


HARMLESS = {
    "around no nodes": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.size = 4

            def forward(self, x):
                with torch.no_grad():
                    size = self.size * 2
                return x * size
        """,
    "around constants": """
        class Net(nn.Module):
            def forward(self, x):
                with torch.no_grad():
                    ones = torch.ones(4)
                return x * ones
        """,
    "around a mask that is made from sizes": """
        class Net(nn.Module):
            def forward(self, x):
                batch, length = x.shape[0], x.size(-1)
                with torch.no_grad():
                    mask = torch.triu(torch.ones(batch, length, length, dtype=torch.bool, device=x.device), diagonal=1)
                return x.unsqueeze(1).masked_fill(mask, 0)
        """,
    "one that does nothing": """
        import contextlib

        class Net(nn.Module):
            def forward(self, x):
                with contextlib.nullcontext():
                    return x * 2
        """,
    "torch's own": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(4, 2)

            def forward(self, x):
                return self.attention(x, x, x)[0]
        """,
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_context_around_no_nodes_is_no_problem(name: str, found: Found) -> None:
    found(HARMLESS[name])


@pytest.mark.parametrize(
    "context",
    ["torch.autograd.profiler.record_function('a')", "torch.enable_grad()", "torch.autocast('cpu', enabled=False)"],
)
def test_a_context_that_changes_nothing_by_itself_is_a_hint(context: str, found: Found) -> None:
    text = """
        class Net(nn.Module):
            def forward(self, x):
                with ⟦CONTEXT⟧:
                    return x * 2
        """
    (problem,) = found(text.replace("CONTEXT", context), "FX310")
    assert problem.severity == "hint"
