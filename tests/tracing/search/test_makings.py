"""What a constructor's arguments are guessed to be, by name, annotation, use and the errors that they cause."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fxlsp.report.problems import Failure
from tests.tracing.search.frames import HEAD, constructed, net


def body(text: str) -> str:
    """A class ``Net`` whose constructor is the first line and the others, and that takes any tensor."""
    first, *lines = text.strip().splitlines()
    signature = first.removeprefix("def __init__(self, ").removesuffix("):")
    return constructed(signature, "\n".join(lines))


@pytest.mark.parametrize(
    ("text", "init"),
    [
        pytest.param(
            "def __init__(self, width, depth):\n"
            "self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(depth)])",
            "Net(width=64, depth=2)",
            id="sizes and counts by name",
        ),
        pytest.param(
            "def __init__(self, in_features, hidden_dim):\nself.a = nn.Linear(in_features, hidden_dim)",
            "Net(in_features=32, hidden_dim=96)",
            id="distinct sizes for distinct meanings",
        ),
        pytest.param(
            "def __init__(self, dropout, use_relu, eps):\n"
            "self.a, self.b = nn.Dropout(dropout), nn.LayerNorm(4, eps) if use_relu else nn.ReLU()",
            "Net(dropout=0.1, use_relu=False, eps=1e-05)",
            id="rates and flags by name",
        ),
        pytest.param(
            "def __init__(self, width, ngpu, world_size, num_gpus):\n"
            "self.a = nn.Linear(width, width)\n"
            "self.b, self.c = nn.ReLU() if ngpu > 1 else None, [world_size, num_gpus]",
            "Net(width=64, ngpu=1, world_size=1, num_gpus=1)",
            id="one device, and one process",
        ),
        pytest.param(
            "def __init__(self, output_dim):\nself.a = nn.Linear(4, output_dim)",
            "Net(output_dim=32)",
            id="no flag for what only begins like one",
        ),
        pytest.param(
            "def __init__(self, kind):\nself.a = getattr(nn, kind.upper())(32, 32)",
            "Net(kind='LSTM')",
            id="a layer of torch's by its name",
            marks=pytest.mark.skipif(
                sys.version_info < (3, 11), reason="getattr does not say there which name was no string"
            ),
        ),
        pytest.param(
            "def __init__(self, sample_size, sample_duration):\n"
            "self.a = nn.Sequential(nn.Conv3d(3, 4, 3, padding=1), nn.AvgPool3d(sample_size))\n"
            "self.b = nn.Linear(sample_duration, 4)",
            "Net(sample_size=32, sample_duration=32)",
            id="the edges of a volume",
        ),
        pytest.param(
            "def __init__(self, dim, norm_layer):\nself.norm = norm_layer(dim)",
            "Net(dim=32, norm_layer=torch.nn.BatchNorm2d)",
            id="a class that is called to make a layer",
        ),
        pytest.param(
            "def __init__(self, width):\n"
            "value = width() if callable(width) else width\n"
            "self.a = nn.Linear(width * 2, value)",
            "Net(width=64)",
            id="a number where what makes one would do as well",
        ),
        pytest.param(
            "def __init__(self, act):\nlayer = act() if callable(act) else act\nlayer(torch.zeros(2))\nself.a = layer",
            "Net(act=torch.nn.ReLU)",
            id="what makes a module where a module would do as well",
        ),
        pytest.param(
            "def __init__(self, pad_idx):\nself.words = nn.Embedding(9, 4, padding_idx=pad_idx)",
            "Net(pad_idx=2)",
            id="an index of a tensor is a number",
        ),
        pytest.param(
            "def __init__(self, act):\nself.all = nn.Sequential(act)",
            "Net(act=torch.nn.ReLU())",
            id="a module where one is wanted",
        ),
        pytest.param(
            "def __init__(self, config):\nself.a = nn.Linear(config.hidden_size, config.hidden_size)",
            "Net(config=__import__('types').SimpleNamespace(hidden_size=32))",
            id="attributes of a configuration",
        ),
        pytest.param(
            "def __init__(self, cfg):\nself.a = nn.Linear(cfg['width'], cfg['classes'])",
            "Net(cfg={'width': 64, 'classes': 10})",
            id="keys of a configuration",
        ),
        pytest.param(
            "def __init__(self, cfg):\nself.a = nn.Linear(cfg['width'], cfg.classes)",
            "Net(cfg=type('Config', (dict,), {'__getattr__': dict.__getitem__})(width=64, classes=10))",
            id="keys and attributes of one configuration",
        ),
        pytest.param(
            "def __init__(self, sizes):\nfirst, second = sizes\nself.a = nn.Linear(first, second)",
            "Net(sizes=[32, 32])",
            id="as many as are unpacked",
        ),
        pytest.param(
            "def __init__(self, kernel_size):\nself.a = nn.Conv2d(4, 4, kernel_size)",
            "Net(kernel_size=3)",
            id="a number that torch may repeat",
        ),
        pytest.param(
            "def __init__(self, cfg):\nself.a = nn.Conv2d(4, 4, cfg.FINAL_CONV_KERNEL)",
            "Net(cfg=__import__('types').SimpleNamespace(FINAL_CONV_KERNEL=3))",
            id="a kernel by the last word of its name",
        ),
        pytest.param(
            "def __init__(self, sizes: list[int]):\nfirst, second = sizes\nself.a = nn.Linear(first, second)",
            "Net(sizes=[32, 32])",
            id="a list as long as what is unpacked",
        ),
        pytest.param(
            "def __init__(self, dims):\nself.a = nn.ModuleList([nn.Linear(4, each) for each in dims])",
            "Net(dims=[32, 32, 32])",
            id="a list to loop over",
        ),
        pytest.param(
            "def __init__(self, kind):\n"
            "if kind == 'small': self.a = nn.Linear(2, 2)\n"
            "elif kind == 'large': self.a = nn.Linear(9, 9)\n"
            "else: raise ValueError(kind)",
            "Net(kind='small')",
            id="a string that it is compared with",
        ),
        pytest.param(
            "def __init__(self, kind):\nself.a = {'first': nn.ReLU, 'second': nn.GELU}[kind]()",
            "Net(kind='first')",
            id="a key of the dict in which it is looked up",
        ),
        pytest.param(
            "def __init__(self, depth):\nassert depth in (18, 34)\nself.a = nn.Linear(depth, 2)",
            "Net(depth=18)",
            id="a number that an assertion allows",
        ),
        pytest.param(
            "def __init__(self, dim, out_dim):\nassert dim == out_dim\nself.a = nn.Linear(dim, out_dim)",
            "Net(dim=96, out_dim=96)",
            id="sizes that must be equal",
        ),
        pytest.param(
            "def __init__(self, names):\nself.names = ['x'] + names",
            "Net(names=[32, 32, 32])",
            id="a list where a list is added",
        ),
        pytest.param(
            "def __init__(self, sizes: list[int], rate: float, mode: Literal['sum', 'mean'], flag: Optional[bool]):\n"
            "self.a = nn.Linear(sizes[0], 2)",
            "Net(sizes=[32, 32, 32], rate=0.5, mode='sum', flag=False)",
            id="annotations",
        ),
        pytest.param(
            "def __init__(self, words):\nself.a = nn.Embedding(words.size(), 8)",
            "Net(words=__import__('types').SimpleNamespace(size=(lambda *_, **__: 96)))",
            id="a method that returns a number",
            marks=pytest.mark.skipif(
                torch.__version__.startswith("2.6."), reason="torch 2.6 does not say what is wrong in a tuple of sizes"
            ),
        ),
        pytest.param(
            "def __init__(self, config):\nself.a = nn.Parameter(torch.tensor([config.start]))",
            "Net(config=__import__('types').SimpleNamespace(start=0.5))",
            id="a number in a tensor",
        ),
        pytest.param(
            "def __init__(self, config):\n"
            "self.a = nn.Embedding(9, 8, padding_idx=config.pad)\n"
            "self.b = nn.Dropout(config.attn_pdrop)",
            "Net(config=__import__('types').SimpleNamespace(pad=1, attn_pdrop=0.1))",
            id="a number with which a tensor is indexed",
        ),
        pytest.param(
            "def __init__(self, rows):\nself.rows = [[0] + row for row in rows]",
            "Net(rows=[[32, 32, 32], [32, 32, 32], [32, 32, 32]])",
            id="a list of lists",
        ),
        pytest.param(
            "def __init__(self, table):\nself.a = nn.Embedding.from_pretrained(torch.from_numpy(table))",
            "Net(table=__import__('numpy').ones((100, 32), dtype='float32'))",
            id="an array",
        ),
        pytest.param(
            "def __init__(self, depth):\nkinds = {7: nn.ReLU, 9: nn.GELU}\nself.a = kinds[depth]()",
            "Net(depth=7)",
            id="a key that is a number",
        ),
        pytest.param(
            "def __init__(self, depth):\nurls = {'net-a': 'a', 'net34': 'b'}\nself.url = urls[f'net{depth}']",
            "Net(depth=34)",
            id="a number that a key is made of",
        ),
        pytest.param(
            "def __init__(self, start):\nself.start = torch.tensor(start)\nassert self.start.dim() == 0",
            "Net(start=32)",
            id="a number that could be read as lists of lists without an end",
        ),
        pytest.param(
            "def __init__(self, upsample_initial_channel):\nself.a = nn.Linear(upsample_initial_channel // 8, 2)",
            "Net(upsample_initial_channel=32)",
            id="channels of what is sampled up",
        ),
        pytest.param(
            "def __init__(self, width, pretrained=True):\n"
            "self.a = nn.Linear(width, 2)\n"
            "if pretrained: self.url = {}[type(self).__name__]",
            "Net(width=64, pretrained=False)",
            id="a flag without which nothing fails",
        ),
        pytest.param(
            "def __init__(self, width, kernel=None):\n"
            "self.a = nn.Conv1d(width, 2, {}['kernel'] if kernel is None else kernel)",
            "Net(width=64, kernel=3)",
            id="what is looked up where it is left out",
        ),
        pytest.param(
            "def __init__(self, backbone: nn.Module):\n"
            "return_layers = {'layer3': 'low', 'layer4': 'high'}\n"
            "if not set(return_layers).issubset([name for name, _ in backbone.named_children()]):\n"
            "    raise ValueError('return_layers are not present in model')\n"
            "self.body = backbone",
            "Net(backbone=torch.nn.Sequential(__import__('collections').OrderedDict("
            "{'layer3': torch.nn.Identity(), 'layer4': torch.nn.Identity()})))",
            id="layers of a backbone by name",
        ),
        pytest.param(
            "def __init__(self, config):\n"
            "if config.kind == 'wide': self.a = nn.Linear(config.width, 2)\n"
            "else: self.a = nn.Linear(2, 2)",
            "Net(config=__import__('types').SimpleNamespace(kind='wide', width=64))",
            id="an attribute that is read once another one is known",
        ),
        pytest.param(
            "def __init__(self, cfg):\nself.a = nn.Linear(cfg.HIDDEN_DIM, cfg.NUM_CLASSES)",
            "Net(cfg=__import__('types').SimpleNamespace(HIDDEN_DIM=32, NUM_CLASSES=10))",
            id="names like constants",
        ),
        pytest.param(
            "def __init__(self, act):\nself.a = {'3x3': nn.ReLU, '5x5': nn.GELU}[act]()",
            "Net(act='3x3')",
            id="a key that is no name",
        ),
        pytest.param(
            "def __init__(self, imageSize, batchSize, nClasses):\nself.a = nn.Linear(imageSize * batchSize, nClasses)",
            "Net(imageSize=64, batchSize=2, nClasses=10)",
            id="names in camel case",
        ),
        pytest.param(
            "def __init__(self, depth):\n"
            "assert (depth - 4) % 6 == 0\n"
            "self.a = nn.Sequential(*[nn.Linear(4, 4) for _ in range((depth - 4) // 6)])",
            "Net(depth=16)",
            id="a depth of which a part is fixed",
        ),
        pytest.param(
            "def __init__(self, sizes: list[int]):\nself.a = nn.Linear(sizes[0], sizes[3])",
            "Net(sizes=[32, 32, 32, 32])",
            id="a list as long as the index that is written",
        ),
        pytest.param(
            "def __init__(self, scales):\nself.a = torch.from_numpy(__import__('numpy').array(scales)[:, None])",
            "Net(scales=[32, 32, 32])",
            id="a list that numpy takes",
        ),
        pytest.param(
            "def __init__(self, block_dropout):\nself.a = block_dropout(torch.ones(3))",
            "Net(block_dropout=torch.nn.Dropout(0.1))",
            id="a rate that is called",
        ),
        pytest.param(
            "def __init__(self, theta):\nself.grid = theta.new_zeros(3)",
            "Net(theta=torch.randn(100))",
            id="a rate that is a tensor",
        ),
        pytest.param(
            "def __init__(self, encoder):\nself.a = nn.Linear(encoder.get_feature_size(), 2)",
            "Net(encoder=__import__('types').SimpleNamespace(get_feature_size=(lambda *_, **__: 160)))",
            id="a method that returns a size",
        ),
        pytest.param(
            "def __init__(self, head_kwargs):\nself.a = nn.Linear(**head_kwargs)",
            "Net(head_kwargs={'in_features': 32, 'out_features': 96})",
            id="arguments that are handed on",
        ),
        pytest.param(
            "def __init__(self, shared_weights):\nself.a = nn.Linear(4, 4)\nself.a.weight = shared_weights\n"
            "self.rows = self.a.weight.shape[0]",
            "Net(shared_weights=torch.nn.Parameter(torch.randn(100, 32)))",
            id="a parameter",
        ),
        pytest.param(
            "def __init__(self, model, return_layers):\n"
            "assert set(return_layers).issubset([name for name, _ in model.named_children()])\n"
            "self.layers = {str(key): str(value) for key, value in return_layers.items()}",
            "Net(model=torch.nn.Sequential(torch.nn.Identity()), return_layers={'0': 'out'})",
            id="layers that are to be returned",
        ),
        pytest.param(
            "def __init__(self, config):\nconfig['width'] = 3\nself.a = nn.Linear(config['width'], config['size'])",
            "Net(config={'size': 32})",
            id="a configuration that is written to",
        ),
        pytest.param(
            "def __init__(self, dim):\nself.a = torch.ones(2, 3).sum(dim)",
            "Net(dim=1)",
            id="a dimension that is no number of features",
        ),
        pytest.param(
            "def __init__(self, depths, widths, n=3):\n"
            "assert len(depths) == len(widths) == 2 * n + 1\n"
            "self.a = nn.Linear(widths[0], depths[0])",
            "Net(depths=[2, 2, 2, 2, 2, 2, 2], widths=[32, 32, 32, 32, 32, 32, 32])",
            id="lists of one length",
        ),
        pytest.param(
            "def __init__(self, layers):\n"
            "assert isinstance(layers, nn.Sequential), 'a sequence of layers'\n"
            "self.a = layers",
            "Net(layers=torch.nn.Sequential(torch.nn.Identity()))",
            id="a container of torch's",
        ),
        pytest.param(
            "def __init__(self, net, layer=-2):\nself.a = [*net.children()][layer]",
            "Net(net=torch.nn.Sequential(torch.nn.Identity(), torch.nn.Identity()))",
            id="the last layer but one",
        ),
        pytest.param(
            "def __init__(self, config):\n"
            "self.a = nn.Embedding.from_pretrained(config.pretrained, freeze=False)\n"
            "self.b = nn.Linear(config.width, 4)",
            None,
            id="a flag of a configuration that is a tensor",
        ),
        pytest.param(
            "def __init__(self, input_dim):\nself.a = nn.Linear((input_dim - 1) // 2, 4)",
            "Net(input_dim=32)",
            id="no depth where a size of features is divided",
        ),
        pytest.param(
            "def __init__(self, cells):\n"
            "assert isinstance(cells, list) and len(cells) == 2\n"
            "self.cells = nn.ModuleList(cells)",
            "Net(cells=[torch.nn.Identity(), torch.nn.Identity()])",
            id="a list of modules",
        ),
        pytest.param(
            "def __init__(self, module):\nself.a = module\nmodule.bias.data.fill_(0)\nmodule.weight.data.normal_(0, 1)",
            "Net(module=torch.nn.Linear(32, 32))",
            id="a layer whose parameters are set",
        ),
        pytest.param(
            "def __init__(self, module: nn.Module):\nself.a = module\nself.b = nn.Linear(module.in_channels, 4)",
            None,
            id="a layer whose channels are read",
        ),
        pytest.param(
            "def __init__(self, towers):\n"
            "if len(towers) != 2:\n    raise ValueError('two')\n"
            "self.towers = nn.ModuleDict(towers)",
            "Net(towers={'first': torch.nn.Identity(), 'second': torch.nn.Identity()})",
            id="modules by name, of which there must be two",
        ),
        pytest.param(
            "def __init__(self, adj, width):\n"
            "self.nodes = nn.ModuleList([nn.Linear(width, 4) for _ in range(adj.shape[0])])\n"
            "self.register_buffer('adj', torch.FloatTensor(adj))",
            "Net(adj=torch.randn(16, 16), width=64)",
            id="a matrix of which the shape is read",
        ),
        pytest.param(
            "def __init__(self, values):\n"
            "self.register_buffer('values', torch.from_numpy(values))\n"
            "assert values.ndim == 1",
            "Net(values=__import__('numpy').ones((100,), dtype='float32'))",
            id="an array of one dimension",
        ),
        pytest.param(
            "def __init__(self, sizes):\n"
            "self.a, self.b, self.c = nn.Linear(4, sizes[0]), nn.Linear(4, sizes[1]), nn.Linear(sum(sizes), 2)",
            "Net(sizes=[32, 32])",
            id="two where the first and the second are read",
        ),
        pytest.param(
            "def __init__(self, feature_extractor):\nself.a = feature_extractor\nself.b = nn.Linear(64, 2)\n"
            "self.forward = lambda x: self.b(self.a(x))",
            "Net(feature_extractor=torch.nn.Identity())",
            id="an extractor, which is no activation",
        ),
        pytest.param(
            "def __init__(self, width, experts):\nself.a, self.experts = nn.Linear(width, 2), experts\n"
            "self.forward = lambda x: self.a(x) if self.experts == None else self.a(x).sum(list(self.experts))",
            "Net(width=64, experts=None)",
            id="None where what is something fails",
        ),
        pytest.param(
            "def __init__(self, width, norm_layer):\nself.a = nn.Linear(width, 2)\n"
            "if norm_layer is not None:\n    self.b = norm_layer(width, eps='')",
            None,
            id="None where the constructor has a branch for it",
        ),
    ],
)
def test_an_argument_is_found(text: str, init: str | None, worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(body(text)) + ":Net")
    assert report.recipe.source == "search"
    assert report.recipe.inputs is not None
    if init is not None:
        assert report.recipe.init == init


def test_a_key_of_a_dict_that_the_class_has_is_found(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Net(Base):
    counts = {18: 2, 34: 3}

    def __init__(self, depth):
        super().__init__()
        self.all = [nn.ReLU() for _ in range(Net.counts[depth])]
"""
    assert worker.report(write(HEAD + text) + ":Net").recipe.init == "Net(depth=18)"


def test_an_argument_that_defaults_to_none_is_passed_where_none_will_not_do(
    worker: Any, write: Callable[..., str]
) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, name=None, drop_prob=None):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return x.div(1 - self.drop_prob)
"""
    report = worker.report(write(HEAD + text) + ":Net")
    assert report.recipe.init == "Net(drop_prob=0.1)"


def test_an_annotated_dataclass_is_made_of_its_fields(worker: Any, write: Callable[..., str]) -> None:
    config = """
class Kind(enum.Enum):
    SMALL = 1

@dataclasses.dataclass
class Config:
    width: int
    kind: Kind
    rate: float = 0.1

"""
    text = "def __init__(self, config: Config):\nself.a = nn.Linear(config.width, 2)"
    report = worker.report(write(HEAD + config + body(text)) + ":Net")
    assert report.recipe.init == "Net(config=Config(width=64, kind=Kind.SMALL))"


def test_an_argument_that_may_be_anything_is_found_by_its_name(worker: Any, write: Callable[..., str]) -> None:
    text = body("def __init__(self, width: Any):\nself.a = nn.Linear(width, 2)")
    report = worker.report(write(text.replace("from typing import", "from typing import Any,")) + ":Net")
    assert report.recipe.init == "Net(width=64)"


def test_no_flag_is_flipped_to_get_round_a_mistake(worker: Any, write: Callable[..., str]) -> None:
    text = body("def __init__(self, width, normed=True):\nif normed: self.norm = nn.LayerNorm(width, colour=1)")
    failure = Failure.from_json(worker.answer(write(text) + ":Net")["failure"])
    assert failure.message.endswith("LayerNorm.__init__() got an unexpected keyword argument 'colour'")


def test_a_building_block_of_the_file_is_handed_in_where_its_attributes_are_read(
    worker: Any, write: Callable[..., str]
) -> None:
    block = """
class WideBlock(nn.Module):
    expansion = 4

    def __init__(self, width):
        super().__init__()
        self.a = nn.Conv2d(width, width, 1)

    def forward(self, x):
        return self.a(x)

class Net(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.a = block(8 * block.expansion)

    def forward(self, x):
        return self.a(x)
"""
    report = worker.report(write(HEAD + block) + ":Net")
    assert report.recipe.init == "Net(block=WideBlock)"
    assert report.recipe.inputs == "torch.randn(2, 32, 64, 64)"


def test_of_several_building_blocks_the_one_is_handed_in_that_can_be_called_like_that(
    worker: Any, write: Callable[..., str]
) -> None:
    block = """
class FirstBlock(nn.Module):
    def __init__(self, width, other):
        super().__init__()

class SecondBlock(nn.Module):
    def __init__(self, width, stride=1):
        super().__init__()
        self.a = nn.Conv2d(width, width, 1, stride)

    def forward(self, x):
        return self.a(x)

class Net(nn.Module):
    def __init__(self, block, layers):
        super().__init__()
        self.all = nn.Sequential(*[block(8, stride=2) for _ in range(layers[0])])
        self.head = nn.Linear(8 * 8 * 8, 2)

    def forward(self, x):
        return self.head(self.all(x).flatten(1))
"""
    report = worker.report(write(HEAD + block) + ":Net")
    assert report.recipe.init == "Net(block=SecondBlock, layers=[2])"
    assert report.recipe.inputs == "torch.randn(2, 8, 32, 32)"


@pytest.mark.parametrize("shape", ["*self.shape", "torch.Size(self.shape)"])
def test_further_arguments_are_passed_where_it_cannot_do_without(
    shape: str, worker: Any, write: Callable[..., str]
) -> None:
    text = f"""
class Net(nn.Module):
    def __init__(self, *shape):
        super().__init__()
        self.shape = shape

    def forward(self, x):
        return x.view({shape})
"""
    report = worker.report(write(HEAD + text) + ":Net")
    assert report.recipe.init == "Net(*[-1])"


def test_a_module_that_is_called_with_several_arguments_takes_them(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner, self.a = inner, nn.Linear(4, 4)

    def forward(self, x):
        return self.inner(self.a(x), x, scale=2)
"""
    report = worker.report(write(HEAD + text) + ":Net")
    assert report.recipe.init is not None
    assert "lambda self, first, *_, **__: first" in report.recipe.init
    assert report.complete


def test_a_module_of_a_list_takes_several_arguments_too(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layers, self.a = nn.ModuleList([layer]), nn.Linear(4, 4)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, mask=None)
        return self.a(x)
"""
    report = worker.report(write(HEAD + text) + ":Net")
    assert report.complete


def test_a_module_has_the_attributes_that_are_read(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layers = nn.ModuleList([layer])
        self.a = nn.Linear(4, self.layers[0].hidden_dim)

    def forward(self, x):
        return self.a(x)
"""
    report = worker.report(write(HEAD + text) + ":Net")
    assert report.recipe.init == "Net(layer=type('Block', (torch.nn.Identity,), {'hidden_dim': 32})())"


def test_what_cannot_be_made_without_data_is_made_with_it(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        rates = [rate.item() for rate in torch.linspace(0, 0.5, 300)]
        self.a, self.b = nn.Linear(width, 2), nn.Dropout(rates[3])

    def forward(self, x):
        return self.b(self.a(x))
"""
    report = worker.report(write(HEAD + text) + ":Net")
    assert report.recipe.init == "Net(width=64)"
    assert report.complete


def test_what_a_forward_shows_of_a_constructors_argument_counts(worker: Any, write: Callable[..., str]) -> None:
    residual = """
class Net(nn.Module):
    def __init__(self, inplanes, planes, act):
        super().__init__()
        self.conv, self.act = nn.Conv2d(inplanes, planes, 3, padding=1), act

    def forward(self, x):
        return self.act(self.conv(x)) + x
"""
    report = worker.report(write(HEAD + residual) + ":Net")
    assert report.recipe.init == "Net(inplanes=32, planes=32, act=torch.nn.ReLU())"
    assert report.complete


@pytest.mark.parametrize(
    ("arguments", "made", "run", "init"),
    [
        pytest.param(
            "width",
            "self.sizes = torch.IntTensor([width])\nself.a = nn.Linear(width, width)",
            "return self.a(x)",
            "Net(width=64)",
            id="a number of which a tensor is made",
        ),
        pytest.param(
            "hidden, tube",
            "self.a = nn.Conv3d(3, hidden, (tube, 8, 8), (tube, 8, 8))",
            "return self.a(x)",
            "Net(hidden=32, tube=3)",
            id="an edge of a kernel",
        ),
        pytest.param(
            "dims",
            "self.dims, self.a = dims, nn.Linear(8, 8)",
            "return self.a(x).transpose(*self.dims)",
            "Net(dims=[1, 2])",
            id="dimensions",
            marks=pytest.mark.skipif(
                torch.__version__.startswith("2.6."), reason="torch 2.6 does not say how many dimensions it takes"
            ),
        ),
        pytest.param(
            "names",
            "self.a, self.names = nn.Linear(8, 8), names",
            "return self.a(x) if self.names.get(0, None) in ('a', 'b') else x",
            "Net(names={0: 'a'})",
            id="keys",
        ),
        pytest.param(
            "inplanes, planes, padding=0",
            "self.a = nn.Conv2d(inplanes, planes, 3, padding=padding)",
            "return x + self.a(x)",
            "Net(inplanes=32, planes=32, padding=1)",
            id="a padding that keeps the edges",
        ),
        pytest.param(
            "width, keep_size=False",
            "self.a = nn.Conv2d(width, width, 3, 1 if keep_size else 2, 1)",
            "return x + self.a(x)",
            "Net(width=64, keep_size=True)",
            id="a flag that keeps the edges",
        ),
        pytest.param(
            "width, middle=None",
            "self.a, self.middle = nn.Conv2d(width, width, 3), middle",
            "return self.middle(self.a(x))",
            "Net(width=64, middle=torch.nn.Identity())",
            id="a layer that was left out",
        ),
    ],
)
def test_what_is_no_size_of_features_is_recognised_by_its_number(
    arguments: str, made: str, run: str, init: str, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(net(arguments, made, "x", run)) + ":Net")
    assert report.recipe.init == init
    assert report.complete


def test_a_factory_is_searched_too(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(HEAD + "def make(width):\n    return nn.Linear(width, 2)\n") + ":make")
    assert report.recipe.init == "make(width=64)"


def test_what_cannot_be_fed_is_still_made(worker: Any, write: Callable[..., str]) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Linear(width, 2)

    def forward(self, x):
        return self.a(x.method_that_no_input_has())
"""
    report = worker.report(write(HEAD + text) + ":Net")
    assert (report.recipe.init, report.recipe.inputs) == ("Net(width=64)", None)
    assert report.verdict.traceable
    assert not report.complete


def test_what_cannot_be_made_is_reported_as_without_a_search(worker: Any, write: Callable[..., str]) -> None:
    text = "def __init__(self, width):\nself.a = nn.Linear({}[width], 2)"
    failure = Failure.from_json(worker.answer(write(body(text)) + ":Net")["failure"])
    assert (failure.code, failure.needs) == ("FX903", "argument width of Net")


@pytest.mark.parametrize(
    ("arguments", "made", "run", "init"),
    [
        pytest.param(
            "size=None, scale=None",
            "self.size, self.scale = size, scale",
            "if self.size is None and self.scale is None:\n"
            "    raise ValueError('either size or scale should be given')\n"
            "return F.interpolate(x, self.size, self.scale)",
            "Net(size=",
            id="one that the error names",
        ),
        pytest.param(
            "cells",
            "self.cells = nn.ModuleList(cells)",
            "for cell in self.cells:\n    h, c = cell(x, (x, x))\nreturn h + c",
            "Net(cells=[type('Block'",
            id="modules of a list that return pairs",
        ),
        pytest.param(
            "layer, n",
            "self.layers = nn.ModuleList([layer for _ in range(n)])\nself.norm = nn.LayerNorm(layer.size)",
            "for layer in self.layers:\n    x = layer(x, x.mean())\nreturn self.norm(x)",
            "Net(layer=type('Block'",
            id="a module with attributes that takes several arguments",
        ),
        pytest.param(
            "encoder=None, decoder=None",
            "self.encoder, self.decoder = encoder, decoder",
            "return self.decoder(x, self.encoder(x))",
            "Net(encoder=",
            id="modules that default to None",
        ),
    ],
)
def test_what_a_forward_asks_for_is_handed_to_the_constructor(
    arguments: str, made: str, run: str, init: str, worker: Any, write: Callable[..., str]
) -> None:
    recipe = worker.report(write(net(arguments, made, "x", run)) + ":Net").recipe
    assert recipe.source == "search"
    assert recipe.init.startswith(init)
    assert recipe.inputs is not None


def test_another_building_block_is_tried_where_the_first_does_not_fit(worker: Any, write: Callable[..., str]) -> None:
    text = f"""{HEAD}
class Block(nn.Module):
    expansion = 2

    def __init__(self, width):
        super().__init__()
        self.a = nn.Conv2d(width, width, 3)

    def forward(self, x):
        return self.a(x)

class NetBlock(Block):
    def __init__(self, width):
        super().__init__(width)
        self.a = nn.Conv2d(width, width * self.expansion, 3)

class Net(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(3, 4, 3), block(4), nn.Conv2d(4 * block.expansion, 4, 3))

    def forward(self, x):
        return self.a(x)
"""
    assert worker.report(write(text) + ":Net").recipe.init == "Net(block=NetBlock)"


@pytest.mark.parametrize(
    ("signature", "made"),
    [("hidden_size=4", "Config()"), ("hidden_size", "Config(hidden_size=32)")],
)
def test_an_instance_of_a_class_of_the_file_is_made_where_one_is_asked_for(
    signature: str, made: str, worker: Any, write: Callable[..., str]
) -> None:
    text = f"""{HEAD}
class Config:
    def __init__(self, {signature}):
        self.hidden_size = hidden_size

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        if not isinstance(config, Config):
            raise ValueError("an instance of Config is wanted")
        self.a = nn.Linear(config.hidden_size, 4)

    def forward(self, x):
        return self.a(x)
"""
    recipe = worker.report(write(text) + ":Net").recipe
    assert (recipe.init, recipe.source) == (f"Net(config={made})", "search")
    assert recipe.inputs is not None


def test_a_model_that_is_asked_for_a_parameter_has_one(worker: Any, write: Callable[..., str]) -> None:
    text = net(
        "net, image_size",
        "assert net.is_conditional\nself.net, self.image_size = net, image_size\nself.repeats = net.repeats",
        "images",
        "b, c, h, w = images.shape\n"
        "times = torch.rand(b, device=next(self.net.parameters()).device)\nreturn self.net(images, times)",
    )
    report = worker.report(write(text) + ":Net")
    assert report.complete
    assert not [problem for problem in report.problems if problem.severity in ("error", "warning")]
