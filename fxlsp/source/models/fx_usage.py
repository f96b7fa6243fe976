"""Whether a text uses torch.fx, told without parsing it: every file of a workspace is asked."""

from __future__ import annotations

import re

from fxlsp.source.text.documents import Document

_USES = re.compile(
    r"\b(?:torch\.fx|quantize_fx|prepare_fx|prepare_qat_fx|convert_fx|create_feature_extractor|symbolic_trace)\b"
    r"|\bfrom\s+torch\s+import\s[^#\n]*\bfx\b"
)

_HINTS = (b"fx", b"create_feature_extractor", b"symbolic_trace")


def may_use_fx(data: bytes) -> bool:
    """Whether a file is worth looking for a use, told from its bytes: that takes twenty times longer."""
    return any(hint in data for hint in _HINTS)


def fx_use(text: str) -> str | None:
    """What of torch.fx, of its quantisation or of torchvision's feature extraction the text names, comments aside."""
    for match in _USES.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if "#" not in text[line_start : match.start()]:
            return match[0]
    return None


def fx_use_of(document: Document) -> str | None:
    """:func:`fx_use` of a document; use it with ``derive``."""
    return fx_use(document.text)
