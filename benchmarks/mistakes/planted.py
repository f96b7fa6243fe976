"""Mistakes that are planted into hosts, by the family of their problem.

Each is a snippet for the constructor, one for ``forward``, and what is in the place of ``super().__init__()`` if it is
something else. ``{x}`` is a variable with features of the shape (batch, width), ``{w}`` the width in the constructor,
``{n}`` the same as a number. The problem belongs on the line that ends with the mark, without one to the constructor.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.mistakes.broken_model import Mistake
from benchmarks.mistakes.hosts import snippets

EXTRA = "self.extra = nn.Linear({w}, {w})"
LIST = "self.extra = nn.ModuleList([nn.Linear({w}, {w})])"
OWN = "self.own = Own({w})"
_DICT = "self.extra = nn.ModuleDict({'a': nn.Linear({w}, {w})})"
_ACT = "self.act = None"

_OWN_CODE: Mapping[str, tuple[str, str]] = {
    "attribute misspelt": (EXTRA, "{x} = self.extar({x})  # <-"),
    "attribute that was never made": ("", "{x} = self.extra({x})  # <-"),
    "method misspelt": (OWN, "{x} = self.own.twce({x})  # <-"),
    "name of a variable": ("", "{x} = {x} + residual  # <-"),
    "missing self": (EXTRA, "{x} = extra({x})  # <-"),
    "missing import": ("", "{x} = rearrange({x}, 'b c -> c b')  # <-"),
    "function of torch misspelt": ("", "{x} = torch.sigmod({x})  # <-"),
    "function of functional misspelt": ("", "{x} = F.rleu({x})  # <-"),
    "method of a tensor misspelt": ("", "{x} = ({x} * 2).rleu()  # <-"),
    "layer of nn misspelt": ("", "{x} = nn.Relu()({x})  # <-"),
    "None is called": (_ACT, "{x} = self.act({x})  # <-"),
    "attribute of None": (_ACT, "{x} = {x} * self.act.weight  # <-"),
    "number is called": ("self.scale = 2.0", "{x} = self.scale({x})  # <-"),
    "list of layers is called": (LIST, "{x} = self.extra({x})  # <-"),
    "dict of layers is called": (_DICT, "{x} = self.extra({x})  # <-"),
    "slice of a list of layers is called": (LIST, "{x} = self.extra[0:]({x})  # <-"),
    "layer is indexed": (EXTRA, "{x} = self.extra[0]({x})  # <-"),
    "layer is iterated": (EXTRA, "for layer in self.extra:  # <-\n    {x} = layer({x})"),
    "layer is unpacked": (EXTRA, "first, second = self.extra  # <-\n{x} = first({x})"),
    "length of a layer": (EXTRA, "{x} = {x} * len(self.extra)  # <-"),
    "layer is added": (EXTRA, "{x} = {x} + self.extra  # <-"),
    "layer is passed to a layer": (
        f"{EXTRA}\nself.other = nn.Linear({{w}}, {{w}})",
        "{x} = self.other(self.extra)  # <-",
    ),
    "layer is passed to a function": (EXTRA, "{x} = F.relu(self.extra)  # <-"),
    "layer is constructed in the place of a call": ("", "{x} = nn.ReLU({x}) * 2  # <-"),
    "argument missing": ("self.pair = Pair({w})", "{x} = self.pair({x})  # <-"),
    "argument too many": (EXTRA, "{x} = self.extra({x}, {x})  # <-"),
    "argument too many for an own module": (OWN, "{x} = self.own({x}, 2.0, 3)  # <-"),
    "unknown keyword": (OWN, "{x} = self.own({x}, factor=2.0)  # <-"),
    "argument given twice": (OWN, "{x} = self.own({x}, x={x})  # <-"),
    "index out of range": (LIST, "{x} = self.extra[3]({x})  # <-"),
    "key that is missing": (_DICT, "{x} = self.extra['b']({x})  # <-"),
    "sizes unpacked into too few": ("self.sizes = (1, 2, 3)", "low, high = self.sizes  # <-\n{x} = {x} * high"),
    "sizes unpacked into too many": ("self.sizes = (1, 2)", "low, mid, high = self.sizes  # <-\n{x} = {x} * high"),
    "number is unpacked": ("self.size = 3", "low, high = self.size  # <-\n{x} = {x} * high"),
}
_OPERATIONS: Mapping[str, tuple[str, str]] = {
    "features of a linear layer": ("self.extra = nn.Linear({w} + 1, 8)", "{x} = self.extra({x})  # <-"),
    "two linear layers": (
        "self.one = nn.Linear({w}, 20)\nself.two = nn.Linear(30, 5)",
        "{x} = self.two(self.one({x}))  # <-",
    ),
    "channels of a convolution": (
        "self.one = nn.Conv1d(1, 4, 1)\nself.two = nn.Conv1d(8, 4, 1)",
        "{x} = self.one({x}[:, None])\n{x} = self.two({x}).flatten(1)  # <-",
    ),
    "width of a batch norm": ("self.norm = nn.BatchNorm1d({w} + 2)", "{x} = self.norm({x})  # <-"),
    "width of a layer norm": ("self.norm = nn.LayerNorm({w} + 2)", "{x} = self.norm({x})  # <-"),
    "channels of a group norm": ("self.norm = nn.GroupNorm(1, {w} + 2)", "{x} = self.norm({x})  # <-"),
    "features of a recurrent layer": (
        "self.rnn = nn.GRU({w} + 1, 8, batch_first=True)",
        "{x} = self.rnn({x}[:, None])[0]  # <-",
    ),
    "cat of other ranks": ("", "{x} = torch.cat([{x}, {x}[:, None]], 1)  # <-"),
    "cat of other sizes": (EXTRA, "{x} = torch.cat([{x}, self.extra({x})[:, :3]], 0)  # <-"),
    "stack of other sizes": (EXTRA, "{x} = torch.stack([{x}, self.extra({x})[:, :3]])  # <-"),
    "view": ("", "{x} = {x}.view({x}.shape[0], 7, 11)  # <-"),
    "reshape with two unknown sizes": ("", "{x} = {x}.reshape({x}.shape[0], -1, -1)  # <-"),
    "product of matrices": ("self.weight = nn.Parameter(torch.ones({w} + 1, 4))", "{x} = {x} @ self.weight  # <-"),
    "sum": ("self.bias = nn.Parameter(torch.ones({w} + 3))", "{x} = {x} + self.bias  # <-"),
    "einsum": (
        "self.weight = nn.Parameter(torch.ones({w} + 1, 4))",
        "{x} = torch.einsum('bc,cd->bd', {x}, self.weight)  # <-",
    ),
    "dimension of transpose": ("", "{x} = {x}.transpose(1, 3)  # <-"),
    "dimension of softmax": ("", "{x} = torch.softmax({x}, dim=4)  # <-"),
    "dimension of flatten": ("", "{x} = torch.flatten({x}, 5)  # <-"),
    "permute with too many dimensions": ("", "{x} = {x}.permute(0, 2, 1)  # <-"),
    "index": ("", "{x} = {x} + {x}[:, 100000, None]  # <-"),
    "split": ("", "first, second = {x}.split([1, 2], 1)  # <-\n{x} = first + second"),
    "shape unpacked into too many": ("", "b, c, h, w = {x}.shape  # <-\n{x} = {x} * c"),
    "convolution of features": ("self.conv = nn.Conv2d(3, 4, 1)", "{x} = self.conv({x})  # <-"),
    "pooling of features": ("self.pooling = nn.MaxPool2d(2)", "{x} = self.pooling({x}[:, 0])  # <-"),
    "batch product of matrices": ("", "{x} = torch.bmm({x}, {x})  # <-"),
    "indices as floats": ("self.embedding = nn.Embedding(10, 4)", "{x} = self.embedding({x})  # <-"),
    "floats as indices": (EXTRA, "{x} = self.extra({x}.argmax(1))  # <-"),
    "double into a layer": (EXTRA, "{x} = self.extra({x}.double())  # <-"),
    "integers into a layer": (EXTRA, "{x} = self.extra({x}.long())  # <-"),
    "repeat with too few dimensions": ("", "{x} = {x}.repeat(2)  # <-"),
}
_CLASSICS: Mapping[str, tuple[str, ...]] = {
    "FX601 list": (
        "self.layers = [nn.Linear({w}, {w}) for _ in range(2)]  # <-",
        "for layer in self.layers:\n    {x} = layer({x})",
    ),
    "FX601 tuple": ("self.layers = (nn.Linear({w}, {w}), nn.Linear({w}, {w}))  # <-", "{x} = self.layers[0]({x})"),
    "FX601 dict": ("self.layers = {'a': nn.Linear({w}, {w})}  # <-", "{x} = self.layers['a']({x})"),
    "FX601 filled list": (
        "self.layers = []  # <-\nfor _ in range(2):\n    self.layers.append(Own({w}))",
        "for layer in self.layers:\n    {x} = layer({x})",
    ),
    "FX601 nested lists": (
        "self.layers = [[nn.Linear({w}, {w})], [nn.Linear({w}, {w})]]  # <-",
        "for inner in self.layers:\n    {x} = inner[0]({x})",
    ),
    "FX601 dict of lists": ("self.layers = {'a': [nn.Linear({w}, {w})]}  # <-", "{x} = self.layers['a'][0]({x})"),
    "FX602 list": ("self.scales = [nn.Parameter(torch.ones({w}))]  # <-", "{x} = {x} * self.scales[0]"),
    "FX602 dict": ("self.scales = {'a': nn.Parameter(torch.ones({w}))}  # <-", "{x} = {x} * self.scales['a']"),
    "FX602 tuple": (
        "self.scales = (nn.Parameter(torch.ones({w})), nn.Parameter(torch.ones({w})))  # <-",
        "{x} = {x} * self.scales[0] + self.scales[1]",
    ),
    "FX602 plain tensor": ("self.scale = torch.ones({w}, requires_grad=True)  # <-", "{x} = {x} * self.scale"),
    "FX602 tensor with a gradient": ("self.scale = torch.randn({w}).requires_grad_()  # <-", "{x} = {x} + self.scale"),
    "FX602 comprehension": (
        "self.scales = [nn.Parameter(torch.ones({w})) for _ in range(3)]  # <-",
        "for scale in self.scales:\n    {x} = {x} * scale",
    ),
    "FX603 layer": (EXTRA, "return self.extra  # <-"),
    "FX603 layer beside a result": (EXTRA, "return {x}, self.extra  # <-"),
    "FX603 variable": (EXTRA, "{x} = self.extra  # <-\nreturn {x}"),
    "FX603 method": (OWN, "return self.own.twice  # <-"),
    "FX603 item": ("self.layers = nn.ModuleList([nn.Linear({w}, {w})])", "return self.layers[0]  # <-"),
    "FX603 dict": (EXTRA, "return {'features': {x}, 'logits': self.extra}  # <-"),
    "FX604 linear": ("extra = nn.Linear({w}, {w})  # <-", "{x} = self.extra({x})"),
    "FX604 norm": ("norm = nn.LayerNorm({w})  # <-", "{x} = self.norm({x})"),
    "FX604 sequence": ("mlp = nn.Sequential(nn.Linear({w}, 4), nn.ReLU())  # <-", "{x} = self.mlp({x})"),
    "FX604 own module": ("own = Own({w})  # <-", "{x} = self.own({x}) + 1"),
    "FX604 parameter": ("scale = nn.Parameter(torch.ones({w}))  # <-", "{x} = {x} * self.scale"),
    "FX604 number": ("factor = 2.0  # <-", "{x} = {x} * self.factor"),
    "FX605 missing": (EXTRA, "{x} = self.extra({x})", "pass"),
    "FX605 too late": (EXTRA, "{x} = self.extra({x})", "self.first = nn.ReLU()  # <-\nsuper().__init__()"),
    "FX605 not called": (EXTRA, "{x} = self.extra({x})", "super().__init__"),
    "FX605 of nothing": (EXTRA, "{x} = self.extra({x})", "super()"),
    "FX605 commented out": (EXTRA, "{x} = self.extra({x})", "# super().__init__()"),
    "FX605 parameter too early": (
        EXTRA,
        "{x} = self.extra({x})",
        "self.scale = nn.Parameter(torch.ones(1))  # <-\nsuper().__init__()",
    ),
    "FX203 at once": ("", "{x} = nn.Linear({n}, 8)({x})  # <-"),
    "FX203 named": ("", "layer = nn.Linear({n}, 8)\n{x} = layer({x})  # <-"),
    "FX203 attribute": ("", "self.late = nn.Linear({n}, 8)\n{x} = self.late({x})  # <-"),
    "FX203 norm": ("", "{x} = nn.BatchNorm1d({n})({x})  # <-"),
    "FX203 sequence": ("", "{x} = nn.Sequential(nn.Linear({n}, 8), nn.ReLU())({x})  # <-"),
    "FX203 own module": ("", "{x} = Own({n})({x})  # <-"),
    "FX606 softmax": (
        "self.loss = nn.CrossEntropyLoss()",
        "p = torch.softmax({x}, dim=1)\nreturn self.loss(p, {x}.argmax(1))  # <-",
    ),
    "FX606 layer": ("self.soft = nn.Softmax(dim=1)", "return F.cross_entropy(self.soft({x}), {x}.argmax(1))  # <-"),
    "FX606 method": ("", "return F.cross_entropy({x}.softmax(-1), {x}.argmax(1))  # <-"),
    "FX606 likelihood": ("", "return F.nll_loss(torch.softmax({x}, 1), {x}.argmax(1))  # <-"),
    "FX606 sigmoid": ("", "return F.binary_cross_entropy_with_logits(torch.sigmoid({x}), torch.ones_like({x}))  # <-"),
    "FX606 sigmoid layer": (
        "self.loss = nn.BCEWithLogitsLoss()\nself.sigmoid = nn.Sigmoid()",
        "return self.loss(self.sigmoid({x}), torch.zeros_like({x}))  # <-",
    ),
}
"""Their names begin with the code."""
# An image without a batch has features of the shape (8, 1) in the small model, which broadcast.
_MENDED_IN = {"sum": ("small",), "einsum": ("small",)}
MISTAKES = (
    *(Mistake(kind, snippets(*each), ("FX403",)) for kind, each in _OWN_CODE.items()),
    *(
        Mistake(kind, snippets(*each), ("FX401",), mended_in=_MENDED_IN.get(kind, ()))
        for kind, each in _OPERATIONS.items()
    ),
    *(Mistake(kind, snippets(*each), (kind.split()[0],), ("warning",)) for kind, each in _CLASSICS.items()),
)
