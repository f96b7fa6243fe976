"""What is to blame for certain where nothing says how a model is made and fed, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Failure
from tests.tracing.search.frames import HEAD, fed, net

ATTENTION = "self.attention = nn.MultiheadAttention(width, 4, batch_first=True)"
USED = "y = self.attention(x, x, x, key_padding_mask=mask)\nreturn x + y"


@pytest.mark.parametrize(
    ("arguments", "made", "signature", "run", "line"),
    [
        pytest.param("width=32", ATTENTION, "x, mask=None", USED, "return x + y", id="an optional mask"),
        pytest.param("width, classes", ATTENTION, "x, mask=None", USED, "return x + y", id="guessed widths"),
        pytest.param(
            "width",
            "self.rnn, self.fc = None, nn.Linear(width, 4)\nself.cells = nn.LSTMCell(width, width)",
            "x, state=None",
            "y = self.cells(x, state)\nreturn self.fc(x) - y",
            "return self.fc(x) - y",
            id="a cell",
        ),
        pytest.param(
            "cfg",
            "self.rnn = nn.GRU(cfg.width, cfg.width, dropout=cfg.dropout, num_layers=2)",
            "x, state=None",
            "y = self.rnn(x, state)\nreturn y.relu() + x",
            "return y.relu() + x",
            id="a configuration",
        ),
    ],
)
def test_the_tuple_of_a_layer_that_is_used_as_a_tensor_is_an_error(
    arguments: str, made: str, signature: str, run: str, line: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net(arguments, made, signature, run)
    report = worker.report(write(text) + ":Net")
    (problem,) = [each for each in report.problems if each.code == "FX401"]
    assert problem.severity == "error"
    assert text.splitlines()[problem.location.line - 1].strip() == line
    assert " is the tuple that layer `" in problem.message


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(f"{ATTENTION} if depth > 1 else Own(width)", id="one of two"),
        pytest.param(f"if depth > 1:\n    {ATTENTION}\nelse:\n    self.attention = Own(width)", id="in a branch"),
        pytest.param(f"{ATTENTION}\nif depth < 2:\n    self.attention = Own(width)", id="replaced"),
        pytest.param("self.attention = mixer(width, depth)", id="by a function"),
        pytest.param("self.attention = (nn.MultiheadAttention if depth > 1 else Own)(width, 4)", id="by a class"),
    ],
)
def test_a_layer_that_other_arguments_replace_is_not_to_blame(
    made: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("width, depth", made, "x, mask=None", USED)
    own = """class Own(nn.Module):
    def __init__(self, width, heads=1):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x, y, z, key_padding_mask=None):
        return self.fc(x)


def mixer(width, depth):
    return nn.MultiheadAttention(width, 4, batch_first=True) if depth > 1 else Own(width)


"""
    report = worker.report(write(text.replace(HEAD, HEAD + own)) + ":Net")
    assert [each.severity for each in report.problems if each.code == "FX401"] in ([], ["info"])


@pytest.mark.parametrize(
    ("made", "severity"),
    [
        pytest.param("self.down = nn.Linear(30 if cfg.mode > 2 else 40, 5)", "info", id="a mode of a configuration"),
        pytest.param("self.down = nn.Linear(30, cfg.width)", "error", id="a width of a configuration"),
    ],
)
def test_sizes_that_a_made_up_configuration_may_choose_are_not_proven(
    made: str, severity: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("cfg", f"self.up = nn.Linear(30, 40)\n{made}", "x", "return self.down(self.up(x))")
    report = worker.report(write(text) + ":Net")
    assert [each.severity for each in report.problems if each.code == "FX401"] == [severity]


@pytest.mark.parametrize(
    ("body", "helper"),
    [
        ("raise NotImplementedError", "return x"),
        ('raise NotImplementedError("define forward")', "return x"),
        ("return self.encode(x) + 1", 'raise NotImplementedError("define encode")'),
        ("return self.encode(x) + 1", '"""Encode."""\n        raise NotImplementedError()'),
    ],
)
def test_what_a_subclass_is_to_define_is_a_hint(body: str, helper: str, worker: Any, write: Callable[..., str]) -> None:
    text = fed("x", f"{body}\n\ndef encode(self, x):").replace("        def encode", "    def encode")
    text += f"        {helper}\n"
    (problem,) = worker.report(write(text) + ":Net").problems
    assert (problem.code, problem.severity) == ("FX401", "hint")
    assert problem.message.startswith("A subclass is to define this: NotImplementedError")
    assert "raise NotImplementedError" in text.splitlines()[problem.location.line - 1]


@pytest.mark.parametrize("raised", ["NotImplementedError", "NotImplementedError('define forward')"])
def test_what_a_subclass_is_to_define_is_a_hint_without_stated_inputs_too(
    raised: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("rate", "self.rate = rate", "*args, **kwargs", f"raise {raised}")
    (problem,) = worker.report(f"{write(text)}:Net", "Net(rate=8000.0)", None).problems
    assert (problem.code, problem.severity) == ("FX401", "hint")
    assert problem.message.startswith("A subclass is to define this: ")


def test_what_is_refused_behind_other_statements_is_a_note(worker: Any, write: Callable[..., str]) -> None:
    text = fed("x", "y = x + 1\nraise NotImplementedError(y.dim())")
    (problem,) = worker.report(write(text) + ":Net").problems
    assert (problem.code, problem.severity) == ("FX401", "info")
    assert problem.message.startswith("With other inputs this may work: ")


def test_calling_what_a_subclass_is_to_define_is_an_error(worker: Any, write: Callable[..., str]) -> None:
    text = fed("x", "raise NotImplementedError")
    problems = worker.report(write(text) + ":Net", "Net()", "torch.randn(2, 3)").problems
    assert [(each.code, each.severity) for each in problems] == [("FX401", "error")]


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        pytest.param("def reset(self, state):\n    self.state = state", "info", id="a method sets it"),
        pytest.param(
            'def reset(self, state):\n    setattr(self, "state", state)', "info", id="a method sets it by name"
        ),
        pytest.param(
            'def reset(self, state):\n    self.register_buffer("state", state)', "info", id="a method registers it"
        ),
        pytest.param("def reset(self, state):\n    self.states = state", "error", id="nothing sets it"),
        pytest.param("def reset(self, state):\n    return self.state == state", "error", id="it is only read"),
    ],
)
def test_an_attribute_that_a_caller_may_have_set_is_not_missing_for_certain(
    other: str, severity: str, worker: Any, write: Callable[..., str]
) -> None:
    text = fed("x", f"y = x + self.state\nself.state = y\nreturn y\n{other}").replace("        def", "    def")
    report = worker.report(write(text) + ":Net")
    assert [each.severity for each in report.problems if "has no attribute" in each.message] == [severity]


@pytest.mark.parametrize(
    ("made", "severity"),
    [
        pytest.param("class Own(Net):\n    def __init__(self):\n        super().__init__()\n", "info", id="a subclass"),
        pytest.param(
            "class Own(Base):\n    def __init__(self):\n        super().__init__()\n", "error", id="another class"
        ),
    ],
)
def test_an_attribute_that_a_subclass_makes_is_not_missing_for_certain(
    made: str, severity: str, worker: Any, write: Callable[..., str]
) -> None:
    text = f"{fed('x', 'return self.inner(x)')}\n\n{made}        self.inner = nn.Linear(4, 4)\n"
    report = worker.report(write(text) + ":Net")
    assert [each.severity for each in report.problems if "has no attribute" in each.message] == [severity]


GATED = net(
    "width, extra=0",
    "self.lin = nn.Linear(width, width)\nif extra != 0:\n    self.cond = nn.Linear(extra, width)",
    "x, g=None, w=None",
    "if g is not None:\n    x = x + self.cond(g)\nassert w is not None and len(w) == 12345\nreturn self.lin(x)",
)


@pytest.mark.parametrize(
    ("made", "recipe", "severity"),
    [
        pytest.param(GATED, (), "info", id="guessed"),
        pytest.param(GATED, ("Net(4)", "torch.randn(2, 4)"), "warning", id="without the input"),
        pytest.param(GATED.replace("if extra != 0", "if extra == 0"), (), None, id="it is made"),
        pytest.param(GATED.replace("self.cond = ", "self.cond_ = "), (), "error", id="never made"),
        pytest.param(GATED, ("Net(4)", "torch.randn(2, 4), torch.randn(2, 4)"), "error", id="with the input"),
    ],
)
def test_an_attribute_that_a_branch_of_the_constructor_makes_is_missing_for_certain_where_it_is_used(
    made: str, recipe: tuple[str, ...], severity: str | None, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(made) + ":Net", *recipe)
    found = [each.severity for each in report.problems if "has no attribute" in each.message]
    assert found == ([] if severity is None else [severity])


def test_an_attribute_of_a_relative_by_a_base_class_of_another_file_is_not_missing_for_certain(
    worker: Any, write: Callable[..., str]
) -> None:
    write("from torch import nn\n\nclass Part(nn.Module):\n    pass\n", "parts.py")
    net = fed("x", "return self.inner(x)").replace("class Net(nn.Module)", "import parts\n\nclass Net(parts.Part)")
    assert "parts.Part" in net
    made = "class Own(parts.Part):\n    def __init__(self):\n        super().__init__()\n        self.inner = abs\n"
    report = worker.report(write(f"{net}\n\n{made}") + ":Net")
    assert [each.severity for each in report.problems if "has no attribute" in each.message] == ["info"]


NEVER = "if torch.version.git_version is None:"


@pytest.mark.parametrize(
    ("head", "severity"),
    [
        pytest.param(f"{NEVER}\n    from torch.nn.functional import silu as act\n", "info", id="an import"),
        pytest.param(
            "try:\n    from missing_package import act\nexcept ImportError:\n    pass\n", "info", id="a missing package"
        ),
        pytest.param(f"{NEVER}\n    def act(x):\n        return x\n", "info", id="a function"),
        pytest.param(f"{NEVER}\n    acts = 1\n", "error", id="another name"),
    ],
)
def test_a_name_that_a_branch_of_the_file_binds_is_not_missing_for_certain(
    head: str, severity: str, worker: Any, write: Callable[..., str]
) -> None:
    text = fed("x", "return act(x)").replace("class Net", f"{head}\n\nclass Net")
    report = worker.report(write(text) + ":Net")
    assert [each.severity for each in report.problems if "name 'act'" in each.message] == [severity]


_HEADS = "self.fc, self.heads = nn.Linear(24, 8), nn.ModuleList([nn.Linear(8, 2), nn.Linear(8, 3)])"
_OF_NAMES = 'return [self.heads[each](self.fc(x)) for each in ("age", "size")]'
_TEXTS = (
    "self.table = nn.Embedding(words, 256)\n"
    "self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, batch_first=True), 2)"
)


@pytest.mark.parametrize(
    ("arguments", "made", "signature", "run", "severities"),
    [
        pytest.param("", _HEADS, "x", _OF_NAMES, {"error"}, id="a list of layers indexed by a text"),
        pytest.param(
            "",
            _HEADS.replace("List([", "Dict(dict(age=").replace(", nn.Linear(8, 3)]", ", size=nn.Linear(8, 3))"),
            "x",
            _OF_NAMES,
            set(),
            id="a dict of layers",
        ),
        pytest.param("", _HEADS, "x, task", "return self.heads[task](self.fc(x))", set(), id="indexed by an input"),
        pytest.param(
            "", _HEADS, 'x, task="age"', "y = self.fc(x)\nreturn self.heads[task](y)", {"info"}, id="by a default"
        ),
        pytest.param(
            "words",
            _TEXTS,
            "ids",
            "x = self.table(ids)\nreturn self.encoder(x, src_key_padding_mask=None)",
            set(),
            id="a wide encoder, which copies its layer",
        ),
    ],
)
def test_a_text_that_indexes_a_list_of_layers_is_an_error(
    arguments: str,
    made: str,
    signature: str,
    run: str,
    severities: set[str],
    worker: Any,
    write: Callable[..., str],
) -> None:
    report = worker.report(write(net(arguments, made, signature, run)) + ":Net")
    assert {each.severity for each in report.problems if each.code.startswith("FX4")} == severities
    assert report.recipe.inputs is not None


_FEED_FORWARD = """self.attn = nn.MultiheadAttention(32, 4, batch_first=True)
self.up, self.down = nn.Linear(32, 80), nn.Linear({}, 32)"""
_ATTENDED = "y, _ = self.attn(x, x, x, attn_mask=mask)\nreturn self.down(self.up(x + y))"
_CHOSEN = (
    "y, _ = self.attn(x, x, x, attn_mask=mask)\ny = self.up(y)\nreturn self.down(y if mask is None else y[..., :24])"
)


@pytest.mark.parametrize(
    ("made", "run", "severities"),
    [
        pytest.param(_FEED_FORWARD.format(24), _ATTENDED, {"error"}, id="a mask that is passed on"),
        pytest.param(_FEED_FORWARD.format(80), _ATTENDED, set(), id="with the right width"),
        pytest.param(_FEED_FORWARD.format(24), _CHOSEN, set(), id="a mask that chooses"),
    ],
)
def test_an_optional_mask_that_layers_alone_are_given_excuses_no_width(
    made: str, run: str, severities: set[str], worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(net("", made, "x, mask=None", run)) + ":Net")
    assert {each.severity for each in report.problems if each.code.startswith("FX4")} == severities


def test_a_number_that_was_guessed_for_an_argument_which_is_passed_on_is_not_to_blame(
    worker: Any, write: Callable[..., str]
) -> None:
    run = (
        "a, b, c, d = x.shape\nz = torch.stack([x * y.cos(), x * y.sin()], dim=-1).view(a * b, c, d, 2)\n"
        "return torch.istft(torch.view_as_complex(z), n_fft=64, window=self.window)"
    )
    text = net("window", "self.window = window", "x, y", run)
    report = worker.report(write(text) + ":Net")
    assert {each.severity for each in report.problems if each.code.startswith("FX4")} <= {"info"}


@pytest.mark.parametrize(
    ("run", "codes"),
    [
        ("return torch.matmul(self.fc(x))", ["FX403"]),
        ("return torch.matmul(self.fc(x), self.fc.weight)", []),
        ("return torch.matmul(self.fc(x), *weights)", []),
        ("return F.normalize(self.fc(x), axis=1)", ["FX403"]),
        ("return F.max_pool1d(self.fc(x), kernel=2)", ["FX403"]),
        ("return torch.stack([self.fc(x)], axes=1)", ["FX403"]),
        ("return F.normalize(self.fc(x), **options)", []),
        ("try:\n    return F.normalize(self.fc(x), axis=1)\nexcept TypeError:\n    return F.normalize(self.fc(x))", []),
    ],
)
def test_a_function_of_torch_without_an_argument_or_with_one_that_it_does_not_have_is_an_error(
    run: str, codes: list[str], worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(net("", "self.fc = nn.Linear(8, 4)", "x, *weights, **options", run)) + ":Net")
    assert [each.code for each in report.problems if each.severity == "error" and each.code[2] == "4"] == codes


@pytest.mark.parametrize(
    ("arguments", "made", "is_error"),
    [
        ("", "self.fc = nn.Linear(8, 4, biases=False)", True),
        ("**options", "self.fc = nn.Linear(8, 4, **options)", False),
        ("act", "self.fc, self.act = nn.Linear(8, 4), act(slope=0.2)", False),
    ],
)
def test_a_keyword_that_a_layer_does_not_have_is_an_error_unless_a_caller_passes_it_or_the_layer(
    arguments: str, made: str, is_error: bool, worker: Any, write: Callable[..., str]
) -> None:
    answer = worker.answer(write(net(arguments, made, "x", "return self.fc(x)")) + ":Net")
    failed = Failure.from_json(answer["failure"]).code == "FX403" if answer["type"] == "failure" else False
    assert failed == is_error


@pytest.mark.parametrize(
    ("signature", "run", "codes"),
    [
        ("x", "self.scale = self.scale.clamp(0, 4)\nreturn self.fc(x) * self.scale", ["FX403"]),
        ("x", "self.fc = self.fc(x)\nreturn self.fc", ["FX403"]),
        ("x, scale", "self.scale = scale\nreturn self.fc(x) * self.scale", []),
        ("x", "self.scale = nn.Parameter(self.scale.clamp(0, 4))\nreturn self.fc(x) * self.scale", []),
    ],
)
def test_a_tensor_that_was_computed_is_no_parameter_or_layer(
    signature: str, run: str, codes: list[str], worker: Any, write: Callable[..., str]
) -> None:
    made = "self.fc, self.scale = nn.Linear(8, 4), nn.Parameter(torch.ones(()))"
    report = worker.report(write(net("", made, signature, run)) + ":Net")
    assert [each.code for each in report.problems if each.severity == "error" and each.code[2] == "4"] == codes


QUERIES = "self.queries = nn.Embedding(8, dim)\nself.fc = nn.Linear(dim, 4)"
OF_QUERIES = "return self.fc(x + self.queries.unsqueeze(0).mean(1))"


@pytest.mark.parametrize(
    "run", [OF_QUERIES, "return self.fc(x) * self.fc.wieght.sum()"], ids=["of a tensor", "misspelt"]
)
def test_what_a_layer_of_torch_does_not_have_is_an_error(run: str, worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(net("dim", QUERIES, "x", run)) + ":Net")
    assert [each.severity for each in report.problems] == ["error"]


@pytest.mark.parametrize(
    "made",
    [
        pytest.param("self.queries = queries\nself.fc = nn.Linear(dim, 4)", id="an argument"),
        pytest.param(
            f"{QUERIES}\nif dim > 9000:\n    self.queries = nn.Parameter(torch.zeros(8, dim))", id="in a branch"
        ),
        pytest.param(f"{QUERIES}\nself.queries.unsqueeze = self.fc", id="set by the code"),
        pytest.param(
            f"{QUERIES}\nfor each in self.children():\n    each.unsqueeze = each.weight.unsqueeze", id="set in a loop"
        ),
    ],
)
def test_what_a_caller_may_pass_or_the_code_sets_is_not(made: str, worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(net("dim, queries=None", made, "x", OF_QUERIES)) + ":Net")
    assert "error" not in [each.severity for each in report.problems if "unsqueeze" in each.message]


def test_inputs_that_a_search_made_up_and_that_cannot_be_made_are_a_note(
    worker: Any, write: Callable[..., str]
) -> None:
    packed = "torch.nn.utils.rnn.PackedSequence"
    run = f"assert isinstance(x, {packed}) and isinstance(scores, {packed})\nreturn self.lin(x.data) * scores.data"
    text = net("width", "self.lin = nn.Linear(width, width)", "x, scores=None", run)
    report = worker.report(write(text) + ":Net")
    assert {each.code: each.severity for each in report.problems} == {"FX199": "info", "FX904": "info"}
