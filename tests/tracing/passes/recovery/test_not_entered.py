"""Roots whose forward torch.fx never enters: their view is what they do all the same."""

from __future__ import annotations

import pytest

from tests.support.cases import Followed

DECORATED = {
    "no_grad": """
        class Net(nn.Module):
            @⟦torch.no_grad()⟧
            def forward(self, x, *, scale=2):
                return x * scale
        """,
    "a decorator of the user's, keywords": """
        import functools

        def logged(function):
            @functools.wraps(function)
            def call(*args, **kwargs):
                return function(*args, **kwargs)
            return call

        class Net(nn.Module):
            @⟦logged⟧
            def forward(self, x, *, scale=2):
                return x * scale
        """,
}


@pytest.mark.parametrize("name", DECORATED)
def test_a_wrapper_that_cannot_be_patched_is_located_at_the_decorator(name: str, followed: Followed) -> None:
    report = followed(DECORATED[name], "FX112", also=frozenset({"FX310"}))
    assert "mul" in [node.name for node in report.nodes]
    assert report.complete


def test_what_lies_behind_such_a_wrapper_is_reported_too(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            @⟦torch.no_grad()⟧
            def forward(self, x, *, scale=2):
                if ⟦x.sum() > 0⟧:
                    x = x * scale
                return x
        """,
        "FX112",
        "FX101",
        also=frozenset({"FX310"}),
    )
    assert report.complete


def test_a_wrapper_that_hides_the_arguments_iterates_them(followed: Followed) -> None:
    report = followed(
        """
        def logged(function):
            def call(self, *args, **kwargs):
                return ⟦function(self, *args, **kwargs)⟧
            return call

        class Net(nn.Module):
            @logged
            def forward(self, x):
                return x + 1
        """,
        "FX102",
        also=frozenset({"FX318"}),
    )
    assert report.complete


def test_a_wrapper_that_hides_the_module_is_located_at_its_function(followed: Followed) -> None:
    report = followed(
        """
        def logged(function):
            def ⟦call⟧(*args, **kwargs):
                return function(*args, **kwargs)
            return call

        class Net(nn.Module):
            @logged
            def forward(self, x):
                return x + 1
        """,
        "FX112",
        also=frozenset({"FX318"}),
    )
    assert report.complete


SILENT = {
    "a decorator that wraps": """
        import functools

        def logged(function):
            @functools.wraps(function)
            def call(*args, **kwargs):
                return function(*args, **kwargs)
            return call

        class Net(nn.Module):
            @logged
            def forward(self, x):
                return x + 1
        """,
    "keyword-only arguments": """
        class Net(nn.Module):
            def forward(self, x, *, scale=2):
                return x * scale
        """,
    "a container": """
        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(nn.Linear(4, 4), nn.ReLU())
        """,
    "an inherited forward": """
        class Base(nn.Module):
            def forward(self, x):
                return self.body(x)

        class Net(Base):
            def body(self, x):
                return x + 1
        """,
    "super": """
        class Base(nn.Module):
            def forward(self, x):
                return x + 1

        class Net(Base):
            def forward(self, x):
                return super().forward(x) * 2
        """,
    "decorated children": """
        import functools

        def logged(function):
            @functools.wraps(function)
            def call(self, *args, **kwargs):
                return function(self, *args, **kwargs)
            return call

        class Block(nn.Module):
            @logged
            def forward(self, x, *, scale=2):
                return x * scale

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x):
                return self.block(x, scale=3)
        """,
}


def test_a_static_forward_takes_no_module_as_its_first_input(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            @⟦staticmethod⟧
            def forward(x):
                return x * torch.sigmoid(x)
        """,
        "FX112",
    )
    assert report.complete
    assert [node.name for node in report.nodes] == ["x", "sigmoid", "mul", "output"]


def test_a_child_whose_forward_is_static_is_traced(followed: Followed) -> None:
    text = """
        class Part(nn.Module):
            @staticmethod
            def forward(x):
                return x * torch.sigmoid(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.part = Part()

            def forward(self, x):
                return self.part(x)
        """
    assert followed(text).verdict.traceable


@pytest.mark.parametrize("name", SILENT)
def test_a_forward_that_is_entered_is_silent(name: str, followed: Followed) -> None:
    assert followed(SILENT[name]).complete


def test_what_a_wrapper_adds_to_the_arguments_reaches_the_model(followed: Followed) -> None:
    report = followed(
        """
        import functools

        def with_scale(function):
            @functools.wraps(function)
            def call(self, *args, **kwargs):
                if kwargs.get("scale") is None:
                    kwargs["scale"] = 2
                return function(self, *args, **kwargs)
            return call

        class Net(nn.Module):
            @⟦with_scale⟧
            def forward(self, x, mask=None, scale=None, **kwargs):
                return x * scale
        """,
        "FX112",
        also=frozenset({"FX318"}),
    )
    assert report.complete
