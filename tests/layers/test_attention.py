"""Attention: masks, graphs, kernels and errors; its values are compared in test_keras3."""

import copy
import json
import pickle
import re

import numpy as np
import pytest
import torch
from golden import compiles, remade

from torchkeras import initializers
from torchkeras.layers import (
    AdditiveAttention,
    Attention,
    Embedding,
    GroupQueryAttention,
    Input,
    Masking,
    MultiHeadAttention,
    multi_head_attention,
)
from torchkeras.models import Model, load_model

QUERY, VALUE, KEY, IMAGES = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 4), torch.ones(1, 2, 3, 4)
LAYERS = [
    lambda **options: Attention(**options),
    lambda **options: AdditiveAttention(**options),
    lambda **options: MultiHeadAttention(2, 3, **options),
    lambda **options: GroupQueryAttention(3, 4, 2, **options),
]


def called(layer, *args, **arguments):
    """The layer on tensors, or on a list of them, as its class takes it."""
    listed = isinstance(layer, Attention)
    return layer(list(args), **arguments) if listed else layer(*args, **arguments)


@pytest.mark.parametrize("make", LAYERS)
def test_lengths_may_be_unknown_and_differ_from_call_to_call(make):
    layer = make()
    query, value = Input((None, 4)), Input((None, 4))
    output, scores = called(layer, query, value, return_attention_scores=True)
    assert output.shape == (None, None, 4)
    assert scores.shape[-2:] == (None, None)
    model = Model([query, value], [output, scores]).eval()
    for queries, keys in ((3, 5), (7, 2)):
        output, scores = model([torch.randn(2, queries, 4), torch.randn(2, keys, 4)])
        assert output.shape == (2, queries, 4)
        assert scores.shape[-2:] == (queries, keys)
        torch.testing.assert_close(scores.sum(-1), torch.ones(scores.shape[:-1]))


@pytest.mark.parametrize("make", LAYERS)
def test_what_the_mask_of_the_value_hides_changes_nothing(make):
    layer = make().eval()
    query, value = Input((3, 4)), Input((5, 4))
    output = called(layer, query, Masking()(value))
    assert output._keras_mask is None
    model = Model([query, value], output).eval()
    hidden = VALUE.clone()
    hidden[:, 3:] = 0
    torch.testing.assert_close(model([QUERY, hidden]), called(layer, QUERY, VALUE[:, :3]))


@pytest.mark.parametrize("make", LAYERS)
def test_the_mask_of_the_query_goes_on(make):
    query = Embedding(5, 4, mask_zero=True)(Input((3,), dtype="int32"))
    assert called(make(), query, Input((5, 4)))._keras_mask.shape == (None, 3)


@pytest.mark.parametrize("make", LAYERS)
def test_later_positions_change_nothing_under_a_causal_mask(make):
    layer, later = make().eval(), VALUE.clone()
    later[:, 2:] = 7
    whole, changed = (called(layer, value, value, use_causal_mask=True) for value in (VALUE, later))
    torch.testing.assert_close(whole[:, :2], changed[:, :2])
    assert not torch.allclose(whole[:, 2:], changed[:, 2:])


@pytest.mark.parametrize("make", LAYERS)
def test_masks_given_as_tensors_are_inputs_of_a_graph_and_of_its_files(make, tmp_path):
    layer = make()
    query, value, hidden = Input((3, 4)), Input((5, 4)), Input((5,), dtype="bool")
    if isinstance(layer, Attention):
        output = layer([query, value], mask=[None, hidden])
    else:
        output = layer(query, value, value_mask=hidden)
    model = Model([query, value, hidden], output).eval()
    model.compile("sgd", "mse")
    mask = torch.tensor([[True, True, False, True, False], [True, False, False, False, False]])
    expected = model([QUERY, VALUE, mask])
    assert not torch.allclose(expected, called(layer, QUERY, VALUE))
    model.save(tmp_path / "model.h5")
    loaded = load_model(tmp_path / "model.h5")
    for again in (loaded, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301  (just written)
        torch.testing.assert_close(again.eval()([QUERY, VALUE, mask]), expected)
    assert [node.arguments for node in layer._inbound_nodes] == [{"masks": "value_mask"}]


@pytest.mark.parametrize("heads", [MultiHeadAttention(2, 3), GroupQueryAttention(3, 4, 2)])
def test_the_mask_of_the_query_counts_when_it_is_given(heads):
    # Keras 3.15 takes it in GroupQueryAttention, and forgets it in MultiHeadAttention.
    mask = torch.tensor([[True, False, True], [True, True, True]])
    output, scores = heads(QUERY, VALUE, query_mask=mask, return_attention_scores=True)
    assert (scores[0, :, 1] == 0).all()
    torch.testing.assert_close(output[1], heads(QUERY, VALUE, return_attention_scores=True)[0][1])


@pytest.mark.parametrize("make", LAYERS[2:])
def test_a_query_that_sees_nothing_gets_zeros_with_dropout_and_the_mean_without(make):
    nothing = torch.zeros(2, 3, 5, dtype=torch.bool)
    for dropout in (0.0, 0.5):
        layer = make(dropout=dropout, use_bias=False).eval()
        found = layer(QUERY, VALUE, attention_mask=nothing)
        mean = layer.value(VALUE).mean(1, keepdim=True).expand(2, 3, -1, -1)
        if isinstance(layer, GroupQueryAttention):
            mean = mean.repeat_interleave(2, 2)
        torch.testing.assert_close(found, layer.attention_output(mean) * (dropout == 0))


@pytest.mark.parametrize("make", LAYERS)
def test_dropout_drops_in_training_only_and_a_seed_repeats_it(make):
    first, second = (make(dropout=0.5, seed=3) for _ in range(2))
    called(first, QUERY, VALUE)
    called(second, QUERY, VALUE)
    second.set_weights(first.get_weights())
    dropped = called(first, QUERY, VALUE, training=True)
    torch.testing.assert_close(called(second, QUERY, VALUE, training=True), dropped)
    kept = called(first, QUERY, VALUE, training=False)
    assert not torch.allclose(kept, dropped)
    torch.testing.assert_close(called(first.eval(), QUERY, VALUE), kept)
    unseeded = make(dropout=0.5)
    called(unseeded, QUERY, VALUE)
    assert not torch.allclose(called(unseeded, QUERY, VALUE), called(unseeded, QUERY, VALUE))


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("arguments", [{}, {"use_causal_mask": True}, {"return_attention_scores": True}])
@pytest.mark.parametrize("make", LAYERS)
def test_compiles_whole(make, arguments):
    layer = make()
    called(layer, QUERY, VALUE)
    compiles(layer, [QUERY, VALUE], **arguments)
    mask = torch.tensor([[True, True, False, True, False], [True, False, False, False, False]])
    compiles(layer, [QUERY, VALUE, KEY, mask], masks="value_mask", **arguments)


SOURCES = {"itself": "qq", "value": "qv", "value and key": "qvk", "its own key": "qvq"}


@pytest.mark.parametrize("most_joined", [0, multi_head_attention.MOST_JOINED])
@pytest.mark.parametrize("sources", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize(
    "make",
    [
        lambda: MultiHeadAttention(2, 3),
        lambda: MultiHeadAttention(2, 3, use_bias=False, output_shape=(2, 3)),
        lambda: MultiHeadAttention(2, 3, value_dim=5),
        lambda: GroupQueryAttention(3, 4, 2),
        lambda: GroupQueryAttention(3, 2, 2),
    ],
)
def test_without_module_calls_the_numbers_are_the_same(make, sources, most_joined, monkeypatch):
    monkeypatch.setattr(multi_head_attention, "MOST_JOINED", most_joined)
    tensors = {name: torch.randn(2, 5, 4, requires_grad=True) for name in "qvk"}
    inputs, layer = [tensors[name] for name in sources], make()
    layer(*inputs)
    direct = layer._facts.hook_free()
    wanted_from = [*(tensors[name] for name in sorted(set(sources))), *layer.parameters()]
    for options in ({}, {"use_causal_mask": True}):
        wanted, found = layer.forward(inputs, **options), direct(inputs, **options)
        torch.testing.assert_close(found, wanted)
        torch.testing.assert_close(*(torch.autograd.grad(x.square().sum(), wanted_from) for x in (found, wanted)))
        with torch.no_grad():
            torch.testing.assert_close(direct(inputs, **options), wanted)


@pytest.mark.parametrize("name", ["query", "attention_output"])
def test_a_module_of_torch_may_take_the_place_of_a_projection(name):
    inputs = Input((3, 4))
    layer = MultiHeadAttention(2, 2)
    model = Model(inputs, layer(inputs, inputs)).eval()
    linear, axes = getattr(layer, name).product, torch.nn.Unflatten(-1, (2, 2))
    same = [linear, axes] if name == "query" else [torch.nn.Flatten(-2), linear]
    with torch.no_grad():
        before = model(QUERY)
        setattr(layer, name, torch.nn.Sequential(*same))
        torch.testing.assert_close(model(QUERY), before)
        linear.weight.mul_(2)
        after = model(QUERY)
    assert not torch.allclose(after, before)
    np.testing.assert_allclose(model.predict(QUERY.numpy()[:1]), after[:1], rtol=1e-5, atol=1e-6)


def test_projections_are_linear_modules_with_the_names_and_shapes_of_keras():
    layer = MultiHeadAttention(2, 3, value_dim=5, output_shape=(6, 7), name="heads")
    layer(QUERY, VALUE)
    assert [(v.full_name.removeprefix("heads/").removesuffix(":0"), v.shape) for v in layer.weights] == [
        ("query/kernel", (4, 2, 3)),
        ("query/bias", (2, 3)),
        ("key/kernel", (4, 2, 3)),
        ("key/bias", (2, 3)),
        ("value/kernel", (4, 2, 5)),
        ("value/bias", (2, 5)),
        ("attention_output/kernel", (2, 5, 6, 7)),
        ("attention_output/bias", (6, 7)),
    ]
    assert sum(isinstance(module, torch.nn.Linear) for module in layer.modules()) == 4
    assert layer.attention_output.product.weight.shape == (42, 10)


def test_the_shape_of_the_output_is_an_option_and_a_property():
    layer = MultiHeadAttention(2, 3, output_shape=7)
    output = layer(Input((3, 4)), Input((5, 4)))
    assert output.shape == layer.output_shape == (None, 3, 7)
    assert layer.get_config()["output_shape"] == (7,)
    assert "output_shape=(7,)" in repr(layer)


@pytest.mark.parametrize(
    "layer",
    [
        Attention(True, "concat", 0.1, 5),
        AdditiveAttention(False, 0.1, seed=5),
        MultiHeadAttention(2, 3, 4, 0.1, False, (5, 6), (1, 2), kernel_regularizer="l2", seed=5),
        GroupQueryAttention(3, 4, 2, 0.1, False, bias_constraint="non_neg", seed=5),
    ],
)
def test_configs_make_the_layer_again(layer):
    again = remade(layer)
    assert again.seed == 5
    assert json.loads(json.dumps(again.get_config()))["dropout"] == 0.1


def test_options_reach_the_projections():
    layer = MultiHeadAttention(2, 3, kernel_initializer="he_normal", kernel_regularizer="l2", bias_constraint="non_neg")
    layer(QUERY, VALUE)
    for variable in layer.weights:
        is_kernel = variable.name == "kernel"
        assert (variable.regularizer is not None, variable.constraint is not None) == (is_kernel, not is_kernel)


def test_kernels_begin_with_the_spread_of_their_inputs_and_outputs():
    heads = MultiHeadAttention(8, 16, use_bias=False)
    heads(torch.randn(1, 2, 64), torch.randn(1, 2, 64))
    for kernel in heads.get_weights():
        limit = np.sqrt(6 / (64 + 8 * 16))
        assert 0.95 * limit < np.abs(kernel).max() <= limit
    additive = AdditiveAttention()
    additive([torch.randn(1, 2, 600), torch.randn(1, 2, 600)])
    assert 0.95 * np.sqrt(6 / 1200) < np.abs(additive.get_weights()[0]).max() <= np.sqrt(6 / 1200)
    ones = Attention(True, "concat")
    ones([QUERY, VALUE])
    assert ones.get_weights() == [1, 1]


@pytest.mark.parametrize("seed", [None, 3])
def test_an_initializer_may_need_values_of_its_own(seed):
    layer = MultiHeadAttention(2, 3, kernel_initializer=initializers.Orthogonal(seed=seed))
    layer(QUERY, VALUE)
    matrix = layer.attention_output.kernel.reshape(6, 4)
    torch.testing.assert_close(matrix.T @ matrix, torch.eye(4))


def test_a_frozen_layer_has_no_weights_that_train():
    layer = MultiHeadAttention(2, 3, trainable=False)
    layer(QUERY, VALUE)
    assert len(layer.trainable_weights) == 0
    assert len(layer.non_trainable_weights) == 8
    assert not any(parameter.requires_grad for parameter in layer.parameters())


def test_two_layers_in_a_model_inside_keep_their_weights_apart_in_a_file(tmp_path):
    x = Input((3, 4))
    inner = Model(x, MultiHeadAttention(1, 2)(MultiHeadAttention(2, 3)(x, x), x))
    y = Input((3, 4))
    model = Model(y, inner(y))
    model.compile("sgd", "mse")
    model.save(tmp_path / "model.h5")
    torch.testing.assert_close(load_model(tmp_path / "model.h5").eval()(QUERY), model.eval()(QUERY))


SEVERAL = (
    "along several axes only attention_mask can hide anything; found 2 attention axes with another mask, "
    "use_causal_mask or sliding_window."
)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Attention(score_mode="sum"), "Attention: score_mode must be one of 'dot', 'concat'; found 'sum'."),
        (
            lambda: Attention(dropout=1.0),
            "Attention: dropout must be a number from 0 to below 1; found 1.0.",
        ),
        (
            lambda: Attention(name="a")(Input((3, 4))),
            "Attention 'a': inputs must be [query, value] or [query, value, key]; found shape (None, 3, 4).",
        ),
        (lambda: MultiHeadAttention(0, 3), "MultiHeadAttention: num_heads must be an integer of at least 1; found 0."),
        (
            lambda: MultiHeadAttention(2, 3, value_dim=0),
            "MultiHeadAttention: value_dim must be an integer of at least 1, or None; found 0.",
        ),
        (
            lambda: MultiHeadAttention(2, 3, output_shape=()),
            "MultiHeadAttention: output_shape must be a positive integer or a list of them, or None; found ().",
        ),
        (
            lambda: MultiHeadAttention(2, 3, attention_axes=[1, 1]),
            "MultiHeadAttention: attention_axes must be an axis or a list of different ones, or None; found [1, 1].",
        ),
        (
            lambda: MultiHeadAttention(2, 3, dropout=0.5, flash_attention=True, name="m"),
            "MultiHeadAttention 'm': flash_attention=True goes without dropout; found 0.5.",
        ),
        (
            lambda: MultiHeadAttention(2, 3, flash_attention=True, name="m")(
                QUERY, VALUE, return_attention_scores=True
            ),
            "MultiHeadAttention 'm': flash_attention=True goes without return_attention_scores.",
        ),
        (
            lambda: MultiHeadAttention(2, 3, activity_regularizer="l2", name="m")(QUERY, VALUE),
            "MultiHeadAttention 'm': activity_regularizer must be None.",
        ),
        (
            lambda: MultiHeadAttention(2, 3, name="m")(Input((3, 4))),
            "MultiHeadAttention 'm': inputs must be [query, value] or [query, value, key]; found shape (None, 3, 4).",
        ),
        (
            lambda: MultiHeadAttention(2, 3, attention_axes=3, name="m")(Input((3, 5, 4)), Input((3, 5, 4))),
            "MultiHeadAttention 'm': attention_axes (3,) must lie between the first and the last of 4.",
        ),
        (
            lambda: MultiHeadAttention(2, 3, name="m")(QUERY, VALUE, QUERY),
            "MultiHeadAttention 'm': value and key must differ in the last axis only; found (2, 5, 4) and (2, 3, 4).",
        ),
        (
            lambda: MultiHeadAttention(2, 3, (1, 2), name="m"),
            "MultiHeadAttention: value_dim must be an integer of at least 1, or None; found (1, 2).",
        ),
        (
            lambda: MultiHeadAttention(2, 3, name="m")(IMAGES, IMAGES, use_causal_mask=True),
            f"MultiHeadAttention 'm': {SEVERAL}",
        ),
        (
            lambda: MultiHeadAttention(2, 3, sliding_window=0),
            "MultiHeadAttention: sliding_window must be an integer of at least 1, or None; found 0.",
        ),
        (
            lambda: MultiHeadAttention(2, 3, sliding_window=2, name="m")(IMAGES, IMAGES),
            f"MultiHeadAttention 'm': {SEVERAL}",
        ),
        (
            lambda: GroupQueryAttention(3, 4, 2, use_gate="x"),
            "GroupQueryAttention: use_gate must be True, False, 1 or 0; found 'x'.",
        ),
        (
            lambda: GroupQueryAttention(3, 4, 3, name="g"),
            "GroupQueryAttention 'g': num_query_heads must be a multiple of num_key_value_heads; found 4 and 3.",
        ),
        (
            lambda: GroupQueryAttention(3, 4, 2, name="g")(IMAGES, IMAGES),
            (
                "Input 0 is incompatible with layer g: expected ndim=3, found ndim=4 (input shape (1, 2, 3, 4)). "
                "Give it an input of 3 axes: samples, steps and "
                "features, as a recurrent layer gives with return_sequences=True."
            ),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


def test_a_later_call_needs_the_same_features():
    layer = MultiHeadAttention(2, 3, name="m")
    layer(QUERY, VALUE)
    text = "Input 1 is incompatible with layer m: expected axis -1 of input shape to have value 4"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        layer(QUERY, torch.randn(2, 5, 3), VALUE)


@pytest.mark.parametrize("records", [True, False])
@pytest.mark.parametrize("value_dim", [None, 5])
def test_no_sample_at_all(value_dim, records):
    layer = MultiHeadAttention(2, 3, value_dim=value_dim)
    x = torch.zeros(0, 5, 4)
    with torch.set_grad_enabled(records):
        assert layer(x, x).shape == torch.nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x)[0].shape == (0, 5, 4)
