"""What is worked out, drawn or updated once while a model is traced is told at the expression that did it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxlsp.report.problems import Problem

Found = Callable[..., list[Problem]]

BUFFER = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("b", torch.ones(4))
            self.register_buffer("n", torch.zeros((), dtype=torch.long))
            self.register_buffer("index", torch.arange(4), persistent=False)
            self.ts = [torch.ones(4), torch.zeros(4)]
            self.plain = torch.ones(4)

        def forward(self, x):
            return {}

        def helper(self):
            return {}
    """

UPDATED = {
    "in place": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("n", torch.zeros(4))

            def forward(self, x):
                ⟦self.n += 1⟧
                return x * 2
        """,
    "by a method, over several lines": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("n", torch.zeros(4))

            def forward(self, x):
                with torch.no_grad():
                    ⟦self.n.mul_(
                        0.5
                    )⟧
                return x * 2
        """,
    "an element, in a helper of a block used twice": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("n", torch.zeros(4))

            def count(self):
                ⟦self.n[0] += 1⟧

            def forward(self, x):
                self.count()
                return x * 2

        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(Block(), Block())
        """,
    "replaced": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("n", torch.zeros(4))

            def forward(self, x):
                ⟦self.n⟧ = self.n + 1
                return x * 2
        """,
}


@pytest.mark.parametrize("name", UPDATED)
def test_a_buffer_that_is_updated_while_tracing_is_reported_where(name: str, found: Found) -> None:
    problems = found(UPDATED[name], "FX306")
    assert all(problem.severity == "warning" for problem in problems)


def test_a_counter_that_nothing_reads_is_a_hint(found: Found) -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("n", torch.zeros((), dtype=torch.long))

            def forward(self, x):
                if self.training:
                    ⟦self.n.add_(1)⟧
                return x * 2
        """
    (problem,) = found(text, "FX306")
    assert problem.severity == "hint"
    (problem,) = found(text.replace("x * 2", "x * self.n"), "FX306")
    assert problem.severity == "warning"


@pytest.mark.parametrize(
    "statement",
    ["self.b.copy_(x.mean(0))", "self.b.add_(x.sum())", "m = torch.zeros(4)\n        m[1] = 1"],
)
def test_what_the_graph_updates_and_what_is_local_is_no_update(statement: str, found: Found) -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("b", torch.zeros(4))

            def forward(self, x):
                STATEMENT
                return x * self.b
        """
    found(text.replace("STATEMENT", statement.replace("\n", "\n        ")))


@pytest.mark.parametrize(
    ("forward", "helper", "severity"),
    [
        ("x * ⟦F.softmax(self.b, 0)⟧", "None", "warning"),
        ("x * (⟦self.b * 2 +\n                    1⟧)", "None", "warning"),
        ("x + self.helper()", "⟦self.b.view(1, 4)⟧", "warning"),
        ("x[:, ⟦self.index.flip(0)⟧]", "None", "hint"),
        ("x + ⟦self.b.sum().item()⟧", "None", "warning"),
        ("⟦x * self.ts[0]⟧", "None", "warning"),
        ("⟦torch.add(\n                x, self.ts[1])⟧", "None", "warning"),
        ("x + self.helper()", "⟦self.ts[1] * 2⟧", "warning"),
        ("x + ⟦self.plain⟧", "None", "hint"),
        ("x + self.helper()", "⟦self.plain + 1⟧", "hint"),
    ],
)
def test_what_is_computed_from_state_is_reported_where_it_is_folded(
    forward: str, helper: str, severity: str, found: Found
) -> None:
    (problem,) = found(BUFFER.replace("{}", forward, 1).replace("{}", helper), "FX308")
    assert problem.severity == severity


def test_a_folded_expression_of_a_nested_block_is_reported_once(found: Found) -> None:
    text = """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("b", torch.ones(4))

            def forward(self, x):
                return x * ⟦torch.exp(self.b)⟧

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block(), Block()])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x
        """
    (problem,) = found(text, "FX308")
    assert "computed from blocks.0.b once" in problem.message
    assert "Also in blocks.1" in problem.message


@pytest.mark.parametrize(
    "expression",
    [
        "x + torch.zeros(4)",
        "x * torch.arange(4).float()",
        "x[:, torch.tensor([0, 1, 2, 3])]",
        "x * self.b",
        "torch.cat([x, torch.ones(2, 1) * 2], 1)",
        "x + self.weights[0]",
        "x * math_scale()",
        "x + torch.eye(4)[0]",
    ],
)
def test_constants_that_every_run_makes_alike_are_no_problem(expression: str, found: Found) -> None:
    text = """
        def math_scale():
            return torch.full((4,), 0.5).sqrt()

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("b", torch.ones(4))
                self.weights = nn.ParameterList([nn.Parameter(torch.ones(4))])

            def forward(self, x):
                return EXPRESSION
        """
    found(text.replace("EXPRESSION", expression))


@pytest.mark.parametrize(
    ("forward", "helper"),
    [
        ("x + ⟦torch.rand(4)⟧", "None"),
        ("x * ⟦torch.randn(\n                2, 4)⟧.abs()", "None"),
        ("x + self.helper()", "⟦torch.randint(0, 3, (4,))⟧"),
        ("x * ⟦F.dropout(torch.ones(4), 0.5)⟧", "None"),
        ("x[:, ⟦torch.randperm(4)⟧]", "None"),
        ("x * 2 if ⟦torch.rand(1)⟧.item() < 2 else x", "None"),
        ("x + ⟦torch.empty(4).uniform_(0, 1)⟧", "None"),
    ],
)
def test_random_numbers_drawn_while_tracing_are_reported_where(forward: str, helper: str, found: Found) -> None:
    found(BUFFER.replace("{}", forward, 1).replace("{}", helper), "FX309")


@pytest.mark.parametrize(
    "expression",
    ["x + torch.rand_like(x)", "F.dropout(x, 0.5)", "nn.functional.gumbel_softmax(x)", "torch.bernoulli(x * 0.5)"],
)
def test_random_numbers_that_the_graph_draws_are_no_problem(expression: str, found: Found) -> None:
    found(BUFFER.replace("{}", expression, 1).replace("{}", "None"))
