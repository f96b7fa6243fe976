"""The recipes in a file: in comments and at call sites."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fxlsp.report.recipes import Recipe
from fxlsp.source.models.models import Factory, ModelClass, ModelInstance, factories, instances, model_classes
from fxlsp.source.python.expressions import parse_expression
from fxlsp.source.recipes.recipes import FoundRecipe, find_written, recipes_for
from fxlsp.source.text.documents import Document

HEAD = """\
import torch
import torch.nn as nn

WIDTH = 64

class Block(nn.Module):
    def forward(self, x):
        return x

class Net(nn.Module):
    def __init__(self, width=32, depth=2):
        super().__init__()

    def forward(self, x, mask=None):
        return x

"""


def document_of(text: str) -> Document:
    return Document("untitled:a", "/untitled/a.py", 1, text)


def found(text: str, name: str = "Net") -> tuple[FoundRecipe, ...]:
    document = document_of(text)
    models: list[ModelClass | Factory | ModelInstance] = [
        *(each for each in model_classes(document) if each.qualname == name),
        *(each for each in factories(document) if each.name == name),
        *(each for each in instances(document) if each.name == name),
    ]
    (model,) = models
    recipes = recipes_for(document, model)
    for each in recipes:
        if each.recipe.source == "comment":
            assert document.lines.slice(each.span).startswith(each.recipe.init) or "(Net" in text
    return recipes


def recipes(text: str, name: str = "Net") -> list[tuple[str, str | None]]:
    return [(each.recipe.init, each.recipe.inputs) for each in found(text, name)]


def sites(text: str, name: str = "Net") -> list[tuple[str, str | None]]:
    """Return the recipes from code below two model classes, ``Block`` and ``Net``."""
    return recipes(HEAD + dedent(text), name)


@pytest.mark.parametrize(
    ("comment", "init", "inputs"),
    [
        ("Net(width=64)", "Net(width=64)", None),
        (
            "Net(width=64)(torch.randn(1, 3, 32, 32), mask=None)",
            "Net(width=64)",
            "torch.randn(1, 3, 32, 32), mask=None",
        ),
        ("Net().eval()(x)", "Net().eval()", "x"),
        ("Net().eval()", "Net().eval()", None),
        ("Net()()", "Net()", ""),
        ('Net("ä")(torch.randn(1, 3)  )', 'Net("ä")', "torch.randn(1, 3)"),
        ("(Net())(torch.randn(1))", "Net()", "torch.randn(1)"),
        ("Net()  # as in the paper", "Net()", None),
        ("Net()(x)  # as in the paper", "Net()", "x"),
        ("Net(width = 64)( *xs, ** kw )", "Net(width = 64)", "*xs, ** kw"),
        ("(1, 3, 32, 32)", "", "torch.randn(1, 3, 32, 32)"),
        ("(8,)  # features", "", "torch.randn(8)"),
        ("(1, 3), (1, 10)", "", "torch.randn(1, 3), torch.randn(1, 10)"),
        ("((1, 3), (1, 10))", "", "torch.randn(1, 3), torch.randn(1, 10)"),
        ("(1, width)", "(1, width)", None),
        ("(1, 3.5)", "(1, 3.5)", None),
        ("()", "()", None),
    ],
)
def test_a_comment_is_split_into_what_makes_the_model_and_what_it_is_fed(
    comment: str, init: str, inputs: str | None
) -> None:
    text = f"import torch.nn as nn\n# fxlsp: {comment}\nclass Net(nn.Module):\n    pass\n"
    (only,) = found(text)
    assert only == FoundRecipe(Recipe(init, inputs, "comment"), only.span, None)


@pytest.mark.parametrize(
    "text",
    [
        "class Net(nn.Module):  # fxlsp: Net(1)\n    pass\n",
        "# A model.\n# fxlsp: Net(1)\n# More of it.\nclass Net(nn.Module):\n    pass\n",
        "#fxlsp:Net(1)\n@final\n@other(\n)\nclass Net(nn.Module):\n    pass\n",
        "@final\n# fxlsp: Net(1)\nclass Net(nn.Module):\n    pass\n",
        "class Net(nn.Module):  # type: ignore # fxlsp: Net(1)\n    pass\n",
        "class Net(  # fxlsp: Net(1)\n    nn.Module,\n):\n    pass\n",
        "class Net(\n    nn.Module,\n):  # fxlsp: Net(1)\n    pass\n",
        "if True:\n    # fxlsp: Net(1)\n    class Net(nn.Module):\n        pass\n",
        "# fxlsp: Net(1)\r\nclass Net(nn.Module):\r\n    pass\r\n",
    ],
)
def test_a_comment_is_located_at_the_statement_or_right_above_it(text: str) -> None:
    assert recipes(text) == [("Net(1)", None)]


@pytest.mark.parametrize(
    "text",
    [
        "# fxlsp: Net(1)\n\nclass Net(nn.Module):\n    pass\n",
        "x = 1  # fxlsp: Net(1)\nclass Net(nn.Module):\n    pass\n",
        "class Net(nn.Module):\n    # fxlsp: Net(1)\n    pass\n",
        "# fxlsp: ignore[FX101]\nclass Net(nn.Module):  # fxlsp: ignore\n    pass\n",
        's = """\n# fxlsp: Net(1)\n"""\nclass Net(nn.Module):\n    pass\n',
    ],
)
def test_other_comments_are_no_recipes(text: str) -> None:
    assert recipes(text) == []


def test_several_comments_are_several_recipes() -> None:
    text = "# fxlsp: Net(1)\n# fxlsp: Net(2)(x)\nclass Net(nn.Module):  # fxlsp: Net(3)\n    pass\n"
    assert recipes(text) == [("Net(1)", None), ("Net(2)", "x"), ("Net(3)", None)]


@pytest.mark.parametrize(
    "comment", ["", "Net(", "Net(1); Net(2)", "net = Net()", "give it 3 channels", ")(", "Net(), 1"]
)
def test_a_comment_that_is_not_one_expression_is_an_error_at_its_place(comment: str) -> None:
    (only,) = found(f"# fxlsp: {comment}\nclass Net(nn.Module):\n    pass\n")
    assert only.error is not None
    assert "not one Python expression" in only.error
    assert (only.span.line, only.span.column) == (1, 10)


def test_a_comment_makes_a_function_a_factory() -> None:
    text = "# fxlsp: make(3)(torch.randn(1))\ndef make(n):\n    return n\n\ndef other():\n    pass\n"
    assert recipes(text, "make") == [("make(3)", "torch.randn(1)")]
    assert [each.name for each in factories(document_of(text))] == ["make"]


def test_an_instance_is_called_by_its_name() -> None:
    text = "import torch\nnet = load()  # fxlsp: net(torch.randn(1, 3))\n"
    assert recipes(text, "net") == [("net", "torch.randn(1, 3)"), ("net", None)]


def test_an_instance_is_fed_what_the_file_feeds_it() -> None:
    text = """
        net = Net(10)

        if __name__ == "__main__":
            x = torch.randn(2, 3)
            net(x)
    """
    assert sites(text, "net") == [("net", "torch.randn(2, 3)")]
    assert sites(text) == [("Net(10)", "torch.randn(2, 3)")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("net = Net(10, depth=128)", [("Net(10, depth=128)", None)]),
        ("net = Net(WIDTH)\nnet(torch.randn(2, 3))", [("Net(WIDTH)", "torch.randn(2, 3)")]),
        ("Net()(torch.randn(1, 3), mask=None)", [("Net()", "torch.randn(1, 3), mask=None")]),
        ("Net().eval()(torch.randn(1, 3))", [("Net().eval()", "torch.randn(1, 3)")]),
        ("net = Net().to('cuda').eval()\nnet(torch.ones(1).cuda())", [("Net().eval()", "torch.ones(1)")]),
        ("net = Net().cuda().half()\nnet(torch.ones(1))", [("Net().half()", "torch.ones(1)")]),
        ("net = Net().to(torch.float16)\nnet(torch.ones(1))", [("Net().to(torch.float16)", "torch.ones(1)")]),
        ("net = Net()\nnet.eval()\nnet(torch.ones(1))", [("Net().eval()", "torch.ones(1)")]),
        ("net = Net()\nnet = nn.DataParallel(net)\nnet.forward(torch.ones(1))", [("Net()", "torch.ones(1)")]),
        ("net: nn.Module = Net(\n    3,  # three\n    4,\n)", [("Net(3, 4)", None)]),
        ("nets = [Net(i) for i in range(3)]", []),
        ("net = Net()\nfor x in data:\n    net(x)", [("Net()", None)]),
    ],
)
def test_call_sites_of_the_module_the_main_block_and_functions_are_alike(
    text: str, expected: list[tuple[str, str | None]]
) -> None:
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    assert sites(f'if __name__ == "__main__":\n{indented}') == expected
    assert sites(f"def test_it(data):\n{indented}") == expected
    assert sites(f"class TestNet(TestCase):\n    def test(self):\n{indented.replace('    ', '        ')}") == expected
    assert sites(text) == expected


def test_a_loop_at_top_level_need_not_run_for_what_is_in_it() -> None:
    text = """
        net, other = Net(10), Block()
        size = 32
        for step in range(100000):
            real = torch.randn(2, size)
            fake = other(real)
            loss = net(fake.detach()).sum()
            loss.backward()
        net(real)
        other(step)
        layers = []
        for width in (1, 2):
            layers.append(width)
        net(layers)
    """
    made = "Net(10)"
    fed = ["other(torch.randn(2, size)).detach()", "torch.randn(2, size)", "layers"]
    assert sites(text) == [(made, inputs) for inputs in fed]
    assert sites(text, "Block") == [("Block()", "torch.randn(2, size)")]


def test_names_of_a_function_are_replaced_by_what_they_mean() -> None:
    text = """
        def main():
            batch, size = 2, 32
            kernel = 3, 3
            shape = (batch, 3, size, size)
            width = WIDTH
            net = Net(width * 2, kernel)
            x = torch.randn(*shape)
            x = x.to("cuda")
            y = net(x)
    """
    assert sites(text) == [("Net(WIDTH * 2, (3, 3))", "torch.randn(2, 3, 32, 32)")]


def test_a_parameter_means_its_default() -> None:
    text = """
        def show(width=WIDTH, *args, **kwargs):
            print(Net(width, *args, depth=3, **kwargs))
    """
    assert sites(text) == [("Net(WIDTH, depth=3)", None)]


def test_a_device_does_not_make_inputs_unknown() -> None:
    text = """
        def main(args):
            device = torch.device(args.device)
            net = Net().to(device)
            net(torch.randn(1, 3, device=device).to(args.device))
    """
    assert sites(text) == [("Net()", "torch.randn(1, 3)")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("net = Net(args.width)\nnet(torch.ones(1))", [("", "torch.ones(1)")]),
        ("net = Net(3)\nnet(args.x)", [("Net(3)", None)]),
        ("net = Net(args.width)", []),
        ("width = 1\nif args:\n    width = 2\nNet(width)", []),
        ("width = 1\nwidth = width + 1\nNet(width)", [("Net(1 + 1)", None)]),
        ("layers = []\nlayers.append(3)\nNet(layers)", []),
        ("import numpy as np\nNet(np.int64(3))", [("Net(__import__('numpy').int64(3))", None)]),
        ("from .config import width\nNet(width)", []),
        ("with open() as f:\n    Net(f)", []),
        ("width = width\nNet(width)", []),
        ("a = b\nb = a\nNet(a)", []),
        ("f = lambda n: Net(n)", []),
        ("f = lambda: Net(5)", [("Net(5)", None)]),
    ],
)
def test_what_is_known_only_when_the_code_runs_is_left_out(body: str, expected: list[tuple[str, str | None]]) -> None:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    assert sites(f"def main(args):\n{indented}") == expected


def test_what_a_model_passes_on_to_its_parts_is_taken_only_if_the_module_knows_it() -> None:
    text = """
        class Big(nn.Module):
            def __init__(self, width=3):
                self.first = Block(width)
                self.second = Block(WIDTH, 5)
                depth = 4
                self.third = Block(depth)

            def forward(self, x):
                return self.second(x)
    """
    assert sites(text, "Block") == [("Block(WIDTH, 5)", None)]


def test_a_name_that_nothing_binds_may_come_from_a_star_import() -> None:
    assert sites("Net(SIZE)") == []
    assert sites("from .config import *\nNet(SIZE)") == [("Net(SIZE)", None)]


@pytest.mark.parametrize(
    ("imports", "call", "inputs"),
    [
        ("import torch", "torch.jit.trace(net, torch.ones(1))", "torch.ones(1)"),
        ("import torch", "torch.onnx.export(net.cpu(), (x, x), 'a.onnx')", "torch.ones(3), torch.ones(3)"),
        ("import torch", "torch.export.export(net, args=(x,))", "torch.ones(3)"),
        ("import torch", "pair = (x, x * 2)\n    torch.jit.trace(net, pair)", "torch.ones(3), torch.ones(3) * 2"),
        ("import torch", "one = (x * 2,)\n    torch.onnx.export(net, one, 'a.onnx')", "torch.ones(3) * 2"),
        ("import torch", "torch.jit.trace(net, x)", "torch.ones(3)"),
        ("from thop import profile", "profile(net, inputs=(x,), verbose=False)", "torch.ones(3)"),
        ("from torchsummary import summary", "summary(net, (3, 32, 32))", "torch.randn(2, 3, 32, 32)"),
        ("from torchinfo import summary", "summary(net, input_size=(1, 3, 32, 32))", "torch.randn(1, 3, 32, 32)"),
        ("import torchinfo", "torchinfo.summary(net, [(1, 3), (1, 4)])", "torch.randn(1, 3), torch.randn(1, 4)"),
        ("import torchinfo", "torchinfo.summary(net, shape)", "torch.randn(1, 2)"),
        ("import torchinfo", "torchinfo.summary(net)", None),
        ("from mine import summary", "summary(net, (3, 32, 32))", None),
    ],
)
def test_a_function_that_runs_modules_says_what_it_feeds_them(imports: str, call: str, inputs: str | None) -> None:
    text = f"def test():\n    {imports}\n    net = Net(1)\n    x = torch.ones(3)\n    shape = 1, 2\n    {call}\n"
    assert sites(text) == [("Net(1)", inputs)]


def test_a_class_says_nothing_about_itself() -> None:
    text = "import torch.nn as nn\nclass Net(nn.Module):\n    def copy(self):\n        return Net(1)\n"
    assert recipes(text) == []


def test_a_function_that_returns_the_model_makes_it() -> None:
    text = """
        def _make(block, width, **kwargs):
            net = Net(width, block, **kwargs)
            return net

        def small(pretrained=False, **kwargs):
            width = 10 if pretrained else 20
            return _make(Block, width, **kwargs)

        def large(url):
            return _make(Block, 30, url=url)

        def huge(url):
            return _make(Block, 40)

        def either(flag):
            return Net(50) if flag else Block()

        def test():
            net = small()
            y = net(torch.randn(1, 3, 32, 32))
    """
    assert sites(text) == [
        ("small()", "torch.randn(1, 3, 32, 32)"),
        ("Net(20, Block)", None),
        ("_make(Block, 40)", None),
        ("Net(50)", None),
    ]


def test_a_fixture_is_not_called() -> None:
    text = """
        @pytest.fixture
        def net():
            width = 3
            return Net(width)
    """
    assert sites(text) == [("Net(3)", None)]


def test_a_second_name_of_the_module_is_followed() -> None:
    assert sites("net = Net(1)\nmodel = net\nmodel(torch.ones(1))") == [("Net(1)", "torch.ones(1)")]


def test_recipes_with_inputs_come_first_and_none_comes_twice() -> None:
    text = """
        a = Net(1)
        b = Net(2)
        b(torch.ones(2))
        b(torch.ones(2))
        Net(1)
    """
    assert sites(text) == [("Net(2)", "torch.ones(2)"), ("Net(1)", None)]


def test_a_nested_class_is_made_by_its_dotted_name() -> None:
    text = "import torch.nn as nn\nclass A:\n    class Net(nn.Module):\n        pass\nA.Net(3)\nNet(4)\n"
    assert recipes(text, "A.Net") == [("A.Net(3)", None)]


def test_a_class_inside_a_function_has_comments_alone() -> None:
    text = "import torch.nn as nn\ndef f():\n    # fxlsp: Net(1)\n    class Net(nn.Module):\n        pass\n    Net(2)\n"
    assert recipes(text, "f.<locals>.Net") == [("Net(1)", None)]


def test_a_text_with_errors_still_has_its_recipes() -> None:
    assert sites("net = Net(3)\nnet(torch.ones(1))\ndef broken(:\n") == [("Net(3)", "torch.ones(1)")]


def test_an_expression_that_grows_out_of_hand_is_left_out() -> None:
    doubling = "".join(f"    x{number + 1} = (x{number}, x{number})\n" for number in range(11))
    assert sites(f"def test():\n    x0 = (1, 2, 3)\n{doubling}    Net(x11)\n    Net(x2)\n") == [
        ("Net((((1, 2, 3), (1, 2, 3)), ((1, 2, 3), (1, 2, 3))))", None)
    ]
    deep = "(" * 100 + "1" + ",)" * 100
    assert sites(f"Net({deep})\nNet(4)\n") == [("Net(4)", None)]


def test_deeply_nested_and_long_calls_are_read_without_recursion() -> None:
    text = "Net()" + ".eval()" * 3_000 + "\n" + "f(" * 3_000 + ")" * 3_000 + "\nNet(2)\n"
    assert sites(text)[-1:] == [("Net(2)", None)]


PIECES = st.sampled_from(
    [
        *(
            "Net(",
            ")",
            "(x)",
            "x",
            " = ",
            "\n",
            "\n    ",
            "def f(a, b=x):",
            "return ",
            "for x in ",
            "lambda a: ",
            "if x:",
            "y",
        ),
        *(
            "[",
            "]",
            ", ",
            "*",
            "**",
            ".eval()",
            ".to(",
            "with x as y:",
            "import x",
            "class A:",
            "# fxlsp: Net(1)",
            ":=",
        ),
        'if __name__ == "__main__":',
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_text_breaks_the_search(text: str) -> None:
    # A bracket that stays open may hide the class from the parser.
    assume("Net" in {model.qualname for model in model_classes(document_of(HEAD + text))})
    for name, inputs in sites(text):
        assert parse_expression(f"f({inputs or ''})") is not None
        assert not name or parse_expression(name) is not None


def test_the_sizes_in_a_comment_are_the_recipe_of_a_trace_that_completed_it() -> None:
    (only,) = found("# fxlsp: (1, 3)\nclass Net(nn.Module):\n    pass\n")
    assert find_written([only], Recipe("Net()", "torch.randn(1, 3)", "comment")) == only
    assert find_written([only], Recipe("Net()", "torch.randn(2, 3)", "comment")) is None
