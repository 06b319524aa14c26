"""Colors, shapes and mixtures of images, changed at random; fixed numbers are compared in tests/keras3/test_same.py."""

import copy
import json
import pickle
import re
from functools import partial

import numpy as np
import pytest
import torch
from golden import compiles, remade

from torchkeras import layers as L
from torchkeras.engine import options
from torchkeras.engine.modes import call_module
from torchkeras.layers.augmentation import RandomImage
from torchkeras.layers.image_samples import Draws, ImageLayer
from torchkeras.models import Model, Sequential, load_model
from torchkeras.tensor_functions.operations.image import affine_transform, gaussian_blur

GENERATOR = torch.Generator().manual_seed(0)
IMAGES = torch.rand(64, 6, 7, 3, generator=GENERATOR) * 255
LABELS = torch.eye(64)
ALL = (1.0, 1.0)

# Those whose images each have numbers of their own.
EACH = [
    (L.RandomBrightness, (0.3,)),
    (L.RandomSaturation, (0.9,)),
    (L.RandomHue, (0.5,)),
    (L.RandomColorJitter, ((0, 255), 0.2, 0.3, 0.8, 0.2)),
    (L.RandomColorDegeneration, (0.9,)),
    (L.RandomGrayscale, ()),
    (L.RandomInvert, ()),
    (L.RandomPosterization, ((1, 6),)),
    (L.RandomSharpness, (1.0,)),
    (L.Solarization, (0.5, 0.5)),
    (L.RandomShear, (0.5, 0.2)),
    (L.RandomShear, ((0.1, 0.5), 0.2, "nearest", "constant", 3.0)),
    (L.RandomGaussianBlur, ((0.5, 0.5),)),
    (L.RandomErasing, ((0.9, 1.0), (0.2, 0.6))),
    (L.RandomErasing, (ALL, (0.2, 0.6), [1, 2, 3])),
    (L.RandomPerspective, ((0.8, 1.0), 0.8)),
    (L.RandomElasticTransform, ((0.8, 1.0), (0.9, 1.0))),
]
OF_A_BATCH = [(L.MixUp, (0.9,)), (L.CutMix, ()), (L.RandAugment, ()), (L.AugMix, ())]
ALWAYS = [(L.AutoContrast, ()), (L.Equalization, ()), (L.ContrastLimitedAdaptiveHistogramEqualization, ())]
RANDOM = EACH + OF_A_BATCH
# The host waits for what they draw, so torch.compile breaks their graphs.
WAITING = (L.RandomElasticTransform, L.RandAugment, L.AugMix)


def shares(found, images):
    """The part of all values that are others."""
    return float((found != images).float().mean())


# --- all of them -----------------------------------------------------------------------------------------------------


def test_every_class_is_here():
    here = {cls for cls, _ in (*RANDOM, *ALWAYS)}
    known = {each for each in vars(L).values() if isinstance(each, type) and issubclass(each, ImageLayer)}
    assert {cls.__name__ for cls in known - here} == {
        *("RandomContrast", "RandomCrop", "RandomFlip", "RandomRotation", "RandomTranslation", "RandomZoom")
    }


@pytest.mark.parametrize(("cls", "arguments"), EACH)
def test_every_image_has_numbers_of_its_own(cls, arguments):
    images = IMAGES[:1].expand(8, -1, -1, -1).contiguous()
    found = cls(*arguments, seed=1)(images)
    assert any(not torch.equal(image, found[0]) for image in found)


@pytest.mark.parametrize(("cls", "arguments"), RANDOM)
def test_numbers_come_from_the_layers_generator(cls, arguments):
    layer = cls(*arguments, seed=1)
    first, second = layer(IMAGES), layer(IMAGES)
    assert not torch.equal(first, second)
    for again in (cls(*arguments, seed=1), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), remade(layer)):  # noqa: S301
        assert torch.equal(again(IMAGES), first)
    turned = cls(*arguments, seed=1, data_format="channels_first")(IMAGES.permute(0, 3, 1, 2))
    if not (cls is L.RandomErasing and len(arguments) == 2):  # whose noise has the order of the images
        torch.testing.assert_close(turned.permute(0, 2, 3, 1), first, atol=1e-3, rtol=1e-5)
    assert first.isfinite().all()


@pytest.mark.parametrize(("cls", "arguments"), RANDOM)
def test_outside_of_training_images_stay(cls, arguments):
    layer = cls(*arguments)
    integers = IMAGES.to(torch.uint8)
    assert torch.equal(layer.eval()(IMAGES), IMAGES)
    assert torch.equal(layer(integers), integers.float())
    assert torch.equal(layer.train()(IMAGES, training=False), IMAGES)


@pytest.mark.parametrize(("cls", "arguments"), ALWAYS)
def test_those_that_are_not_random_change_images_in_prediction_too(cls, arguments):
    layer = cls(*arguments)
    found = layer(IMAGES / 2)
    assert torch.equal(layer.eval()(IMAGES / 2), found)
    assert not torch.equal(found, IMAGES / 2)
    assert "seed" not in layer.get_config()
    with pytest.raises(TypeError, match="unknown option 'seed'"):
        cls(seed=1)
    turned = cls(data_format="channels_first")(IMAGES.permute(0, 3, 1, 2) / 2)
    torch.testing.assert_close(turned.permute(0, 2, 3, 1), found)
    compiles(cls(data_format="channels_first"), IMAGES.permute(0, 3, 1, 2))


@pytest.mark.parametrize(("cls", "arguments"), [*RANDOM, *ALWAYS])
def test_types_and_shapes(cls, arguments):
    layer = cls(*arguments)
    assert layer(IMAGES.to(torch.uint8)).dtype == torch.float32
    assert layer(IMAGES.bfloat16()).dtype == torch.bfloat16
    assert layer(IMAGES.double()).dtype == torch.float64
    assert layer(L.Input((None, None, 3))).shape == (None, None, None, 3)
    assert layer(L.Input((4, 5, 3), dtype="uint8")).dtype == torch.float32
    assert layer(IMAGES[0]).shape == IMAGES[0].shape
    half = cls(*arguments, dtype="mixed_bfloat16")
    assert half(IMAGES).dtype == torch.bfloat16
    assert half({"images": IMAGES})["images"].dtype == torch.bfloat16


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize(("cls", "arguments"), RANDOM)
def test_compiles_whole(cls, arguments):
    layer, images = cls(*arguments, data_format="channels_first"), IMAGES.permute(0, 3, 1, 2)
    compiles(layer.eval(), images)
    torch._dynamo.reset()
    whole = cls not in WAITING
    compiled = torch.compile(partial(call_module, layer.train()), fullgraph=whole, backend="eager")
    assert compiled(images).shape == images.shape


@pytest.mark.parametrize("name", ["m.keras", "m.h5"])
def test_files_have_them(name, tmp_path):
    made = [cls(*arguments) for cls, arguments in (*RANDOM, *ALWAYS)]
    model = Sequential([L.InputLayer(input_shape=(6, 7, 3)), *made, L.Flatten(), L.Dense(1)])
    model.save(tmp_path / name)
    loaded = load_model(tmp_path / name)
    for each, other in zip(loaded.layers, model.layers, strict=True):
        assert json.dumps(options.written(each._options, each)) == json.dumps(options.written(other._options, other))
    assert np.array_equal(loaded.predict(IMAGES.numpy()), model.predict(IMAGES.numpy()))


def test_a_model_learns_with_them():
    chosen = [L.RandomBrightness(0.1), L.RandomErasing(), L.CutMix(), L.RandAugment(), L.RandomShear(0.1)]
    model = Sequential([L.InputLayer(input_shape=(6, 7, 3)), *chosen, L.Rescaling(1 / 255), L.Conv2D(3, 3)])
    model.add(L.GlobalAveragePooling2D())
    model.add(L.Dense(1))
    model.compile("sgd", "mse")
    losses = model.fit(IMAGES.numpy(), np.zeros((64, 1)), epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


# --- images with labels and masks ------------------------------------------------------------------------------------

MOVING = [
    (L.RandomFlip, ()),
    (L.RandomRotation, (0.3,)),
    (L.RandomTranslation, (0.3, 0.3)),
    (L.RandomZoom, (0.3,)),
    (L.RandomCrop, (4, 5)),
    (L.RandomShear, (0.5, 0.2)),
    (L.RandomPerspective, (ALL, 0.8)),
    (L.RandomElasticTransform, (ALL, ALL)),
    (L.CutMix, ()),
]


@pytest.mark.parametrize("format", ["channels_last", "channels_first"])
@pytest.mark.parametrize(("cls", "arguments"), MOVING)
def test_masks_move_with_their_images(cls, arguments, format):
    options = {"interpolation": "nearest"} if "interpolation" in cls._options else {}
    images = IMAGES.round() if format == "channels_last" else IMAGES.round().permute(0, 3, 1, 2)
    layer = cls(*arguments, **options, seed=3, data_format=format)
    found = layer({"images": images, "segmentation_masks": images.int()})
    assert found["segmentation_masks"].dtype == torch.int32
    assert torch.equal(found["images"], found["segmentation_masks"].float())
    assert found["images"].shape != images.shape or not torch.equal(found["images"], images)
    one = layer({"images": images[0], "segmentation_masks": images[0].int()})
    assert torch.equal(one["images"], one["segmentation_masks"].float())
    assert one["images"].dim() == 3


def test_masks_take_the_nearest_value_where_images_are_blended():
    masks = (IMAGES[..., :1] > 99).int() * 7
    for cls, arguments in MOVING:
        found = cls(*arguments, seed=1)({"images": IMAGES, "segmentation_masks": masks})["segmentation_masks"]
        assert set(found.unique().tolist()) <= {0, 7}


@pytest.mark.parametrize("training", [True, False])
def test_masks_are_cropped_with_smaller_images(training):
    masks = (IMAGES[..., :1] > 99).int() * 7
    found = L.RandomCrop(8, 9)({"images": IMAGES, "segmentation_masks": masks}, training=training)
    assert [each.shape[1:3] for each in found.values()] == [(8, 9), (8, 9)]
    assert set(found["segmentation_masks"].unique().tolist()) == {0, 7}


def test_colors_leave_labels_masks_and_all_else():
    samples = {"images": IMAGES, "labels": LABELS, "segmentation_masks": IMAGES[..., :1], "names": ["a"]}
    for cls, arguments in [(L.RandomBrightness, (0.3,)), (L.RandomErasing, ()), (L.AutoContrast, ())]:
        before = dict(samples)
        found = cls(*arguments)(samples)
        assert samples == before
        assert list(found) == list(samples)
        assert all(torch.equal(found[name], samples[name]) for name in ("labels", "segmentation_masks"))
        assert found["names"] is samples["names"]
        assert not torch.equal(found["images"], IMAGES)


def test_arrays_go_in_too():
    images, masks = np.zeros((2, 4, 4, 3)), np.zeros((2, 4, 4, 1), "uint8")
    found = L.RandomFlip()({"images": images, "segmentation_masks": masks, "labels": np.arange(2)})
    assert [found[name].dtype for name in ("images", "segmentation_masks", "labels")] == [
        *(torch.float32, torch.uint8, torch.int64)
    ]


def test_chosen_changes_move_masks_too():
    masks = (IMAGES[..., :1] > 99).int() * 7
    found = [L.RandAugment(seed=seed)({"images": IMAGES, "segmentation_masks": masks}) for seed in range(12)]
    assert all(set(each["segmentation_masks"].unique().tolist()) <= {0, 7} for each in found)
    assert any(not torch.equal(each["segmentation_masks"], masks) for each in found)
    mixed = L.AugMix(seed=1)({"images": IMAGES, "segmentation_masks": masks.float()})["segmentation_masks"]
    assert mixed.shape == masks.shape
    assert float(mixed.min()) >= 0
    assert float(mixed.max()) <= 7.001


# --- mixtures --------------------------------------------------------------------------------------------------------


def ramps(count):
    """Images of one value each, 0, 1, 2 and so on, and labels that say which."""
    return torch.arange(float(count)).view(-1, 1, 1, 1).expand(-1, 20, 20, 3).contiguous(), torch.eye(count)


def test_mix_up_blends_images_as_their_labels():
    images, labels = ramps(200)
    found = L.MixUp(0.5, seed=0)({"images": images, "labels": labels})
    torch.testing.assert_close(found["labels"].sum(1), torch.ones(200))
    expected = found["labels"] @ torch.arange(200.0)
    torch.testing.assert_close(found["images"], expected.view(-1, 1, 1, 1).expand_as(images))
    assert int((found["labels"] > 0).sum(1).max()) == 2
    own = found["labels"].diagonal()
    assert 0.4 < float(own.mean()) < 0.6
    assert float(((own < 0.1) | (own > 0.9)).float().mean()) > 0.3  # beta(0.5, 0.5): 0.41 of them


@pytest.mark.parametrize("cls", [L.MixUp, L.CutMix])
def test_labels_of_numbers_are_mixed_as_numbers(cls):
    images, _ = ramps(8)
    found = cls(seed=0)({"images": images, "labels": torch.arange(8)})["labels"]
    assert found.shape == (8,)
    assert found.dtype == torch.float32
    one = cls()({"images": images[3], "labels": torch.eye(8)[3]})
    torch.testing.assert_close(one["images"], images[3])
    torch.testing.assert_close(one["labels"], torch.eye(8)[3])


def test_cut_mix_cuts_as_much_as_the_labels_say():
    images, labels = ramps(200)
    found = L.CutMix(seed=0)({"images": images, "labels": labels})
    own = (found["images"] == images)[..., 0].float().mean((1, 2))
    kept = found["labels"].diagonal()
    changed = own < 1
    assert int(changed.sum()) > 100
    assert float((own - kept)[changed].abs().max()) < 0.12  # whole pixels of 20 x 20
    for image in found["images"][changed][:20]:
        assert len(image.unique()) <= 2
    rows = (found["images"] != images)[..., 0][changed]
    filled = rows.any(2).float().unsqueeze(2) * rows.any(1).float().unsqueeze(1)
    assert torch.equal(filled, rows.float())  # rectangles


def test_distributions_of_small_parameters_are_finite():
    draws = Draws(torch.zeros(4, 3, 2, 2), torch.Generator().manual_seed(0))
    for alpha in (1e-6, 0.01, 1.0, 5.0):
        found = draws.beta(alpha, 4000)
        assert found.isfinite().all()
        assert abs(float(found.mean()) - 0.5) < 0.04
        torch.testing.assert_close(float(found.var()), 0.25 / (2 * alpha + 1), atol=0.02, rtol=0.1)
        total = torch.stack([draws.shares(alpha, 3) for _ in range(400)])
        torch.testing.assert_close(total.sum(1), torch.ones(400))
        assert float((total.mean(0) - 1 / 3).abs().max()) < 0.1


def test_changes_are_chosen_anew_for_each_batch():
    layer = L.RandAugment(num_ops=1, seed=2)
    chosen = {type(layer._drawn(layer._draws(IMAGES))[0][0]).__name__ for _ in range(150)}
    assert len(chosen) == 11
    few = L.AugMix(all_ops=False, num_chains=2, chain_depth=4, seed=2)
    drawn = [few._drawn(few._draws(IMAGES)) for _ in range(60)]
    names = {type(part).__name__ for _, _, chains in drawn for chain in chains for part, _ in chain}
    assert len(names) == 7
    assert {len(chains) for _, _, chains in drawn} == {2}
    assert {len(chain) for _, _, chains in drawn for chain in chains} >= {2, 3, 4}
    assert all(float(weights.sum()) == pytest.approx(1) for weights, _, _ in drawn)
    assert float(few(IMAGES).max()) <= 255


def test_changed_options_count():
    layer = L.RandAugment(factor=0.1, value_range=(0, 1), seed=1)
    layer(IMAGES / 255)
    layer.factor, layer.value_range = (0.4, 0.5), (0, 255)
    assert {part.value_range for part in layer._parts() if hasattr(part, "value_range")} == {(0, 255)}
    again = L.RandAugment(factor=(0.4, 0.5), seed=1)
    layer._generator = None
    assert torch.equal(layer(IMAGES), again(IMAGES))


# --- colors ----------------------------------------------------------------------------------------------------------


def test_the_range_of_brightness():
    inside = IMAGES * 0.2 + 100
    added = (L.RandomBrightness(0.2, seed=0)(inside) - inside).flatten(1)
    torch.testing.assert_close(added, added[:, :1].expand_as(added), atol=1e-4, rtol=0)
    assert -51 <= float(added.min()) < -40
    assert 40 < float(added.max()) <= 51


def test_one_number_of_saturation_is_as_documented():
    """Keras 3.15 draws from (-0.4, 0.4) for 0.4, which its documentation does not say: below 0 is grey."""
    for layer in (L.RandomSaturation(0.4), L.RandomColorDegeneration(0.4)):
        assert layer.factor == (0.0, 0.4)
        assert type(layer)((-0.4, 0.4)).factor == (-0.4, 0.4)  # as its files say
    spread = L.RandomSaturation((0.0, 0.0))(IMAGES).std(-1)
    assert float(spread.max()) < 1e-4


def test_colors_stay_in_their_range_however_strong():
    """Keras 3.15 gives values below -1000 for the range (0, 255) here."""
    found = L.RandomSaturation(ALL)(IMAGES)
    assert float(found.min()) >= -1e-3
    assert float(found.max()) <= 255.001
    torch.testing.assert_close(found.amax(-1), IMAGES.amax(-1))
    torch.testing.assert_close(L.RandomSaturation(ALL, (0, 1))(IMAGES / 255) * 255, found, atol=1e-2, rtol=0)


def test_solarization_adds_and_spares_as_documented():
    """Keras 3.15 draws an addition of (0.2, 0.2) from 0.2 to 51."""
    values = torch.tensor([0.0, 40.0, 100.0, 200.0, 250.0]).view(1, 1, 5, 1)
    added = L.Solarization((0.2, 0.2))(values).flatten()
    torch.testing.assert_close(added, 255 - (values.flatten() + 51).clamp(max=255))
    spared = L.Solarization(threshold_factor=(0.6, 0.6), value_range=(-1, 1))(values / 127.5 - 1).flatten()
    torch.testing.assert_close(spared, torch.tensor([0.0, 40.0, 100.0, 55.0, 5.0]) / 127.5 - 1)


def test_one_number_of_bits_is_as_documented():
    """Keras 3.15 takes 1 or 2 bits at random for 3."""
    for bits in range(1, 9):
        assert len(L.RandomPosterization(bits)(torch.arange(256.0).view(1, 16, 16, 1)).unique()) == 2**bits
    steps = L.RandomPosterization((2, 5), seed=0)(torch.arange(256.0).view(1, 16, 16, 1).repeat(60, 1, 1, 1))
    assert {len(image.unique()) for image in steps} == {4, 8, 16}


def test_colors_are_inverted_in_any_range():
    """Keras 3.15 computes 1 - x for the range (-1, 1), which is no complement."""
    torch.testing.assert_close(L.RandomInvert(ALL, (-1, 1))(IMAGES / 255), -IMAGES / 255)
    half = L.RandomInvert((0.5, 0.5), seed=0)(IMAGES)
    assert 16 < int((half != IMAGES).flatten(1).any(1).sum()) < 48


def test_a_hue_turns_both_ways():
    red = torch.tensor([1.0, 0.0, 0.0]).expand(64, 1, 1, 3)
    found = L.RandomHue((2 / 3, 2 / 3), (0, 1), seed=0)(red).view(64, 3)
    green, blue = ((found - torch.tensor(color)).abs().amax(1) < 1e-5 for color in ([0.0, 1, 0], [0.0, 0, 1]))
    assert bool((green ^ blue).all())
    assert 16 < int(green.sum()) < 48


def test_jitter_is_its_parts_in_turn():
    fixed = {"brightness_factor": (0.1, 0.1), "saturation_factor": (0.3, 0.3), "hue_factor": ALL}
    expected = L.RandomHue(ALL)(L.RandomSaturation((0.3, 0.3))(L.RandomBrightness((0.1, 0.1))(IMAGES)))
    torch.testing.assert_close(L.RandomColorJitter(**fixed)(IMAGES), expected)
    assert torch.equal(L.RandomColorJitter()(IMAGES), IMAGES)
    grey = IMAGES[..., :1]
    assert L.RandomColorJitter(brightness_factor=0.1, contrast_factor=0.1)(grey).shape == grey.shape


def test_sharpness_of_a_half_changes_nothing():
    torch.testing.assert_close(L.RandomSharpness((0.5, 0.5))(IMAGES), IMAGES)


def test_grey_images_stay_grey():
    grey = IMAGES[..., :1]
    for layer in (L.RandomGrayscale(1.0), L.RandomColorDegeneration(ALL)):
        torch.testing.assert_close(layer(grey), grey)


def test_contrast_is_stretched_in_each_image():
    low = IMAGES / 10 + 20
    found = L.AutoContrast()(low)
    torch.testing.assert_close(found.amin((1, 2)), torch.zeros(64, 3), atol=1e-3, rtol=0)
    torch.testing.assert_close(found.amax((1, 2)), torch.full((64, 3), 255.0))
    first = L.AutoContrast(data_format="channels_first")(low.permute(0, 3, 1, 2))  # Keras 3.15 mixes axes here
    torch.testing.assert_close(first.permute(0, 2, 3, 1), found)


def test_tiles_have_levels_of_their_own():
    image = torch.cat([torch.rand(1, 16, 16, 1) * 20, torch.rand(1, 16, 16, 1) * 20 + 200], 2)
    found = L.ContrastLimitedAdaptiveHistogramEqualization(clip_limit=0.0, tile_grid_size=(1, 2))(image)
    assert float(found[:, :, :8].max()) > 250
    assert float(found[:, :, -8:].min()) < 20
    assert remade(L.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=4)).tile_grid_size == (4, 4)


# --- shapes ----------------------------------------------------------------------------------------------------------


def test_shear_takes_pixels_from_where_it_says():
    for x, y in ((0.4, 0.0), (0.0, 0.3), (0.4, 0.3)):
        found = L.RandomShear((x, x), (y, y), fill_mode="constant", fill_value=3.0, seed=0)(IMAGES)
        expected = [
            affine_transform(
                IMAGES, torch.tensor([1, s * x, 0, s * y, 1, 0, 0, 0.0]), "bilinear", "constant", 3.0, "channels_last"
            )
            for s in (1, -1)
        ]
        ways = torch.stack([(found - each).abs().amax((1, 2, 3)) < 1e-3 for each in expected])
        assert bool((ways.sum(0) == 1).all())
        assert 16 < int(ways[0].sum()) < 48
    assert L.RandomShear(0.3).x_factor == (-0.3, 0.3)
    assert L.RandomShear(0.3).get_config()["x_factor"] == 0.3
    assert remade(L.RandomShear((-0.1, 0.3))).x_factor == (-0.1, 0.3)


def test_perspective_keeps_the_first_corner_and_moves_the_others():
    found = L.RandomPerspective(ALL, 0.6, seed=0)(IMAGES)
    torch.testing.assert_close(found[:, 0, 0], IMAGES[:, 0, 0], atol=1e-2, rtol=0)
    assert int((found != IMAGES).flatten(1).any(1).sum()) == 64
    some = L.RandomPerspective((0.5, 0.5), 0.6, seed=0)(IMAGES)
    assert 16 < int((some != IMAGES).flatten(1).any(1).sum()) < 48
    assert int((L.RandomPerspective(ALL, 1.0, fill_value=-9.0, seed=0)(IMAGES) == -9).sum()) > 0


def test_an_elastic_change_grows_with_the_scale():
    smooth = torch.linspace(0, 255, 24).view(1, 24, 1, 1).expand(32, 24, 24, 1).contiguous()
    moved = [
        float((L.RandomElasticTransform(ALL, (s, s), seed=0)(smooth) - smooth).abs().mean()) for s in (0.3, 0.6, 1.0)
    ]
    assert 0 < moved[0] < moved[1] < moved[2]
    assert torch.equal(L.RandomElasticTransform(ALL, 0.0)(smooth), smooth)
    cut = L.RandomElasticTransform(ALL, ALL, value_range=(50, 60))(smooth)
    assert (float(cut.min()), float(cut.max())) == (50, 60)


def test_a_blur_may_be_wider_than_high():
    """Keras 3.15 fails at it on torch."""
    found = L.RandomGaussianBlur(ALL, (3, 5), (0.7, 0.7))(IMAGES)
    torch.testing.assert_close(found, gaussian_blur(IMAGES, (3, 5), (0.7, 0.7)).clamp(0, 255), atol=1e-3, rtol=0)
    assert float(L.RandomGaussianBlur(0.0, value_range=(0, 9))(IMAGES).max()) == 9


def test_what_is_erased():
    images = torch.full((400, 20, 30, 3), -1.0)
    found = L.RandomErasing((0.7, 0.7), (0.1, 0.4), 7.0, seed=0)(images)
    erased = (found == 7)[..., 0]
    chosen = erased.flatten(1).any(1)
    assert 240 < int(chosen.sum()) < 320
    rows, columns = erased[chosen].any(2).sum(1) / 20, erased[chosen].any(1).sum(1) / 30
    for sides, pixel in ((rows, 1 / 20), (columns, 1 / 30)):
        assert float(sides.min()) >= 0.1**0.5 - pixel
        assert float(sides.max()) <= 0.4**0.5 + pixel
        assert float(sides.std()) > 0.05
    assert float(erased[chosen].float().mean((1, 2)).sub(rows * columns).abs().max()) < 1e-5  # rectangles
    noise = L.RandomErasing(ALL, ALL, value_range=(-3, 3), seed=0)(images)
    assert float(noise.std()) > 1.5
    assert float(noise.abs().max()) == 3
    colors = L.RandomErasing(ALL, ALL, [1, 2, 3])(images)
    assert colors.flatten(0, 2).unique(dim=0).tolist() == [[1.0, 2.0, 3.0]]


def test_two_calls_in_a_graph_share_the_layer():
    layer, inputs = L.RandomBrightness((0.2, 0.2)), L.Input((6, 7, 3))
    model = Model(inputs, layer(layer(inputs)))
    torch.testing.assert_close(model.train()(IMAGES), (IMAGES + 102).clamp(max=255))
    torch.testing.assert_close(Model(inputs, layer(inputs, training=True)).eval()(IMAGES), (IMAGES + 51).clamp(max=255))


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: L.RandomBrightness(1.5),
            "RandomBrightness: factor must be a number from -1 to 1, or two of them; found 1.5.",
        ),
        (
            lambda: L.RandomBrightness(0.1, (1, 0)),
            "RandomBrightness: value_range must be two numbers, the lower first; found (1, 0).",
        ),
        (lambda: L.RandomHue(-0.1), "RandomHue: factor must be a number from 0 to 1, or two of them; found -0.1."),
        (
            lambda: L.RandomColorJitter(hue_factor=2),
            "RandomColorJitter: hue_factor must be a number from 0 to 1, or two of them; found 2.",
        ),
        (
            lambda: L.RandomPosterization(9),
            "RandomPosterization: factor must be an integer from 1 to 8, or two of them; found 9.",
        ),
        (
            lambda: L.RandomShear(fill_mode="mirror"),
            "RandomShear: fill_mode must be one of 'reflect', 'wrap', 'constant', 'nearest'; found 'mirror'.",
        ),
        (
            lambda: L.RandomGaussianBlur(kernel_size=4),
            "RandomGaussianBlur: kernel_size must be a positive odd integer, or two of them; found 4.",
        ),
        (
            lambda: L.RandomErasing(fill_value="noise"),
            "RandomErasing: fill_value must be a number, a list of one for each channel, or None; found 'noise'.",
        ),
        (
            lambda: L.RandomErasing(fill_value=[1, 2], name="e")(IMAGES),
            "RandomErasing 'e': fill_value must be a number, or 3 of them, one for each channel; found [1, 2].",
        ),
        (lambda: L.MixUp(0), "MixUp: alpha must be a number above 0; found 0."),
        (lambda: L.RandAugment(num_ops=-1), "RandAugment: num_ops must be an integer of at least 0; found -1."),
        (lambda: L.Equalization(bins=1), "Equalization: bins must be an integer of at least 2; found 1."),
        (
            lambda: L.RandomHue(0.1, name="h")(torch.zeros(2, 4, 4, 2)),
            (
                "RandomHue 'h': the images must have 3 channels, red, green and blue; found 2, for the input shape "
                "(2, 4, 4, 2)."
            ),
        ),
        (
            lambda: L.RandAugment(name="r")(torch.zeros(2, 4, 4, 2)),
            (
                "RandAugment 'r': the images must have 3 channels, red, green and blue, or one; found 2, for the input "
                "shape (2, 4, 4, 2)."
            ),
        ),
        (
            lambda: L.MixUp(name="m")({"labels": LABELS}),
            "MixUp 'm': a dict must have 'images'; found the keys ['labels'].",
        ),
        (
            lambda: L.RandomFlip(name="f")({"images": IMAGES, "bounding_boxes": {}}),
            (
                "RandomFlip 'f': 'bounding_boxes' are not changed here: torchvision.transforms.v2 changes images and "
                "boxes together."
            ),
        ),
        (
            lambda: L.RandomFlip(name="f")({"images": IMAGES, "segmentation_masks": IMAGES[..., 0]}),
            (
                "RandomFlip 'f': segmentation_masks must be (batch, height, width, channels), or without the batch as "
                "images are; found 3 axes."
            ),
        ),
        (
            lambda: L.CutMix(name="c")({"images": L.Input((4, 4, 3))}),
            "CutMix 'c': a dict must hold tensors with values; in a model pass the images alone.",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


def test_the_base_says_what_to_write():
    class Unwritten(RandomImage, abstract=True):
        pass

    with pytest.raises(NotImplementedError):
        Unwritten()(IMAGES)
