from __future__ import annotations

from fxlsp.ide.render.rich_text import code, words
from fxlsp.ide.render.tables import TextTable, distinguishing, table_lines


def test_columns_are_aligned_and_empty_ones_left_out() -> None:
    lines = table_lines(("path", "call", "out"), [("a", "", "(1,)"), ("layer1.0", "", "(1, 2)")])
    assert lines == ["path      out", "a         (1,)", "layer1.0  (1, 2)"]


def test_columns_of_numbers_are_aligned_right_below_their_headings() -> None:
    table = TextTable(
        ("child", "FLOPs", "share"),
        (("a", "2.4 MFLOPs", "34 %"), ("b", "640 FLOPs", "")),
        frozenset({"FLOPs", "share"}),
    )
    assert table.lines() == [
        "child       FLOPs  share",
        "a      2.4 MFLOPs   34 %",
        "b       640 FLOPs",
    ]
    assert table.markdown.splitlines()[1] == "| --- | ---: | ---: |"


def test_a_long_table_ends_with_the_number_of_missing_rows() -> None:
    lines = table_lines(("path",), [(f"layer{index}",) for index in range(23)])
    assert len(lines) == 12
    assert lines[-2:] == ["layer9", "… 13 more"]


def test_a_table_that_just_fits_is_whole() -> None:
    assert table_lines(("path",), [(str(index),) for index in range(11)])[-1] == "10"


def test_a_table_has_as_many_forms_as_clients_know() -> None:
    text = TextTable(("path", "call", "out"), (("a|b", "", "(1,)"), ("c", "", "(2,)"), ("d", "", "(3,)"))).text(limit=3)
    assert text.plain == "path  out\na|b   (1,)\n… 2 more"
    assert text.markdown == f"```text\n{text.plain}\n```"
    assert text.tabular == "| path | out |\n| --- | --- |\n| a\\|b | (1,) |\n\n… 2 more"


def test_nothing_in_running_text_is_markup() -> None:
    assert words("__init__ of a|b").markdown == r"\_\_init\_\_ of a\|b"
    assert words("torch._check, is_compiling_").markdown == r"torch.\_check, is_compiling\_"


def test_code_may_hold_backticks() -> None:
    assert code("a `b` c").markdown == "`` a `b` c ``"


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
