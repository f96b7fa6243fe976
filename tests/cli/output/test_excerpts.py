from __future__ import annotations

from pathlib import Path

from fxlsp.cli.output.excerpts import excerpt
from fxlsp.report.locations import Location


def show(folder: Path, text: str, line: int, column: int, end_line: int, end_column: int) -> str:
    path = folder / "model.py"
    path.write_bytes(text.encode())
    return "\n".join(excerpt(Location(str(path), line, column, end_line, end_column)))


def test_an_expression_is_underlined_between_its_neighbours(tmp_path: Path) -> None:
    text = "def forward(self, x):\n    y = self.a(x)\n    if y.sum() > 0:\n        return y\n    return x\n"
    assert show(tmp_path, text, 3, 8, 3, 19) == (
        "  |\n"
        "1 | def forward(self, x):\n"
        "2 |     y = self.a(x)\n"
        "3 |     if y.sum() > 0:\n"
        "  |        ^^^^^^^^^^^\n"
        "4 |         return y\n"
        "  |"
    )


def test_each_line_of_an_expression_is_underlined_without_its_indent(tmp_path: Path) -> None:
    text = "y = f(\n    x,\n)\n"
    assert show(tmp_path, text, 1, 5, 3, 2) == (
        "  |\n1 | y = f(\n  |     ^^\n2 |     x,\n  |     ^^\n3 | )\n  | ^\n  |"
    )


def test_the_underline_is_below_wide_characters_and_behind_tabs(tmp_path: Path) -> None:
    assert show(tmp_path, "\t'張' + x\n", 1, 8, 1, 9).splitlines()[1:3] == [
        "1 |     '張' + x",
        "  |            ^",
    ]


def test_the_end_of_the_file_is_no_obstacle(tmp_path: Path) -> None:
    assert show(tmp_path, "x", 1, 1, 1, 2) == "  |\n1 | x\n  | ^\n  |"


def test_a_file_that_is_gone_has_no_excerpt(tmp_path: Path) -> None:
    assert excerpt(Location(str(tmp_path / "gone.py"), 1, 1, 1, 2)) == []
