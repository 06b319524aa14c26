"""The table of layers: a call of each, what goes in, and what of the contract in test_contract.py does not hold for it.

`scripts/document_layers.py` makes `docs/layers/` of the layers in it.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import torch

from torchkeras import layers
from torchkeras.engine.layer.layer import Layer


@dataclass(frozen=True)
class Row:
    """A layer, by its call, and the shapes of its inputs: `2x5x4` floats, `2x5<9` integers below 9.

    `unknown`: the axes of the first input that may be unknown beside the batch axis. `masks`: whether a mask passes
    ("pass"), ends ("end") or is refused ("refuse"). `differs`: the parts of the contract that do not hold, and why;
    "ejects": why `eject` has no rule for the layer.
    """

    call: str
    inputs: str
    unknown: tuple[int, ...] = ()
    masks: str = "refuse"
    differs: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return re.match(r"\w+", self.call).group()  # type: ignore[union-attr]

    def make(self) -> Layer:
        return eval(self.call, {**vars(layers), "torch": torch})

    def tensors(self, dtype: torch.dtype = torch.float32) -> Any:
        torch.manual_seed(0)
        found = [_tensor(text, dtype) for text in self.inputs.split()]
        return found if len(found) > 1 else found[0]


def _tensor(text: str, dtype: torch.dtype) -> torch.Tensor:
    sizes, below, limit = text.partition("<")
    shape = [int(size) for size in sizes.split("x")]
    return torch.randint(int(limit), shape) if below else torch.randn(shape, dtype=dtype)


INTEGERS = {"gradients": "integers go in", "half": "integers go in"}
ISLAND = {"compiles": "torch's own recurrent kernel is no code for torch.compile"}
STRINGS: dict[str, str] = dict.fromkeys(
    ("shapes", "config", "gradients", "half", "masks", "copies", "compiles"), "strings go in"
)
HASHED = {
    **INTEGERS,
    "compiles": "the hash of an integer is that of its digits, which torch cannot make",
    "ejects": "torch has no hashes of integers",
}
SPECTRA = {"ejects": "torch has no layers for spectrograms"}
TWO_WAYS = {"ejects": "one weight is used in two ways"}
AS_ONE = {"ejects": "a Sequential of the same layers is written"}
A_CELL: dict[str, str] = dict.fromkeys(
    ("shapes", "config", "gradients", "half", "masks", "copies", "compiles", "channels"), "a cell is called by RNN"
) | {"ejects": "the rule of RNN writes its cells"}
UNSHARED = {"channels": "the kernel is in the order of the data_format, as in Keras"}
GIVEN = {"config": "its module is given by the user", "channels": "its module is in the order that it was made in"}
PIECEWISE = {"gradients": "it has none, or jumps"}
IMAGES = {"ejects": "torch has no such function: torchvision.transforms.v2 changes images before a model"}

ROWS = [
    # core
    Row("Dense(3)", "2x4", masks="pass"),
    Row("Dense(3, activation='relu', use_bias=False)", "2x5x4", (1,), "pass"),
    Row("Activation('tanh')", "2x5x4", (1, 2), "pass"),
    Row("Activation('softmax')", "2x5x4", (1, 2), "pass"),
    Row("ActivityRegularization(0.1, 0.2)", "2x5x4", (1, 2), "pass"),
    Row("Identity()", "2x5x4", (1, 2), "pass"),
    Row("Flatten()", "2x3x4"),
    Row("Flatten()", "2x3x4x5"),
    Row("Reshape((6, 2))", "2x3x4"),
    Row("Reshape((-1, 2))", "2x3x4"),
    Row("Permute((2, 1))", "2x3x4", (1, 2)),
    Row("RepeatVector(3)", "2x4", (1,)),
    Row("Masking()", "2x5x4", (1, 2), "pass"),
    Row("Embedding(9, 3)", "2x5<9", (1,), "end", INTEGERS),
    Row("ReversibleEmbedding(9, 3)", "2x5<9", (1,), "end", INTEGERS | TWO_WAYS),
    Row("ReversibleEmbedding(9, 3, tie_weights=False)", "2x5<9", (1,), "end", INTEGERS | TWO_WAYS),
    Row("Lambda(torch.tanh)", "2x5x4", (1, 2), "end", {"config": "a function is found by its name alone"}),
    Row("Operation('neg', [{'input': 0}])", "2x5x4", (1, 2), "pass"),
    Row("Operation('torch.nn.functional.softmax', [{'input': 0}], {'dim': 1})", "2x5x4", (1, 2), "end"),
    Row("TorchModule(torch.nn.Linear(4, 3))", "2x5x4", (1,), "refuse", GIVEN),
    Row("TimeDistributed(Dense(3))", "2x5x4", (1,), "pass"),
    Row("TimeDistributed(Conv2D(3, 2))", "2x3x5x6x2", (1,)),
    # noise, which is none here: in evaluation mode
    Row("Dropout(0.5)", "2x5x4", (1, 2), "pass"),
    Row("SpatialDropout1D(0.5)", "2x5x4", (1, 2), "pass"),
    Row("SpatialDropout2D(0.5)", "2x5x6x4", (1, 2), "pass"),
    Row("SpatialDropout3D(0.5)", "2x5x6x3x4", (1, 2), "pass"),
    Row("GaussianNoise(0.5)", "2x5x4", (1, 2), "pass"),
    Row("GaussianDropout(0.5)", "2x5x4", (1, 2), "pass"),
    Row("AlphaDropout(0.5)", "2x5x4", (1, 2), "pass"),
    # activations
    Row("ReLU(max_value=1.0, negative_slope=0.1, threshold=0.2)", "2x5x4", (1, 2), "pass"),
    Row("LeakyReLU()", "2x5x4", (1, 2), "pass"),
    Row("PReLU()", "2x5x4", (), "pass"),
    Row("PReLU(shared_axes=[1])", "2x5x4", (1,), "pass"),
    Row("PReLU(shared_axes=[1, 2])", "2x5x6x4", (1, 2), "pass"),
    Row("ELU(0.7)", "2x5x4", (1, 2), "pass"),
    Row("ThresholdedReLU(0.3)", "2x5x4", (1, 2), "pass", PIECEWISE),
    Row("Softmax()", "2x5x4", (1, 2), "pass"),
    Row("Softmax(axis=1)", "2x5x4", (1, 2), "pass"),
    Row("Softmax(axis=[1, 2])", "2x5x4", (1, 2), "pass"),
    Row("ParametricSoftplus()", "2x5x4", (), "pass"),
    Row("SReLU(shared_axes=[1])", "2x5x4", (1,), "pass"),
    # merging
    Row("Add()", "2x3x4 2x3x4", (1, 2), "pass"),
    Row("Add()", "2x3x4 2x4", differs={"masks": "masks of other lengths do not go together"}),
    Row("Subtract()", "2x3x4 2x3x4", (1, 2), "pass"),
    Row("Multiply()", "2x3x4 2x3x4 2x3x4", (1, 2), "pass"),
    Row("Multiply(any_mask=True)", "2x3x4 2x3x4", (1,), "pass"),
    Row("Average()", "2x3x4 2x3x4", (1, 2), "pass"),
    Row("Maximum()", "2x3x4 2x3x4", (1, 2), "pass"),
    Row("Minimum()", "2x3x4 2x3x4", (1, 2), "pass"),
    Row("Concatenate()", "2x3x4 2x3x5", (), "pass"),
    Row("Concatenate(1)", "2x3x4 2x5x4", (1,), "pass"),
    Row("Dot(-1)", "2x3x4 2x5x4", (1,), "end"),
    Row("Dot((1, 2), normalize=True)", "2x3x4 2x5x3", (2,), "end"),
    Row("Cosine(1)", "2x4 2x4", (), "end"),
    # Keras 1
    Row("Highway(activation='tanh')", "2x4"),
    Row("MaxoutDense(3)", "2x4"),
    Row("TimeDistributedDense(3)", "2x5x4", (1,), "pass"),
    # convolutions
    Row("Conv1D(3, 2)", "2x7x4", (1,)),
    Row("Conv1D(3, 2, padding='causal', dilation_rate=2)", "2x7x4", (1,), differs={"channels": "refused, as by Keras"}),
    Row("Conv2D(4, (2, 3), groups=2)", "2x7x6x4", (1, 2)),
    Row("Conv2D(3, 3, strides=2, padding='same', activation='relu')", "2x7x6x4", (1, 2)),
    Row("Conv2D(3, 2, padding='full')", "2x4x5x2", (1, 2)),
    Row("Conv2D(3, 2, padding='half', strides=2)", "2x4x5x2", (1, 2)),
    Row("Conv3D(3, 2, padding='same')", "2x4x5x3x2", (1, 2, 3)),
    Row("Conv1DTranspose(3, 2, strides=2)", "2x5x4", (1,)),
    Row("Conv2DTranspose(3, 3, strides=2, padding='same', output_padding=1)", "2x4x5x2", (1, 2)),
    Row(
        "Conv2DTranspose(3, 3, target_shape=(None, 6, 7, 3))",
        "2x4x5x2",
        differs={"channels": "the shape is in the order of its data_format"},
    ),
    Row("Conv3DTranspose(2, 2, padding='same')", "2x3x4x3x2", (1,)),
    Row("DepthwiseConv1D(2, depth_multiplier=2)", "2x5x3", (1,)),
    Row("DepthwiseConv2D(3, depth_multiplier=2, padding='same')", "2x5x6x3", (1, 2)),
    Row("SeparableConv1D(4, 2, depth_multiplier=2)", "2x5x3", (1,)),
    Row("SeparableConv1D(4, 2, padding='causal')", "2x5x3", (1,)),
    Row("SeparableConv2D(4, 3, strides=2, padding='same')", "2x5x6x3", (1, 2)),
    Row("LocallyConnected1D(3, 2, strides=2)", "2x7x4", differs=UNSHARED),
    Row("LocallyConnected2D(3, (2, 3))", "2x4x5x2", differs=UNSHARED),
    # pooling
    *(
        Row(
            f"{kind}Pooling{rank}D({options})",
            "2x7x6x5"[: 1 + 2 * rank] + "x3",
            tuple(range(1, rank + 1)),
        )
        for kind in ("Max", "Average")
        for rank in (1, 2, 3)
        for options in ("", "3, 2, padding='same'", "2, 1, padding='same'")
    ),
    *(
        Row(
            f"Global{kind}Pooling{rank}D({options})", "2x4x5x3"[: 1 + 2 * rank] + "x3", tuple(range(1, rank + 1)), masks
        )
        for rank in (1, 2, 3)
        for kind, masks in (("Max", "refuse"), ("Average", "end" if rank == 1 else "refuse"))
        for options in ("", "keepdims=True")
    ),
    *(
        Row(f"Adaptive{kind}Pooling{rank}D(2)", "2x4x5x3"[: 1 + 2 * rank] + "x3", tuple(range(1, rank + 1)))
        for kind in ("Max", "Average")
        for rank in (1, 2, 3)
    ),
    # larger and smaller
    Row("Cropping1D((1, 2))", "2x7x3", (1,)),
    Row("Cropping2D(((1, 0), (2, 1)))", "2x5x6x3", (1, 2)),
    Row("Cropping3D(1)", "2x5x6x4x3", (1, 2, 3)),
    Row("ZeroPadding1D((1, 2))", "2x7x3", (1,)),
    Row("ZeroPadding2D(((1, 0), (2, 1)))", "2x5x6x3", (1, 2)),
    Row("ZeroPadding3D(1)", "2x3x4x2x3", (1, 2, 3)),
    Row("UpSampling1D(3)", "2x4x3", (1,)),
    Row("UpSampling2D((2, 3))", "2x4x5x3", (1, 2)),
    Row("UpSampling2D((2, 3), interpolation='bilinear')", "2x4x5x3", (1, 2)),
    Row("UpSampling2D((2, 3), interpolation='bilinear', half_pixel=True)", "2x4x5x3", (1, 2)),
    Row("UpSampling3D(2)", "2x3x2x2x3", (1, 2, 3)),
    # normalization
    Row("BatchNormalization()", "2x5x4", (1,), "pass"),
    Row("BatchNormalization(axis=1, scale=False)", "2x5x6x4", (2, 3), "pass"),
    Row("BatchNormalization(mode=1)", "2x4", (), "pass"),
    Row("BatchNormalization(variance='population', frozen_is_fixed=True)", "2x4", (), "pass"),
    Row("BatchNormalization(mode=2)", "3x4", (), "pass"),
    Row("LayerNormalization()", "2x5x4", (1,), "pass"),
    Row("LayerNormalization(axis=[1, 2])", "2x3x5x4", (), "pass"),
    Row("GroupNormalization(2)", "2x5x6x4", (1, 2), "pass"),
    Row("RMSNormalization()", "2x5x4", (1,)),
    Row("UnitNormalization()", "2x5x4", (1, 2), "pass"),
    Row("SpectralNormalization(Dense(3))", "2x4"),
    # attention
    Row("Attention()", "2x3x4 2x5x4", (1,), "pass"),
    Row("AdditiveAttention()", "2x3x4 2x5x4", (1,), "pass"),
    Row("MultiHeadAttention(2, 3)", "2x3x4 2x5x4", (1,), "pass"),
    Row("GroupQueryAttention(3, 4, 2)", "2x3x4 2x5x4", (1,), "pass"),
    Row("EinsumDense('abc,cd->abd', output_shape=(None, 5), bias_axes='d')", "2x3x4", (1,)),
    # recurrent
    Row("SimpleRNN(3)", "2x5x4", (1,), "end", ISLAND),
    Row("SimpleRNN(3, activation='elu', return_sequences=True)", "2x5x4", (1,), "pass"),
    Row("GRU(3, return_sequences=True)", "2x5x4", (1,), "pass"),
    Row("GRU(3, reset_after=True)", "2x5x4", (1,), "end"),
    Row("GRU(3, reset_after=True, recurrent_activation='sigmoid')", "2x5x4", (1,), "end", ISLAND),
    Row("LSTM(3, return_state=True)", "2x5x4", (1,), "end"),
    Row("LSTM(3, recurrent_activation='sigmoid', return_sequences=True)", "2x5x4", (1,), "pass", ISLAND),
    Row("CuDNNGRU(3)", "2x5x4", (1,), "refuse", ISLAND),
    Row("CuDNNLSTM(3, return_sequences=True)", "2x5x4", (1,), "refuse", ISLAND),
    Row("RNN([LSTMCell(3), GRUCell(2)], return_sequences=True)", "2x5x4", (1,), "pass"),
    Row("Bidirectional(LSTM(3, return_sequences=True))", "2x5x4", (1,), "pass"),
    Row("Bidirectional(GRU(3), merge_mode=None)", "2x5x4", (1,), "end"),
    Row("Bidirectional(LSTM(3), backward_layer=GRU(2, go_backwards=True))", "2x5x4", (1,), "end"),
    Row("LSTM(3, return_sequences=True, zero_output_for_mask=True)", "2x5x4", (1,), "pass"),
    Row("GRU(3, return_sequences=True, zero_output_for_mask=False)", "2x5x4", (1,), "pass"),
    Row("ConvLSTM1D(3, 2)", "2x3x5x4", (1, 2), "end"),
    Row("ConvLSTM2D(3, 2, padding='same', return_sequences=True)", "2x3x4x5x2", (1, 2, 3), "pass"),
    Row("ConvLSTM3D(2, 2)", "2x2x3x4x3x2", (1,), "end"),
    Row("ConvRNN2D(ConvLSTM2DCell(2, (2, 2)))", "2x3x4x5x2", (1,), "end"),
    *(Row(call, "2x4", differs=A_CELL) for call in ("SimpleRNNCell(3)", "GRUCell(3)", "LSTMCell(3)")),
    Row("StackedRNNCells([LSTMCell(3), GRUCell(2)])", "2x4", differs=A_CELL),
    Row("ConvLSTM2DCell(2, 2)", "2x4x5x3", differs=A_CELL),
    # before the first layer
    Row("Rescaling(0.5, 1.0)", "2x5x4", (1, 2), "pass"),
    Row("Rescaling([0.5, 1.0, 2.0, 3.0], 1.0)", "2x5x4", (1,), "pass"),
    Row("Resizing(3, 4)", "2x5x6x3", (1, 2)),
    Row("CenterCrop(3, 4)", "2x5x6x3", (1, 2)),
    Row("Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 2.0, 3.0])", "2x5x3", (1,), "pass"),
    Row("Discretization([-0.5, 0.0, 0.5])", "2x5", (1,), differs=PIECEWISE | {"half": "integers come out"}),
    Row("CategoryEncoding(9)", "2x5<9", (1,), differs=INTEGERS),
    Row("IntegerLookup(vocabulary=[3, 5, 7])", "2x5<9", (1,), differs=INTEGERS),
    Row("StringLookup(vocabulary=['a', 'b'])", "2x5", differs=STRINGS),
    Row("TextVectorization(vocabulary=['a', 'b'])", "2x5", differs=STRINGS),
    Row("Hashing(5)", "2x5<9", (1,), differs=HASHED),
    Row("Hashing(5, mask_value=0, output_mode='count')", "2x5<9", (1,), differs=HASHED),
    Row("HashedCrossing(5, output_mode='one_hot')", "4x1<9 4x1<9", differs=HASHED),
    Row("MelSpectrogram(64, 16, num_mel_bins=8)", "2x100", (1,), differs=SPECTRA),
    Row("STFTSpectrogram(frame_length=16)", "2x40x3", (1,), differs=SPECTRA),
    Row(
        "STFTSpectrogram('psd', frame_length=16, padding='same', expand_dims=True)",
        "2x40x3",
        (1,),
        differs=SPECTRA | {"channels": "the output has an axis more than the input"},
    ),
    Row("STFTSpectrogram('imag', frame_length=16, frame_step=5)", "2x40x3", (1,), differs=SPECTRA),
    Row("Pipeline([Rescaling(0.5), Dense(3)])", "2x5x4", (1,), differs=AS_ONE),
    Row("RandomFlip()", "2x5x6x3", (1, 2)),
    Row("RandomRotation(0.2)", "2x5x6x3", (1, 2)),
    Row("RandomTranslation(0.2, 0.2)", "2x5x6x3", (1, 2)),
    Row("RandomZoom(0.2)", "2x5x6x3", (1, 2)),
    Row("RandomContrast(0.2)", "2x5x6x3", (1, 2)),
    Row("RandomCrop(3, 4)", "2x5x6x3", (1, 2)),
    Row("RandomBrightness(0.2)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomColorDegeneration(0.2)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomColorJitter(brightness_factor=0.2, hue_factor=0.2)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomElasticTransform(scale=0.5)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomErasing(0.5)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomGaussianBlur(0.5, (3, 5))", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomGrayscale()", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomHue(0.2)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomInvert()", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomPerspective(scale=0.5)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomPosterization(3)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomSaturation(0.2)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomSharpness(0.2)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandomShear(0.2, 0.1)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("Solarization(0.1, 0.2)", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("CutMix()", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("MixUp()", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("RandAugment()", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("AugMix()", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("AutoContrast((-3, 3))", "2x5x6x3", (1, 2), differs=IMAGES),
    Row("Equalization((-3, 3), 9)", "2x5x6x3", (1, 2), differs=IMAGES | PIECEWISE),
    Row(
        "ContrastLimitedAdaptiveHistogramEqualization((-3, 3), tile_grid_size=2)",
        "2x5x6x3",
        (1, 2),
        differs=IMAGES | PIECEWISE | {"half": "a value at the border of a bin falls into the next"},
    ),
]
