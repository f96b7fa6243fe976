"""What the name of a constructor argument says about its value."""

from __future__ import annotations

import re

from .bodies import Body
from .guesses import Group, Guess, Open, Path, Size, Text, forward_with

POOL = (32, 96, 160, 224, 288, 352, 416, 480)
"""Sizes of features: distinct, so that a shown dimension can be recognised, none of them a size of an example image,
and multiples of 32, since heads, groups and reductions must divide them."""
CLASSES = 10
IMAGE = 64
VOLUME = 32
"""Edge of a volume: as an image's would be sixteen times as much to compute."""
SEQUENCE = 16
VOCABULARY = 100
COLOURS = 3

_TEXTS: tuple[tuple[str, str], ...] = (
    (r"drop(out|path)?(_?(rate|prob|p|ratio))?$|.*_p?drop(out)?(_.*)?$|dropout.*|p_drop|drop_.*(rate|prob)", "0.1"),
    (r"eps|epsilon|.*_eps|layer_norm_epsilon", "1e-05"),
    (r"momentum|.*_momentum|lr|learning_rate|weight_decay|.*_std|std|init_values?|initializer_range", "0.1"),
    (
        r"""(alpha|beta|gamma|lambda|tau|temp|temperature|sigma|margin|threshold|thresh|negative_slope|slope
        |theta)\d?_?|.*_(alpha|beta|gamma|lambda|tau|temp|temperature|sigma|margin|threshold|thresh|prob
        |weight|coef|coeff|loss_weight)|smoothing|label_smoothing""",
        "0.5",
    ),
    (r"bias|affine|.*_bias|qkv_bias|batch_first", "True"),
    (
        r"""output_(attentions|hidden_states)|(use|with|is|has|if|no|do|add|enable|return|share|tie|freeze|fix|apply)_
        (?!(layers?|nodes?|stages|ind(ices|exes)|idx|levels)$).*""",
        "False",
    ),
    (
        r"""bidirectional|training|debug|verbose|inplace|pretrained|causal|residual|shortcut|last|transposed?
        |train|.*_(only|first|last|pretrained)|cuda|gpu""",
        "False",
    ),
    (r"devices?|.*_device", "'cpu'"),
    (r"dtype", "torch.float32"),
    (r".*(_path|_dir|_file|filename|_root)|path|ckpt|checkpoint", "''"),
    (r"return_layers", "{'0': 'out'}"),
    (r"device_ids|gpu_ids", "[]"),
    (r"logger|writer|tokenizer|scaler", "None"),
)
_SIZES: tuple[tuple[str, int], ...] = (
    (r"kernel(_?size)?|k_?size|kernels?|ks|.*_ker(nel)?_size|filter_size|conv_kernel(_size)?|k", 3),
    (
        r"""strides?|s|dilations?|padding|pad|groups?|rate|.*_(stride|dilation|padding|groups)|(.*_)?dilation_(size|rate)
        |p|d|n_?context|order|(num_?|n_?)gpus?|num_devices|world_size""",
        1,
    ),
    (r"(num|n|nb)?_?(attention_|attn_|q_|kv_|key_value_)?heads?(_num|_count)?|.*_heads?|nhead|num_head\w*", 4),
    (r"(num|n)_?groups|.*num_groups", 4),
    (
        r"""(num|n|nb)_?(\w+_)?(layers?|blocks?|stages?|stacks?|levels?|units_per\w*|repeats?|branch(es)?
        |resblocks?|res\w*|modules|steps|iters?|iterations|scales?|experts|hidden_layers|convs?
        |downs?(ampl\w+)?|ups?|cells?|anchors?|nodes|flows|mix\w*)|depths?|.*_(depths?|layers?|repeats?|num_blocks?)|n|repeats?
        |nlayers|reps|layers?|blocks|stages""",
        2,
    ),
    (
        r"""(num|n|nb)?_?(of_)?(class|classes|labels|cls|categories|actions|tags|relations|joints|keypoints
        |landmarks|speakers|topics|outputs?|domains|entities|parts|types)|class_num|classes_num|nclass(es)?
        |ncls|action_(size|dim|space|num)|out_?classes|(tag|label|output)(set)?_?size|num_out(put)?s?""",
        CLASSES,
    ),
    (
        r""".*vocab.*|num_embeddings|n_?tokens?|.*_tokens|num_words|n_words|.*(word|char|item|user|node)s?_(num
        |count)|(num|n|nb)_(chars|users|items|nodes)|dict_size|voc_size|n_src_vocab|n_trg_vocab|n_vocab
        |alphabet_size|input_vocab""",
        VOCABULARY,
    ),
    (
        r""".*max.*(len|length|pos|position|seq|positions|embeddings)\w*|n_position(s)?|n_ctx|n_positions
        |context_length|num_positions""",
        512,
    ),
    (
        r"""adj(acency)?(_?mat\w*)?|seq_?len(gth)?|sequence_length|block_size|num_patches|length|window|.*_len(gth)?|time_?steps?
        |n_?points|num_points|num_frames|frames|n_frames|clip_len|T|pred_len|horizon""",
        SEQUENCE,
    ),
    (
        r"""(image|img|input|in|crop|output|out|feature|feat|fmap|sample|test|full)?_?(resolution|res
        |spatial_size|height|width|image_size|img_size|imsize|h|w)|image_?size|img_?(size|dim|height|width)
        |im_?size|H|W|input_(h|w)|isize|.*_resolution|image_dim""",
        IMAGE,
    ),
    (r"sample_(size|duration)", VOLUME),
    (r"patch_?(size|dim)?|.*_patch_size", 8),
    (r"n_?fft|fft_?(size|len\w*)|win(dow)?_?len(gth)?|filter_length", 64),
    (r"hop_?(len(gth)?|size)|tubelet_size|temporal_patch_size|(t|frame)_patch_size", 2),
    (
        r"""window_?size|win_size|pool_size|output_stride|num_bins|bins|pooled_\w+|aligned_\w+|out_size|roi_size
        |pool\w*_size""",
        4,
    ),
    (
        r"""(up|down|sr|sub)?_?(scale|sampl(?!\w*(channel|chan|dim|feat))\w+|ratio|factor|sample)(_factor)?|upscale\w*|scale_\w+|expansion
        |expand(_ratio)?|.*_(factor|ratio|multiplier|mult|expansion)|ratio|t|scaling|r|cardinality|se_ratio
        |expansion_factor""",
        2,
    ),
    (r"reduction(_ratio)?|squeeze_factor|reduction_factor|.*_reduction", 4),
    (
        r"""input_nc|output_nc|in_chans|(in_)?img_(channels?|ch)|image_(channels?|nc)|n_?channels|nc|n_?colors?
        |num_in_ch|num_out_ch|colou?rs?|rgb_\w+|num_channels|channels_img|channels_in_img|in_nc|out_nc
        |x_channels|conditional_channels|input_channels""",
        COLOURS,
    ),
    (r"batch(_size)?|bs|bsz|.*batch_size|B", 2),
    (
        r"""num_(stages|scales|inputs|views|modalities)|top_?k|.*_k|n_?(way|shot)|memory_size|len_.*
        |count|idx|index|.*_(id|idx|index)|level|i|j""",
        2,
    ),
    (r"growth(_?rate)?|growthRate", 32),
)
_COMPILED_TEXTS = tuple((re.compile(pattern, re.VERBOSE), code) for pattern, code in _TEXTS)
_COMPILED_SIZES = tuple((re.compile(pattern, re.VERBOSE), size) for pattern, size in _SIZES)
_FEATURE = re.compile(
    r".*(channel|chan|feats?|dim|planes?|hiddens?|filters?|width|units|embed|emb|size|model|state|nf|ch$|in$|out$|inp|oup|features|c\d|ngf|ndf)"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
_CONFIGURATION = re.compile(r".*(config|configs|conf|cfg|args|opts?|options|params|hparams|settings)|hp|c|flags")
"""These are hardly ever numbers: no size is used up for them."""
_COUNT = re.compile(r"(num|n|nb)_.*|.*_(num|n|count|nums)|num\w+")


def _in_snake_case(name: str) -> str:
    """``batch_size`` for ``batchSize`` and ``BATCH_SIZE``, which mean the same; single letters stay."""
    if len(name) > 1 and name.isupper():
        # As in configurations that are written like constants.
        return name.lower()
    return _HUMP.sub("_", name).lower() if _HUMP.search(name) else name


def is_configuration(name: str) -> bool:
    return _CONFIGURATION.fullmatch(name) is not None


class Names:
    """Guesses by name, the same size for the same name, and another for another one."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._body = Body()

    def read(self, body: Body) -> None:
        """Take into account what the body of a class says of its arguments."""
        self._body = body

    def of(self, name: str) -> Guess:
        """What ``name`` is likely to be: exactly known for flags and rates, else open."""
        plain = _in_snake_case(name.strip("_"))
        for pattern, code in _COMPILED_TEXTS:
            if pattern.fullmatch(plain):
                return Text(code)
        return Text("False") if name in self._body.flags else Open(name, self.size(plain))

    def size(self, name: str) -> int:
        """What ``name`` is if it is a number."""
        if name in self._body.steps and not _FEATURE.fullmatch(name.lower()):
            return self._body.steps[name]
        for pattern, size in _COMPILED_SIZES:
            if pattern.fullmatch(name):
                return size
        if not _FEATURE.fullmatch(name.lower()) and (_COUNT.fullmatch(name) or name in self._body.counts):
            return 2
        if _CONFIGURATION.fullmatch(name):
            return 2
        # The elements of ``dims`` are each a ``dim``.
        single = name[:-1] if len(name) > 2 and name.endswith("s") else name
        if single not in self._sizes:
            self._sizes[single] = POOL[min(len(self._sizes), len(POOL) - 1)]
        return self._sizes[single]


IDENTITY = "torch.nn.Identity()"
CONVOLUTION = "torch.nn.Conv2d"
FIRST = forward_with("first")
FIRST_BY_NAME = forward_with("first", by_name=True)
RETURNS_FIRST = f"type('Block', (torch.nn.Identity,), {{'forward': {FIRST}}})()"
_ACTIVATION = re.compile(r".*((?<!tr)act|nonlin|relu)", re.IGNORECASE)
_NORM = re.compile(r".*(norm|bn)", re.IGNORECASE)
_CONV = re.compile(r".*conv", re.IGNORECASE)
_DROP = re.compile(r".*drop", re.IGNORECASE)
_LOSS = re.compile(r".*(loss|criterion|crit)", re.IGNORECASE)


def called_class(name: str) -> str:
    """The class of torch's that an argument of this name is likely to be when it is called to make a module."""
    if _ACTIVATION.match(name):
        return "torch.nn.ReLU"
    if _NORM.match(name):
        return "torch.nn.BatchNorm2d"
    if _CONV.match(name):
        return CONVOLUTION
    return "torch.nn.Identity"


def called_module(name: str) -> str:
    """A module that an argument of this name is likely to be when it is called with tensors."""
    if _ACTIVATION.match(name):
        return "torch.nn.ReLU()"
    if _LOSS.match(name):
        return "torch.nn.MSELoss()"
    if _DROP.match(name):
        return "torch.nn.Dropout(0.1)"
    return IDENTITY


LAYER_NAMES = ("'LSTM'", "'ReLU'", "'BatchNorm2d'", "'Conv2d'")
"""Of different kinds, for what is looked up in torch.nn."""


def likely_words(name: str) -> tuple[str, ...]:
    """What a string of this name often is, where the code does not compare it with anything."""
    if _ACTIVATION.match(name):
        return "'relu'", "'ReLU'", "'gelu'"
    if _NORM.match(name):
        return "'batch'", "'bn'", "'BatchNorm2d'", "'none'"
    if "pad" in name:
        return "'zero'", "'reflect'", "'same'"
    if "rnn" in name or "cell" in name:
        return "'LSTM'", "'GRU'"
    if "mode" in name:
        return "'bilinear'", "'nearest'"
    if "block" in name or "layer" in name:
        return ("'basic'",)
    return ("'resnet18'", "'resnet50'") if re.match(r".*(arch|backbone|base|encoder|model|net|name)", name) else ()


ARRAY = "__import__('numpy').ones("


def array_of(shape: tuple[int, ...]) -> Text:
    """An array of numpy's."""
    return Text(f"{ARRAY}{shape}, dtype='float32')")


def sizes_of(count: int, size: int) -> Group:
    """As many sizes in a list."""
    return Group("list", tuple((f"[{index}]", Size(size)) for index in range(count)))


def image_sizes(count: int) -> Group | None:
    """As many sizes of a batch of images, the last ones."""
    sizes = (2, COLOURS, IMAGE, IMAGE)[-count:]
    parts = tuple((f"[{index}]", Size(size)) for index, size in enumerate(sizes))
    return Group("tuple", parts) if len(parts) == count else None


def name_of(path: Path) -> str:
    """What the part at ``path`` is called: by its key, or by that of the sequence that it is in."""
    return next((re.sub(r"\W", "", key) for key in reversed(path) if not re.fullmatch(r"\[\d+\]", key)), "")
