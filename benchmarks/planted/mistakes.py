"""Mistakes that are planted, by the family of their problem, with the code and severity in which they are reported.

``{x}`` is a variable with features of the shape (batch, width), ``{w}`` the width in the constructor, ``{n}`` the same
as a number. The problem belongs on the line that ends with the mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_EXTRA = "self.extra = nn.Linear({w}, {w})"
_ACT = "self.act = None"


@dataclass(frozen=True)
class Mistake:
    """Snippets with one mistake, and the problem that reports it."""

    init: str
    forward: str
    code: str
    severity: str = "error"
    replaced: tuple[tuple[str, str], ...] = ()
    """Further replacements in the root's class."""
    mended_in: tuple[str, ...] = ()
    """Hosts in which other inputs mend it, so that it is a note where nothing states them."""


def _code(init: str, forward: str) -> Mistake:
    return Mistake(init, forward, "FX403")


def _operation(init: str, forward: str, *mended_in: str) -> Mistake:
    return Mistake(init, forward, "FX401", mended_in=mended_in)


def _warned(code: str, init: str, forward: str, *replaced: tuple[str, str]) -> Mistake:
    return Mistake(init, forward, code, "warning", replaced)


OWN_CODE: Mapping[str, Mistake] = {
    "attribute misspelt": _code(_EXTRA, "{x} = self.extar({x})  # <-"),
    "attribute that was never made": _code("", "{x} = self.extra({x})  # <-"),
    "method misspelt": _code("self.own = Own({w})", "{x} = self.own.twce({x})  # <-"),
    "name of a variable": _code("", "{x} = {x} + residual  # <-"),
    "missing self": _code(_EXTRA, "{x} = extra({x})  # <-"),
    "missing import": _code("", "{x} = rearrange({x}, 'b c -> c b')  # <-"),
    "function of torch misspelt": _code("", "{x} = torch.sigmod({x})  # <-"),
    "function of functional misspelt": _code("", "{x} = F.rleu({x})  # <-"),
    "method of a tensor misspelt": _code("", "{x} = ({x} * 2).rleu()  # <-"),
    "layer of nn misspelt": _code("", "{x} = nn.Relu()({x})  # <-"),
    "None is called": _code(_ACT, "{x} = self.act({x})  # <-"),
    "attribute of None": _code(_ACT, "{x} = {x} * self.act.weight  # <-"),
    "number is called": _code("self.scale = 2.0", "{x} = self.scale({x})  # <-"),
    "list of layers is called": _code(
        "self.extra = nn.ModuleList([nn.Linear({w}, {w})])", "{x} = self.extra({x})  # <-"
    ),
    "dict of layers is called": _code(
        "self.extra = nn.ModuleDict({'a': nn.Linear({w}, {w})})", "{x} = self.extra({x})  # <-"
    ),
    "slice of a list of layers is called": _code(
        "self.extra = nn.ModuleList([nn.Linear({w}, {w})])", "{x} = self.extra[0:]({x})  # <-"
    ),
    "layer is indexed": _code(_EXTRA, "{x} = self.extra[0]({x})  # <-"),
    "layer is iterated": _code(_EXTRA, "for layer in self.extra:  # <-\n    {x} = layer({x})"),
    "layer is unpacked": _code(_EXTRA, "first, second = self.extra  # <-\n{x} = first({x})"),
    "length of a layer": _code(_EXTRA, "{x} = {x} * len(self.extra)  # <-"),
    "layer is added": _code(_EXTRA, "{x} = {x} + self.extra  # <-"),
    "layer is passed to a layer": _code(
        f"{_EXTRA}\nself.other = nn.Linear({{w}}, {{w}})", "{x} = self.other(self.extra)  # <-"
    ),
    "layer is passed to a function": _code(_EXTRA, "{x} = F.relu(self.extra)  # <-"),
    "layer is constructed in the place of a call": _code("", "{x} = nn.ReLU({x}) * 2  # <-"),
    "argument missing": _code("self.pair = Pair({w})", "{x} = self.pair({x})  # <-"),
    "argument too many": _code(_EXTRA, "{x} = self.extra({x}, {x})  # <-"),
    "argument too many for an own module": _code("self.own = Own({w})", "{x} = self.own({x}, 2.0, 3)  # <-"),
    "unknown keyword": _code("self.own = Own({w})", "{x} = self.own({x}, factor=2.0)  # <-"),
    "argument given twice": _code("self.own = Own({w})", "{x} = self.own({x}, x={x})  # <-"),
    "index out of range": _code("self.extra = nn.ModuleList([nn.Linear({w}, {w})])", "{x} = self.extra[3]({x})  # <-"),
    "key that is missing": _code(
        "self.extra = nn.ModuleDict({'a': nn.Linear({w}, {w})})", "{x} = self.extra['b']({x})  # <-"
    ),
    "sizes unpacked into too few": _code("self.sizes = (1, 2, 3)", "low, high = self.sizes  # <-\n{x} = {x} * high"),
    "sizes unpacked into too many": _code("self.sizes = (1, 2)", "low, mid, high = self.sizes  # <-\n{x} = {x} * high"),
    "number is unpacked": _code("self.size = 3", "low, high = self.size  # <-\n{x} = {x} * high"),
}
OPERATIONS: Mapping[str, Mistake] = {
    "features of a linear layer": _operation("self.extra = nn.Linear({w} + 1, 8)", "{x} = self.extra({x})  # <-"),
    "two linear layers": _operation(
        "self.one = nn.Linear({w}, 20)\nself.two = nn.Linear(30, 5)", "{x} = self.two(self.one({x}))  # <-"
    ),
    "channels of a convolution": _operation(
        "self.one = nn.Conv1d(1, 4, 1)\nself.two = nn.Conv1d(8, 4, 1)",
        "{x} = self.one({x}[:, None])\n{x} = self.two({x}).flatten(1)  # <-",
    ),
    "width of a batch norm": _operation("self.norm = nn.BatchNorm1d({w} + 2)", "{x} = self.norm({x})  # <-"),
    "width of a layer norm": _operation("self.norm = nn.LayerNorm({w} + 2)", "{x} = self.norm({x})  # <-"),
    "channels of a group norm": _operation("self.norm = nn.GroupNorm(1, {w} + 2)", "{x} = self.norm({x})  # <-"),
    "features of a recurrent layer": _operation(
        "self.rnn = nn.GRU({w} + 1, 8, batch_first=True)", "{x} = self.rnn({x}[:, None])[0]  # <-"
    ),
    "cat of other ranks": _operation("", "{x} = torch.cat([{x}, {x}[:, None]], 1)  # <-"),
    "cat of other sizes": _operation(_EXTRA, "{x} = torch.cat([{x}, self.extra({x})[:, :3]], 0)  # <-"),
    "stack of other sizes": _operation(_EXTRA, "{x} = torch.stack([{x}, self.extra({x})[:, :3]])  # <-"),
    "view": _operation("", "{x} = {x}.view({x}.shape[0], 7, 11)  # <-"),
    "reshape with two unknown sizes": _operation("", "{x} = {x}.reshape({x}.shape[0], -1, -1)  # <-"),
    "product of matrices": _operation(
        "self.weight = nn.Parameter(torch.ones({w} + 1, 4))", "{x} = {x} @ self.weight  # <-"
    ),
    # An image without a batch has features of the shape (8, 1) in the small model, which broadcast.
    "sum": _operation("self.bias = nn.Parameter(torch.ones({w} + 3))", "{x} = {x} + self.bias  # <-", "small"),
    "einsum": _operation(
        "self.weight = nn.Parameter(torch.ones({w} + 1, 4))",
        "{x} = torch.einsum('bc,cd->bd', {x}, self.weight)  # <-",
        "small",
    ),
    "dimension of transpose": _operation("", "{x} = {x}.transpose(1, 3)  # <-"),
    "dimension of softmax": _operation("", "{x} = torch.softmax({x}, dim=4)  # <-"),
    "dimension of flatten": _operation("", "{x} = torch.flatten({x}, 5)  # <-"),
    "permute with too many dimensions": _operation("", "{x} = {x}.permute(0, 2, 1)  # <-"),
    "index": _operation("", "{x} = {x} + {x}[:, 100000, None]  # <-"),
    "split": _operation("", "first, second = {x}.split([1, 2], 1)  # <-\n{x} = first + second"),
    "shape unpacked into too many": _operation("", "b, c, h, w = {x}.shape  # <-\n{x} = {x} * c"),
    "convolution of features": _operation("self.conv = nn.Conv2d(3, 4, 1)", "{x} = self.conv({x})  # <-"),
    "pooling of features": _operation("self.pooling = nn.MaxPool2d(2)", "{x} = self.pooling({x}[:, 0])  # <-"),
    "batch product of matrices": _operation("", "{x} = torch.bmm({x}, {x})  # <-"),
    "indices as floats": _operation("self.embedding = nn.Embedding(10, 4)", "{x} = self.embedding({x})  # <-"),
    "floats as indices": _operation(_EXTRA, "{x} = self.extra({x}.argmax(1))  # <-"),
    "double into a layer": _operation(_EXTRA, "{x} = self.extra({x}.double())  # <-"),
    "integers into a layer": _operation(_EXTRA, "{x} = self.extra({x}.long())  # <-"),
    "repeat with too few dimensions": _operation("", "{x} = {x}.repeat(2)  # <-"),
}
CLASSICS: Mapping[str, Mistake] = {
    "FX601 list": _warned(
        "FX601",
        "self.layers = [nn.Linear({w}, {w}) for _ in range(2)]  # <-",
        "for layer in self.layers:\n    {x} = layer({x})",
    ),
    "FX601 tuple": _warned(
        "FX601", "self.layers = (nn.Linear({w}, {w}), nn.Linear({w}, {w}))  # <-", "{x} = self.layers[0]({x})"
    ),
    "FX601 dict": _warned("FX601", "self.layers = {'a': nn.Linear({w}, {w})}  # <-", "{x} = self.layers['a']({x})"),
    "FX601 filled list": _warned(
        "FX601",
        "self.layers = []  # <-\nfor _ in range(2):\n    self.layers.append(Own({w}))",
        "for layer in self.layers:\n    {x} = layer({x})",
    ),
    "FX601 nested lists": _warned(
        "FX601",
        "self.layers = [[nn.Linear({w}, {w})], [nn.Linear({w}, {w})]]  # <-",
        "for inner in self.layers:\n    {x} = inner[0]({x})",
    ),
    "FX601 dict of lists": _warned(
        "FX601", "self.layers = {'a': [nn.Linear({w}, {w})]}  # <-", "{x} = self.layers['a'][0]({x})"
    ),
    "FX602 list": _warned("FX602", "self.scales = [nn.Parameter(torch.ones({w}))]  # <-", "{x} = {x} * self.scales[0]"),
    "FX602 dict": _warned(
        "FX602", "self.scales = {'a': nn.Parameter(torch.ones({w}))}  # <-", "{x} = {x} * self.scales['a']"
    ),
    "FX602 tuple": _warned(
        "FX602",
        "self.scales = (nn.Parameter(torch.ones({w})), nn.Parameter(torch.ones({w})))  # <-",
        "{x} = {x} * self.scales[0] + self.scales[1]",
    ),
    "FX602 plain tensor": _warned(
        "FX602", "self.scale = torch.ones({w}, requires_grad=True)  # <-", "{x} = {x} * self.scale"
    ),
    "FX602 tensor with a gradient": _warned(
        "FX602", "self.scale = torch.randn({w}).requires_grad_()  # <-", "{x} = {x} + self.scale"
    ),
    "FX602 comprehension": _warned(
        "FX602",
        "self.scales = [nn.Parameter(torch.ones({w})) for _ in range(3)]  # <-",
        "for scale in self.scales:\n    {x} = {x} * scale",
    ),
    "FX603 layer": _warned("FX603", _EXTRA, "return self.extra  # <-"),
    "FX603 layer beside a result": _warned("FX603", _EXTRA, "return {x}, self.extra  # <-"),
    "FX603 variable": _warned("FX603", _EXTRA, "{x} = self.extra  # <-\nreturn {x}"),
    "FX603 method": _warned("FX603", "self.own = Own({w})", "return self.own.twice  # <-"),
    "FX603 item": _warned("FX603", "self.layers = nn.ModuleList([nn.Linear({w}, {w})])", "return self.layers[0]  # <-"),
    "FX603 dict": _warned("FX603", _EXTRA, "return {'features': {x}, 'logits': self.extra}  # <-"),
    "FX604 linear": _warned("FX604", "extra = nn.Linear({w}, {w})  # <-", "{x} = self.extra({x})"),
    "FX604 norm": _warned("FX604", "norm = nn.LayerNorm({w})  # <-", "{x} = self.norm({x})"),
    "FX604 sequence": _warned(
        "FX604", "mlp = nn.Sequential(nn.Linear({w}, 4), nn.ReLU())  # <-", "{x} = self.mlp({x})"
    ),
    "FX604 own module": _warned("FX604", "own = Own({w})  # <-", "{x} = self.own({x}) + 1"),
    "FX604 parameter": _warned("FX604", "scale = nn.Parameter(torch.ones({w}))  # <-", "{x} = {x} * self.scale"),
    "FX604 number": _warned("FX604", "factor = 2.0  # <-", "{x} = {x} * self.factor"),
    "FX605 missing": _warned("FX605", _EXTRA, "{x} = self.extra({x})", ("super().__init__()\n", "pass\n")),
    "FX605 too late": _warned(
        "FX605",
        _EXTRA,
        "{x} = self.extra({x})",
        ("super().__init__()\n", "self.first = nn.ReLU()  # <-\n        super().__init__()\n"),
    ),
    "FX605 not called": _warned(
        "FX605", _EXTRA, "{x} = self.extra({x})", ("super().__init__()\n", "super().__init__\n")
    ),
    "FX605 of nothing": _warned("FX605", _EXTRA, "{x} = self.extra({x})", ("super().__init__()\n", "super()\n")),
    "FX605 commented out": _warned(
        "FX605", _EXTRA, "{x} = self.extra({x})", ("super().__init__()\n", "# super().__init__()\n")
    ),
    "FX605 parameter too early": _warned(
        "FX605",
        _EXTRA,
        "{x} = self.extra({x})",
        ("super().__init__()\n", "self.scale = nn.Parameter(torch.ones(1))  # <-\n        super().__init__()\n"),
    ),
    "FX203 at once": _warned("FX203", "", "{x} = nn.Linear({n}, 8)({x})  # <-"),
    "FX203 named": _warned("FX203", "", "layer = nn.Linear({n}, 8)\n{x} = layer({x})  # <-"),
    "FX203 attribute": _warned("FX203", "", "self.late = nn.Linear({n}, 8)\n{x} = self.late({x})  # <-"),
    "FX203 norm": _warned("FX203", "", "{x} = nn.BatchNorm1d({n})({x})  # <-"),
    "FX203 sequence": _warned("FX203", "", "{x} = nn.Sequential(nn.Linear({n}, 8), nn.ReLU())({x})  # <-"),
    "FX203 own module": _warned("FX203", "", "{x} = Own({n})({x})  # <-"),
    "FX606 softmax": _warned(
        "FX606",
        "self.loss = nn.CrossEntropyLoss()",
        "p = torch.softmax({x}, dim=1)\nreturn self.loss(p, {x}.argmax(1))  # <-",
    ),
    "FX606 layer": _warned(
        "FX606", "self.soft = nn.Softmax(dim=1)", "return F.cross_entropy(self.soft({x}), {x}.argmax(1))  # <-"
    ),
    "FX606 method": _warned("FX606", "", "return F.cross_entropy({x}.softmax(-1), {x}.argmax(1))  # <-"),
    "FX606 likelihood": _warned("FX606", "", "return F.nll_loss(torch.softmax({x}, 1), {x}.argmax(1))  # <-"),
    "FX606 sigmoid": _warned(
        "FX606", "", "return F.binary_cross_entropy_with_logits(torch.sigmoid({x}), torch.ones_like({x}))  # <-"
    ),
    "FX606 sigmoid layer": _warned(
        "FX606",
        "self.loss = nn.BCEWithLogitsLoss()\nself.sigmoid = nn.Sigmoid()",
        "return self.loss(self.sigmoid({x}), torch.zeros_like({x}))  # <-",
    ),
}
MISTAKES: Mapping[str, Mistake] = {**OWN_CODE, **OPERATIONS, **CLASSICS}
