"""Every failure of a model is told in one pass, and each once."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.cases import Followed


def test_two_failures_in_one_forward(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def forward(self, x):
                if ⟦x.sum() > 0⟧:
                    x = x + 1
                for row in ⟦x⟧:
                    x = x + row
                return x
        """,
        "FX101",
        "FX102",
    )
    assert report.complete


def test_two_failures_on_one_line(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def forward(self, x):
                return x * ⟦len(x)⟧ + ⟦int(x.size(1))⟧
        """,
        "FX103",
        "FX104",
    )
    assert report.complete


def test_a_failure_inside_another(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def forward(self, x):
                for i in range(⟦int(x.size(0))⟧):
                    x = x + i
                for i in ⟦range(x.size(0))⟧:
                    x = x + i
                return x
        """,
        "FX104",
        "FX105",
    )
    assert report.complete


def test_three_failures_across_submodules(followed: Followed) -> None:
    report = followed(
        """
        class First(nn.Module):
            def forward(self, x):
                if ⟦x.dim() == 2⟧:
                    x = x + 1
                return x

        class Second(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.ReLU()]

            def forward(self, x):
                return ⟦self.layers[0](x)⟧

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = First()
                self.second = Second()

            def forward(self, x):
                y = self.second(self.first(x))
                ⟦y[0]⟧ = 0
                return y
        """,
        "FX101",
        "FX201",
        "FX107",
    )
    assert report.complete


def test_one_place_of_several_instances_is_one_problem(followed: Followed) -> None:
    report = followed(
        """
        class Block(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.lin = nn.Linear(n, n)

            def forward(self, x):
                if ⟦x.size(0) > 1⟧:
                    x = self.lin(x)
                return x * ⟦len(x)⟧

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block(4) for _ in range(3)])
                self.stack = nn.Sequential(Block(4), nn.ReLU(), Block(4))

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return self.stack(x)
        """,
        "FX101",
        "FX103",
    )
    assert report.complete
    assert len([node for node in report.nodes if node.op == "call_module" and node.target.endswith("lin")]) == 5


def test_failures_after_the_slice_of_a_buffer(followed: Followed) -> None:
    report = followed(
        """
        class Positions(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("table", torch.zeros(1, 10, 4))

            def forward(self, x):
                x = x + ⟦self.table[:, : x.size(1)]⟧
                n = ⟦int(x.size(0))⟧
                return x * n

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.positions = Positions()

            def forward(self, x):
                x = self.positions(x)
                if ⟦x.size(1) > 10⟧:
                    raise ValueError(f"{x.shape}")
                return x
        """,
        "FX105",
        "FX104",
        "FX101",
        inputs="torch.ones(2, 3, 4)",
    )
    assert report.complete


def test_failures_behind_a_module_that_cannot_be_followed(followed: Followed) -> None:
    followed(
        """
        class Broken(nn.Module):
            def forward(self, x):
                return ⟦x.no_such_thing⟧ + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.broken = Broken()

            def forward(self, x):
                y = self.broken(x)
                if ⟦x.sum() > 0⟧:
                    x = x + 1
                return x, y
        """,
        "FX401",
        "FX101",
    )


def test_failures_in_a_helper_that_several_modules_call(followed: Followed) -> None:
    report = followed(
        """
        def scaled(x):
            return x * ⟦float(x.size(0))⟧

        class A(nn.Module):
            def forward(self, x):
                return scaled(x) + 1

        class B(nn.Module):
            def forward(self, x):
                return scaled(scaled(x))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = A(), B()

            def forward(self, x):
                return self.b(self.a(x)) + scaled(x)
        """,
        "FX104",
    )
    assert report.complete


def test_loud_and_silent_failures_together(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("table", torch.zeros(10, 4))
                self.names = {"3": 2}

            def forward(self, x):
                if ⟦isinstance(x, torch.Tensor)⟧:
                    x = x + ⟦self.table[: x.size(0)]⟧
                try:
                    n = ⟦int(x.size(0))⟧
                except TypeError:
                    n = 1
                y = ⟦torch.zeros(x.size(0), 4)⟧
                return x * n + y * self.names[⟦str(x.size(0))⟧]
        """,
        "FX301",
        "FX105",
        "FX314",
        "FX106",
        "FX303",
    )
    assert report.complete


def test_a_call_into_an_installed_package_is_one_problem_however_much_that_refuses(
    followed: Followed, write: Callable[..., str]
) -> None:
    write(
        """
        def regroup(x, groups):
            if not isinstance(x.shape[0], int):
                raise TypeError("no int")
            if x.shape[0] > 1 and len(x) > 1:
                return x.reshape(groups, int(x.shape[1]) // groups, -1)
            return x
        """,
        "site-packages/shaped.py",
    )
    report = followed(
        """
        import os, sys
        sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
        from shaped import regroup

        class Net(nn.Module):
            def forward(self, x):
                return ⟦regroup(x, 2)⟧ + 1
        """,
        "FX199",
    )
    assert report.complete
    assert report.problems[0].message.startswith("torch.fx cannot trace this: TypeError: no int")


def test_what_a_package_refuses_it_refuses_at_each_call_with_the_same_words(
    followed: Followed, write: Callable[..., str]
) -> None:
    write(
        """
        def regroup(x, groups):
            if not isinstance(x.shape[0], int):
                raise TypeError("no int")
            return x.reshape(groups, len(x), -1)
        """,
        "site-packages/shaped_again.py",
    )
    report = followed(
        """
        import os, sys
        sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
        from shaped_again import regroup

        class Net(nn.Module):
            def forward(self, x):
                x = ⟦regroup(x, 2)⟧ + 1
                return ⟦regroup(x, 1)⟧ + 1
        """,
        "FX199",
        "FX199",
    )
    assert report.complete
    assert all("TypeError: no int" in problem.message for problem in report.problems)


def test_what_a_package_refuses_names_the_module_that_calls_it(followed: Followed, write: Callable[..., str]) -> None:
    write(
        """
        def regroup(x, groups):
            if not isinstance(x.shape[0], int):
                raise TypeError("no int")
            return x.reshape(groups, len(x), -1)
        """,
        "site-packages/shaped_by_modules.py",
    )
    report = followed(
        """
        import os, sys
        sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
        from shaped_by_modules import regroup

        class First(nn.Module):
            def forward(self, x):
                return ⟦regroup(x, 2)⟧

        class Second(nn.Module):
            def forward(self, x):
                return ⟦regroup(x, 1)⟧

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = First(), Second()

            def forward(self, x):
                return ⟦regroup(self.second(self.first(x)), 1)⟧ + 1
        """,
        "FX199",
        "FX199",
        "FX199",
    )
    starts = [problem.message.partition(" no int")[0] for problem in report.problems]
    assert starts == [
        "torch.fx cannot trace this in module first: TypeError:",
        "torch.fx cannot trace this in module second: TypeError:",
        "torch.fx cannot trace this: TypeError:",
    ]


def test_what_is_in_dicts_of_other_classes_is_known_behind_a_failure(followed: Followed) -> None:
    report = followed(
        """
        from collections import OrderedDict
        from dataclasses import dataclass

        @dataclass
        class Result(OrderedDict):
            last: torch.Tensor = None
            def __post_init__(self):
                OrderedDict.__setitem__(self, "last", self.last)

        class Net(nn.Module):
            def forward(self, x):
                if ⟦x.sum() > 0⟧:
                    x = x + 1
                parts = OrderedDict()
                parts["a"] = x
                return Result(last=parts["a"][0]), parts
        """,
        "FX101",
    )
    assert report.complete
    shape = {"shape": [3, 4], "dtype": "float32"}
    assert report.nodes[-1].output == {"list": [{"dict": {"last": {**shape, "shape": [4]}}}, {"dict": {"a": shape}}]}
