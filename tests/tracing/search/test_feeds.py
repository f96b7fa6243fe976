"""What a model is guessed to be fed, by the layers that it reaches, names, annotations and the errors of each try."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """
import torch
from torch import nn
import torch.nn.functional as F

"""


def net(made: str, signature: str, run: str) -> str:
    """A class that makes some layers, one a line, and runs them."""
    lines = "".join(f"        {line}\n" for line in made.splitlines())
    forward = "".join(f"        {line}\n" for line in run.splitlines())
    return (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{lines}"
        f"\n    def forward(self, {signature}):\n{forward}"
    )


@pytest.mark.parametrize(
    ("made", "signature", "run", "inputs"),
    [
        pytest.param(
            "self.a = nn.Conv2d(3, 8, 3)", "x", "return self.a(x)", "torch.randn(2, 3, 64, 64)", id="an image"
        ),
        pytest.param("self.a = nn.Conv1d(5, 8, 3)", "x", "return self.a(x)", "torch.randn(2, 5, 64)", id="a signal"),
        pytest.param(
            "self.a = nn.Conv3d(1, 2, 3)", "x", "return self.a(x)", "torch.randn(2, 1, 32, 32, 32)", id="a volume"
        ),
        pytest.param("self.a = nn.Linear(7, 8)", "x", "return self.a(x)", "torch.randn(2, 16, 7)", id="a sequence"),
        pytest.param(
            "self.a = nn.Conv2d(3, 8, 4, stride=4)\nself.norm = nn.LayerNorm([8, 32, 32])",
            "x",
            "return self.norm(self.a(x))",
            "torch.randn(2, 3, 128, 128)",
            id="maps that are normalised as a whole",
        ),
        pytest.param(
            "self.a = nn.Embedding(50, 8)",
            "ids",
            "return self.a(ids)",
            "torch.ones(2, 16, dtype=torch.long)",
            id="indices",
        ),
        pytest.param(
            "self.a = nn.LSTM(6, 8, batch_first=True)",
            "x",
            "return self.a(x)",
            "torch.randn(2, 16, 6)",
            id="a recurrent layer",
        ),
        pytest.param(
            "self.a = nn.GRUCell(6, 8)",
            "x, h",
            "return self.a(x, h)",
            "torch.randn(2, 6), torch.randn(2, 8)",
            id="recurrent state",
        ),
        pytest.param(
            "self.a = nn.MultiheadAttention(8, 2, batch_first=True)",
            "query, memory",
            "return self.a(query, memory, memory)[0]",
            "torch.randn(2, 16, 8), torch.randn(2, 16, 8)",
            id="attention",
        ),
        pytest.param(
            "self.a, self.b, self.c = nn.Linear(8, 8), nn.Conv2d(8, 4, 3), nn.Linear(8, 4)",
            "x, height, width",
            "first, rest = self.a(x).split([1, height * width], 1)\n"
            "return self.c(first), self.b(rest.mT.unflatten(2, (height, width)))",
            "torch.randn(2, 4097, 8), 64, 64",
            id="a token ahead of those of an image",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)\nself.b = nn.Linear(4 * 30 * 30, 2)",
            "x",
            "return self.b(self.a(x).flatten(1))",
            "torch.randn(2, 3, 32, 32)",
            id="an edge that a linear layer behind a flattening needs",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)",
            "x",
            "return self.a(x.permute(0, 3, 1, 2))",
            "torch.randn(2, 64, 64, 3)",
            id="channels last",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x",
            "b, c, h, w = x.shape\nreturn self.a(x.reshape(b, c * h * w // 8, 8))",
            "torch.randn(2, 8, 64, 64)",
            id="a rank by unpacking",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x",
            "b, c, t = x.shape\nreturn self.a(x.reshape(b * t, c))",
            "torch.randn(2, 8, 16)",
            id="channels before steps, by the names of the unpacked sizes",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)",
            "x",
            "b, t, c, h, w = x.size()\nreturn self.a(x.reshape(b * t, c, h, w))",
            "torch.randn(2, 16, 3, 64, 64)",
            id="frames before channels, by the names of the unpacked sizes",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)",
            "x",
            "b, h, w, c = x.shape\nreturn self.a(x.reshape(b, h * w, c).transpose(1, 2).reshape(b, c, h, w))",
            "torch.randn(2, 64, 64, 3)",
            id="channels last, by the names of the unpacked sizes",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x",
            "length, batch, dim = x.shape\nreturn self.a(x.reshape(batch * length, dim))",
            "torch.randn(16, 2, 8)",
            id="a batch behind the sequence, by the names of the unpacked sizes",
        ),
        pytest.param(
            "self.w = nn.Parameter(torch.randn(6, 5))",
            "x",
            "if x.sum() is None: return x\nreturn x @ self.w",
            "torch.randn(2, 32, 6, 6)",
            id="a product",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, flag, return_all",
            "y = self.a(x)\nreturn [y, x] if return_all else y",
            "torch.randn(2, 16, 8), torch.randn(2, 16, 8), False",
            id="a flag",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, mask",
            "return self.a(x).masked_fill(mask.unsqueeze(-1), 0.0)",
            "torch.randn(2, 16, 8), torch.ones(2, 16, dtype=torch.bool)",
            id="a mask",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, steps: int",
            "for _ in range(steps): x = x + 1\nreturn self.a(x)",
            "torch.randn(2, 16, 8), 2",
            id="an annotated number",
        ),
        pytest.param(
            "self.loss = nn.CrossEntropyLoss()",
            "logits, y",
            "return F.cross_entropy(logits, y.long().view(-1))",
            None,
            id="a loss",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)",
            "images: list[torch.Tensor]",
            "return [self.a(each[None]) for each in images]",
            "[torch.randn(3, 64, 64), torch.randn(3, 64, 64)]",
            id="a list of images",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "batch",
            "return self.a(batch['x'].float().reshape(-1, 8))",
            None,
            id="a dict",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, sublayer",
            "return self.a(sublayer(x))",
            "torch.randn(2, 16, 8), torch.nn.Identity()",
            id="a module that is called",
        ),
        pytest.param(
            "self.a = nn.LSTM(6, 8, batch_first=True)",
            "x, state",
            "return self.a(x, state)",
            "torch.randn(2, 16, 6), (torch.randn(1, 2, 8), torch.randn(1, 2, 8))",
            id="the two states of an LSTM",
        ),
        pytest.param(
            "self.a = nn.Linear(6, 8)",
            "x, state",
            "first, second = state\nreturn self.a(x) + self.a(first) * self.a(second)",
            "torch.randn(2, 16, 6), (torch.randn(2, 16, 6), torch.randn(2, 16, 6))",
            id="a tuple",
        ),
        pytest.param(
            "",
            "q, k, v",
            "return torch.bmm(torch.bmm(q, k.transpose(1, 2)), v)",
            "torch.randn(2, 16, 32), torch.randn(2, 16, 32), torch.randn(2, 16, 32)",
            id="queries, keys and values",
        ),
        pytest.param(
            "self.w = nn.Parameter(torch.randn(5, 4))",
            "x",
            "return torch.mm(x, self.w)",
            "torch.randn(2, 5)",
            id="a product of matrices",
        ),
        pytest.param(
            "",
            "labels, scores",
            "return F.cross_entropy(scores.reshape(-1, scores.size(-1)), labels.reshape(-1))",
            None,
            id="flattened classes",
        ),
        pytest.param(
            "self.a = nn.Conv2d(4, 8, 3)",
            "x, target_size",
            "_, _, h, w = target_size\nreturn F.interpolate(self.a(x), (h, w))",
            "torch.randn(2, 4, 64, 64), (2, 3, 64, 64)",
            id="a size that is unpacked",
        ),
        pytest.param(
            "self.a = nn.Conv2d(4, 8, 1)",
            "x",
            "b, c, h, w = x.shape\nreturn self.a(x).squeeze(2).permute(0, 2, 1)",
            "torch.randn(2, 4, 1, 64)",
            id="a dimension that is squeezed",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, *others",
            "y, z = others\nreturn self.a(x) + self.a(y) + self.a(z)",
            "torch.randn(2, 16, 8), torch.randn(2, 16, 8), torch.randn(2, 16, 8)",
            id="as many as are unpacked",
        ),
        pytest.param(
            "self.a, self.b = nn.Conv2d(3, 4, 3), nn.Linear(4 * 30 * 30, 2)",
            "left, right",
            "return self.b((self.a(left) + self.a(right)).flatten(1))",
            "torch.randn(2, 3, 32, 32), torch.randn(2, 3, 32, 32)",
            id="images of one size",
        ),
        pytest.param(
            "self.w = nn.Parameter(torch.randn(5, 4))",
            "x",
            "return torch.einsum('bi,io->bo', x, self.w)",
            None,
            id="a rank that an equation tells",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)",
            "x",
            "return F.avg_pool2d(self.a(x), 120)",
            None,
            id="an edge that pooling needs",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, valid",
            "return self.a(x).masked_fill(~valid, 0)",
            None,
            id="what is negated",
        ),
        pytest.param(
            "",
            "x, mean",
            "return x - mean.unsqueeze(1).expand(-1, x.size(1), -1)",
            None,
            id="a rank that an expansion needs",
        ),
        pytest.param(
            "self.a, self.b = nn.Linear(8, 1), nn.Parameter(torch.randn(50, 1))",
            "x, item_ids, user_id",
            "return self.a(x) + self.b[item_ids], self.b[user_id]",
            "torch.randn(2, 16, 8), torch.ones(2, 16, dtype=torch.long), torch.ones(2, dtype=torch.long)",
            id="numbers of items beside features",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, other=None",
            "return self.a(x) + self.a(other)",
            None,
            id="what may be left out and must not be",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, left=None, right=None",
            "if left is None or right is None:\n"
            "    raise ValueError('left and right must be passed')\n"
            "return self.a(x) + left.mean() + right.mean()",
            "torch.randn(2, 16, 8), left=torch.randn(2, 16, 8), right=torch.randn(2, 16, 8)",
            id="two that must be passed together",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 8)",
            "x, slf_attn_mask",
            "y = self.a(x)\nattn, attn_mask = y @ y.transpose(1, 2), slf_attn_mask.repeat(1, 1, 1)\n"
            "return attn.masked_fill(attn_mask, 0.0) @ y",
            "torch.randn(2, 16, 8), torch.ones(2, 16, 16, dtype=torch.bool)",
            id="a mask that goes by another name where it does not fit",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, *, device",
            "return self.a(x) + torch.arange(2, device=device)",
            "torch.randn(2, 16, 8), device='cpu'",
            id="a device",
        ),
        pytest.param(
            "self.a = nn.LSTMCell(6, 9)",
            "x, state",
            "h, c = self.a(x, (state[0][1], state[1][1]))\nreturn h + state[0][0]",
            "torch.randn(2, 6), (torch.randn(2, 2, 9), torch.randn(2, 2, 9))",
            id="the states of several layers",
        ),
        pytest.param(
            "self.weight = torch.ones(7)",
            "scores, classes",
            "return F.cross_entropy(scores, classes, weight=self.weight)",
            None,
            id="as many classes as have a weight",
        ),
        pytest.param(
            "",
            "scores, chosen",
            "return torch.zeros(scores.size()).scatter_(1, chosen.unsqueeze(1), 1) * scores",
            "torch.randn(2, 32, 64, 64), torch.ones(2, 64, 64, dtype=torch.long)",
            id="what another input is indexed with",
        ),
        pytest.param(
            "self.a = nn.Conv2d(96, 4, 3)",
            "several",
            "return self.a(torch.cat([each for each in several], dim=1))",
            None,
            id="what is looped over",
        ),
        pytest.param(
            "self.a, self.b = nn.Conv2d(8, 4, 3), nn.Conv2d(8, 4, 3)",
            "x",
            "one, two, three = list(x.values())\nreturn self.a(one) + self.b(two)",
            "{'0': torch.randn(2, 8, 64, 64), '1': torch.randn(2, 8, 64, 64), '2': torch.randn(2, 8, 64, 64)}",
            id="a dict of maps",
        ),
        pytest.param(
            "",
            "outputs, target_sizes",
            "scores, index = outputs['pred_logits'].flatten(1).topk(100, dim=1)\n"
            "index = (index // outputs['pred_logits'].shape[2]).unsqueeze(-1).repeat(1, 1, 4)\n"
            "h, w = target_sizes.unbind(1)\n"
            "return scores, outputs['pred_boxes'].gather(1, index) * torch.stack([w, h, w, h], dim=1)[:, None]",
            "{'pred_logits': torch.randn(2, 16, 32), 'pred_boxes': torch.randn(2, 16, 4)}, torch.full((2, 2), 64)",
            id="a set of objects",
        ),
        pytest.param(
            "",
            "sample",
            "return sample['a_name_longer_than_the_rank'] * sample['other_name']",
            None,
            id="keys that torch takes for indices",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, length",
            "return self.a(x) + torch.arange(0, length, dtype=torch.float).sum()",
            None,
            id="the end of a range",
        ),
        pytest.param(
            "self.a = nn.LSTM(6, 8)",
            "x",
            "if not isinstance(x, nn.utils.rnn.PackedSequence):\n    raise ValueError('packed')\nreturn self.a(x)",
            "torch.nn.utils.rnn.pack_sequence([torch.randn(2, 6)] * 2)",
            id="a packed sequence",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 8)\nself.register_buffer('seen', torch.ones(16, 8, dtype=torch.uint8))",
            "x",
            "return torch.where(self.seen, self.a(x), x)",
            "torch.randn(2, 16, 8)",
            id="bytes for a condition",
        ),
        pytest.param(
            "self.a = nn.Sequential(nn.Conv2d(1, 4, 3), nn.MaxPool2d(2))\nself.b = nn.BatchNorm1d(4 * 13 * 13)",
            "x",
            "return self.b(torch.flatten(self.a(x), 1))",
            "torch.randn(2, 1, 28, 28)",
            id="an image that is flattened and normalised",
        ),
        pytest.param(
            "self.a = nn.Identity()",
            "input, target, mask",
            "return -input.gather(2, target[:, : input.size(1)].unsqueeze(2)).squeeze(2) * mask[:, : input.size(1)]",
            None,
            id="labels for each step of a sequence",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)",
            "x, skip=None",
            "if skip is not None:\n    scale = skip.mean()\nreturn self.a(x) * scale",
            "torch.randn(2, 3, 64, 64), skip=torch.randn(2, 3, 64, 64)",
            id="what is read where an optional input is given alone",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)",
            "x, scale=None",
            "y = self.a(x)\nreturn torch.nn.functional.no_such_thing(y) if scale is None else y",
            "torch.randn(2, 3, 64, 64), scale=2",
            id="a branch that needs what torch has not",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "output",
            "output['logits_of_all'] = output['logits_of_all'] * 2\nreturn output",
            None,
            id="a dict that is changed in place",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, mask",
            "return torch.masked_fill(self.a(x), mask, 0.0)",
            None,
            id="what is true or false",
        ),
        pytest.param(
            "self.a, self.rate = nn.Linear(8, 8), 0.5",
            "x, rate",
            "if rate == 3:\n    scale = x.mean()\nreturn self.a(x) * scale",
            "torch.randn(2, 16, 8), 3",
            id="a variable that another branch binds",
        ),
        pytest.param(
            "self.a = nn.Conv2d(8, 2, 3)",
            "x, mask",
            "x = x.unsqueeze(1).repeat(1, mask.shape[1], 1, 1, 1).flatten(0, 1)[:, :7]\n"
            "return self.a(torch.cat([x, mask.flatten(0, 1)], 1))",
            None,
            id="a mask with the edges of a map",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, input_dimensions: tuple[int, int]",
            "height, width = input_dimensions\nreturn self.a(x).view(x.shape[0], height, width, 2)",
            "torch.randn(2, 4096, 8), (64, 64)",
            id="an annotated size",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "batch",
            "scale = 2 if 'twice' in batch else 1\nreturn self.a(batch['values']) * scale",
            None,
            id="a dict that is searched for a string",
        ),
        pytest.param(
            "self.a, self.kinds = nn.Linear(8, 2), {'one': 1, 'two': 2}",
            "x, kind",
            "return self.a(x) * self.kinds[kind]",
            "torch.randn(2, 16, 8), 'one'",
            id="a key of a dict",
        ),
        pytest.param(
            "self.a = nn.ModuleDict({'one': nn.Linear(8, 2)})",
            "x, kind",
            "return self.a[kind](x)",
            "torch.randn(2, 16, 8), 'one'",
            id="a key of a dict of modules",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "output, target",
            "return -output.log_prob(target).sum()",
            None,
            id="an object with a method",
        ),
        pytest.param(
            "self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)",
            "q, k, mask=None",
            "scores = torch.bmm(self.a(q).repeat(4, 1, 1), self.b(k).repeat(4, 1, 1).transpose(1, 2))\n"
            "mask = mask.repeat(4, 1, 1)\nreturn scores.masked_fill(mask, 0.0)",
            "torch.randn(2, 16, 8), torch.randn(2, 16, 8), mask=torch.ones(2, 16, 16, dtype=torch.bool)",
            id="a mask of another shape",
        ),
        pytest.param(
            "self.a, self.b = nn.Conv2d(8, 24, 3, padding=1), nn.Conv2d(37, 4, 3)",
            "x, skip",
            "return self.b(torch.cat((F.interpolate(self.a(x), scale_factor=2.0), skip), 1))",
            "torch.randn(2, 8, 64, 64), torch.randn(2, 13, 128, 128)",
            id="a map that is joined with another one's features",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)",
            "x, spatial_shapes",
            "places = [h * w + x.mean() for _, (h, w) in enumerate(spatial_shapes)]\nreturn self.a(x), places",
            None,
            id="rows that are unpacked in a loop",
        ),
        pytest.param(
            "",
            "x, box",
            "scale, ratio, left, top = box.view(-1, box.size(1)).split(1, 1)\nreturn x.mean() * scale * ratio",
            None,
            id="parts that are unpacked",
        ),
        pytest.param(
            "self.a, self.b = nn.Embedding(9, 6), nn.ModuleList([nn.LSTM(6, 8), nn.LSTM(8, 8)])",
            "ids, hidden",
            "x = self.a(ids)\nfor index, layer in enumerate(self.b):\n    x, _ = layer(x, hidden[index])\nreturn x",
            "torch.ones(2, 16, dtype=torch.long), ((torch.randn(1, 16, 8), torch.randn(1, 16, 8)), "
            "(torch.randn(1, 16, 8), torch.randn(1, 16, 8)))",
            id="two states for each of several layers",
        ),
        pytest.param(
            "self.a, self.b = nn.Embedding(9, 6), nn.GRU(6, 8)",
            "word, hidden",
            "return self.b(self.a(word).view(1, 1, -1), hidden)",
            "torch.ones(1, dtype=torch.long), torch.randn(1, 1, 8)",
            id="one word at a time",
        ),
        pytest.param(
            "self.a = nn.GRU(6, 8, num_layers=2, batch_first=True)",
            "x, hidden",
            "return self.a(x, hidden.permute(1, 0, 2).contiguous())",
            "torch.randn(2, 16, 6), torch.randn(2, 2, 8)",
            id="a state with the batch first",
        ),
        pytest.param(
            "self.a, self.b = nn.Conv2d(3, 4, 3, padding=1), nn.Parameter(torch.ones(1, 3, 24, 24))",
            "x, y",
            "return self.a(x) * (y + self.b).mean(), x + self.b",
            "torch.randn(2, 3, 24, 24), torch.randn(2, 3, 24, 24)",
            id="edges that must both be those of a parameter",
        ),
        pytest.param(
            "self.a, self.b = nn.Linear(14, 8), nn.Linear(14, 3)",
            "word, hidden",
            "combined = torch.cat((word, hidden), 1)\nhidden = self.a(combined)\n"
            "return F.log_softmax(torch.cat((hidden, self.b(combined)), 1), dim=1), hidden",
            "torch.randn(2, 7), torch.randn(2, 7)",
            id="one step of what is joined behind the batch",
        ),
        pytest.param(
            "self.a = nn.Linear(8, 2)",
            "x, counts",
            "return self.a(x) + torch.arange(int(counts[0])).sum()",
            "torch.randn(2, 16, 8), torch.ones(2, dtype=torch.long)",
            id="rows that are read as numbers",
        ),
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 3)",
            "x, target_size1, target_size2",
            "return F.interpolate(self.a(x), size=(target_size1, target_size2))",
            "torch.randn(2, 3, 64, 64), 64, 64",
            id="edges that are told apart by numbers",
        ),
        pytest.param(
            "self.weight = nn.Parameter(torch.randn(10, 8))",
            "x, label",
            "scores = F.linear(x, self.weight)\n"
            "return torch.zeros(scores.size()).scatter_(1, label.view(-1, 1).long(), 1) * scores",
            "torch.randn(2, 8), torch.ones(2, dtype=torch.long)",
            id="a label of each row",
        ),
        pytest.param(
            "self.weight = nn.Parameter(torch.randn(8, 10))\nself.register_buffer('mean', torch.zeros(1))",
            "x, label",
            "scores = torch.mm(x, self.weight)\nself.mean = scores.mean() * 0.1 + self.mean * 0.9\n"
            "return scores[torch.arange(0, x.size(0)), label] + self.mean",
            "torch.randn(2, 8), torch.ones(2, dtype=torch.long)",
            id="beside a buffer that each run replaces",
        ),
        pytest.param(
            "self.a, self.mask = nn.Linear(24, 24), None",
            "x",
            "if self.mask is None:\n    self.mask = torch.ones(x.shape[1], x.shape[1]).tril()\n"
            "b, t, c = x.shape\nq = self.a(x).view(b, t, 3, 8)[:, :, 0]\nreturn (q @ q.transpose(1, 2)) * self.mask",
            "torch.randn(2, 16, 24)",
            id="beside a mask of the first run",
        ),
        pytest.param(
            "self.a = nn.Linear(12, 2)",
            "z, c=None",
            "return self.a(torch.cat((z, c), dim=-1))",
            "torch.randn(2, 16, 6), c=torch.randn(2, 16, 6)",
            id="equal shares of what is joined",
        ),
    ],
)
def test_inputs_are_found(
    made: str, signature: str, run: str, inputs: str | None, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(net(made, signature, run)) + ":Net")
    assert report.recipe.source == "search"
    assert report.recipe.inputs is not None
    if inputs is not None:
        assert report.recipe.inputs == inputs


def test_what_only_data_could_show_ends_no_search(worker: Any, write: Callable[..., str]) -> None:
    text = net("self.a = nn.Linear(8, 2)", "x", "y = self.a(x)\nreturn y[: int(y.sum().item())]")
    assert worker.report(write(text) + ":Net").recipe.inputs == "torch.randn(2, 16, 8)"


def test_inputs_that_are_joined_have_the_sizes_that_the_arguments_give(worker: Any, write: Callable[..., str]) -> None:
    text = f"""{HEAD}
class Net(nn.Module):
    def __init__(self, input_dim, hidden_dim):
        super().__init__()
        self.a = nn.Conv2d(input_dim + hidden_dim, 4, 3)

    def forward(self, x, state):
        return self.a(torch.cat([x, state], dim=1))
"""
    assert worker.report(write(text) + ":Net").recipe.inputs == "torch.randn(2, 32, 64, 64), torch.randn(2, 96, 64, 64)"


def test_an_input_of_each_name_keeps_its_own_size(worker: Any, write: Callable[..., str]) -> None:
    text = net(
        "self.a, self.b = nn.Linear(6, 4), nn.Linear(9, 4)", "left, right", "return self.a(left) + self.b(right)"
    )
    assert worker.report(write(text) + ":Net").recipe.inputs == "torch.randn(2, 6), torch.randn(2, 9)"


def test_inputs_that_are_stated_remain_where_arguments_are_searched(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.conv = nn.Conv2d(3, width, 3)

            def forward(self, x):
                return self.conv(x)
        """
    )
    report = worker.report(f"{path}:Net", None, "torch.randn(5, 3, 32, 32)")
    assert report.recipe.inputs == "torch.randn(5, 3, 32, 32)"
    assert report.nodes[0].output == {"shape": [5, 3, 32, 32], "dtype": "float32"}
