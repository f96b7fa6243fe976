"""Detection of torch.fx and of torch's other front ends without parsing, for every file of a workspace."""

from __future__ import annotations

import re

from fxlsp.report.frontends import OtherFrontend
from fxlsp.source.text.documents import Document

_USES = re.compile(
    r"\b(?:torch\.fx|quantize_fx|prepare_fx|prepare_qat_fx|convert_fx|create_feature_extractor|symbolic_trace)\b"
    r"|\bfrom\s+torch\s+import\s[^#\n]*\bfx\b"
)

_FRONTEND_USES = re.compile(
    r"\b(?:(?P<compile>torch\.compile|torch\._dynamo|torch_compile)|torch\.export|torch\.onnx\.(?:dynamo_)?export)\b"
    r"|\bfrom\s+torch\s+import\s[^#\n]*\b(?:(?P<imported>compile)|export)\b"
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
        if not _is_comment(text, match.start()):
            return match[0]
    return None


def fx_use_of(document: Document) -> str | None:
    """Return :func:`fx_use` of a document; to be used with ``derive``."""
    return fx_use(document.text)


def frontend_uses(text: str) -> frozenset[OtherFrontend]:
    """Return the other front ends of torch that a text names outside of comments.

    ``torch.onnx.export`` exports by torch.export. What torch.compiler has is no use of torch.compile: libraries ask it.
    """
    matches = (match for match in _FRONTEND_USES.finditer(text) if not _is_comment(text, match.start()))
    return frozenset("compile" if match["compile"] or match["imported"] else "export" for match in matches)


def _is_comment(text: str, offset: int) -> bool:
    return "#" in text[text.rfind("\n", 0, offset) + 1 : offset]
