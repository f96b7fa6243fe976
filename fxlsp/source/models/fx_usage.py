"""Detection of torch.fx without parsing, for every file of a workspace."""

from __future__ import annotations

import re

from fxlsp.source.text.documents import Document

_USES = re.compile(
    r"\b(?:torch\.fx|quantize_fx|prepare_fx|prepare_qat_fx|convert_fx|create_feature_extractor|symbolic_trace)\b"
    r"|\bfrom\s+torch\s+import\s[^#\n]*\bfx\b"
)

_HINTS = (b"fx", b"create_feature_extractor", b"symbolic_trace")


def may_use_fx(data: bytes) -> bool:
    """Return whether a file may use torch.fx, from its bytes.

    :func:`fx_use` takes twenty times longer.
    """
    return any(hint in data for hint in _HINTS)


def fx_use(text: str) -> str | None:
    """Return the first name of torch.fx in a text outside of comments, if any.

    Its quantisation and the feature extraction of torchvision count too.
    """
    for match in _USES.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if "#" not in text[line_start : match.start()]:
            return match[0]
    return None


def fx_use_of(document: Document) -> str | None:
    """Return :func:`fx_use` of a document; to be used with ``derive``."""
    return fx_use(document.text)
