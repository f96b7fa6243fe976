from __future__ import annotations

from fxlsp.ide.render.row_titles import distinguishing


def test_modules_of_one_class_show_the_arguments_in_which_they_differ() -> None:
    titles = [
        "Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))",
        "Conv2d(8, 8, kernel_size=(3, 3), stride=(2, 2))",
    ]
    assert distinguishing(titles) == ["3, stride=(1, 1)", "8, stride=(2, 2)"]


def test_equal_modules_show_nothing() -> None:
    assert distinguishing(["ReLU(inplace=True)", "ReLU(inplace=True)"]) == ["", ""]


def test_modules_of_several_classes_show_what_they_are() -> None:
    assert distinguishing(["Identity()", "BatchNorm2d(8)"]) == ["Identity()", "BatchNorm2d(8)"]


def test_a_long_title_is_shortened_at_its_end() -> None:
    short, long = distinguishing(["Identity()", f"Sequential({'x' * 100})"])
    assert short == "Identity()"
    assert len(long) == 48
    assert long.endswith("…")
