"""Comments that have no effect although they look like those of fxlsp."""

from __future__ import annotations

import pytest

from fxlsp.source.python.comment_mistakes import comment_mistakes
from fxlsp.source.text.documents import Document


def mistakes(text: str) -> list[tuple[str, str]]:
    """Return the covered text and the message of each mistake."""
    document = Document("untitled:a", "/untitled/a.py", 1, text)
    return [(document.lines.slice(each.span), each.message) for each in comment_mistakes(document)]


@pytest.mark.parametrize("text", ["Net()", "Net(3)(torch.randn(1, 3))", "(1, 3, 32, 32)", "ignore[FX101]"])
def test_a_comment_without_a_colon_has_no_effect(text: str) -> None:
    ((covered, message),) = mistakes(f"x = 1  # noqa  # fxlsp {text}  \n")
    assert covered == f"# fxlsp {text}"
    assert message == f"This comment has no effect without a colon: write '# fxlsp: {text}'"


@pytest.mark.parametrize(
    ("codes", "covered", "meant"),
    [
        ("FX999", "FX999", ""),
        ("FX101, fx102", "fx102", "; did you mean FX102?"),
        ("FX1O1", "FX1O1", ""),
        ("E501", "E501", ""),
    ],
)
def test_a_code_that_does_not_exist_is_not_ignored(codes: str, covered: str, meant: str) -> None:
    ((found, message),) = mistakes(f"x = 1  # fxlsp: ignore[{codes}]\n")
    assert found == covered
    assert message == f"'{covered}' is no problem code (such as FX101) and no family of them (such as FX1){meant}"


@pytest.mark.parametrize(
    "comment",
    [
        "# fxlsp: Net()",
        "# fxlsp: ignore",
        "# fxlsp: ignore[FX101, FX2]",
        "# fxlsp: ignore[]",
        "# fxlsp traces this model",
        "# fxlsp (see the docs)",
        "# fxlsp (experimental)",
        "# fxlsp",
        "# fxlsp ignores this",
        "# fxlspect Net()",
    ],
)
def test_other_comments_have_no_mistakes(comment: str) -> None:
    assert mistakes(f"{comment}\nx = '# fxlsp Net()'\n") == []


MODEL = """
@register
# fxlsp: Net(1)
class Net(nn.Module):  # fxlsp: Net()
    {inside}

    def forward(self, x):
        return x  # fxlsp: ignore[FX101]


# fxlsp: make()
def make():
    return Net()
"""


@pytest.mark.parametrize("recipe", ["Net(3)", "Net()(torch.randn(1, 3))", "(1, 3, 32, 32)"])
def test_a_recipe_within_a_class_has_no_effect(recipe: str) -> None:
    for inside in (
        f"# fxlsp: {recipe}",
        f"width = 3  # noqa  # fxlsp: {recipe}",
        f'"""A net."""\n    # fxlsp: {recipe}',
    ):
        ((covered, message),) = mistakes(MODEL.format(inside=inside))
        assert covered == f"# fxlsp: {recipe}"
        assert message == "This recipe has no effect here: write it on the line of the class, or right above it"


@pytest.mark.parametrize(
    "inside",
    ["# fxlsp: Inner()\n    class Inner(nn.Module):\n        pass", "# fxlsp: what this is for", "# fxlsp: ignore"],
)
def test_a_recipe_of_a_class_within_a_class_and_prose_are_no_mistakes(inside: str) -> None:
    assert mistakes(MODEL.format(inside=inside)) == []
