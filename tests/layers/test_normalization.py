"""BatchNormalization computes what Keras 2.2.4 does, and with `mode` what Keras 1.2.2 does; the others: test_keras3."""

import re

import numpy as np
import pytest
import torch
from golden import cases, check, compiles, remade

from torchkeras import Model
from torchkeras.engine.graph.input import Input
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.layers import Dense, DepthwiseConv2D, Embedding, Flatten, Masking, SpectralNormalization, normalization
from torchkeras.layers.layer_normalization import LayerNormalization, RMSNorm, RMSNormalization, UnitNormalization
from torchkeras.layers.normalization import (
    BatchNormalization,
    GroupNormalization,
)


@pytest.mark.parametrize("case", cases(BatchNormalization))
def test_values_are_those_of_keras(case):
    check(case, BatchNormalization)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("ndim", [2, 3, 4, 5, 6])
def test_every_axis_of_every_rank(ndim, training):
    x = torch.randn(4, 3, 2, 5, 2, 3)[(..., *(0,) * (6 - ndim))]
    for axis in range(-ndim, ndim):
        layer = BatchNormalization(axis).train(training)
        found = layer(x, training=training)
        others = [a for a in range(ndim) if a != axis % ndim]
        mean, variance = (x.mean(others, True), x.var(others, correction=0, keepdim=True)) if training else (0, 1)
        torch.testing.assert_close(found, (x - mean) / (variance + torch.tensor(1e-3)) ** 0.5)
        assert layer.compute_output_shape(x.shape) == tuple(x.shape)


@pytest.mark.parametrize(
    ("variance", "shape", "over"),
    [
        ("sample+epsilon", (4, 2), 3),
        ("population+epsilon", (4, 2), 4),
        ("sample", (4, 2), 3),
        ("population", (4, 2), 4),
        ("flat", (4, 2), 4),
        ("sample", (2, 3, 3, 2), 17),
        ("population", (2, 3, 3, 2), 18),
        ("flat", (2, 3, 3, 2), 17),
        ("flat", (2, 3, 2), 6),
    ],
)
def test_what_the_moving_variance_follows(variance, shape, over):
    x = torch.randn(shape, requires_grad=True)
    layer = BatchNormalization(momentum=0.5, variance=variance)
    layer(x, training=True).sum().backward()
    flat = x.detach().reshape(-1, 2)
    found = (flat - flat.mean(0)).square().sum(0) / over + (1e-3 if "epsilon" in variance else 0)
    torch.testing.assert_close(layer.moving_variance, 0.5 + 0.5 * found)


def test_one_value_a_channel_has_no_variance():
    layer = BatchNormalization(momentum=0.5, variance="population")
    assert layer(torch.tensor([[3.0]]), training=True).item() == 0
    assert layer.moving_variance.item() == 0.5


@pytest.mark.parametrize("shape", [(3, 4), (3, 5, 4), (3, 2, 5, 4)])
def test_a_group_normalization_without_scale_trains(shape):
    layer, x = GroupNormalization(2, scale=False), torch.randn(shape)
    layer(x).sum().backward()
    torch.testing.assert_close(layer.norm.bias.grad, torch.full((4,), float(x.numel() // 4)))
    with torch.no_grad():
        layer.norm.bias += torch.tensor([1.0, 2.0, 3.0, 4.0])
    torch.testing.assert_close(layer(x), GroupNormalization(2, scale=False)(x) + torch.tensor([1.0, 2.0, 3.0, 4.0]))


def test_a_frozen_layer_may_keep_to_its_moving_statistics():
    x = torch.randn(4, 2)
    layer = BatchNormalization(frozen_is_fixed=True, trainable=False)
    torch.testing.assert_close(layer(x, training=True), layer(x, training=False))
    layer.trainable = True
    assert layer(x, training=True).mean().abs() < 1e-6 < layer(x, training=False).mean().abs()


def test_the_last_axis_is_computed_channels_first():
    layer = BatchNormalization()
    assert layer(Input((4, 5, 3))).shape == (None, 4, 5, 3)
    assert layer._facts.layout is Layout.CHANNELS_FIRST
    assert type(layer.norm) is torch.nn.BatchNorm2d
    first = BatchNormalization(axis=1)
    first(Input((4, 5, 3)))
    assert first._facts.layout is Layout.KERAS


def test_moving_statistics_follow_the_batch():
    layer = BatchNormalization(momentum=0.9)
    x = torch.randn(8, 3)
    layer(x, training=True)
    torch.testing.assert_close(layer.moving_mean, 0.1 * x.mean(0))
    torch.testing.assert_close(layer.moving_variance, 0.9 + 0.1 * x.var(0))
    before = layer.get_weights()
    layer(x, training=False)
    layer.eval()(x)
    assert all((a == b).all() for a, b in zip(before, layer.get_weights(), strict=True))


def test_a_frozen_layer_normalizes_by_the_batch_and_keeps_its_statistics():
    layer = BatchNormalization(trainable=False)
    x = 5 + torch.randn(8, 3)
    assert layer(x, training=True).mean().abs() < 1e-5
    assert (layer.moving_mean == 0).all()
    assert (layer.moving_variance == 1).all()


def test_a_single_value_per_channel_has_no_variance():
    layer = BatchNormalization(momentum=0.5)
    result = layer(torch.tensor([[1.0, 2, 3]]), training=True)
    assert layer.moving_mean.tolist() == [0.5, 1, 1.5]
    assert layer.moving_variance.tolist() == [0.5, 0.5, 0.5]
    torch.testing.assert_close(result, torch.zeros(1, 3), rtol=0, atol=1e-5)
    compiles(layer, torch.ones(1, 3), training=True)


@pytest.mark.parametrize(("scale", "center"), [(True, False), (False, True), (False, False)])
def test_scale_and_center_are_apart(scale, center):
    layer = BatchNormalization(scale=scale, center=center)
    layer(torch.randn(4, 3))
    names = ["gamma"] * scale + ["beta"] * center + ["moving_mean", "moving_variance"]
    assert [w.name for w in layer.weights] == names
    assert (layer.norm.weight is not None, layer.norm.bias is not None) == (scale, center)
    assert "norm.running_var" in layer.state_dict()
    compiles(layer, torch.randn(4, 3), training=True)


def test_options_reach_the_weights():
    layer = BatchNormalization(
        epsilon=0.5,
        beta_initializer="ones",
        gamma_initializer="zeros",
        moving_mean_initializer="ones",
        moving_variance_initializer="zeros",
        gamma_regularizer="l2",
        beta_constraint="non_neg",
    ).eval()
    layer(torch.randn(4, 3))
    assert [w.tolist() for w in layer.get_weights()] == [[0] * 3, [1] * 3, [1] * 3, [0] * 3]
    assert layer.norm.eps == 0.5
    remade(layer)


@pytest.mark.parametrize("shape", [(5, 4), (5, 3, 4)])
def test_mode_1_normalizes_each_sample(shape):
    layer, x = BatchNormalization(mode=1, epsilon=0.1), torch.randn(shape)
    layer(x)
    layer.set_weights([torch.arange(4.0), torch.ones(4), torch.full((4,), 9.0), torch.full((4,), 9.0)])
    before = layer.get_weights()
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    expected = (x - mean) / ((variance + 0.1).sqrt() + 0.1) * torch.arange(4.0) + 1
    for training in (True, False):
        torch.testing.assert_close(layer(x, training=training), expected)
        compiles(layer, x, training=training)
    assert all((a == b).all() for a, b in zip(before, layer.get_weights(), strict=True))
    torch.testing.assert_close(BatchNormalization(mode=1, center=False, scale=False)(x), BatchNormalization(mode=1)(x))


@pytest.mark.parametrize("axis", [-1, 1])
def test_mode_2_normalizes_by_the_batch_always(axis):
    layer, x = BatchNormalization(axis, mode=2), 5 + torch.randn(6, 3, 4)
    expected = BatchNormalization(axis)(x, training=True)
    for training in (True, False):
        torch.testing.assert_close(layer(x, training=training), expected)
    assert (layer.moving_mean == 0).all()
    assert (layer.moving_variance == 1).all()


def test_what_keras_2_does_not_know_is_in_a_config_only_when_it_is_used():
    assert not {"mode", "synchronized"} & BatchNormalization(mode=0, synchronized=False).get_config().keys()
    layer = BatchNormalization(mode=2)
    assert layer.get_config()["mode"] == 2
    assert remade(layer).mode == 2


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -2, (1,), (1, 2), (2, 3), [3, 1], (-1, -3)])
@pytest.mark.parametrize("cls", [LayerNormalization, RMSNormalization, UnitNormalization])
def test_along_any_axes(cls, axis):
    layer, x = cls(axis), 1 + torch.randn(2, 3, 4, 5)
    axes = [axis] if isinstance(axis, int) else list(axis)
    if cls is LayerNormalization:
        variance, mean = torch.var_mean(x, axes, correction=0, keepdim=True)
        expected = (x - mean) * (variance + 1e-3).rsqrt()
    elif cls is RMSNormalization:
        expected = x * (x.square().mean(axes, keepdim=True) + 1e-6).rsqrt()
    else:
        expected = x / x.square().sum(axes, keepdim=True).sqrt()
    torch.testing.assert_close(layer(x), expected)
    for weight in layer.get_weights():
        assert weight.shape == tuple(x.shape[a] for a in sorted(axes))
    compiles(layer, x)
    assert remade(layer).axis == layer.axis


def test_the_weights_of_axes_that_are_not_the_last_lie_along_them():
    for cls in (LayerNormalization, RMSNormalization):
        layer, x = cls([1, 3]), torch.randn(2, 3, 4, 5)
        plain = layer(x)
        scale = torch.arange(15.0).reshape(3, 5)
        layer.set_weights([scale, *layer.get_weights()[1:]])
        torch.testing.assert_close(layer(x), plain * scale.unsqueeze(1))


def test_torchs_own_modules_hold_the_weights():
    for layer, kind in (
        (LayerNormalization(), torch.nn.LayerNorm),
        (RMSNormalization(), RMSNorm),
        (GroupNormalization(2), torch.nn.GroupNorm),
    ):
        layer(torch.randn(2, 3, 4))
        assert type(layer.norm) is kind
    assert issubclass(RMSNorm, torch.nn.RMSNorm)
    assert layer._facts.layout is Layout.CHANNELS_FIRST
    assert layer.norm.num_groups == 2


@pytest.mark.parametrize("cls", [LayerNormalization, GroupNormalization])
@pytest.mark.parametrize(("scale", "center"), [(True, False), (False, True), (False, False)])
def test_scale_and_center_are_options_of_others_too(cls, scale, center):
    layer = cls(scale=scale, center=center, **({"groups": 2} if cls is GroupNormalization else {}))
    x = torch.randn(2, 4)
    layer(x)
    assert [w.name for w in layer.weights] == ["gamma"] * scale + ["beta"] * center
    compiles(layer, x)


def test_a_group_of_a_single_value_is_zero():
    assert GroupNormalization(-1)(torch.randn(1, 3)).abs().max() < 1e-5


def test_zeros_have_no_direction():
    assert UnitNormalization()(torch.zeros(2, 3)).tolist() == [[0] * 3] * 2


def test_spectral_normalization_divides_by_the_largest_singular_value():
    layer = SpectralNormalization(Dense(3), power_iterations=100)
    x = torch.randn(2, 4)
    layer(x, training=False)
    kernel = layer.layer.kernel.clone()
    layer(x, training=False)
    torch.testing.assert_close(layer.layer.kernel, kernel)
    output = layer(x)
    torch.testing.assert_close(layer.layer.kernel, kernel / torch.linalg.matrix_norm(kernel, 2))
    torch.testing.assert_close(output, layer.eval()(x))
    assert [w.name for w in layer.weights] == ["kernel", "bias", "vector_u"]
    assert [w.shape for w in layer.get_weights()] == [(4, 3), (1, 3), (3,)]  # Keras's order
    assert [w.name for w in layer.trainable_weights] == ["kernel", "bias"]
    remade(layer)


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_spectral_normalization_compiles_and_leaves_zeros_alone():
    layer = SpectralNormalization(Dense(3, kernel_initializer="zeros"))
    x = torch.randn(2, 4)
    assert (layer(x) == 0).all()
    assert torch.isfinite(layer.vector_u).all()
    compiles(layer, x)
    embedded = SpectralNormalization(Embedding(5, 3))
    before = embedded.layer
    embedded(torch.tensor([[1, 2]]))
    assert torch.linalg.matrix_norm(before.embeddings, 2) > 0.5


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: BatchNormalization([1]), "BatchNormalization: axis must be an integer; found [1]."),
        (lambda: BatchNormalization(1, 1.5), "BatchNormalization: momentum must be a number from 0 to 1; found 1.5."),
        (
            lambda: BatchNormalization(epsilon=-1),
            "BatchNormalization: epsilon must be a number of at least 0; found -1.",
        ),
        (lambda: BatchNormalization(center=2), "BatchNormalization: center must be True, False, 1 or 0; found 2."),
        (lambda: BatchNormalization(scale=None), "BatchNormalization: scale must be True, False, 1 or 0; found None."),
        (
            lambda: BatchNormalization(mode=3),
            "BatchNormalization: mode must be one of 0, 1, 2; found 3.",
        ),
        (
            lambda: BatchNormalization(synchronized=2),
            "BatchNormalization: synchronized must be True, False, 1 or 0; found 2.",
        ),
        (
            lambda: BatchNormalization(axis=1, mode=1, name="bn")(Input((4, 3))),
            "BatchNormalization 'bn': mode 1 normalizes along the last axis; found axis 1.",
        ),
        (
            lambda: LayerNormalization([1, 1]),
            "LayerNormalization: axis must be an axis or a list of different ones; found [1, 1].",
        ),
        (
            lambda: LayerNormalization(rms_scaling=True),
            "LayerNormalization: rms_scaling must be False: take RMSNormalization; found True.",
        ),
        (
            lambda: LayerNormalization(3, name="ln")(Input((4, 3))),
            "LayerNormalization 'ln': axis 3 is not an axis of the input (None, 4, 3).",
        ),
        (
            lambda: LayerNormalization([-1, 1], name="ln")(Input((4, 3))),
            "LayerNormalization 'ln': axis (-1, 1) must count all axes from the same end.",
        ),
        (
            lambda: RMSNormalization([1, 2], name="rms")(Input((None, 3))),
            "RMSNormalization 'rms': axis 1 of the input must be known; the input shape is (None, None, 3).",
        ),
        (
            lambda: UnitNormalization(2, name="unit")(Input((4,))),
            "UnitNormalization 'unit': axis 2 is not an axis of the input (None, 4).",
        ),
        (
            lambda: GroupNormalization(0),
            "GroupNormalization: groups must be a positive integer, or -1 for a group a channel; found 0.",
        ),
        (
            lambda: GroupNormalization(3, name="gn")(Input((4,))),
            "GroupNormalization 'gn': 4 channels cannot be divided into 3 groups of one size.",
        ),
        (
            lambda: GroupNormalization(1, axis=0, name="gn")(Input(batch_shape=(2, 4))),
            "GroupNormalization 'gn': axis 0 is the batch axis; groups divide another axis.",
        ),
        (
            lambda: SpectralNormalization(Dense(3), 0),
            "SpectralNormalization: power_iterations must be an integer from 1 to 10000; found 0.",
        ),
        (
            lambda: SpectralNormalization(DepthwiseConv2D(3, name="d"), name="sn")(Input((5, 5, 2))),
            "SpectralNormalization 'sn': layer DepthwiseConv2D 'd' has neither kernel nor embeddings.",
        ),
        (
            lambda: BatchNormalization(3, name="bn")(Input((4, 3))),
            "BatchNormalization 'bn': axis 3 is not an axis of the input (None, 4, 3).",
        ),
        (
            lambda: BatchNormalization(name="bn")(Input((4, None))),
            "BatchNormalization 'bn': axis -1 of the input must be known; the input shape is (None, 4, None).",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


def test_groups_of_images_as_they_come_can_be_trained_with():
    """In torch 2.13 the gradient of `group_norm` crashes for an input without one whose channels lie last."""
    inputs = Input((8, 8, 4))
    model = Model(inputs, Dense(1)(Flatten()(GroupNormalization(2)(inputs))))
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).standard_normal((16, 8, 8, 4)).astype("float32")
    losses = model.fit(x, x[:, 0, 0, :1], epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_the_mode_of_torchs_module_inside_counts_in_a_call_by_hand():
    layer, x = BatchNormalization(), torch.randn(6, 3)
    layer.build((None, 3))
    model = torch.nn.Sequential(layer).train()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            module.eval()
    torch.testing.assert_close(model(x), x / 1.001**0.5)
    assert torch.equal(layer.moving_mean, torch.zeros(3))
    assert layer(x, training=True).mean(0).abs().max() < 1e-5
    layer.trainable = False  # as in Keras, the batch counts, and the statistics stay
    assert model(x).mean(0).abs().max() < 1e-5


@pytest.mark.parametrize("removed", [False, True])
def test_without_running_statistics_it_computes_as_torchs_module_does(removed):
    layer, norm, x = BatchNormalization(), torch.nn.BatchNorm1d(3, eps=1e-3, momentum=0.01), torch.randn(6, 3)
    layer.build((None, 3))
    for each in (layer.norm, norm):
        each.track_running_stats = False
        if removed:
            each.running_mean = each.running_var = None
    for mode in (True, False):
        torch.testing.assert_close(layer.train(mode)(x), norm.train(mode)(x))
    torch.testing.assert_close(layer.norm.running_mean, norm.running_mean)


def test_a_momentum_of_none_gives_the_mean_of_all_batches_as_in_torch():
    layer, plain = BatchNormalization(), torch.nn.BatchNorm1d(3, eps=1e-3, momentum=None)
    batches = torch.randn(3, 8, 3)
    layer(batches[0])
    layer.norm.momentum = None
    layer.norm.reset_running_stats()
    for module in (layer, plain):
        for batch in batches:
            module.train()(batch)
    torch.testing.assert_close(layer.norm.running_mean, plain.running_mean)
    torch.testing.assert_close(layer.norm.running_var, plain.running_var)
    torch.testing.assert_close(layer.eval()(batches[0]), plain.eval()(batches[0]))


@pytest.mark.parametrize(
    ("variance", "later", "counts"),
    [("sample", True, True), ("population", True, False), ("flat", True, False), ("population", False, True)],
)
def test_masked_values_do_not_count_in_later_versions(variance, later, counts):
    inputs = Input((5, 3))
    layer = BatchNormalization(momentum=0.5, variance=variance, frozen_is_fixed=later)
    model = Model(inputs, layer(Masking()(inputs)))
    x = torch.randn(4, 5, 3)
    x[1, 2:] = 0
    found, seen = model(x, training=True), x.any(-1)
    kept = x.flatten(0, 1) if counts else x[seen]
    deviation = (kept.var(0, correction=0) + layer.epsilon).sqrt()
    torch.testing.assert_close(found, (x - kept.mean(0)) / deviation)
    torch.testing.assert_close(layer.moving_mean.detach(), kept.mean(0) / 2)
    correction = int(variance == "sample")
    torch.testing.assert_close(layer.moving_variance.detach(), (1 + kept.var(0, correction=correction)) / 2)
    by_moving = (x - layer.moving_mean) / (layer.moving_variance + layer.epsilon).sqrt()
    torch.testing.assert_close(model(x, training=False), by_moving)


def test_masks_of_images_count_by_the_population_alone():
    x, mask = torch.randn(4, 5, 2, 3), torch.rand(4, 5, 2) > 0.5
    flat, population = (BatchNormalization(variance=each, frozen_is_fixed=True) for each in ("flat", "population"))
    assert torch.equal(flat(x, training=True, mask=mask), flat(x, training=True))
    torch.testing.assert_close(population(x, training=True, mask=mask)[mask].mean(0), torch.zeros(3), atol=1e-5, rtol=0)


def test_where_all_is_masked_the_statistics_are_0():
    layer, x = BatchNormalization(momentum=0.5, variance="population", frozen_is_fixed=True), torch.randn(4, 5, 3)
    found = layer(x, training=True, mask=torch.zeros(4, 5, dtype=torch.bool))
    torch.testing.assert_close(found, x / layer.epsilon**0.5)
    assert layer.moving_variance.tolist() == [0.5] * 3


def test_a_mask_with_too_few_axes():
    layer = BatchNormalization(variance="population", frozen_is_fixed=True, name="bn")
    with pytest.raises(ValueError, match=re.escape("a mask must have one axis less than the inputs; found 2 axes.")):
        layer(torch.randn(4, 5, 2, 3), training=True, mask=torch.ones(4, 5, dtype=torch.bool))


@pytest.mark.parametrize("training", [True, False])
def test_a_kernel_for_cuda_never_gets_a_bias_without_a_weight(training, monkeypatch):
    """It would give the bias no gradient; on the CPU the operations stay as they are."""
    x, given, compute = torch.randn(4, 3), [], torch.batch_norm

    def batch_norm(inputs, weight, bias, *others):
        given.append((weight is None, bias is None))
        return compute(inputs, weight, bias, *others)

    monkeypatch.setattr(torch, "batch_norm", batch_norm)
    for options in ({"scale": False}, {"center": False}, {"scale": False, "center": False}):
        layer = BatchNormalization(**options)
        layer(x)
        given.clear()
        plain = layer(x, training=training)
        affine = normalization._affine_on_device(OnCuda(), layer.norm.weight, layer.norm.bias)
        assert given == [(layer.norm.weight is None, layer.norm.bias is None)]
        assert affine[1] is layer.norm.bias
        assert affine[0] is not None or affine[1] is None
        moved = compute(x, *affine, *(None, None) if training else layer._moving(False), training, 0.0, 1e-3, False)
        torch.testing.assert_close(moved, plain)


class OnCuda:
    is_cuda = True
