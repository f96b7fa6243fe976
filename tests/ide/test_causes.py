"""One cause at many places, and look-alikes that stay two."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise

import pytest

from fxlsp.ide.causes import Symptom, cause_of
from fxlsp.ide.problems import FileProblem
from fxlsp.ide.repeated_problems import listed_once
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

IN_FORWARD = "class Net(nn.Module):\n    def forward(self, x, mask=None):\n"
OPTIONAL = "The input {} is None unless it is passed, but torch.fx traces forward with a value in its place"
CONTROL_FLOW = "torch.fx cannot trace this: TraceError: symbolically traced variables cannot be inputs to control flow"
LOADING = "cannot load {}: ModuleNotFoundError: No module named '{}'"


def document(text: str, path: str = "/code/net.py") -> Document:
    return Document(f"file://{path}", path, 1, text)


def spans(text: str) -> tuple[str, list[Span]]:
    """Return a text without its marks ``«`` and ``»``, and the spans between them."""
    plain, found, starts = "", [], []
    line = column = 1
    for character in text:
        if character == "«":
            starts.append((line, column))
        elif character == "»":
            found.append(Span(*starts.pop(), line, column))
        else:
            plain += character
            line, column = (line + 1, 1) if character == "\n" else (line, column + 1)
    return plain, found


def number_of_causes(code: str, text: str, message: str = CONTROL_FLOW, model: str = "Net") -> int:
    plain, found = spans(text)
    here = document(plain)
    return len({cause_of(Symptom(code, message, model, here.path, span), here) for span in found})


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("FX101", IN_FORWARD + "        assert «x.shape[0] == 3» and «x.shape[1] == 4», 'wrong'\n"),
        ("FX303", IN_FORWARD + "        assert x.shape[0] == 3, f'{«x»} and {«x.shape»}'\n"),
        ("FX101", IN_FORWARD + "        torch._assert(«x.sum() > 0» and «x.max() > 1», 'wrong')\n"),
        ("FX103", IN_FORWARD + "        return «len(x)» + «len(mask)»\n"),
        ("FX103", IN_FORWARD + "        return «len(x)»\n\n\ndef helper(y):\n    return «len(y)»\n"),
        ("FX104", IN_FORWARD + "        h, w = x.shape\n        return «int(h)» + «int(w)»\n"),
        ("FX105", IN_FORWARD + "        return «self.names[x]» + «self.names[mask]»\n"),
        ("FX102", IN_FORWARD + "        return «x.view(*mask)» + «x.mean(1).view(*mask)»\n"),
        ("FX107", IN_FORWARD + "        «x[0]» = 1\n        «x[1]» = 2\n"),
        ("FX108", "import numpy as np\n" + IN_FORWARD + "        return «np.add(x, x)» + «np.add(x, mask)»\n"),
        (
            "FX108",
            "from einops import rearrange\n\n\ndef a(x):\n    «rearrange(x)»\n\n\ndef b(x):\n    «rearrange(x)»\n",
        ),
        (
            "FX101",
            IN_FORWARD + "        if «x.sum() > 0»:\n            pass\n        if «x.sum()  >  0»:\n            pass\n",
        ),
        (
            "FX304",
            IN_FORWARD
            + "        if «self.training»:\n            pass\n        if «self.training»:\n            pass\n",
        ),
    ],
)
def test_one_cause_shows_at_several_places(code: str, text: str) -> None:
    assert number_of_causes(code, text) == 1


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("FX101", IN_FORWARD + "        assert «x.shape[0] == 3»\n        assert «x.shape[0] == 3»\n"),
        ("FX101", IN_FORWARD + "        assert «x.sum() > 0»; assert «x.max() > 0»\n"),
        ("FX101", IN_FORWARD + "        if «x.sum() > 0» and «x.max() > 0»:\n            pass\n"),
        (
            "FX101",
            IN_FORWARD
            + "        if «torch.any(x)»:\n            pass\n        if «torch.any(mask)»:\n            pass\n",
        ),
        (
            "FX101",
            "def a(x):\n    if «x.sum() > 0»:\n        pass\n\n\ndef b(x):\n    if «x.sum() > 0»:\n        pass\n",
        ),
        ("FX102", IN_FORWARD + "        return «x.view(*mask)» + «x.view(*x)»\n"),
        ("FX103", IN_FORWARD + "        return «len(x)» + «reversed(x)»\n"),
        ("FX104", "def a(x):\n    return «int(x)»\n\n\ndef b(x):\n    return «int(x)»\n"),
        ("FX104", IN_FORWARD + "        return «int(x)» + «float(x)»\n"),
        ("FX105", IN_FORWARD + "        return «self.names[x]» + «self.widths[x]»\n"),
        ("FX108", "import numpy as np\n" + IN_FORWARD + "        return «np.add(x, x)» + «np.sub(x, mask)»\n"),
        ("FX108", "import a\nimport b\n" + IN_FORWARD + "        return «a.add(x, x)» + «b.add(x, mask)»\n"),
        ("FX401", "def a(x):\n    return «x.view(3)»\n\n\ndef b(x):\n    return «x.view(3)»\n"),
        ("FX501", IN_FORWARD + "        «self.a» = «self.b»\n"),
    ],
)
def test_look_alikes_are_two_causes(code: str, text: str) -> None:
    assert number_of_causes(code, text) == 2


def of(message: str, code: str = "FX901", path: str = "/code/a.py", line: int = 1, model: str = "A") -> Symptom:
    return Symptom(code, message, model, path, Span(line, 1, line, 9))


def test_a_package_that_is_missing_is_one_cause_in_all_files() -> None:
    first = of(LOADING.format("a.py", "timm"))
    second = of(LOADING.format("b.py", "timm"), path="/code/b.py", line=7)
    in_a_run = of("No module named 'timm' (ModuleNotFoundError)", "FX401", "/code/c.py")
    other = of(LOADING.format("b.py", "einops"), path="/code/b.py", line=8)
    assert len({cause_of(each, None) for each in (first, second, in_a_run)}) == 1
    assert cause_of(first, None) != cause_of(other, None)


def test_a_text_about_a_missing_module_is_no_missing_package() -> None:
    first, second = (of("KeyError: \"No module named 'a'\"", path=path) for path in ("/code/a.py", "/code/b.py"))
    assert cause_of(first, None) != cause_of(second, None)


def test_a_helper_that_fails_is_one_cause_for_all_that_load_it() -> None:
    first = of("cannot load a.py: KeyError: 'width'", path="/code/helper.py", line=3)
    second = of("cannot make B: KeyError: 'width'", "FX903", "/code/helper.py", 3, "B")
    elsewhere = of("cannot load a.py: KeyError: 'width'", path="/code/other.py", line=3)
    assert cause_of(first, None) == cause_of(second, None) != cause_of(elsewhere, None)


def test_an_input_that_is_tested_in_many_places_is_one_cause() -> None:
    tests = [
        of(OPTIONAL.format("mask"), "FX302", path, line) for path in ("/code/a.py", "/code/b.py") for line in (4, 9)
    ]
    assert len({cause_of(each, None) for each in tests}) == 1
    other_input = replace(tests[0], message=OPTIONAL.format("context_mask"))
    other_model = replace(tests[0], model="B")
    assert len({cause_of(each, None) for each in (tests[0], other_input, other_model)}) == 3


def test_a_name_is_resolved_before_functions_of_two_files_are_compared() -> None:
    def cause(text: str, path: str) -> object:
        plain, (span,) = spans(text)
        return cause_of(Symptom("FX108", "no tensor", "Net", path, span), document(plain, path))

    alias = cause("from einops import rearrange as r\n«r(x)»\n", os.path.abspath("/code/b.py"))
    assert cause("import einops\n«einops.rearrange(x)»\n", os.path.abspath("/code/a.py")) == alias
    own = [cause("def rearrange(x): ...\n«rearrange(x)»\n", f"/code/{name}.py") for name in "ab"]
    assert own[0] != own[1]
    above = cause("from ..ops import rearrange\n«rearrange(x)»\n", os.path.abspath("/code/sub/b.py"))
    beside = cause("from .ops import rearrange\n«rearrange(x)»\n", os.path.abspath("/code/a.py"))
    assert above == beside != cause("from .ops import rearrange\n«rearrange(x)»\n", os.path.abspath("/code/sub/b.py"))


def test_a_layer_that_is_made_wrongly_is_one_cause_at_all_its_calls() -> None:
    made, other = ("/code/a.py", Span(3, 1, 3, 9)), ("/code/a.py", Span(4, 1, 4, 9))
    calls = [replace(of("layer `fc` takes 64 features, got 32", "FX401", line=line), origin=made) for line in (10, 20)]
    assert len({cause_of(each, None) for each in calls}) == 1
    look_alikes = [
        calls[0],
        replace(calls[0], origin=other),
        replace(calls[0], message="layer `fc` takes 64 features, got 16"),
    ]
    assert len({cause_of(each, None) for each in look_alikes}) == 3


def test_what_hangs_on_one_guess_is_one_cause_a_model() -> None:
    guess = "With other inputs this may work: index {} of a tuple of 0 items"
    notes = [of(guess.format(number), "FX401", line=number) for number in (1, 2, 3)]
    assert len({cause_of(each, None) for each in notes}) == 1
    assert cause_of(replace(notes[0], model="B"), None) != cause_of(notes[0], None)


def test_state_of_two_classes_is_two_causes_and_of_a_file_one() -> None:
    method = "    def forward(self):\n        «self.n» = 1\n"
    text = f"class A:\n{method}\n\nclass B:\n{method}"
    assert number_of_causes("FX305", text, "self.n is changed here") == 2
    assert number_of_causes("FX305", text, "_cache is changed here") == 1


def test_a_text_that_does_not_parse_proves_nothing() -> None:
    assert number_of_causes("FX101", "if «x» and «x»\n") == 2


def problem(span: Span, code: str = "FX103") -> FileProblem:
    return FileProblem(code, "warning", "no len", span, (), "Net", False)


def test_an_editor_lists_a_cause_once_and_marks_its_other_places() -> None:
    plain, found = spans(IN_FORWARD + "        return «len(x)» + «len(mask)» + «reversed(x)»\n")
    shown = listed_once("/code/net.py", document(plain), [problem(span) for span in found])
    assert [each.severity for each in shown] == ["warning", "hint", "warning"]
    assert shown[0].message == "no len.\nAlso at 1 more place of this file."
    assert [(each.message, each.span) for each in shown[0].related] == [("also here", found[1])]
    assert [each.span for each in shown] == found
    assert all(before.span <= after.span for before, after in pairwise(shown))
