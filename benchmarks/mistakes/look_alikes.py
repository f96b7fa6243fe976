"""Snippets that look like mistakes and are none: a report of one is a false alarm."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.mistakes.broken_model import Mistake
from benchmarks.mistakes.hosts import snippets
from benchmarks.mistakes.planted import EXTRA, LIST, OWN
from fxlsp.report.codes import GRAPH_FAILS, RECORDS

# A graph that fails where its model catches the failure is what torch.fx makes of it.
_ALARMS = tuple(code for code in RECORDS if code.startswith(("FX4", "FX6", "FX9")) and code != GRAPH_FAILS)
_SNIPPETS: Mapping[str, tuple[str, str]] = {
    "attribute that is tested": ("", "{x} = {x} * self.scale if hasattr(self, 'scale') else {x}"),
    "attribute with a default": ("", "{x} = {x} * getattr(self, 'scale', 2.0)"),
    "attribute that is caught": (
        "",
        "try:\n    {x} = self.head_of_old({x})\nexcept AttributeError:\n    {x} = {x} * 1",
    ),
    "name that is caught": ("", "try:\n    {x} = fused({x})\nexcept NameError:\n    {x} = {x} * 1"),
    "method that is caught": ("", "try:\n    {x} = {x}.rleu()\nexcept AttributeError:\n    {x} = {x}.relu()"),
    "failure that is caught": ("", "try:\n    {x} = {x}.view(7, 11, 13)\nexcept RuntimeError:\n    {x} = {x} * 1"),
    "layer or None": ("self.act = None", "{x} = {x} if self.act is None else self.act({x})"),
    "branch that never runs": ("self.fast = False", "{x} = fused({x}) if self.fast else {x} * 1"),
    "shape that is set in forward": ("", "self.last = {x}.shape\n{x} = {x}.reshape(self.last)"),
    "keyword call": ("self.pair = Pair({w})", "{x} = self.pair(skip={x}, x={x})"),
    "default argument": (OWN, "{x} = self.own({x})"),
    "method of a module": (OWN, "{x} = self.own.twice({x})"),
    "last of a list": (LIST, "{x} = self.extra[-1]({x})"),
    "item of a sequence": ("self.extra = nn.Sequential(nn.Linear({w}, {w}))", "{x} = self.extra[0]({x})"),
    "slice of a sequence": ("self.extra = nn.Sequential(nn.Linear({w}, {w}), nn.ReLU())", "{x} = self.extra[:1]({x})"),
    "iterated sequence": (
        "self.extra = nn.Sequential(nn.Linear({w}, {w}))",
        "for layer in self.extra:\n    {x} = layer({x})",
    ),
    "length of a list": (LIST, "{x} = self.extra[0]({x}) * len(self.extra)"),
    "weight of a layer": (EXTRA, "{x} = {x} @ self.extra.weight"),
    "function as attribute": ("self.act = F.relu", "{x} = self.act({x})"),
    "function by name": ("self.act = getattr(torch, 'tanh')", "{x} = self.act({x})"),
    "unpacked pair of layers": (
        "self.pair = nn.ModuleList([nn.Linear({w}, {w}), nn.Linear({w}, {w})])",
        "first, second = self.pair\n{x} = second(first({x}))",
    ),
    "unpacked sizes": ("self.sizes = (1, 2)", "low, high = self.sizes\n{x} = {x} * high - low"),
    "unpacked shape": ("", "b, c = {x}.shape\n{x} = {x}.view(b, c)"),
    "unpacked with a star": ("", "b, *rest = {x}.shape\n{x} = {x}.view(b, *rest)"),
    "layer in a variable": (EXTRA, "layer = self.extra\n{x} = layer({x})"),
    "layer passed to a function": (
        EXTRA,
        "def run(layer, value):\n    return layer(value)\n\n{x} = run(self.extra, {x})",
    ),
    "optional layer": (
        "self.extra = nn.Linear({w}, {w}) if True else None",
        "if self.extra is not None:\n    {x} = self.extra({x})",
    ),
    "identity": ("self.extra = nn.Identity()", "{x} = self.extra({x})"),
    "lazy layer": ("self.extra = nn.LazyLinear(7)", "{x} = self.extra({x})"),
    "broadcast scale": ("self.scale = nn.Parameter(torch.ones(1, {w}))", "{x} = {x} * self.scale"),
    "broadcast number": ("self.scale = nn.Parameter(torch.ones(()))", "{x} = {x} * self.scale"),
    "outer sum": ("", "{x} = ({x}[:, :, None] + {x}[:, None, :]).mean(2)"),
    "view and back": ("", "{x} = {x}.view({x}.shape[0], -1, 2).flatten(1)"),
    "negative dimension": ("", "{x} = torch.softmax({x}, dim=-1)"),
    "cat along the batch": ("", "{x} = torch.cat([{x}, {x}], 0)"),
    "cat of other widths": (
        EXTRA,
        "{x} = torch.cat([{x}, self.extra({x})[:, :3]], 1)[:, :3]\n{x} = F.pad({x}, (0, {n} - 3))",
    ),
    "two types": (EXTRA, "{x} = self.extra({x}) * {x}.argmax(1, keepdim=True)"),
    "bool mask": ("", "{x} = {x} * ({x} > 0)"),
    "half and back": ("", "{x} = {x}.double().float()"),
    "embedding of indices": ("self.embedding = nn.Embedding({w}, {w})", "{x} = {x} + self.embedding({x}.argmax(1))"),
    "einsum of one": ("", "{x} = torch.einsum('bc,bc->bc', {x}, {x})"),
    "expand": ("", "{x} = {x}[:, None].expand(-1, 3, -1).mean(1)"),
    "repeat": ("", "{x} = {x}.repeat(1, 2)[:, :{n}]"),
    "split and cat": ("", "first, second = {x}.chunk(2, 1)\n{x} = torch.cat([second, first], 1)"),
    "recurrent layer": ("self.rnn = nn.GRU({w}, {w}, batch_first=True)", "{x} = self.rnn({x}[:, None])[0][:, 0]"),
    "attention": (
        "self.attention = nn.MultiheadAttention({w}, 2, batch_first=True)",
        "{x} = self.attention({x}[:, None], {x}[:, None], {x}[:, None])[0][:, 0]",
    ),
    "modules in ModuleList": (
        "self.layers = nn.ModuleList(nn.Linear({w}, {w}) for _ in range(2))",
        "for layer in self.layers:\n    {x} = layer({x})",
    ),
    "modules in a list and registered": (
        (
            "self.layers = [nn.Linear({w}, {w})]\nfor index, layer in enumerate(self.layers):\n"
            "    self.add_module(f'layer{index}', layer)"
        ),
        "for layer in self.layers:\n    {x} = layer({x})",
    ),
    "list that is made a sequence": (
        "layers = [nn.Linear({w}, {w}), nn.ReLU()]\nself.layers = nn.Sequential(*layers)",
        "{x} = self.layers({x})",
    ),
    "names of layers": (
        "self.names = ['one']\nself.one = nn.Linear({w}, {w})",
        "for name in self.names:\n    {x} = getattr(self, name)({x})",
    ),
    "list of activations": ("self.acts = [torch.relu, torch.tanh]", "for act in self.acts:\n    {x} = act({x})"),
    "parameters in ParameterList": (
        "self.scales = nn.ParameterList([nn.Parameter(torch.ones({w}))])",
        "{x} = {x} * self.scales[0]",
    ),
    "buffer": ("self.register_buffer('scale', torch.ones({w}))", "{x} = {x} * self.scale"),
    "plain tensor": ("self.scale = torch.ones({w})", "{x} = {x} * self.scale"),
    "parameter by a method": (
        "self.register_parameter('scale', nn.Parameter(torch.ones({w})))",
        "{x} = {x} * self.scale",
    ),
    "local variable that is used": (
        "layer = nn.Linear({w}, {w})\nself.extra = nn.Sequential(layer, nn.ReLU())",
        "{x} = self.extra({x})",
    ),
    "local variable of a name that a base has": (
        "training = True\nself.fast = training",
        "{x} = {x} * 2 if self.training else {x} * 1",
    ),
    "returned early": (EXTRA, "if {x} is None:\n    return None\n{x} = self.extra({x})"),
    "returned features": (EXTRA, "return {x}, self.extra({x})"),
    "returned shape": ("", "return {'features': {x}, 'size': {x}.shape}"),
    "softmax of the output": ("", "return torch.softmax({x}, dim=1)"),
    "softmax beside a loss": ("", "p = torch.softmax({x}, dim=1)\nreturn p, F.cross_entropy({x}, {x}.argmax(1))"),
    "log-softmax before a likelihood": ("", "return F.nll_loss(torch.log_softmax({x}, 1), {x}.argmax(1))"),
    "sigmoid before binary cross entropy": (
        "",
        "return F.binary_cross_entropy(torch.sigmoid({x}), torch.ones_like({x}))",
    ),
    "cross entropy with probabilities as targets": (
        "",
        "return F.cross_entropy({x}, torch.softmax({x}.detach(), dim=1))",
    ),
}
LOOK_ALIKES = tuple(
    Mistake(kind, snippets(*each), _ALARMS, ("error", "warning"), "anywhere", is_look_alike=True)
    for kind, each in _SNIPPETS.items()
)
