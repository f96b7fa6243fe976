"""Found inputs are what people would write: channels of images, rows, ids, masks, and no number twice by accident."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.tracing.search.conventions import breaches
from fxlsp.tracing.search.trials.values import Group, Tensor, Text, Trial
from tests.tracing.search.frames import HEAD, constructed, net


@pytest.mark.parametrize(
    ("arguments", "made", "signature", "run", "recipe"),
    [
        pytest.param(
            "in_channels, num_classes",
            "self.a, self.b = nn.Conv2d(in_channels, 8, 3), nn.Linear(8, num_classes)",
            "x",
            "return self.b(self.a(x).mean((2, 3)))",
            "Net(in_channels=3, num_classes=10)(torch.randn(2, 3, 64, 64))",
            id="three channels for a whole model of images",
        ),
        pytest.param(
            "input_size, hidden_size, num_classes",
            "self.a, self.b = nn.Linear(input_size, hidden_size), nn.Linear(hidden_size, num_classes)",
            "x",
            "return self.b(F.relu(self.a(x)))",
            "Net(input_size=32, hidden_size=96, num_classes=10)(torch.randn(2, 32))",
            id="rows for a perceptron",
        ),
        pytest.param(
            "dim",
            "self.q, self.k = nn.Linear(dim, dim), nn.Linear(dim, dim)",
            "x",
            "return (self.q(x) @ self.k(x).transpose(1, 2)).softmax(-1) @ x",
            "Net(dim=32)(torch.randn(2, 16, 32))",
            id="a sequence for attention",
        ),
        pytest.param(
            "dim",
            "self.a, self.b = nn.Linear(dim, dim), nn.Linear(dim, dim)",
            "x",
            "steps = [self.b(self.a(x[:, t])) for t in range(x.shape[1])]\nreturn torch.cat(steps, 1)",
            "Net(dim=32)(torch.randn(2, 16, 32))",
            id="a sequence for a loop over its steps",
        ),
        pytest.param(
            "dim",
            "self.a, self.b = nn.Linear(dim, dim), nn.Linear(dim, dim)",
            "sequence",
            "return self.b(F.relu(self.a(sequence)))",
            "Net(dim=32)(torch.randn(2, 16, 32))",
            id="a sequence for what is called one",
        ),
        pytest.param(
            "dim",
            "self.a, self.b = nn.Conv2d(3, dim, 3), nn.Embedding(1000, dim)",
            "x, timesteps",
            "return self.a(x) + self.b(timesteps)[:, :, None, None]",
            "Net(dim=32)(torch.randn(2, 3, 64, 64), torch.ones(2, dtype=torch.long))",
            id="whole numbers for the steps of a diffusion",
        ),
        pytest.param(
            "nz",
            "self.a = nn.Sequential(nn.ConvTranspose2d(nz, 64, 4, 1, 0), nn.ConvTranspose2d(64, 3, 4, 2, 1))",
            "z",
            "return self.a(z)",
            "Net(nz=32)(torch.randn(2, 32, 1, 1))",
            id="a code for a generator",
        ),
        pytest.param(
            "latent_dim, img_shape",
            "self.shape = img_shape\nself.a = nn.Linear(latent_dim, img_shape[0] * img_shape[1] * img_shape[2])",
            "z",
            "return self.a(z).view(z.size(0), *self.shape)",
            "Net(latent_dim=32, img_shape=[3, 64, 64])(torch.randn(2, 32))",
            id="a shape of three elements has channels first",
        ),
        pytest.param(
            "embed_size, hidden_size, vocab_size",
            "self.e, self.r = nn.Embedding(vocab_size, embed_size), nn.GRU(embed_size, hidden_size, batch_first=True)",
            "features, captions",
            "return self.r(torch.cat((features.unsqueeze(1), self.e(captions)), 1))[0]",
            "Net(embed_size=32, hidden_size=96, vocab_size=100)"
            "(torch.randn(2, 32), torch.ones(2, 16, dtype=torch.long))",
            id="floats for features beside ids",
        ),
        pytest.param(
            "channels, hidden_channels",
            "self.a, self.b = nn.Conv1d(channels, hidden_channels, 1), nn.Conv1d(hidden_channels, channels, 1)",
            "x, x_mask",
            "return self.b(self.a(x) * x_mask) * x_mask",
            "Net(channels=32, hidden_channels=96)(torch.randn(2, 32, 64), torch.randn(2, 1, 64))",
            id="one channel for a mask of signals",
        ),
        pytest.param(
            "channels, width_channels",
            "self.a, self.b = nn.Conv2d(channels, width_channels, 1), nn.Conv2d(width_channels, channels, 1)",
            "x, mask",
            "return self.b(self.a(x) * mask) * mask",
            "Net(channels=3, width_channels=96)(torch.randn(2, 3, 64, 64), torch.randn(2, 1, 64, 64))",
            id="one channel for a mask of maps",
        ),
        pytest.param(
            "a_size, b_size, c_size",
            "self.a, self.g, self.o = nn.Embedding(a_size, b_size), nn.GRUCell(b_size, c_size), nn.Linear(c_size, 4)",
            "feats, words, h",
            "return self.o(self.g(self.a(words) * feats, h))",
            "Net(a_size=32, b_size=96, c_size=160)"
            "(torch.randn(2, 96), torch.ones(2, dtype=torch.long), torch.randn(2, 160))",
            id="other numbers where they need not be equal",
        ),
    ],
)
def test_what_is_found_is_what_people_would_write(
    arguments: str, made: str, signature: str, run: str, recipe: str, worker: Any, write: Callable[..., str]
) -> None:
    found = worker.report(write(net(arguments, made, signature, run)) + ":Net").recipe
    assert f"{found.init}({found.inputs})" == recipe


def test_the_edge_of_an_image_is_a_round_number(worker: Any, write: Callable[..., str]) -> None:
    text = net(
        "",
        "self.a, self.pos = nn.Conv2d(3, 8, 16, 16), nn.Parameter(torch.zeros(1, 197, 8))\n"
        "self.cls = nn.Parameter(torch.zeros(1, 1, 8))",
        "x",
        "x = self.a(x).flatten(2).transpose(1, 2)\n"
        "return torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos",
    )
    assert worker.report(write(text) + ":Net").recipe.inputs == "torch.randn(2, 3, 224, 224)"


def test_an_image_is_near_square_and_ids_are_only_for_tables() -> None:
    def broken(name: str, tensor: Tensor, uniform: int = 0) -> int:
        return breaches(Trial(Text("Net()"), Group("inputs", ((name, tensor),)), uniform))

    assert broken("x", Tensor((2, 3, 64, 14336))) == 1
    assert broken("x", Tensor((2, 3, 64, 224))) == 0
    assert broken("features", Tensor((2, 16), "long")) == 1
    assert broken("token_ids", Tensor((2, 16))) == 1
    assert broken("token_ids", Tensor((2, 16), "long")) == 0
    assert broken("x", Tensor((4, 4, 4, 4)), uniform=4) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param("self.use_jit = config.jit_loss\nself.n = 3 if self.use_jit else 4", "jit_loss", id="if"),
        pytest.param("if not config.scripted and config.width > 1:\n    self.n = config.width", "scripted", id="not"),
        pytest.param("self.a = nn.ReLU() if config.gated else nn.GELU()", "gated", id="conditional expression"),
    ],
)
def test_a_field_that_is_only_a_truth_value_is_false(
    body: str, field: str, worker: Any, write: Callable[..., str]
) -> None:
    assert f"{field}=False" in worker.report(write(constructed("config", body)) + ":Net").recipe.init


@pytest.mark.parametrize("check", ["torch._assert({}, 'size')", "assert {}", "torch._check({}, lambda: 'size')"])
def test_a_check_of_torchs_is_an_assertion(check: str, worker: Any, write: Callable[..., str]) -> None:
    text = net(
        "",
        "self.size, self.a = 96, nn.Conv2d(3, 8, 16, 16)",
        "x",
        f"B, C, H, W = x.shape\n{check.format('H == self.size')}\n{check.format('W == self.size')}\nreturn self.a(x)",
    )
    assert worker.report(write(text) + ":Net").recipe.inputs == "torch.randn(2, 3, 96, 96)"


def test_an_argument_that_a_base_class_takes_is_passed_where_an_assertion_wants_it(
    worker: Any, write: Callable[..., str]
) -> None:
    text = f"""{HEAD}
class Start(nn.Module):
    def __init__(self, dim=8, num_classes=10):
        super().__init__()
        self.num_classes = num_classes
        self.a = nn.Linear(dim, dim)

    def forward(self, x):
        return self.a(x)


class Net(Start):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        assert self.num_classes == 0
"""
    assert worker.report(write(text) + ":Net").recipe.init == "Net(num_classes=0)"


def test_the_channels_of_a_whole_model_are_colours(worker: Any, write: Callable[..., str]) -> None:
    made = "self.a, self.b = nn.Conv2d(channels, 8, 3, padding=1), nn.Conv2d(8, channels, 3, padding=1)"
    text = net("channels", made, "x", "return self.b(self.a(x)) + x")
    report = worker.report(write(text.replace("class Net", "class Generator")) + ":Generator")
    assert (report.recipe.init, report.recipe.inputs) == ("Generator(channels=3)", "torch.randn(2, 3, 64, 64)")


def test_the_channels_of_a_part_are_features(worker: Any, write: Callable[..., str]) -> None:
    text = net("channels", "self.a = nn.Conv2d(channels, channels, 3, padding=1)", "x", "return self.a(x) + x")
    report = worker.report(write(text.replace("class Net", "class Block")) + ":Block")
    assert (report.recipe.init, report.recipe.inputs) == ("Block(channels=32)", "torch.randn(2, 32, 64, 64)")


@pytest.mark.parametrize(
    ("made", "signature", "run", "inputs"),
    [
        pytest.param(
            "self.a = nn.Conv2d(8, 4, 3)",
            "x, c",
            "c = c.view(c.size(0), c.size(1), 1, 1).repeat(1, 1, x.size(2), x.size(3))\n"
            "return self.a(torch.cat([x, c], 1))",
            "torch.randn(2, 3, 64, 64), torch.randn(2, 5)",
            id="an image beside labels",
        ),
        pytest.param(
            "self.latent_dim, self.n_c, self.a = 30, 10, nn.Linear(40, 4)",
            "zn, zc",
            "return self.a(torch.cat((zn, zc), 1))",
            "torch.randn(2, 30), torch.randn(2, 10)",
            id="sizes that the model holds",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 16)",
            "tokens, cond",
            "gamma, beta = self.a(cond).reshape(cond.shape[0], 1, 16).chunk(2, -1)\nreturn tokens * gamma + beta",
            # 16 is the width of the layer, so a length of 16 would hide a mistake.
            "torch.randn(2, 24, 8), torch.randn(2, 8)",
            id="tokens beside a condition",
        ),
    ],
)
def test_what_is_joined_or_combined_keeps_conventions(
    made: str, signature: str, run: str, inputs: str, worker: Any, write: Callable[..., str]
) -> None:
    assert worker.report(write(net("", made, signature, run)) + ":Net").recipe.inputs == inputs


OF_FILES = {
    "signals": ("class Other(nn.Module):\n    a = nn.Conv1d(3, 4, 1)\n", "torch.randn(2, 32, 64)"),
    "images": (
        "class Other(nn.Module):\n    a, b = nn.Conv2d(3, 4, 1), nn.LayerNorm(4)\n",
        "torch.randn(2, 32, 64, 64)",
    ),
    "sequences": ("class Other(nn.Module):\n    a = nn.LayerNorm(4)\n", "torch.randn(2, 16, 32)"),
    "nothing": ("", "torch.randn(2, 32, 64, 64)"),
}


@pytest.mark.parametrize("name", OF_FILES)
def test_a_part_that_takes_any_rank_gets_the_one_of_its_file(name: str, worker: Any, write: Callable[..., str]) -> None:
    before, inputs = OF_FILES[name]
    text = net("", "self.gain = nn.Parameter(torch.zeros(()))", "x", "return x * self.gain")
    assert worker.report(write(f"from torch import nn\n{before}{text}") + ":Net").recipe.inputs == inputs


def test_further_inputs_beside_others_are_passed_only_where_they_are_needed(
    worker: Any, write: Callable[..., str]
) -> None:
    made, shape = "self.a = nn.Conv2d(3, 4, 1)", "torch.randn(2, 3, 64, 64)"
    without = net("", made, "x, *more", "return self.a(more[0] if more else x)")
    assert worker.report(write(without) + ":Net").recipe.inputs == shape
    with_one = net("", made, "x, *more", "return self.a(x) + self.a(more[0])")
    assert worker.report(write(with_one) + ":Net").recipe.inputs == f"{shape}, {shape}"
