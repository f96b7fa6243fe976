"""Methods of tensors that are called by the class, and traced keys of a ParameterDict: all of them are reported."""

from __future__ import annotations

import pytest

from tests.support.cases import Case, Followed, Stands

UNBOUND = {
    "one": Case("return ⟦torch.Tensor.flatten(x, 1)⟧"),
    "three": Case(
        "y = ⟦torch.Tensor.flip(x, dims=[-1])⟧\nz = ⟦torch.Tensor.flatten(y, 1)⟧\nreturn ⟦torch.Tensor.abs(z)⟧ + 1"
    ),
    "by another name of the class": Case(
        "y = ⟦Tensor.relu(x)⟧\nreturn ⟦Tensor.sum(y, 1)⟧", top="from torch import Tensor"
    ),
    "of sizes": Case("y = ⟦torch.Tensor.view(x, 4, 3)⟧\nreturn ⟦torch.Tensor.permute(y, 1, 0)⟧"),
    "by a variable": Case("flat = torch.Tensor.flatten\ny = ⟦flat(x, 0)⟧\nreturn ⟦flat(y * 2, 0)⟧"),
    "in a loop": Case("for _ in range(2):\n    x = ⟦torch.Tensor.exp(x)⟧\nreturn x"),
}
KEYS = {
    "two": "return x * ⟦self.scale[style]⟧ + ⟦self.shift[style]⟧",
    "one": "return x * ⟦self.scale[style]⟧",
    "of one dict": "y = x * ⟦self.scale[style]⟧\n        return y - ⟦self.scale[style]⟧",
}
BANK = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.ParameterDict({{name: nn.Parameter(torch.ones(4)) for name in ("ink", "oil")}})
        self.shift = nn.ParameterDict({{name: nn.Parameter(torch.zeros(4)) for name in ("ink", "oil")}})

    def forward(self, x, style: str = "oil"):
        {body}
"""


@pytest.mark.parametrize("name", UNBOUND)
def test_each_method_that_is_called_by_the_class_is_reported(name: str, stands: Stands) -> None:
    stands(UNBOUND[name], "FX108")


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("inputs", ["torch.ones(3, 4)", "torch.ones(3, 4), 'ink'"])
def test_each_traced_key_of_a_parameter_dict_is_reported(name: str, inputs: str, followed: Followed) -> None:
    report = followed(BANK.format(body=KEYS[name]), *["FX105"] * KEYS[name].count("⟦"), inputs=inputs)
    assert report.complete
    assert not any("github" in problem.message for problem in report.problems)


def test_a_size_that_is_traced_is_what_the_message_names(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def forward(self, x):
                return x @ ⟦torch.ones(x.shape[1], x.shape[0])⟧
        """,
        "FX106",
        inputs="torch.ones(3, 4)",
    )
    (problem,) = (each for each in report.problems if each.code == "FX106")
    assert "traced" in problem.message.partition("\n")[0]
    lines = problem.message.split("\n")
    assert len(lines) == len(set(lines))
