from __future__ import annotations

from fxlsp.ide.render.rich_text import code, words
from fxlsp.ide.render.tables import Table, table_lines


def test_columns_are_aligned_and_empty_ones_left_out() -> None:
    lines = table_lines(("path", "call", "out"), [("a", "", "(1,)"), ("layer1.0", "", "(1, 2)")])
    assert lines == ["path      out", "a         (1,)", "layer1.0  (1, 2)"]


def test_a_long_table_ends_with_the_number_of_missing_rows() -> None:
    lines = table_lines(("path",), [(f"layer{index}",) for index in range(23)])
    assert len(lines) == 12
    assert lines[-2:] == ["layer9", "… 13 more"]


def test_a_table_that_just_fits_is_whole() -> None:
    assert table_lines(("path",), [(str(index),) for index in range(11)])[-1] == "10"


def test_a_table_has_as_many_forms_as_clients_know() -> None:
    text = Table(("path", "call", "out"), (("a|b", "", "(1,)"), ("c", "", "(2,)"), ("d", "", "(3,)"))).text(limit=3)
    assert text.plain == "path  out\na|b   (1,)\n… 2 more"
    assert text.markdown == f"```text\n{text.plain}\n```"
    assert text.tabular == "| path | out |\n| --- | --- |\n| a\\|b | (1,) |\n\n… 2 more"


def test_nothing_in_running_text_is_markup() -> None:
    assert words("__init__ of a|b").markdown == r"\_\_init\_\_ of a\|b"


def test_code_may_hold_backticks() -> None:
    assert code("a `b` c").markdown == "`` a `b` c ``"
