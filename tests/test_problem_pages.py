"""The pages of the problem codes say what fxlsp says."""

from __future__ import annotations

import pytest

from dev import problem_pages
from dev.problem_pages import INDEX, PAGES, Page, Said, all_codes, gist, read_pages, written
from fxlsp.ide.hover.problem_advice import ADVICE
from fxlsp.report.codes import page_url, severity_of

PAGE_OF = {page.code: page for page in read_pages()}
each_page = pytest.mark.parametrize("page", PAGE_OF.values(), ids=PAGE_OF)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    """What fxlsp says of all examples, as it is now."""
    pytest.importorskip("numpy", reason="some examples call numpy")
    return problem_pages.ask(tuple(PAGE_OF.values()), tmp_path_factory.mktemp("examples").resolve())


def test_every_code_has_a_page() -> None:
    assert list(PAGE_OF) == all_codes()


def test_a_page_is_where_its_address_says() -> None:
    for page in PAGE_OF.values():
        assert page_url(page.code).endswith(f"/docs/problems/{page.code}.md")
        assert (PAGES / f"{page.code}.md").read_text(encoding="utf-8") == page.text
        assert page.text.startswith(f"# {page.code}: ")


@each_page
def test_the_example_has_this_problem_and_no_other(page: Page, said: Said) -> None:
    if page.is_plain:
        problems = said.problems[page.file]
        assert {problem.code for problem in problems} == {page.code}
        assert {problem.severity for problem in problems} >= {severity_of(page.code)}
    else:
        assert page.file not in said.problems
        assert said.outputs[page.code].startswith(f"fxlsp: {page.code} ")


@each_page
def test_the_repaired_example_has_no_problem(page: Page, said: Said) -> None:
    assert [problem.message for problem in said.problems.get(page.repaired_file, ())] == []


@each_page
def test_the_page_shows_what_is_said(page: Page, said: Said) -> None:
    now = written([page], said)[f"{page.code}.md"]
    assert gist(page.text) == gist(now), "run: python -m dev.problem_pages"
    if said.versions in (PAGES / INDEX).read_text(encoding="utf-8"):
        # Other versions of torch and Python have other words.
        assert page.text == now, "run: python -m dev.problem_pages"


def test_the_index_is_up_to_date(said: Said) -> None:
    text = (PAGES / INDEX).read_text(encoding="utf-8")
    now = written(list(PAGE_OF.values()), said)[INDEX]
    assert text.split("## ")[1:] == now.split("## ")[1:], "run: python -m dev.problem_pages"


@each_page
def test_no_page_names_a_folder_of_the_machine_that_made_it(page: Page) -> None:
    assert not [word for word in ("/tmp", "/work", "/home", "/usr", "site-packages") if word in page.text]


@each_page
def test_the_page_says_what_a_hover_advises(page: Page) -> None:
    _, _, fix = page.text.partition("\n## Fix\n")
    assert f"{ADVICE[page.code]}." in " ".join(fix.split())
