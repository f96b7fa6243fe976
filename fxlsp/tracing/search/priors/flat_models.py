"""Models of one row of features a sample: perceptrons, which are not fed sequences though they would take them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Container
from dataclasses import replace
from types import FunctionType

import torch

from ..trials.values import Group, Guess, Tensor
from .class_body import is_torchs, tree_of
from .tables import BATCH, SEQUENCE, STEPS_INPUT

_PLAIN = ("activation", "dropout", "container", "flatten", "linear")
"""Modules of torch.nn whose layers a perceptron is made of."""
_OF_SEQUENCES = re.compile(
    r"softmax|matmul|bmm|einsum|transpose|permute|mean|sum|max|min|cumsum|scaled_dot_product_attention|swapaxes|mT"
    r"|rearrange|repeat|index_select|gather|topk|sort|argsort|stack"
)
"""Operations by which the steps of a sequence have to do with each other."""
_NAMED_FOR_SEQUENCES = re.compile(r"(?i:.*(seq|packed|time_?step|lstm|gru|rnn|recurrent).*)")
"""Variables, attributes and classes that have to do with steps."""
_PARTS_OF_TRANSFORMERS = re.compile(
    r"(?i:.*(feed_?forward|ffn|glu|expert|token|position|point_?wise|adapter|lora|per_?step|temporal).*)|FF|.*MLP.+"
)
"""Classes that sequences are fed to, though nothing in them says so."""


def takes_rows(model: torch.nn.Module) -> bool:
    """Return whether a model is a perceptron: two linear layers at least, and nothing for sequences."""
    linear = 0
    for layer in model.modules():
        if isinstance(layer, torch.nn.MultiheadAttention):
            return False
        if is_torchs(type(layer)):
            linear += type(layer) is torch.nn.Linear
            plain = type(layer).__module__.rpartition(".")[2] in _PLAIN
            if not plain and not isinstance(layer, (torch.nn.BatchNorm1d, torch.nn.Identity)):
                return False
        elif _PARTS_OF_TRANSFORMERS.fullmatch(type(layer).__name__) or _is_for_sequences(type(layer)):
            return False
    return linear > 1


def _is_for_sequences(cls: type) -> bool:
    if _NAMED_FOR_SEQUENCES.fullmatch(cls.__name__):
        return True
    for base in inspect.getmro(cls):
        for method in vars(base).values() if not is_torchs(base) else ():
            if isinstance(method, FunctionType) and method.__name__ != "__init__":
                for node in ast.walk(tree_of(inspect.unwrap(method).__code__)):
                    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
                        return True
                    if isinstance(node, ast.Attribute) and _OF_SEQUENCES.fullmatch(node.attr):
                        return True
                    name = getattr(node, "attr", "") or getattr(node, "id", "") or getattr(node, "arg", "")
                    if isinstance(name, str) and _NAMED_FOR_SEQUENCES.fullmatch(name):
                        return True
    return False


def as_rows(given: Group, stated: Container[str]) -> Group:
    """Return inputs of a model without the steps of sequences, but for those whose shapes are ``stated``."""
    items = ((key, part if key.rstrip("=") in stated else _as_row(key, part)) for key, part in given.items)
    return replace(given, items=tuple(items))


def _as_row(name: str, part: Guess) -> Guess:
    if not isinstance(part, Tensor) or part.dtype != "float" or STEPS_INPUT.fullmatch(name):
        return part
    is_sequence = len(part.shape) == 3 and part.shape[:2] == (BATCH, SEQUENCE)
    return replace(part, shape=(BATCH, *part.shape[2:])) if is_sequence else part
