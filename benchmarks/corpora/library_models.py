"""Models of libraries for the benchmark of front ends, as JSON.

``python -m benchmarks.corpora.library_models LIBRARY`` runs under the interpreter that has the library, and prints a
list of cases: of torchvision the smallest model of each builder's module, of timm the smallest model of each module, of
transformers small configurations of the kinds that are listed below. All have a batch of two.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby, islice

from benchmarks.corpora.cases import Case
from benchmarks.corpora.libraries import timm_cases, torchvision_cases

_TIMM_FAMILIES = 60
_TEXT = (
    "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=64, "
    "vocab_size=99, max_position_embeddings=64, head_dim=8"
)
_IMAGE = "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8"
_TEXT_KINDS = """
    bert roberta distilbert electra albert xlm-roberta camembert mpnet deberta-v2
    gpt2 gpt_neox gptj opt bloom llama mistral mixtral qwen2 qwen3 gemma phi phi3 olmo stablelm starcoder2
"""
_IMAGE_KINDS = "vit deit dinov2 vit_mae ijepa"
_KINDS = {
    **dict.fromkeys(_TEXT_KINDS.split(), (_TEXT, "torch.randint(0, 99, (2, 12))")),
    **dict.fromkeys(_IMAGE_KINDS.split(), (_IMAGE, "torch.randn(2, 3, 32, 32)")),
}
"""Configuration's arguments and inputs, by model type."""


def main() -> int:
    library: dict[str, Callable[[], Iterator[Case]]] = {
        "torchvision": _torchvision,
        "timm": _timm,
        "transformers": _transformers,
    }
    json.dump([case.to_json() for case in library[sys.argv[1]]()], sys.stdout)
    return 0


def _torchvision() -> Iterator[Case]:
    cases = [case for case in torchvision_cases() if ".quantization" not in str(case.module)]
    for _, group in groupby(sorted(cases, key=lambda case: str(case.module)), key=lambda case: case.module):
        yield _with_two(min(group, key=lambda case: (len(case.name), case.name)))


def _timm() -> Iterator[Case]:
    yield from map(_with_two, islice(timm_cases(), _TIMM_FAMILIES))


def _with_two(case: Case) -> Case:
    inputs = str(case.inputs).replace("randn(1,", "randn(2,").replace("rand(1,", "rand(2,")
    return replace(case, inputs=inputs)


def _transformers() -> Iterator[Case]:
    from transformers import CONFIG_MAPPING, MODEL_MAPPING

    for kind, (arguments, inputs) in _KINDS.items():
        configuration = CONFIG_MAPPING[kind]
        model = MODEL_MAPPING[configuration]
        init = f"{model.__name__}({configuration.__name__}({arguments})).eval()"
        yield Case(f"transformers:{kind}", None, model.__module__, model.__name__, init, inputs)


if __name__ == "__main__":
    sys.exit(main())
