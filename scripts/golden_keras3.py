"""Make golden cases of single layers, computed by genuine Keras 3, in tests/golden/keras-3.15-layers; list its layers.

    KERAS_BACKEND=torch python scripts/golden_keras3.py [word in the source ...]

Runs where keras==3.15.0 and torch are installed, without torchkeras. A row of `ROWS` is

    (source, inputs) or (source, inputs, call)

`source`: the layer, an expression over the names of `keras.layers`, with `regularizers`, `constraints`, `initializers`.
`inputs`: one word per tensor, "2x5x4" (normal values), "2x5<9" (integers from 0 to 8), "2x5?" (booleans), "2x5+"
(uniform from 0 to 1). Their names in the call are a, b, c and so on.
`call`: an expression over `layer` and the inputs; `layer(a)`, or `layer([a, b])` for several, unless given.

A file `<class>_<number>.npz` has `source`, `call`, the inputs by their names, `weights_0`.. in the order of
`get_weights()`, `outputs_0`.., and, if the call changed the weights, `after_0`... Weights are set to seeded random
values before the call. Numbers count the rows of a class: append rows, do not insert them.
"""

import itertools
import re
import string
import sys
from pathlib import Path

import keras
import numpy as np

FOLDER = Path(__file__).parents[1] / "tests" / "golden" / "keras-3.15-layers"

ROWS = [
    # --- normalization ---
    ("LayerNormalization()", "3x5"),
    ("LayerNormalization(epsilon=0.1)", "2x3x4"),
    ("LayerNormalization(axis=[1, 2, 3])", "2x3x4x5"),
    ("LayerNormalization(axis=[1, 3])", "2x3x4x5"),
    ("LayerNormalization(axis=[-3, -1])", "2x3x4x5"),
    ("LayerNormalization(axis=(2, 1))", "2x3x4"),
    ("LayerNormalization(center=False)", "2x3x4"),
    ("LayerNormalization(scale=False)", "2x3x4"),
    ("LayerNormalization(scale=False, axis=[1, 3])", "2x3x4x5"),
    ("LayerNormalization(center=False, scale=False)", "2x3x4"),
    ("GroupNormalization(2)", "2x4"),
    ("GroupNormalization(2)", "2x3x4"),
    ("GroupNormalization(3, epsilon=0.1)", "2x3x4x6"),
    ("GroupNormalization(3, axis=1)", "2x6x3x4"),
    ("GroupNormalization(2, axis=-2)", "2x3x4x3"),
    ("GroupNormalization(groups=-1)", "2x3x4x3"),
    ("GroupNormalization(groups=-1)", "2x3"),
    ("GroupNormalization(1, center=False)", "2x3x4"),
    ("GroupNormalization(4, scale=False)", "2x2x3x2x4"),
    ("GroupNormalization(4, scale=False, center=False)", "2x3x4"),
    ("RMSNormalization()", "3x5"),
    ("RMSNormalization(epsilon=0.1)", "2x3x4"),
    ("RMSNormalization(axis=[1, 2])", "2x3x4"),
    ("UnitNormalization()", "3x5"),
    ("UnitNormalization(axis=1)", "2x3x4"),
    ("UnitNormalization(axis=[1, 2])", "2x3x4"),
    ("UnitNormalization(axis=[-1, 1])", "2x3x4x2"),
    ("SpectralNormalization(Dense(3))", "2x4"),
    ("SpectralNormalization(Dense(3))", "2x4", "layer(a, training=True)"),
    ("SpectralNormalization(Dense(3, use_bias=False), power_iterations=3)", "2x4", "layer(a, training=True)"),
    ("SpectralNormalization(Conv2D(3, 2))", "2x5x4x2", "layer(a, training=True)"),
    ("SpectralNormalization(Conv2D(3, 2))", "2x5x4x2", "layer(a, training=False)"),
    ("SpectralNormalization(Conv1D(3, 2, padding='same', activation='relu'))", "2x4x3", "layer(a, training=True)"),
    # --- einsum ---
    ("EinsumDense('ab,bc->ac', output_shape=64, bias_axes='c')", "2x3"),
    ("EinsumDense('abc,cd->abd', output_shape=(None, 4))", "2x3x5"),
    ("EinsumDense('abc,cd->abd', output_shape=(3, 4), bias_axes='d', activation='relu')", "2x3x5"),
    ("EinsumDense('abc,cd->abd', output_shape=(3, 4), bias_axes='bd')", "2x3x5"),
    ("EinsumDense('abc,cd->abd', output_shape=(3, 4), bias_axes='b')", "2x3x5"),
    ("EinsumDense('...x,xy->...y', output_shape=4, bias_axes='y')", "2x3x5"),
    ("EinsumDense('...x,xy->...y', output_shape=4, bias_axes='y')", "2x5"),
    ("EinsumDense('...x,yx->...y', output_shape=4, bias_axes='y')", "2x3x2x5"),
    ("EinsumDense('abc,cde->abde', output_shape=(None, 2, 4), bias_axes='de')", "2x3x5"),
    ("EinsumDense('abc,ced->abde', output_shape=(None, 2, 4), bias_axes='de')", "2x3x5"),
    ("EinsumDense('abc,cde->abde', output_shape=(None, 2, 4), bias_axes='e')", "2x3x5"),
    ("EinsumDense('abcd,cde->abe', output_shape=(None, 4), bias_axes='e')", "2x3x5x2"),
    ("EinsumDense('abcd,dce->abe', output_shape=(None, 4), bias_axes='e')", "2x3x5x2"),
    ("EinsumDense('abc,bc->abc', output_shape=(3, 5), bias_axes='c')", "2x3x5"),
    ("EinsumDense('abc,bd->adc', output_shape=(4, None), bias_axes='d')", "2x3x5"),
    ("EinsumDense('abc,cbd->adb', output_shape=(4, 3))", "2x3x5"),
    ("EinsumDense('...bc,bcd->...bd', output_shape=(3, 4), bias_axes='bd')", "2x4x3x5"),
    # --- attention ---
    ("Attention()", "2x3x4 2x5x4"),
    ("Attention()", "2x3x4 2x5x6 2x5x4"),
    ("Attention(use_scale=True)", "2x3x4 2x5x4"),
    ("Attention(score_mode='concat')", "2x3x4 2x5x4"),
    ("Attention(True, 'concat')", "2x3x4 2x5x6 2x5x4"),
    ("Attention(dropout=0.5)", "2x3x4 2x5x4"),
    ("Attention()", "2x3x4 2x5x4", "layer([a, b], return_attention_scores=True)"),
    ("Attention(use_scale=True)", "2x3x4 2x5x4", "layer([a, b], use_causal_mask=True)"),
    ("Attention()", "2x5x4 2x3x4", "layer([a, b], use_causal_mask=True)"),
    ("Attention()", "2x3x4 2x5x4", "layer([a, b], use_causal_mask=True, return_attention_scores=True)"),
    ("Attention()", "2x3x4 2x5x4 2x3? 2x5?", "layer([a, b], mask=[c, d])"),
    ("Attention()", "2x3x4 2x5x4 2x5?", "layer([a, b], mask=[None, c])"),
    ("Attention()", "2x3x4 2x5x4 2x3?", "layer([a, b], mask=[c, None])"),
    ("Attention()", "2x3x4 2x5x4 2x3? 2x5?", "layer([a, b], mask=[c, d], use_causal_mask=True)"),
    ("Attention()", "2x3x4 2x5x4 2x3? 2x5?", "layer([a, b], mask=[c, d], return_attention_scores=True)"),
    ("Attention(score_mode='concat')", "2x3x4 2x5x4 2x3? 2x5?", "layer([a, b], mask=[c, d], use_causal_mask=True)"),
    ("Attention()", "2x2x3x4 2x2x5x4"),
    ("AdditiveAttention()", "2x3x4 2x5x4"),
    ("AdditiveAttention()", "2x3x4 2x5x6 2x5x4"),
    ("AdditiveAttention(use_scale=False)", "2x3x4 2x5x4"),
    ("AdditiveAttention(dropout=0.5)", "2x3x4 2x5x4", "layer([a, b], return_attention_scores=True)"),
    ("AdditiveAttention()", "2x3x4 2x5x4 2x3? 2x5?", "layer([a, b], mask=[c, d], use_causal_mask=True)"),
    ("MultiHeadAttention(2, 3)", "2x4x6", "layer(a, a)"),
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x7", "layer(a, b)"),
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x7 2x5x3", "layer(a, b, c)"),
    ("MultiHeadAttention(2, 3, value_dim=5)", "2x4x6 2x5x7 2x5x3", "layer(a, b, key=c)"),
    ("MultiHeadAttention(2, 3, use_bias=False)", "2x4x6 2x5x7", "layer(a, b)"),
    ("MultiHeadAttention(2, 3, output_shape=5)", "2x4x6 2x5x7", "layer(a, b)"),
    ("MultiHeadAttention(2, 3, output_shape=(5, 2))", "2x4x6 2x5x7", "layer(a, b)"),
    ("MultiHeadAttention(2, 3, dropout=0.3)", "2x4x6 2x5x7", "layer(a, b)"),
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x7", "layer(a, b, return_attention_scores=True)"),
    ("MultiHeadAttention(2, 3)", "2x4x6", "layer(a, a, use_causal_mask=True)"),
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x6", "layer(a, b, use_causal_mask=True, return_attention_scores=True)"),
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x7 2x4x5?", "layer(a, b, attention_mask=c)"),
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x7 2x2x4x5?", "layer(a, b, attention_mask=c)"),
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x7 4x5?", "layer(a, b, attention_mask=c)"),
    (
        "MultiHeadAttention(2, 3)",
        "2x4x6 2x5x7 2x4x5?",
        "layer(a, b, attention_mask=c, return_attention_scores=True, use_causal_mask=True)",
    ),
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x7 2x5?", "layer(a, b, value_mask=c)"),
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x7 2x5x3 2x5?", "layer(a, b, c, key_mask=d, use_causal_mask=True)"),
    ("MultiHeadAttention(2, 3, dropout=0.3)", "2x4x6 2x5x7 2x4x5?", "layer(a, b, attention_mask=c)"),
    ("MultiHeadAttention(2, 3, attention_axes=2)", "2x3x4x6", "layer(a, a)"),
    ("MultiHeadAttention(2, 3, attention_axes=(1, 2))", "2x3x4x6 2x5x2x6", "layer(a, b)"),
    ("MultiHeadAttention(2, 3, attention_axes=(1, 2))", "2x3x4x6", "layer(a, a, return_attention_scores=True)"),
    ("MultiHeadAttention(2, 3)", "2x3x4x6 2x3x4x6", "layer(a, b, return_attention_scores=True)"),
    ("MultiHeadAttention(2, 3, attention_axes=-2)", "2x3x4x6", "layer(a, a, return_attention_scores=True)"),
    ("MultiHeadAttention(2, 3, attention_axes=(1, 3))", "2x3x2x4x6", "layer(a, a, return_attention_scores=True)"),
    (
        "MultiHeadAttention(2, 3, attention_axes=(1, 2))",
        "2x2x3x6 2x2x3x2x3?",
        "layer(a, a, attention_mask=b, return_attention_scores=True)",
    ),
    ("GroupQueryAttention(3, 4, 2)", "2x4x6", "layer(a, a)"),
    ("GroupQueryAttention(3, 4, 1)", "2x4x6 2x5x6", "layer(a, b)"),
    ("GroupQueryAttention(3, 4, 4, use_bias=False)", "2x4x6 2x5x6 2x5x3", "layer(a, b, c)"),
    ("GroupQueryAttention(3, 4, 2, dropout=0.3)", "2x4x6 2x5x6", "layer(a, b)"),
    ("GroupQueryAttention(3, 4, 2)", "2x4x6 2x5x6", "layer(a, b, return_attention_scores=True)"),
    ("GroupQueryAttention(3, 4, 2)", "2x4x6", "layer(a, a, use_causal_mask=True)"),
    ("GroupQueryAttention(3, 4, 2)", "2x4x6 2x5x6 2x4x5?", "layer(a, b, attention_mask=c)"),
    ("GroupQueryAttention(3, 4, 2)", "2x4x6 2x5x6 2x4? 2x5?", "layer(a, b, query_mask=c, value_mask=d)"),
    (
        "GroupQueryAttention(3, 4, 2)",
        "2x4x6 2x5x6 2x4? 2x5?",
        "layer(a, b, query_mask=c, key_mask=d, return_attention_scores=True)",
    ),
    ("Attention()", "2x3x4 2x5x4 2x5+", "layer([a, b], mask=[None, c > 2])"),  # every key is masked, here and below
    ("MultiHeadAttention(2, 3)", "2x4x6 2x5x7 2x4x5+", "layer(a, b, attention_mask=c > 2)"),
    ("MultiHeadAttention(2, 3, dropout=0.3)", "2x4x6 2x5x7 2x4x5+", "layer(a, b, attention_mask=c > 2)"),
    ("MultiHeadAttention(2, 3, attention_axes=2)", "2x3x4x6 2x4x4+", "layer(a, a, attention_mask=b > 2)"),
    ("GroupQueryAttention(3, 4, 2)", "2x4x6 2x5x6 2x5+", "layer(a, b, value_mask=c > 2)"),
    ("GroupQueryAttention(3, 4, 2, dropout=0.3)", "2x4x6 2x5x6 2x5+", "layer(a, b, value_mask=c > 2)"),
    # --- preprocessing: what is drawn at random has a range of one value; the look-ups need tensorflow as well ---
    ("Rescaling(0.5)", "2x3"),
    ("Rescaling(2, offset=-1)", "2x3<9"),
    ("Resizing(4, 5)", "2x6x7x2"),
    ("Resizing(9, 11)", "2x6x7x2"),
    ("Resizing(6, 7)", "2x6x7x2"),
    ("Resizing(8, 3, 'nearest')", "2x6x7x2"),
    ("Resizing(4, 12, 'nearest')", "2x6x7x2"),
    ("Resizing(4, 5, 'bicubic')", "2x6x7x2"),
    ("Resizing(9, 11, 'bicubic')", "2x6x7x2"),
    ("Resizing(4, 5, antialias=True)", "2x6x7x2"),
    ("Resizing(3, 4, 'bicubic', antialias=True)", "2x6x7x2"),
    ("Resizing(4, 8, crop_to_aspect_ratio=True)", "2x6x7x2"),
    ("Resizing(5, 2, 'nearest', crop_to_aspect_ratio=True)", "2x6x7x2"),
    ("Resizing(9, 5)", "2x6x7x2<255"),
    ("Resizing(9, 5, 'bicubic')", "2x6x7x2<255"),
    ("Resizing(4, 9, data_format='channels_first')", "2x2x6x7"),
    ("CenterCrop(3, 4)", "2x6x7x2"),
    ("CenterCrop(4, 4)", "2x6x7x2"),
    ("CenterCrop(6, 7)", "2x6x7x2"),
    ("CenterCrop(7, 4)", "2x6x7x2"),
    ("CenterCrop(9, 9)", "2x6x7x2"),
    ("CenterCrop(5, 9)", "2x6x7x2"),
    ("CenterCrop(3, 4, data_format='channels_first')", "2x2x6x7"),
    ("CenterCrop(3, 4)", "2x6x7x2<255"),
    ("Normalization(mean=3.0, variance=2.0)", "4x3x2"),
    ("Normalization(axis=None, mean=3.0, variance=2.0)", "4x3x2"),
    ("Normalization(axis=1, mean=[1.0, 2.0, 3.0], variance=[1.0, 2.0, 0.0])", "4x3x2"),
    ("Normalization(axis=(1, -1), mean=[1.0, 2.0], variance=[1.0, 2.0])", "4x3x2"),
    ("Normalization(mean=[1.0, 2.0], variance=[1.0, 4.0], invert=True)", "4x3x2"),
    ("Discretization([-1.0, 0.0, 0.5], output_mode='int')", "5x3"),
    ("Discretization([-1.0, 0.0, 0.5], output_mode='int')", "3x4x2"),
    ("Discretization([-1.0, 0.0, 0.5], output_mode='one_hot')", "5x3"),
    ("Discretization([-1.0, 0.0, 0.5], output_mode='one_hot')", "3x4x2"),
    ("Discretization([-1.0, 0.0, 0.5], output_mode='multi_hot')", "5x3"),
    ("Discretization([-1.0, 0.0, 0.5], output_mode='multi_hot')", "3x4x2"),
    ("Discretization([-1.0, 0.0, 0.5], output_mode='count')", "5x3"),
    ("Discretization([-1.0, 0.0, 0.5], output_mode='count')", "3x4x2"),
    ("Discretization([1, 3])", "5x3<5"),
    ("Discretization([0.0], output_mode='one_hot')", "5x1"),
    ("CategoryEncoding(6, 'one_hot')", "4x3<6"),
    ("CategoryEncoding(6, 'one_hot')", "4x1<6"),
    ("CategoryEncoding(6, 'one_hot')", "4x3x2<6"),
    ("CategoryEncoding(6, 'multi_hot')", "4x3<6"),
    ("CategoryEncoding(6, 'multi_hot')", "4x1<6"),
    ("CategoryEncoding(6, 'multi_hot')", "4x3x2<6"),
    ("CategoryEncoding(6, 'count')", "4x3<6"),
    ("CategoryEncoding(6, 'count')", "4x1<6"),
    ("CategoryEncoding(6, 'count')", "4x3x2<6"),
    ("IntegerLookup(vocabulary=[3, 1, 7])", "4x3<9"),
    ("IntegerLookup(vocabulary=[3, 1, 7], mask_token=0)", "4x3<9"),
    ("IntegerLookup(vocabulary=[3, 1, 7], num_oov_indices=3)", "4x3<9"),
    ("IntegerLookup(vocabulary=[3, 1, 7], num_oov_indices=2, mask_token=0, output_mode='multi_hot')", "4x3<9"),
    ("IntegerLookup(vocabulary=[3, 1, 7], output_mode='one_hot')", "4x3<9"),
    ("IntegerLookup(vocabulary=[3, 1, 7], output_mode='count', mask_token=2)", "4x3<9"),
    ("IntegerLookup(vocabulary=[3, 1, 7], invert=True)", "4x3<9"),
    ("IntegerLookup(vocabulary=[3, 1, 7], invert=True, mask_token=0, num_oov_indices=2, oov_token=-7)", "4x3<9"),
    ("IntegerLookup(vocabulary=[0, -1, 7, 5], mask_token=0)", "4x3<9"),
    ("IntegerLookup(vocabulary=[3, 1, 7], output_mode='one_hot')", "4x1<9"),
    ("IntegerLookup(8, vocabulary=[3, 1, 7], output_mode='multi_hot', pad_to_max_tokens=True)", "4x3<9"),
    ("RandomRotation((0.1, 0.1), 'reflect', 'bilinear', fill_value=0.7)", "2x6x7x2", "layer(a, training=True)"),
    (
        "RandomTranslation((0.2, 0.2), (-0.4, -0.4), 'reflect', 'bilinear', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    (
        "RandomZoom((0.3, 0.3), (-0.2, -0.2), 'reflect', 'bilinear', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    ("RandomRotation((0.1, 0.1), 'reflect', 'nearest', fill_value=0.7)", "2x6x7x2", "layer(a, training=True)"),
    (
        "RandomTranslation((0.2, 0.2), (-0.4, -0.4), 'reflect', 'nearest', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    (
        "RandomZoom((0.3, 0.3), (-0.2, -0.2), 'reflect', 'nearest', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    ("RandomRotation((0.1, 0.1), 'constant', 'bilinear', fill_value=0.7)", "2x6x7x2", "layer(a, training=True)"),
    (
        "RandomTranslation((0.2, 0.2), (-0.4, -0.4), 'constant', 'bilinear', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    (
        "RandomZoom((0.3, 0.3), (-0.2, -0.2), 'constant', 'bilinear', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    ("RandomRotation((0.1, 0.1), 'constant', 'nearest', fill_value=0.7)", "2x6x7x2", "layer(a, training=True)"),
    (
        "RandomTranslation((0.2, 0.2), (-0.4, -0.4), 'constant', 'nearest', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    (
        "RandomZoom((0.3, 0.3), (-0.2, -0.2), 'constant', 'nearest', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    ("RandomRotation((0.1, 0.1), 'nearest', 'bilinear', fill_value=0.7)", "2x6x7x2", "layer(a, training=True)"),
    (
        "RandomTranslation((0.2, 0.2), (-0.4, -0.4), 'nearest', 'bilinear', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    (
        "RandomZoom((0.3, 0.3), (-0.2, -0.2), 'nearest', 'bilinear', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    ("RandomRotation((0.1, 0.1), 'nearest', 'nearest', fill_value=0.7)", "2x6x7x2", "layer(a, training=True)"),
    (
        "RandomTranslation((0.2, 0.2), (-0.4, -0.4), 'nearest', 'nearest', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    (
        "RandomZoom((0.3, 0.3), (-0.2, -0.2), 'nearest', 'nearest', fill_value=0.7)",
        "2x6x7x2",
        "layer(a, training=True)",
    ),
    ("RandomRotation((-0.25, -0.25))", "2x6x7x2", "layer(a, training=True)"),
    ("RandomRotation((0.1, 0.1), data_format='channels_first')", "2x2x6x7", "layer(a, training=True)"),
    ("RandomRotation(0.3)", "2x6x7x2", "layer(a, training=False)"),
    ("RandomTranslation((1.0, 1.0), (0.0, 0.0))", "2x6x7x2", "layer(a, training=True)"),
    ("RandomTranslation((0.2, 0.2), (0.1, 0.1), data_format='channels_first')", "2x2x6x7", "layer(a, training=True)"),
    ("RandomZoom((0.5, 0.5))", "2x6x7x2", "layer(a, training=True)"),
    ("RandomZoom((-0.5, -0.5), data_format='channels_first')", "2x2x6x7", "layer(a, training=True)"),
    ("RandomContrast((0.0, 0.0), (-0.5, 0.5))", "2x6x7x2", "layer(a, training=True)"),
    ("RandomContrast(0.3)", "2x6x7x2", "layer(a, training=False)"),
    ("RandomFlip()", "2x6x7x2", "layer(a, training=False)"),
    ("RandomCrop(6, 4)", "2x6x7x2", "layer(a, training=True)"),
    ("RandomCrop(6, 4, data_format='channels_first')", "2x2x6x7", "layer(a, training=True)"),
    # --- convolutions ---
    ("Conv1D(4, 3, groups=2)", "2x7x4"),
    ("Conv2D(4, (2, 3), groups=4, padding='same', activation='gelu')", "2x5x6x4"),
    ("Conv2D(6, 3, groups=3, strides=2, data_format='channels_first')", "2x6x7x6"),
    ("Conv3D(4, 2, groups=2)", "2x3x4x3x2"),
    ("Conv1DTranspose(3, 3)", "2x5x4"),
    ("Conv1DTranspose(3, 3, strides=2, padding='same')", "2x5x4"),
    ("Conv1DTranspose(3, 4, strides=3, padding='same', output_padding=1)", "2x5x4"),
    ("Conv1DTranspose(3, 2, dilation_rate=2, data_format='channels_first')", "2x4x5"),
    ("Conv2DTranspose(3, 3, strides=2, padding='same')", "2x4x5x2"),
    ("DepthwiseConv1D(3)", "2x7x4"),
    ("DepthwiseConv1D(3, strides=2, padding='same', depth_multiplier=2)", "2x7x4"),
    ("DepthwiseConv2D(3, depth_multiplier=2, dilation_rate=2)", "2x7x8x3"),
    ("SeparableConv1D(4, 3, depth_multiplier=2, padding='same')", "2x7x3"),
    # --- recurrent layers over images ---
    ("ConvLSTM1D(3, 2, recurrent_activation='sigmoid')", "2x3x5x2"),
    ("ConvLSTM1D(3, 3, padding='same', return_sequences=True, recurrent_activation='sigmoid')", "2x3x5x2"),
    ("ConvLSTM2D(2, 3, strides=2, padding='same', recurrent_activation='sigmoid')", "2x3x5x6x2"),
    ("ConvLSTM3D(2, 2, recurrent_activation='sigmoid')", "2x2x3x4x3x2"),
    ("ConvLSTM3D(2, 2, padding='same', go_backwards=True, recurrent_activation='sigmoid')", "2x2x3x4x3x2"),
    # --- pooling ---
    ("AdaptiveAveragePooling1D(3)", "2x7x4"),
    ("AdaptiveAveragePooling2D((2, 3))", "2x5x7x4"),
    ("AdaptiveAveragePooling3D(2, data_format='channels_first')", "2x3x5x4x3"),
    ("AdaptiveMaxPooling1D(3, data_format='channels_first')", "2x4x7"),
    ("AdaptiveMaxPooling2D(2)", "2x5x7x4"),
    ("AdaptiveMaxPooling3D((1, 2, 2))", "2x3x5x4x3"),
    ("GlobalAveragePooling1D(keepdims=True)", "2x5x4"),
    ("GlobalAveragePooling2D(keepdims=True, data_format='channels_first')", "2x4x5x6"),
    ("GlobalMaxPooling2D(keepdims=True)", "2x4x5x6"),
    ("GlobalMaxPooling3D(keepdims=True)", "2x2x4x5x3"),
]


def tensor(word: str, random: np.random.Generator) -> np.ndarray:
    """The values of one input."""
    sizes, kind, limit = re.fullmatch(r"([\dx]+)([<?+]?)(\d*)", word).groups()
    shape = [int(size) for size in sizes.split("x")]
    if kind == "<":
        return random.integers(0, int(limit), shape).astype("int32")
    if kind == "?":
        return random.random(shape) < 0.7
    return (random.random(shape) if kind == "+" else random.normal(size=shape)).astype("float32")


def value(variable: keras.Variable, random: np.random.Generator) -> np.ndarray:
    """Values for a weight: integers unchanged, variances and the like positive, others normal."""
    if not np.issubdtype(np.dtype(variable.dtype), np.floating):
        return np.asarray(variable.numpy())
    drawn = random.normal(size=variable.shape).astype(variable.dtype)
    return np.abs(drawn) + 0.1 if re.search("variance", variable.name) else drawn


def record(number: int, source: str, inputs: str, call: str | None = None) -> dict[str, np.ndarray]:
    """Run one row."""
    random = np.random.default_rng(number)
    given = dict(zip(string.ascii_lowercase, (tensor(word, random) for word in inputs.split()), strict=False))
    call = call or (f"layer([{', '.join(given)}])" if len(given) > 1 else "layer(a)")
    names = {"layers": keras.layers, "regularizers": keras.regularizers, "constraints": keras.constraints}
    layer = eval(source, {**vars(keras.layers), **names, "initializers": keras.initializers})
    tensors = {name: keras.ops.convert_to_tensor(array) for name, array in given.items()}
    eval(call, {"layer": layer, **tensors})
    layer.set_weights([value(variable, random) for variable in layer.weights])
    before = layer.get_weights()
    found = eval(call, {"layer": layer, **tensors})
    found = found if isinstance(found, (tuple, list)) else [found]
    outputs = [keras.ops.convert_to_numpy(output) for output in found]
    after = layer.get_weights()
    changed = any(not np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    lists = {"weights": before, "outputs": outputs, "after": after if changed else []}
    listed = {f"{name}_{k}": array for name, arrays in lists.items() for k, array in enumerate(arrays)}
    return {"source": np.array(source), "call": np.array(call), **given, **listed}


def main() -> None:
    if not keras.__version__.startswith("3.15"):
        raise SystemExit(f"These cases are Keras 3.15's; found {keras.__version__}.")
    keras.config.set_image_data_format("channels_last")
    FOLDER.mkdir(parents=True, exist_ok=True)
    classes = [name for name, value in vars(keras.layers).items() if isinstance(value, type)]
    FOLDER.with_name(f"{FOLDER.name}.txt").write_text("\n".join(sorted(classes)) + "\n")
    counts: dict[str, itertools.count] = {}
    failed = []
    for row in ROWS:
        kind = row[0].partition("(")[0]
        number = next(counts.setdefault(kind, itertools.count()))
        if any(word in row[0] for word in sys.argv[1:] or [""]):
            try:
                np.savez_compressed(FOLDER / f"{kind}_{number:02}.npz", **record(number, *row))
            except Exception as error:  # noqa: BLE001  # whatever Keras refuses is listed at the end
                failed.append(f"{row}: {error}")
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
