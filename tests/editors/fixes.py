"""A model for every quick fix that the server has, with the text that it leads to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from dev.rpc import Json
from fxlsp.report.locations import Location
from fxlsp.report.problems import FittingNumber

_HEAD = """\
import torch
from torch import nn
"""
_MODEL = """

# fxlsp: Net()(torch.randn(2, 4))
class Net(nn.Module):
"""


@dataclass(frozen=True)
class Fixed:
    """What happens to one file."""

    name: str
    code: str
    """Of the problem."""
    title: str
    """Of the fix, whole."""
    before: str
    after: str
    number: FittingNumber | None = None
    """What the trace has proven."""

    def to_json(self) -> Json:
        return asdict(replace(self, number=None))


def _fixed(
    name: str,
    code: str,
    title: str,
    body: str,
    *changes: tuple[str, str],
    helpers: str = "",
    number: FittingNumber | None = None,
) -> Fixed:
    before = after = f"{_HEAD}{helpers}{_MODEL}{body}"
    for old, new in changes:
        assert before.count(old) == 1, (name, old)
        after = after.replace(old, new)
    return Fixed(name, code, title, before, after, number)


def _made(initialisation: str, forward: str) -> str:
    made = f"    def __init__(self):\n        super().__init__()\n        {initialisation}\n\n"
    return f"{made}    def forward(self, x):\n        {forward}\n"


def _forward(*lines: str) -> str:
    return "".join(("    def forward(self, x):\n", *(f"        {line}\n" for line in lines)))


FIXED = (
    _fixed(
        "module_list",
        "FX201",
        "Register the modules of layers with nn.ModuleList",
        _made("self.layers = [nn.Linear(4, 4)]", "return self.layers[0](x)"),
        ("[nn.Linear(4, 4)]", "nn.ModuleList([nn.Linear(4, 4)])"),
    ),
    _fixed(
        "module_dict",
        "FX201",
        "Register the modules of parts with nn.ModuleDict",
        _made('self.parts = {"fc": nn.Linear(4, 4)}', 'return self.parts["fc"](x)'),
        ('{"fc": nn.Linear(4, 4)}', 'nn.ModuleDict({"fc": nn.Linear(4, 4)})'),
    ),
    _fixed(
        "parameter_list",
        "FX202",
        "Register the parameters of scales with nn.ParameterList",
        _made("self.scales = [nn.Parameter(torch.ones(4))]", "return (x * self.scales[0]).tanh()"),
        ("[nn.Parameter(torch.ones(4))]", "nn.ParameterList([nn.Parameter(torch.ones(4))])"),
    ),
    _fixed(
        "parameter_dict",
        "FX202",
        "Register the parameters of scales with nn.ParameterDict",
        _made('self.scales = {"in": nn.Parameter(torch.ones(4))}', 'return (x * self.scales["in"]).tanh()'),
        ('{"in": nn.Parameter(torch.ones(4))}', 'nn.ParameterDict({"in": nn.Parameter(torch.ones(4))})'),
    ),
    _fixed(
        "made_in_forward",
        "FX203",
        "Make it once, in __init__, as self.linear",
        _forward("return nn.Linear(4, 8)(x)"),
        (
            "    def forward(self, x):\n        return nn.Linear(4, 8)(x)\n",
            _made("self.linear = nn.Linear(4, 8)", "return self.linear(x)"),
        ),
    ),
    _fixed(
        "buffer",
        "FX308",
        "Register offset as a buffer of the state_dict, which older checkpoints lack",
        _made("self.offset = torch.ones(4)", "return (x + self.offset).relu()"),
        ("self.offset = torch.ones(4)", 'self.register_buffer("offset", torch.ones(4))'),
    ),
    _fixed(
        "buffer_not_saved",
        "FX308",
        "Register offset as a buffer that the state_dict leaves out, as now",
        _made("self.offset = torch.ones(4)", "return (x + self.offset).relu()"),
        ("self.offset = torch.ones(4)", 'self.register_buffer("offset", torch.ones(4), persistent=False)'),
    ),
    _fixed(
        "assertion",
        "FX101",
        "Use torch._assert, which torch.fx records",
        _forward('assert x.sum() > -100, "small"', "return x.relu()"),
        ('assert x.sum() > -100, "small"', 'torch._assert(x.sum() > -100, "small")'),
    ),
    _fixed(
        "choice",
        "FX101",
        "Choose with torch.where, which computes both sides",
        _forward("x = -x if x.sum() > 0 else x", "return x.relu()"),
        ("-x if x.sum() > 0 else x", "torch.where(x.sum() > 0, -x, x)"),
    ),
    _fixed(
        "helper",
        "FX101",
        "Make rectified one node of the graph with @torch.fx.wrap",
        _forward("return rectified(x)"),
        ("def rectified", "@torch.fx.wrap\ndef rectified"),
        ("import torch\n", "import torch\nimport torch.fx\n"),
        helpers="\n\ndef rectified(x):\n    while x.min() < 0:\n        x = x + 1\n    return x\n",
    ),
    _fixed(
        "length",
        "FX103",
        'Record len with torch.fx.wrap("len")',
        _forward("return x.sum(dim=0) / len(x)"),
        ("from torch import nn\n", 'from torch import nn\n\ntorch.fx.wrap("len")\n'),
        ("import torch\n", "import torch\nimport torch.fx\n"),
    ),
    _fixed(
        "size_as_tuple",
        "FX106",
        "Pass the size as a tuple",
        _forward("return torch.cat([torch.zeros(x.shape[0], 1), x], dim=1)"),
        ("torch.zeros(x.shape[0], 1)", "torch.zeros((x.shape[0], 1))"),
    ),
    _fixed(
        "size_whole",
        "FX102",
        "Pass the size whole",
        _forward("return torch.zeros(*x.shape) + x"),
        ("*x.shape", "x.shape"),
    ),
    _fixed(
        "bypass",
        "FX315",
        "Call the module itself",
        _made("self.fc = nn.Linear(4, 8)", "return self.fc.forward(x)"),
        ("self.fc.forward(x)", "self.fc(x)"),
    ),
    _fixed(
        "requires_grad",
        "FX319",
        "Set it by requires_grad_(), which torch.fx records",
        _forward("x.requires_grad = True", "return x * x"),
        ("x.requires_grad = True", "x.requires_grad_(True)"),
    ),
    _fixed(
        "module_list_by_attribute",
        "FX601",
        "Register the modules of layers with nn.ModuleList",
        _made("self.layers = [nn.Linear(4, 4)]", "return self.layers[0](x)"),
        ("[nn.Linear(4, 4)]", "nn.ModuleList([nn.Linear(4, 4)])"),
    ),
    _fixed(
        "parameter_list_by_attribute",
        "FX602",
        "Register the parameters of scales with nn.ParameterList",
        _made("self.scales = [nn.Parameter(torch.ones(4))]", "return x * self.scales[0]"),
        ("[nn.Parameter(torch.ones(4))]", "nn.ParameterList([nn.Parameter(torch.ones(4))])"),
    ),
    _fixed(
        "local_variable",
        "FX604",
        "Assign the attribute self.fc",
        _made("fc = nn.Linear(4, 8)", "return self.fc(x)"),
        ("        fc = ", "        self.fc = "),
    ),
    _fixed(
        "layer_number",
        "FX401",
        "Make self.fc take 4 features",
        _made("self.fc = nn.Linear(3, 8)", "return self.fc(x)"),
        ("nn.Linear(3, 8)", "nn.Linear(4, 8)"),
        number=FittingNumber(Location("", 9, 19, 9, 34), "Linear", "in_features", 3, 4, "features"),
    ),
    _fixed(
        "misspelt_attribute",
        "FX403",
        "Use self.head",
        _made("self.head = nn.Linear(4, 8)", "return self.haed(x)"),
        ("self.haed(x)", "self.head(x)"),
    ),
    _fixed(
        "ignored",
        "FX107",
        "Ignore FX107 here",
        _forward("x[0] = 0", "return x.relu()"),
        ("x[0] = 0", "x[0] = 0  # fxlsp: ignore[FX107]"),
    ),
)
"""In profile ``fx``."""
