"""The pages of the problem codes say what fxlsp says."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev import problem_pages
from dev.problem_pages import INDEX, PAGES, ExampleResults, Page, read_pages, rendered, without_messages
from fxlsp.report.codes import RECORDS, page_url, severity_of
from tests.support.warm import fxlsp

PAGE_OF = {page.code: page for page in read_pages()}
each_page = pytest.mark.parametrize("page", PAGE_OF.values(), ids=PAGE_OF)


@pytest.fixture(scope="module")
def results(warm: None, tmp_path_factory: pytest.TempPathFactory) -> ExampleResults:
    """What fxlsp says of all examples, as it is now."""
    pytest.importorskip("numpy", reason="some examples call numpy")
    folder = tmp_path_factory.mktemp("examples").resolve()
    return problem_pages.run_examples(tuple(PAGE_OF.values()), folder, fxlsp())


def test_every_code_has_a_page() -> None:
    assert list(PAGE_OF) == sorted(RECORDS)


def test_a_page_is_where_its_address_says() -> None:
    for page in PAGE_OF.values():
        assert page_url(page.code).endswith(f"/docs/problems/{page.code}.md")
        assert (PAGES / f"{page.code}.md").read_text(encoding="utf-8") == page.text
        assert page.text.startswith(f"# {page.code}: ")


@each_page
def test_the_example_has_this_problem_and_no_other(page: Page, results: ExampleResults) -> None:
    if page.options is not None:
        problems = results.problems[page.file]
        assert {problem.code for problem in problems} == {page.code}
        assert {problem.severity for problem in problems} >= {severity_of(page.code)}
    else:
        assert page.file not in results.problems
        assert results.outputs[page.code].startswith(f"fxlsp: {page.code} ")


@each_page
def test_the_repaired_example_has_no_problem(page: Page, results: ExampleResults) -> None:
    assert [problem.message for problem in results.problems.get(page.repaired_file, ())] == []


@each_page
def test_the_page_shows_the_output(page: Page, results: ExampleResults) -> None:
    now = rendered([page], results)[f"{page.code}.md"]
    assert without_messages(page.text) == without_messages(now), "run: python -m dev.problem_pages"
    if results.versions in (PAGES / INDEX).read_text(encoding="utf-8"):
        # Other versions of torch and Python have other words.
        assert page.text == now, "run: python -m dev.problem_pages"


def test_the_index_is_up_to_date(results: ExampleResults) -> None:
    text = (PAGES / INDEX).read_text(encoding="utf-8")
    now = rendered(list(PAGE_OF.values()), results)[INDEX]
    assert text.split("## ")[1:] == now.split("## ")[1:], "run: python -m dev.problem_pages"


@each_page
def test_no_page_names_a_folder_of_the_machine_that_made_it(page: Page) -> None:
    assert not [word for word in ("/tmp", "/work", "/home", "/usr", "site-packages") if word in page.text]


@each_page
def test_the_page_says_what_a_hover_advises(page: Page) -> None:
    _, _, fix = page.text.partition("\n## Fix\n")
    assert f"{RECORDS[page.code].advice}." in " ".join(fix.split())


def test_a_new_page_without_the_line_below_its_title_keeps_what_follows(tmp_path: Path) -> None:
    path = tmp_path / "FX101.md"
    text = (PAGES / path.name).read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("*["))
    path.write_text(text.replace(f"{line}\n\n", ""), encoding="utf-8")
    output = text.partition("```console\n")[2].partition("```")[0].partition("\n")[2].strip("\n")
    assert problem_pages.read_page(path).with_output(output) == text
