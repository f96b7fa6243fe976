"""What names of arguments, inputs and dimensions usually mean: regular expression, value, and why.

The first row of a table whose expression matches the whole name counts. A wrong row costs tries, and never passes for a
result: what was guessed counts only if the model runs with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from ..trials.values import Guess, Size, Tensor, Text

BATCH = 2
"""Batch normalisation in train mode needs two values a channel."""
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
FEATURES = 32
"""Channels where no layer says how many."""
ASKS_FOR_WEIGHTS = re.compile(r"pretrain|weights|download|checkpoint_path", re.IGNORECASE)
"""In names of arguments that ask for trained weights."""

Value = TypeVar("Value")


@dataclass(frozen=True)
class Table(Generic[Value]):
    """Rows of (regular expression, value, why)."""

    rows: tuple[tuple[str, Value, str], ...]

    def __post_init__(self) -> None:
        compiled = tuple((re.compile(pattern, re.VERBOSE), value) for pattern, value, _ in self.rows)
        object.__setattr__(self, "_compiled", compiled)

    def of(self, name: str) -> Value | None:
        """Return the value of the first row that matches the whole name; None if none does."""
        compiled: tuple[tuple[re.Pattern[str], Value], ...] = getattr(self, "_compiled")  # noqa: B009 - of a frozen class
        return next((value for pattern, value in compiled if pattern.fullmatch(name)), None)


ARGUMENT_TEXTS = Table(
    (
        (
            r"drop(out|path)?(_?(rate|prob|p|ratio))?$|.*_p?drop(out)?(_.*)?$|dropout.*|p_drop|drop_.*(rate|prob)",
            "0.1",
            "a probability of dropping values: 0 would hide a path, 1 leave nothing",
        ),
        (r"eps|epsilon|.*_eps|layer_norm_epsilon", "1e-05", "torch's own default of normalisations"),
        (
            r"momentum|.*_momentum|lr|learning_rate|weight_decay|.*_std|std|init_values?|initializer_range",
            "0.1",
            "a small rate: torch's default momentum",
        ),
        (
            r"""(alpha|beta|gamma|lambda|tau|temp|temperature|sigma|margin|threshold|thresh|negative_slope|slope
            |theta)\d?_?|.*_(alpha|beta|gamma|lambda|tau|temp|temperature|sigma|margin|threshold|thresh|prob
            |weight|coef|coeff|loss_weight)|smoothing|label_smoothing""",
            "0.5",
            "a factor or a share: between 0 and 1, and neither",
        ),
        (r"bias|affine|.*_bias|qkv_bias|batch_first", "True", "flags that are on in most models"),
        (
            r"""output_(attentions|hidden_states)
            |(use|with|is|has|if|no|do|add|enable|return|share|tie|freeze|fix|apply)_
            (?!(layers?|nodes?|stages|ind(ices|exes)|idx|levels)$).*""",
            "False",
            "a verb in front asks for something beside the usual; a list of layers to return is no flag",
        ),
        (
            r"""bidirectional|training|debug|verbose|inplace|pretrained|causal|residual|shortcut|last|transposed?
            |train|.*_(only|first|last|pretrained)|cuda|gpu""",
            "False",
            "flags that are off by default, or ask for weights and devices that are not there",
        ),
        (r"devices?|.*_device", "'cpu'", "the one device that every machine has"),
        (r"dtype", "torch.float32", "torch's default"),
        (r".*(_path|_dir|_file|filename|_root)|path|ckpt|checkpoint", "''", "no file: most code asks for one"),
        (r"return_layers", "{'0': 'out'}", "what torchvision's IntermediateLayerGetter takes"),
        (r"device_ids|gpu_ids", "[]", "no device"),
        (r"logger|writer|tokenizer|scaler", "None", "no part of the model"),
    )
)

ARGUMENT_SIZES = Table(
    (
        (
            r"(?!(num|n|nb)_)(.*_)?kernels?(_?sizes?)?|k_?size|ks|.*_ker_size|filter_size|k",
            3,
            "an odd kernel, so that a padding can keep edges",
        ),
        (
            r"""strides?|s|dilations?|padding|pad|groups?|rate|.*_(stride|dilation|padding|groups)
            |(.*_)?dilation_(size|rate)|p|d|n_?context|order|(num_?|n_?)gpus?|num_devices|world_size""",
            1,
            "1 changes least: it divides everything, and as a padding keeps the edges of a kernel of 3",
        ),
        (
            r"(num|n|nb)?_?(attention_|attn_|q_|kv_|key_value_)?heads?(_num|_count)?|.*_heads?|nhead|num_head\w*",
            4,
            "divides every size of POOL",
        ),
        (r"(num|n)_?groups|.*num_groups", 4, "divides every size of POOL"),
        (
            r"""(num|n|nb)_?(\w+_)?(layers?|blocks?|stages?|stacks?|levels?|units_per\w*|repeats?|branch(es)?
            |resblocks?|res\w*|modules|steps|iters?|iterations|scales?|experts|hidden_layers|convs?
            |downs?(ampl\w+)?|ups?|cells?|anchors?|nodes|flows|mix\w*)|depths?
            |.*_(depths?|layers?|repeats?|num_blocks?)|n|repeats?|nlayers|reps|layers?|blocks|stages""",
            2,
            "counts of parts: two show what repeats, and cost little",
        ),
        (
            r"""(num|n|nb)?_?(of_)?(class|classes|labels|cls|categories|actions|tags|relations|joints|keypoints
            |landmarks|speakers|topics|outputs?|domains|entities|parts|types)|class_num|classes_num|nclass(es)?
            |ncls|action_(size|dim|space|num)|out_?classes|(tag|label|output)(set)?_?size|num_out(put)?s?""",
            CLASSES,
            "classes",
        ),
        (
            r""".*vocab.*|num_embeddings|n_?tokens?|.*_tokens|num_words|n_words|.*(word|char|item|user|node)s?_(num
            |count)|(num|n|nb)_(chars|users|items|nodes)|dict_size|voc_size|n_src_vocab|n_trg_vocab|n_vocab
            |alphabet_size|input_vocab""",
            VOCABULARY,
            "rows of a table that is indexed",
        ),
        (
            r""".*max.*(len|length|pos|position|seq|positions|embeddings)\w*|n_position(s)?|n_ctx|n_positions
            |context_length|num_positions""",
            512,
            "longer than every sequence that is tried",
        ),
        (
            r"""adj(acency)?(_?mat\w*)?|seq_?len(gth)?|sequence_length|block_size|num_patches|length|window|.*_len(gth)?
            |time_?steps?|n_?points|num_points|num_frames|frames|n_frames|clip_len|T|pred_len|horizon""",
            SEQUENCE,
            "lengths of sequences",
        ),
        (
            r"""(image|img|input|in|crop|output|out|feature|feat|fmap|sample|test|full)?_?(resolution|res
            |spatial_size|height|width|image_size|img_size|imsize|h|w)|image_?size|img_?(size|dim|height|width)
            |im_?size|H|W|input_(h|w)|isize|.*_resolution|image_dim""",
            IMAGE,
            "edges of images",
        ),
        (r"(n|num)_?mels?(_(bins|channels))?|mel_(dims?|channels|bins)|n_mel_channels", 80, "bands of a spectrogram"),
        (r"sample_(size|duration)", VOLUME, "edges of videos, in projects that copy 3D-ResNets"),
        (r"patch_?(size|dim)?|.*_patch_size", 8, "divides the edge of an image"),
        (r"n_?fft|fft_?(size|len\w*)|win(dow)?_?len(gth)?|filter_length", 64, "a window of a short signal"),
        (
            r"hop_?(len(gth)?|size)|tubelet_size|temporal_patch_size|(t|frame)_patch_size",
            2,
            "a step within that window",
        ),
        (
            r"""window_?size|win_size|pool_size|output_stride|num_bins|bins|pooled_\w+|aligned_\w+|out_size|roi_size
            |pool\w*_size""",
            4,
            "divides the edge of an image and of the maps that it becomes",
        ),
        (
            r"""(up|down|sr|sub)?_?(scale|sampl(?!\w*(channel|chan|dim|feat))\w+|ratio|factor|sample)(_factor)?
            |upscale\w*|scale_\w+|expansion|expand(_ratio)?|.*_(factor|ratio|multiplier|mult|expansion)|ratio|t|scaling
            |r|cardinality|se_ratio|expansion_factor""",
            2,
            "the smallest factor that shows",
        ),
        (r"reduction(_ratio)?|squeeze_factor|reduction_factor|.*_reduction", 4, "divides every size of POOL"),
        (
            r"""input_nc|output_nc|in_chans|(in_)?img_(channels?|ch)|image_(channels?|nc)|n_?channels|nc|n_?colors?
            |num_in_ch|num_out_ch|colou?rs?|rgb_\w+|num_channels|channels_img|channels_in_img|in_nc|out_nc
            |x_channels|conditional_channels|input_channels""",
            COLOURS,
            "channels of an image",
        ),
        (r"batch(_size)?|bs|bsz|.*batch_size|B", BATCH, "as many as the inputs have"),
        (
            r"""num_(stages|scales|inputs|views|modalities)|top_?k|.*_k|n_?(way|shot)|memory_size|len_.*
            |count|idx|index|.*_(id|idx|index)|level|i|j""",
            2,
            "counts and indices of few things",
        ),
        (r"growth(_?rate)?|growthRate", 32, "channels that each layer of a DenseNet adds"),
    )
)

IN_CHANNELS = re.compile(r"in_?(c|ch|chs|chans?|channels?|chns)|inp_?(ch|channels?)|n_in_channels|c_?in|in_dim_img")
"""Channels of what a model takes: those of an image where it is a whole model of images."""
CHANNEL_COUNT = re.compile(rf"{IN_CHANNELS.pattern}|channels?|(out|input|img|image)_?(ch|channels?)")
"""What may be the channels of images, where it is the number of them that an input has."""
OF_WHOLE = re.compile(
    r"(num|n)_?(class(es)?|labels)|class_num|classes|nclass|(image|img)_?(size|dim|shape|resolution)|patch_?size"
)
"""Arguments that whole models have."""
WHOLE = re.compile(
    r"(?i:.*(net|vit|mixer|former|classifier|segment(er|or|ation)|detector|discriminator|critic|generator|model|vae"
    r"|autoencoder|cnn)\w{0,4})"
)
PART = re.compile(
    r"(?i:.*(block|layer|head|neck|decoder|attention|attn|unit|cell|stage|module|fpn|pyramid|aspp|bottleneck|down|up|conv"
    r"|stem|fusion|expert))"
)
"""Names of classes that are whole models, and of those that are parts of one."""
FEATURE = re.compile(
    r".*(channel|chan|feats?|dim|planes?|hiddens?|filters?|width|units|embed|embd|emb|size|model|state|nf|ch$|in$|out$|inp"
    r"|oup|features|c\d|ngf|ndf)"
)
"""Numbers of features, each of which has a size of its own."""
CONFIGURATION = re.compile(r".*(config|configs|conf|cfg|args|opts?|options|params|hparams|settings)|hp|c|flags")
"""These are hardly ever numbers: no size is used up for them."""
COUNT = re.compile(r"(num|n|nb)_.*|.*_(num|n|count|nums)|num\w+")
"""Counts of something that no row knows."""

CONVOLUTION = "torch.nn.Conv2d"
IDENTITY = "torch.nn.Identity()"
ONE_LAYER = f"torch.nn.Sequential({IDENTITY})"
"""What is asked for its layers."""
_ACTIVATION, _NORM = r"(?i:.*((?<!tr)act|nonlin|relu).*)", r"(?i:.*(norm|bn).*)"

CALLED_CLASSES = Table(
    (
        (_ACTIVATION, "torch.nn.ReLU", "classes of activations are made without arguments"),
        (_NORM, "torch.nn.BatchNorm2d", "made with channels; maps are more usual than sequences"),
        (r"(?i:.*conv.*)", CONVOLUTION, "made with channels and a kernel"),
        (r".*", "torch.nn.Identity", "takes whatever it is made and called with"),
    )
)
"""Classes of torch's, for arguments that are called to make a module."""

CALLED_MODULES = Table(
    (
        (_ACTIVATION, "torch.nn.ReLU()", "takes any tensor"),
        (r"(?i:.*(loss|criterion|crit).*)", "torch.nn.MSELoss()", "takes any two tensors of one shape"),
        (r"(?i:.*drop.*)", "torch.nn.Dropout(0.1)", "takes any tensor"),
        (r".*", IDENTITY, "takes any tensor"),
    )
)
"""Modules, for arguments that are called with tensors."""

LAYER_NAMES = ("'LSTM'", "'ReLU'", "'BatchNorm2d'", "'Conv2d'")
"""Of different kinds, for what is looked up in torch.nn."""

WORDS: Table[tuple[str, ...]] = Table(
    (
        (_ACTIVATION, ("'relu'", "'ReLU'", "'gelu'"), "names of activations, as torch's functions and classes have"),
        (_NORM, ("'batch'", "'bn'", "'BatchNorm2d'", "'none'"), "names of normalisations"),
        (r".*pad.*", ("'zero'", "'reflect'", "'same'"), "modes of padding"),
        (r".*(rnn|cell).*", ("'LSTM'", "'GRU'"), "recurrent layers, which are looked up in torch.nn"),
        (r".*mode.*", ("'bilinear'", "'nearest'"), "modes of interpolation"),
        (r".*(block|layer).*", ("'basic'",), "kinds of residual blocks"),
        (r"(?=.*(arch|backbone|base|encoder|model|net|name)).*", ("'resnet18'", "'resnet50'"), "torchvision's models"),
    )
)
"""Strings of arguments that the code does not compare with anything."""

# Inputs.
MASK = re.compile(r".*mask.*|.*padding.*")
STEPS_INPUT = re.compile(
    r"q|k|v|query|queries|keys?|values?|hidden_states?|memory|tgt|src|\w+_(hiddens?|states?|seq|sequence)"
)
"""Sequences of features, where no layer says what a model takes."""
IDS = re.compile(
    r".*(_ids?|tokens?|token_ids|idx|indices|words|captions?|sentences?|text|sents?|sequences?_id|ids|users?|items?|nodes"
    r"|_index)$|ids|index"
)
"""Indices into a table."""
ONE_OF_EACH = re.compile(r"t|ts|time_?steps?|times?|(class_)?labels?|y|c|class(es)?|domains?|cond(ition)?s?")
"""What is one index of each image, rather than a sequence of them."""
LABELS = re.compile(r"labels?")
"""Beside features or images the class of each."""
VALUES = re.compile(
    r"(.*_)?(features?|feats?|embeddings?|embeds?|latents?|noise|codes?_float|spec|mels?|spectrogram)|z|noise_vector"
)
"""Floats, even where a model's first layer is a table."""
SOME_ID = re.compile(r"\w+_id(s?)")
"""What is an integer beside features too: one of each image or sequence, or of each step."""
IMAGES = re.compile(r".*(img|image|pixel_values|frame|rgb|photo|picture)s?\d*$")
POINTS = re.compile(r".*(xyz\d*|points?|point_cloud|pc|coords?|pcd|new_xyz|pos)$")
SIZE_OF_SHAPE = re.compile(r".*(size|shape|hw)")
"""Inputs that are unpacked into the sizes of something."""
_FLAG = r"""(return|use|is|with|output|do|need|get|if)_(?!(size|shape|dim|len)s?$)\w+|train(ing)?|mode|verbose|eval|test
|debug|inference|sample"""


@lru_cache(maxsize=16)
def beside_values(length: int, is_later: bool) -> Table[Guess]:
    """Return the table of inputs that only say something about others: flags, masks, lengths, sizes, edges.

    ``length`` is that of the sequence before; ``is_later`` says whether there is an input before.
    """
    always: tuple[tuple[str, Guess, str], ...] = (
        (_FLAG, Text("False"), "a flag"),
        (r"(.*_)?device", Text("'cpu'"), "the one device that every machine has"),
        (r"(.*_)?dtype", Text("torch.float32"), "torch's default"),
        (MASK.pattern, Tensor((BATCH, length), "bool"), "one flag for each step"),
        (
            r".*(length|len)s?$|seqlens?|lens?(_[a-z])?",
            Tensor((BATCH,), "long", length),
            "full length, of each sequence",
        ),
        (r"edge_index|edges|edge_idx", Tensor((2, SEQUENCE), "long"), "pairs of nodes, as graph networks take them"),
        (r"pred_logits", Tensor((BATCH, SEQUENCE, FEATURES)), "what detectors return that predict a set of objects"),
        (r"pred_boxes", Tensor((BATCH, SEQUENCE, 4)), "what detectors return that predict a set of objects"),
        (r"(\w+_)?target_sizes", Tensor((BATCH, 2), "long", IMAGE), "height and width of each image"),
        (
            r"(?=.*roi)(.*_)?(boxes|rois|proposals|bbox(es)?|anchors)",
            Tensor((BATCH, 5)),
            "number of the image and four edges, as torchvision's operators take them",
        ),
        (r"(.*_)?(boxes|rois|proposals|bbox(es)?|anchors)", Tensor((BATCH, 4)), "four edges"),
    )
    later: tuple[tuple[str, Guess, str], ...] = (
        (r"t|ts|time_?steps?|timesteps?|times?", Tensor((BATCH,), "long"), "the number of a step, of each image"),
        (r"noise_levels?|sigmas?|log_?snr", Tensor((BATCH,)), "an amount of noise, of each image"),
        (r"adj\w*|laplacian|graph|A|L", Tensor((length, length)), "a matrix between all nodes"),
        (r"[HWhw]|height|width|.*_(height|width)|\w+_size[12]", Size(IMAGE), "an edge of the image before"),
        (
            r"""(num|n)_\w+|[TkKN]|.*_(size|num|len|idx|factor|level)|size|step|epoch|iteration|out_size|scale|layer
            |index|stage|level""",
            Size(2),
            "a number of something",
        ),
    )
    return Table((*always, *later) if is_later else always)


# Names into which a shape is unpacked.
CHANNELS = re.compile(r"c|ch|chn|chan|channels?|(num|n|in)_?(c|ch|channels?)|nc|c_?in|inp?_c", re.IGNORECASE)
DEPTHS = re.compile(
    r"d|dims?|e|hidden(_?(size|dim))?|(embed|feat|model|input|in)_?dim|d_model|features?", re.IGNORECASE
)
"""Channels too, but where there is a better name for them a depth."""
BATCHES = re.compile(r"b|bs|bsz|batch(_?size)?|n_?batch(es)?|nb", re.IGNORECASE)
STEPS = re.compile(
    r"t|l|s|n|len(gth)?|(seq|src|tgt)?_?len(gth)?|seq|time|steps?|frames?|(num|n)_?(frames|steps|points|tokens|nodes)|nt"
    r"|tokens?",
    re.IGNORECASE,
)
EDGES = re.compile(r"h|w|height|width|_?[hw]_?(in)?|in_?[hw]|img_?[hw]", re.IGNORECASE)
