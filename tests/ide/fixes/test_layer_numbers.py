"""The fix that writes the number with which a layer runs."""

from __future__ import annotations

import pytest

from fxlsp.ide.fixes.registry import fixes_for
from fxlsp.ide.problems import MovedNumber
from fxlsp.report.locations import Location
from fxlsp.report.problems import FittingNumber
from tests.ide.fixing import applied, marked, net


def fixes(made: str, layer: str = "Linear", argument: str = "in_features", value: int = 30) -> dict[str, str]:
    """Return the texts after the fixes of a layer whose constructor call is marked, by their titles."""
    document, span = marked(net(made, "return self.fc(x)"))
    number = FittingNumber(Location(document.path, 1, 1, 1, 2), layer, argument, value, 20, "features")
    found = fixes_for(document, "FX401", span, MovedNumber(number, span))
    assert not any(fix.preferred for fix in found)
    return {fix.title: applied(document, fix).split("super().__init__()\n        ")[1].split("\n")[0] for fix in found}


@pytest.mark.parametrize(
    ("made", "after"),
    [
        ("self.fc = «nn.Linear(30, 5)»", "self.fc = nn.Linear(20, 5)"),
        ("self.fc = «nn.Linear( 30 , 5)»  # 30", "self.fc = nn.Linear( 20 , 5)  # 30"),
        (
            "self.fc = «nn.Linear(out_features=30, in_features=30)»",
            "self.fc = nn.Linear(out_features=30, in_features=20)",
        ),
        ("self.fc = «nn.Linear(2 * (20 - 5), 5)»", "self.fc = nn.Linear(20, 5)"),
        (
            "self.fc = «torch.nn.Linear(in_features=2 * 15, out_features=5)»",
            "self.fc = torch.nn.Linear(in_features=20, out_features=5)",
        ),
        ("self.größe = self.fc = «nn.Linear(30, 5)»", "self.größe = self.fc = nn.Linear(20, 5)"),
    ],
)
def test_the_number_alone_is_replaced(made: str, after: str) -> None:
    ((title, text),) = fixes(made).items()
    assert text == after
    assert title == (
        "Make self.fc take 20 features" if made.startswith("self.fc") else "Make this Linear take 20 features"
    )


def test_a_layer_without_a_name_is_named_by_its_class() -> None:
    made = "self.fc = nn.Sequential(nn.ReLU(), «nn.Linear(30, 5)»)"
    assert fixes(made) == {"Make this Linear take 20 features": "self.fc = nn.Sequential(nn.ReLU(), nn.Linear(20, 5))"}


def test_an_argument_that_is_not_the_first_is_found_at_its_place() -> None:
    assert fixes("self.fc = «nn.GroupNorm(5, 30)»", "GroupNorm", "num_channels") == {
        "Make self.fc take 20 features": "self.fc = nn.GroupNorm(5, 20)"
    }
    assert fixes("self.fc = «nn.LayerNorm((30,))»", "LayerNorm", "normalized_shape") == {
        "Make self.fc take 20 features": "self.fc = nn.LayerNorm(20)"
    }


@pytest.mark.parametrize(
    "made",
    [
        "width = 30\nself.fc = «nn.Linear(width, 5)»",
        "self.fc = «nn.Linear(31, 5)»",
        "self.fc = «nn.Linear(*(30, 5))»",
        "self.fc = «nn.Linear(**{'in_features': 30, 'out_features': 5})»",
        "self.fc = «nn.LazyLinear(30)»",
        "self.fc = «make(30, 5)»",
        "self.fc = «nn.Linear(True * 30, 5)»",
        "self.fc = «nn.Linear(30.0, 5)»",
        "self.fc = «nn.Linear»",
    ],
)
def test_a_number_that_is_not_written_in_the_call_is_left_alone(made: str) -> None:
    assert fixes(made) == {}


def test_without_a_proven_number_there_is_no_fix() -> None:
    document, span = marked(net("self.fc = nn.Linear(30, 5)", "return «self.fc(x)»"))
    assert fixes_for(document, "FX401", span) == []
