"""What scripts, tests and trainers say about how a model is made and fed, in the ways that people write them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fxlsp.source.models.models import model_classes
from fxlsp.source.recipes.markdown_blocks import block_name, code_blocks, file_of, is_block
from fxlsp.source.recipes.recipes import recipes_for, unused_calls_of
from fxlsp.source.text.documents import Document

HEAD = """\
import argparse
import torch
import pytest
from torch import nn

class Net(nn.Module):
    def __init__(self, width=32, depth=2):
        super().__init__()

    def forward(self, x):
        return x

"""


def sites(text: str) -> list[tuple[str, str | None]]:
    document = Document("untitled:a", "/untitled/a.py", 1, HEAD + dedent(text))
    (net,) = (model for model in model_classes(document) if model.qualname == "Net")
    return [(each.recipe.init, each.recipe.inputs) for each in recipes_for(document, net)]


def unused_calls(text: str) -> list[tuple[int, str]]:
    document = Document("untitled:a", "/untitled/a.py", 1, HEAD + text)
    (net,) = (model for model in model_classes(document) if model.qualname == "Net")
    return [(each.span.line, each.reason) for each in unused_calls_of(document, net)]


@pytest.mark.parametrize(
    ("declared", "used", "init"),
    [
        ('"--width", type=int, default=64', "width", "Net(64)"),
        ('"-w", "--net-width", type=int, default="64"', "net_width", "Net(64)"),
        ('"--w", dest="width", default=64', "width", "Net(64)"),
        ('"--deep", action="store_true"', "deep", "Net(False)"),
        ('"--shallow", action="store_false"', "shallow", "Net(True)"),
        ('"--width", type=int', "width", "Net(None)"),
        ('"--width", type=int, required=True, choices=[8, 16]', "width", "Net(8)"),
        ('"width", nargs="?", default=3', "width", "Net(3)"),
    ],
)
@pytest.mark.parametrize("inside", [True, False])
def test_an_option_has_the_value_that_it_has_without_arguments(
    declared: str, used: str, init: str, inside: bool
) -> None:
    lines = [
        "parser = argparse.ArgumentParser()",
        f"parser.add_argument({declared})",
        "args = parser.parse_args()",
        f"net = Net(args.{used})",
    ]
    text = "\n".join(["def main():", *(f"    {line}" for line in lines)] if inside else lines)
    assert sites(text) == [(init, None)]


@pytest.mark.parametrize("declared", ['"--width", type=int, required=True', '"width"'])
def test_an_option_that_must_be_given_is_not_known(declared: str) -> None:
    text = f"""
        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument({declared})
            args = parser.parse_args()
            Net(args.width)(torch.ones(2))
    """
    assert sites(text) == [("", "torch.ones(2)")]


def test_options_are_followed_into_functions_and_dictionaries() -> None:
    text = """
        def options():
            parser = argparse.ArgumentParser()
            parser.add_argument("--width", default=64)
            return parser

        def build(args, depth):
            config = vars(args)
            return Net(config["width"], depth)

        def main():
            args = options().parse_args()
            args.extra = 3
            net = build(args, depth=4)
            net(torch.ones(args.width))
    """
    assert sites(text) == [
        ("Net(64, 4)", "torch.ones(64)"),
    ] or ("Net(64, 4)", None) in sites(text)


@pytest.mark.parametrize(
    ("config", "call", "init"),
    [
        ("{'width': 3, 'depth': 4}", "Net(**config)", "Net(width=3, depth=4)"),
        ("dict(width=3)", "Net(config['width'])", "Net(3)"),
        ("{'net': {'width': 3}}", "Net(**config['net'])", "Net(width=3)"),
        ("[3, 4]", "Net(*config)", "Net(3, 4)"),
        ("(3, 4)", "Net(config[1])", "Net(4)"),
        ("{'width': 3}", "Net(config.get('width'))", "Net({'width': 3}.get('width'))"),
    ],
)
def test_what_is_read_from_a_literal_is_reported_as_what_it_is(config: str, call: str, init: str) -> None:
    assert sites(f"def main():\n    config = {config}\n    {call}\n") == [(init, None)]


def test_an_attribute_of_self_means_the_one_thing_it_is_given() -> None:
    text = """
        class Tester:
            def setUp(self):
                self.width = 3
                self.net = Net(self.width)
                self.net.eval()

            def test(self):
                y = self.net(torch.ones(self.width))
    """
    assert sites(text) == [("Net(3)", "torch.ones(3)")]


def test_an_attribute_of_self_that_is_given_several_things_means_none() -> None:
    text = """
        class Tester:
            def one(self):
                self.width = 3
            def two(self):
                self.width = 4
            def test(self):
                Net(self.width)
    """
    assert sites(text) == []


def test_a_fixture_and_parameters_are_what_pytest_passes() -> None:
    text = """
        @pytest.fixture
        def net():
            return Net(3)

        @pytest.mark.parametrize(("size", "name"), [(5, "a"), (6, "b")])
        @pytest.mark.parametrize("batch", [pytest.param(2, id="two"), 3])
        def test(net, size, name, batch):
            net(torch.ones(batch, size))
    """
    assert sites(text) == [("Net(3)", "torch.ones(2, 5)")]


def test_a_name_that_is_bound_again_later_means_what_it_was_at_the_call() -> None:
    text = """\
        width = 8
        x = torch.randn(2, width)
        net = Net(width)
        net(x)
        width, x = 16, [[1, 2]]
        """
    assert sites(text) == [("Net(8)", "torch.randn(2, 8)")]


def test_a_name_that_is_made_of_itself_is_followed_to_where_it_began() -> None:
    text = """\
        x = torch.randn(2, 8)
        x = x.relu()
        Net()(x)
        x = None
        """
    assert sites(text) == [("Net()", "torch.randn(2, 8).relu()")]


@pytest.mark.parametrize("change", ["x[0] = 1", "x += 1", "if x.sum() > 0:\n    x = x.relu()"])
def test_a_name_that_is_bound_again_later_is_not_reported_where_no_expression_says_what_it_was(change: str) -> None:
    text = f"x = torch.randn(2, 8)\n{change}\nNet()(x)\n"
    assert sites(text) == [("Net()", "x")]
    assert ("Net()", "x") not in sites(text + "x = None\n")


def test_a_tensor_that_is_bound_again_later_has_at_the_call_what_was_written_into_it() -> None:
    text = "x = torch.randn(2, 8)\nx += 1\nNet()(x)\n"
    assert sites(text) == [("Net()", "x")]
    assert sites(text + "x = None\n") == [("Net()", "torch.randn(2, 8) + 1")]


def test_a_loop_over_literals_is_in_its_first_round() -> None:
    text = """
        def main():
            for width, deep in [(3, True), (4, False)]:
                for size in (5, 6):
                    net = Net(width, deep)
                    net(torch.ones(size))
    """
    assert sites(text) == [("Net(3, True)", "torch.ones(5)")]


def test_what_only_a_script_imports_is_imported_for_the_recipe() -> None:
    text = """
        if __name__ == "__main__":
            from package.parts import Part
            import numpy as np
            Net(Part(3))(np.ones(2))
    """
    init = "Net(__import__('package.parts', fromlist=['Part']).Part(3))"
    assert sites(text) == [(init, "__import__('numpy').ones(2)")]


def test_a_configuration_is_read_from_the_file_that_the_code_names() -> None:
    text = """
        def main():
            import json
            with open("config.json") as file:
                config = json.load(file)
            Net(config["width"])
            with open("other.json") as file:
                config = json.load(file)
            Net(**config)
    """
    assert sites(text) == [
        ("Net(__import__('json').load(open('config.json'))['width'])", None),
        ("Net(**__import__('json').load(open('other.json')))", None),
    ]


def test_a_function_is_run_with_what_its_first_call_passes() -> None:
    text = """
        def run(net, x, *, times):
            return net(x.repeat(times))

        def main():
            run(Net(3), torch.ones(4), times=2)
    """
    assert ("Net(3)", "torch.ones(4).repeat(2)") in sites(text)


def test_what_a_function_passes_to_itself_says_nothing() -> None:
    assert sites("def grow(width):\n    Net(width)\n    grow(width + 1)\n") == []


def test_a_part_that_is_set_later_is_not_forgotten() -> None:
    text = """
        def main():
            config = Config()
            config.width = 3
            Net(config.width)
    """
    assert sites(text) == []


def test_a_maker_may_return_something_else_if_it_is_asked_to() -> None:
    text = """
        def make(log=False):
            net = Net(3)
            if log:
                return net, print
            return net

        def main():
            make()(torch.ones(2))
    """
    assert sites(text) == [("make()", "torch.ones(2)")]


def test_the_blocks_of_a_readme_keep_their_lines() -> None:
    text = (
        "# Title\n\n```python\nimport a\n\nb()\n```\ntext\n```sh\nls\n```\n~~~py\nc\n~~~\n```\nno\n```\n```python\nopen"
    )
    blocks = dict(code_blocks(text))
    assert list(blocks) == [4, 13, 19]
    lines = text.split("\n")
    for block in blocks.values():
        for number, line in enumerate(block.split("\n")):
            assert line in ("", lines[number])
    assert blocks[4].split("\n")[3:] == ["import a", "", "b()"]


def test_a_block_is_named_by_its_file_and_line() -> None:
    name = block_name("/a#b/README.md", 3)
    assert (is_block(name), file_of(name)) == (True, "/a#b/README.md")
    assert (is_block("/a.md#b/c.py"), file_of("/a#b/c.py")) == (False, "/a#b/c.py")


@pytest.mark.parametrize(
    ("change", "inputs"),
    [
        ("x[:, 0] = 0", "(lambda it_: it_.__setitem__((slice(None, None, None), 0), 0) or it_)(torch.randn(2, 8))"),
        ("x += 1", "torch.randn(2, 8) + 1"),
        ("x -= torch.ones(8)", "__import__('operator').isub(torch.randn(2, 8), torch.ones(8))"),
        (
            "x[0] *= 2",
            "(lambda it_: it_.__setitem__(0, __import__('operator').imul(it_[0], 2)) or it_)(torch.randn(2, 8))",
        ),
        ("x[x > 0] = 1", "(lambda it_: it_.__setitem__(it_ > 0, 1) or it_)(torch.randn(2, 8))"),
        ("x.requires_grad = True", "torch.randn(2, 8).requires_grad_(True)"),
        ("x.clamp_(0, 1)", "torch.randn(2, 8).clamp_(0, 1)"),
        ("x.unsqueeze_(0)", "torch.randn(2, 8).unsqueeze_(0)"),
        ("x[0] = read()", "torch.randn(2, 8)"),
        ("x[0], y = read()", "torch.randn(2, 8)"),
        ("x += read()", "torch.randn(2, 8)"),
        ("x.grad = None", "torch.randn(2, 8)"),
        ("x.data[0] = 1", "torch.randn(2, 8)"),
        ("for i in range(2):\n    x[i] = i", "torch.randn(2, 8)"),
        ("if read():\n    x.requires_grad = True", "torch.randn(2, 8)"),
        ("x[0] = 1\nx += 1", "(lambda it_: it_.__setitem__(0, 1) or it_)(torch.randn(2, 8)) + 1"),
    ],
)
@pytest.mark.parametrize("head", ["def main():", 'if __name__ == "__main__":'])
def test_an_input_that_is_changed_in_place_keeps_what_its_shape_is(head: str, change: str, inputs: str) -> None:
    lines = f"x = torch.randn(2, 8)\n{change}\nNet()(x)\n"
    text = "\n".join([head, *(f"    {line}" for line in lines.splitlines())])
    assert sites(f"def read(): return input()\n{text}\n".replace("read()", "net.read()")) == [("Net()", inputs)]


@pytest.mark.parametrize(
    "change",
    [
        "x.data = torch.ones(3)",
        "x.resize_(net.size)",
        "x @= net.read()",
        "if net.read():\n    x.unsqueeze_(0)",
        "for _ in range(2):\n    x.squeeze_()",
        "if net.read():\n    x = torch.randn(3, 3)",
    ],
)
def test_an_input_whose_shape_a_statement_may_change_is_not_known(change: str) -> None:
    lines = f"x = torch.randn(2, 8)\n{change}\nNet()(x)\n"
    text = "\n".join(["def main():", *(f"    {line}" for line in lines.splitlines())])
    assert sites(text) == [("Net()", None)]


def after(method: str, made: str) -> str:
    """Return the expression of an object of which a method was called."""
    return f"(lambda it_: it_ if it_.{method} is None else it_)({made})"


@pytest.mark.parametrize(
    ("made", "change", "init"),
    [
        ("3", "width += 1", "Net(3 + 1)"),
        ("[1, 2]", "width[0] = 5", "Net((lambda it_: it_.__setitem__(0, 5) or it_)([1, 2]))"),
        ("[1, 2]", "for i in range(2):\n    width[i] = 5", None),
        ("read()", "width += 1", None),
        ("nn.ReLU()", "width.freeze([1, 2])", f"Net({after('freeze([1, 2])', 'nn.ReLU()')})"),
        (
            "nn.ReLU()",
            "width.freeze(1)\nwidth.cut(at=-1)\nwidth.cut(9, read())",
            f"Net({after('cut(at=-1)', after('freeze(1)', 'nn.ReLU()'))})",
        ),
        (
            "nn.ReLU().eval()",
            "width.freeze(1)\nwidth.train()",
            f"Net({after('freeze(1)', 'nn.ReLU().eval()')}.train())",
        ),
        ("nn.ReLU()", "sizes = [1, 2]\nwidth.cut(sizes, *sizes)", f"Net({after('cut([1, 2], 1, 2)', 'nn.ReLU()')})"),
        ("nn.ReLU()", "width.fit(read(2))\nwidth.load('weights.pt')", "Net(nn.ReLU())"),
        ("nn.ReLU()", "width.init()", "Net(nn.ReLU())"),
        ("nn.ReLU()", "if read():\n    width.freeze(1)", "Net(nn.ReLU())"),
    ],
)
def test_a_changed_argument_is_what_it_was_changed_to_or_not_known(made: str, change: str, init: str | None) -> None:
    lines = f"width = {made}\n{change}\nNet(width)\n"
    text = "\n".join(["def main(read):", *(f"    {line}" for line in lines.splitlines())])
    assert sites(text) == ([] if init is None else [(init, None)])


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ("for x, y in loader:\n    Net()(x)", "x"),
        ("x = torch.randn(2, 8)\nx.data = loader.read()\nNet()(x)", "x"),
        ("x = torch.randn(2, loader)\nif loader:\n    x.unsqueeze_(0)\nNet()(x)", "x"),
        ("x = torch.randn(2, loader)\nNet()(x)", "loader"),
    ],
)
def test_a_call_whose_arguments_are_not_known_is_named_with_the_reason(lines: str, name: str) -> None:
    text = "\n".join(["def main(loader):", *(f"    {line}" for line in lines.splitlines())])
    (unused,) = unused_calls(text)
    assert unused == (len((HEAD + text).splitlines()), f"`{name}` is known only when the code runs")


@pytest.mark.parametrize("lines", ["x = torch.randn(2, 8)\nx[0] = 1\nNet()(x)", "Net()(torch.ones(1))", "Net(loader)"])
def test_a_call_that_is_used_is_not_named(lines: str) -> None:
    text = "\n".join(["def main(loader):", *(f"    {line}" for line in lines.splitlines())])
    assert unused_calls(text) == []
