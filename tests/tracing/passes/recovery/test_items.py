"""Items of traced values that are assigned or deleted: a proxy cannot, the recovering pass does."""

from __future__ import annotations

import pytest

from tests.support.cases import ELSEWHERE, Case, Followed, StandElsewhere, Stands, Traces

ASSIGNED = {
    "an item": Case("⟦x[0]⟧ = 0\nreturn x"),
    "a mask": Case("⟦x[x > 0]⟧ = 0\nreturn x"),
    "a slice": Case("⟦x[:, 1:3]⟧ = x[:, 0:2]\nreturn x"),
    "a clone": Case("y = x.clone()\n⟦y[..., 0]⟧ = x[..., 1]\nreturn y + x"),
    "zeros like another": Case("y = torch.zeros_like(x)\n⟦y[0]⟧ = x[0]\nreturn y"),
    "an augmented item": Case("⟦x[0]⟧ += 1\nreturn x"),
    "an item of an item": Case("⟦x[0][1]⟧ = 5\nreturn x"),
    "in a loop": Case("for i in range(3):\n    ⟦x[i]⟧ = x[i] * i\nreturn x"),
    "several targets": Case("y = x * 2\n⟦y[0]⟧, z = x[1], x[2]\nreturn y + z"),
    "data": Case("⟦x.data[0]⟧ = 1\nreturn x + 1"),
}


@pytest.mark.parametrize("name", ASSIGNED)
def test_an_assignment_is_located_at_its_target(name: str, stands: Stands) -> None:
    stands(ASSIGNED[name], "FX107")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_an_assignment_is_located_at_its_target_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(ASSIGNED, "FX107", spelling)


def test_an_item_of_a_dict_that_is_an_input_is_deleted(followed: Followed) -> None:
    followed(
        """
        class Net(nn.Module):
            def forward(self, x, d):
                del ⟦d['a']⟧
                return x + 1
        """,
        "FX107",
        inputs="torch.ones(3), {'a': torch.ones(3)}",
    )


def test_an_item_of_the_keywords_of_the_root_is_assigned(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def forward(self, x, **options):
                ⟦options['scale']⟧ = 2
                return x * options['scale']
        """,
        "FX107",
        inputs="torch.ones(3), other=1",
        also=frozenset({"FX318"}),
    )
    assert report.complete


TRACES = {
    "a list": Case("ys = [x, x]\nys[0] = x + 1\ndel ys[1]\nreturn ys"),
    "a dict": Case("ys = {}\nys['a'] = x + 1\nreturn ys"),
    "operations in place": Case("y = x + 1\ny += x\ny.mul_(2).clamp_(0)\nreturn y"),
    "index_fill": Case("return x.index_fill(0, torch.tensor([0]), 0.0)"),
    "masked_fill": Case("return x.masked_fill(x > 0, float('-inf'))"),
    "copy_": Case("y = torch.zeros_like(x)\ny.copy_(x)\nreturn y"),
    "scatter": Case("return torch.zeros_like(x).scatter(1, x.argmax(1, keepdim=True), 1.0)"),
}


@pytest.mark.parametrize("name", TRACES)
def test_assignments_that_trace_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])
