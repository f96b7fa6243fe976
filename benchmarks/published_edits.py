"""Edits of published model files, for the benchmark of their latency.

The files belong to installed packages and to a repository that is fetched; none is part of fxlsp. Each edit is a text
that occurs once in a file and its replacement, and a line in which a hint shows its effect.
"""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("width", "operation", "constructor argument", "helper function", "lines moved")


@dataclass(frozen=True)
class PublishedEdit:
    """Edit with a visible effect on a hint elsewhere."""

    kind: str
    old: str
    new: str
    changes: str
    """Part of the line whose hint the edit changes."""


@dataclass(frozen=True)
class PublishedFile:
    """Model file as it is published."""

    package: str
    """Name of the package that contains it, or of the repository as ``owner/name``."""
    path: str
    """Path in the folder of the package."""
    model: str
    """Name of the class whose forward the edits change."""
    edits: tuple[PublishedEdit, ...]
    recipe: str = ""
    """Comment above the class, where the file states no inputs."""

    @property
    def name(self) -> str:
        return f"{self.package.rpartition('/')[2]}/{self.path}"


PUBLISHED = (
    PublishedFile(
        "torchvision",
        "models/resnet.py",
        "ResNet",
        (
            PublishedEdit("width", "block, 64, layers[0])", "block, 80, layers[0])", "x = self.layer1(x)"),
            PublishedEdit(
                "operation",
                "x = self.maxpool(x)\n",
                "x = self.maxpool(x)\n        x = x[:, :, 1:]\n",
                "x = self.layer1(x)",
            ),
            PublishedEdit(
                "constructor argument",
                "self.inplanes, kernel_size=7, stride=2",
                "self.inplanes, kernel_size=7, stride=1",
                "x = self.conv1(x)",
            ),
            PublishedEdit(
                "lines moved",
                "x = self.maxpool(x)\n\n        x = self.layer1(x)\n",
                "\n        x = self.layer1(x)\n        x = self.maxpool(x)\n",
                "x = self.layer1(x)",
            ),
        ),
    ),
    PublishedFile(
        "torchvision",
        "models/vision_transformer.py",
        "VisionTransformer",
        (
            PublishedEdit(
                "width",
                "self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)\n\n    def forward(self, input: torch.Tensor):\n",
                "self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)\n\n    def forward(self, input: torch.Tensor):\n"
                "        input = input[:1]\n",
                "x = self.ln_1(input)",
            ),
            PublishedEdit(
                "operation",
                "x = self.encoder(x)\n",
                "x = self.encoder(x)\n        x = torch.cat([x, x])\n",
                "x = self.heads(x)",
            ),
            PublishedEdit(
                "helper function",
                "x = x.permute(0, 2, 1)\n",
                "x = x.permute(0, 2, 1)\n        x = torch.cat([x, x])\n",
                "x = self.encoder(x)",
            ),
            PublishedEdit(
                "constructor argument", "num_classes: int = 1000,", "num_classes: int = 1001,", "x = self.heads(x)"
            ),
        ),
    ),
    PublishedFile(
        "torchvision",
        "models/densenet.py",
        "DenseNet",
        (
            PublishedEdit("width", "growth_rate: int = 32,", "growth_rate: int = 24,", "out = F.relu(features"),
            PublishedEdit(
                "operation",
                "features = self.features(x)\n",
                "features = self.features(x)\n        features = torch.cat([features, features])\n",
                "out = F.relu(features",
            ),
            PublishedEdit(
                "constructor argument",
                "nn.Conv2d(3, num_init_features, kernel_size=7, stride=2",
                "nn.Conv2d(3, num_init_features, kernel_size=7, stride=1",
                "features = self.features(x)",
            ),
        ),
    ),
    PublishedFile(
        "torchvision",
        "models/swin_transformer.py",
        "SwinTransformer",
        (
            PublishedEdit(
                "operation",
                "x = self.features(x)\n",
                "x = self.features(x)\n        x = x[:, 1:]\n",
                "x = self.norm(x)\n        x = self.permute",
            ),
            PublishedEdit(
                "helper function",
                "x = torch.cat([x0, x1, x2, x3], -1)  # ... H/2 W/2 4*C\n",
                "x = torch.cat([x0, x1, x2, x3], -1)  # ... H/2 W/2 4*C\n    x = torch.cat([x, x])\n",
                "x = self.features(x)",
            ),
            PublishedEdit(
                "constructor argument", "num_classes: int = 1000,", "num_classes: int = 1001,", "x = self.head(x)"
            ),
        ),
    ),
    PublishedFile(
        "karpathy/nanoGPT",
        "model.py",
        "GPT",
        (
            PublishedEdit("width", "n_embd: int = 768", "n_embd: int = 1536", "x = self.transformer.ln_f(x)"),
            PublishedEdit(
                "operation",
                "x = self.transformer.ln_f(x)\n",
                "x = self.transformer.ln_f(x)\n        x = torch.cat([x, x])\n",
                "logits = self.lm_head(x[:",
            ),
            PublishedEdit(
                "constructor argument",
                "vocab_size: int = 50304",
                "vocab_size: int = 50257",
                "logits = self.lm_head(x[:",
            ),
        ),
    ),
    PublishedFile(
        "timm",
        "models/vision_transformer.py",
        "VisionTransformer",
        (
            PublishedEdit(
                "operation",
                "x = self.patch_drop(x)\n",
                "x = self.patch_drop(x)\n        x = torch.cat([x, x])\n",
                "x = self.norm_pre(x)",
            ),
            PublishedEdit(
                "constructor argument",
                "            num_classes: int = 1000,\n            global_pool: Literal",
                "            num_classes: int = 1001,\n            global_pool: Literal",
                "return x if pre_logits else self.head(x)",
            ),
            PublishedEdit(
                "helper function",
                "x = x[:, 0]  # class token",
                "x = torch.cat([x, x])[:, 0]  # class token",
                "x = self.fc_norm(x)",
            ),
        ),
    ),
    PublishedFile(
        "transformers",
        "models/llama/modeling_llama.py",
        "LlamaModel",
        (
            PublishedEdit(
                "operation",
                "hidden_states = self.norm(hidden_states)\n        return Base",
                "hidden_states = hidden_states[:, 1:]\n"
                "        hidden_states = self.norm(hidden_states)\n        return Base",
                "hidden_states = self.norm(hidden_states)\n        return Base",
            ),
            PublishedEdit(
                "width",
                "self.intermediate_size = config.intermediate_size",
                "self.intermediate_size = config.intermediate_size + 8",
                "down_proj = self.down_proj(",
            ),
        ),
        recipe="# fxlsp: LlamaModel(LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=4,"
        " num_attention_heads=8, num_key_value_heads=4, vocab_size=1000))(torch.randint(0, 1000, (2, 16)))\n",
    ),
)
