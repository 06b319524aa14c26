"""Layers that change images: those whose numbers are fixed, and what all random ones can give."""

from typing import Any

import numpy as np

_draw = np.random.default_rng(4)
IMAGES = _draw.uniform(0.0, 255.0, (2, 9, 8, 3)).astype("float32")
UNIT = _draw.uniform(0.0, 1.0, (2, 9, 8, 3)).astype("float32")
WHOLE = _draw.integers(0, 256, (2, 9, 8, 3)).astype("float32")
NARROW = _draw.uniform(50.0, 90.0, (2, 9, 8, 3)).astype("float32")
LARGE = _draw.uniform(0.0, 255.0, (1, 21, 18, 2)).astype("float32")
BOTH = (1.0, 1.0)  # all images
STILL = ("MixUp", "CutMix", "RandAugment", "AugMix", "RandomErasing", "RandomElasticTransform", "RandomShear")
SEEDED = ("RandomErasing", "RandomGaussianBlur", "RandomPerspective", "RandomShear", "CutMix", "MixUp", "Solarization")
TOLERANCES = {
    "hue": (1e-5, 1e-3),  # sixths of a circle, times 255
    "saturation": (1e-5, 1e-3),
    "jitter": (1e-5, 1e-3),
    "shear": (1e-5, 1e-3),  # places between pixels, times differences of 255
    "clahe": (1e-5, 1e-3),  # shares of tiles, times levels
}


def run(keras: Any, layer: Any, images: np.ndarray, training: bool = True) -> np.ndarray:
    return keras.ops.convert_to_numpy(layer(keras.ops.convert_to_tensor(images), training=training))


def everywhere(keras: Any, make: Any, images: np.ndarray) -> dict[str, np.ndarray]:
    """A layer on a batch, on a single image, with the channels first, and outside of training."""
    first = make(data_format="channels_first")
    return {
        "batch": run(keras, make(), images),
        "one": run(keras, make(), images[0]),
        "first": run(keras, first, np.moveaxis(images, -1, 1)),
        "still": run(keras, make(), images, training=False),
    }


def outcomes(keras: Any, layer: Any, image: np.ndarray) -> np.ndarray:
    """All that a layer makes of an image, in 48 draws."""
    found = run(keras, layer, np.stack([image] * 48))
    return np.unique(found.reshape(48, -1).round(1), axis=0)


def case_brightness(keras: Any) -> Any:
    layer = keras.layers.RandomBrightness
    return [
        everywhere(keras, lambda **options: layer((0.2, 0.2), **options), IMAGES),
        run(keras, layer((-0.3, -0.3), (0.0, 1.0)), UNIT),
        run(keras, layer(0.0), IMAGES),
    ]


def case_hue(keras: Any) -> Any:
    layer = keras.layers.RandomHue
    return [
        everywhere(keras, lambda **options: layer(BOTH, **options), IMAGES),  # half a turn either way
        run(keras, layer(BOTH, (0, 1)), UNIT),
        outcomes(keras, layer((0.3, 0.3)), IMAGES[0]),
    ]


def case_saturation(keras: Any) -> Any:
    layer = keras.layers.RandomSaturation
    return [
        everywhere(keras, lambda **options: layer((0.25, 0.25), (0, 1), **options), UNIT),
        run(keras, layer((0.8, 0.8), (0, 1)), UNIT),
        run(keras, layer((0.4, 0.4)), IMAGES),
        run(keras, layer((0.0, 0.0)), IMAGES),
    ]


def case_jitter(keras: Any) -> Any:
    layer = keras.layers.RandomColorJitter
    fixed = {"brightness_factor": (0.1, 0.1), "saturation_factor": (0.3, 0.3), "hue_factor": BOTH}
    return [
        run(keras, layer((0, 1), **fixed), UNIT),
        run(keras, layer((0, 1), **fixed), UNIT[1]),
        run(keras, layer(contrast_factor=(0.0, 0.0)), IMAGES),
        run(keras, layer(), IMAGES),
        run(keras, layer((0, 1), **fixed), UNIT, training=False),
    ]


def case_color_degeneration(keras: Any) -> Any:
    layer = keras.layers.RandomColorDegeneration
    return [
        everywhere(keras, lambda **options: layer((0.3, 0.3), **options), IMAGES),
        run(keras, layer(BOTH, (0, 1)), UNIT),
    ]


def case_grayscale(keras: Any) -> Any:
    layer = keras.layers.RandomGrayscale
    return [
        everywhere(keras, lambda **options: layer(1.0, **options), IMAGES),
        run(keras, layer(0.0), IMAGES),
        outcomes(keras, layer(), IMAGES[0]),
    ]


def case_invert(keras: Any) -> Any:
    layer = keras.layers.RandomInvert
    return [
        everywhere(keras, lambda **options: layer(BOTH, **options), IMAGES),
        run(keras, layer(BOTH, (0, 1)), UNIT),
        run(keras, layer(0.0), IMAGES),
        outcomes(keras, layer(), IMAGES[0]),
    ]


def case_posterization(keras: Any) -> Any:
    layer = keras.layers.RandomPosterization
    return [
        everywhere(keras, lambda **options: layer((3, 3), **options), IMAGES),
        run(keras, layer((5, 5), (0, 1)), UNIT),
        run(keras, layer((8, 8)), WHOLE),
        outcomes(keras, layer((2, 4)), IMAGES[0]),
    ]


def case_sharpness(keras: Any) -> Any:
    layer = keras.layers.RandomSharpness
    return [
        everywhere(keras, lambda **options: layer((0.9, 0.9), **options), IMAGES),
        run(keras, layer((0.1, 0.1), (0, 1)), UNIT),
        run(keras, layer((0.5, 0.5)), IMAGES),
    ]


def case_solarization(keras: Any) -> Any:
    layer = keras.layers.Solarization
    return [
        everywhere(keras, lambda **options: layer(**options), IMAGES),
        run(keras, layer(value_range=(0, 1)), UNIT),
    ]


def case_auto_contrast(keras: Any) -> Any:
    layer = keras.layers.AutoContrast
    flat = NARROW.copy()
    flat[0, :, :, 1] = 66.0
    return [
        [run(keras, layer(), NARROW, training) for training in (True, False)],
        run(keras, layer(), NARROW[0]),
        run(keras, layer((0, 1)), UNIT),
        run(keras, layer(), flat),
    ]


def case_equalization(keras: Any) -> Any:
    layer = keras.layers.Equalization
    first = layer(data_format="channels_first")
    return [
        run(keras, layer(), NARROW),
        run(keras, layer(), NARROW[0]),
        run(keras, first, np.moveaxis(NARROW, -1, 1)),
        run(keras, layer(), WHOLE),
        run(keras, layer((0, 1)), UNIT),
        run(keras, layer(bins=12), IMAGES),
        run(keras, layer(), np.full((1, 3, 3, 1), 7.0, "float32")),
    ]


def case_clahe(keras: Any) -> Any:
    layer = keras.layers.ContrastLimitedAdaptiveHistogramEqualization
    return [
        [run(keras, layer(), NARROW, training) for training in (True, False)],
        run(keras, layer(clip_limit=1.5, tile_grid_size=(3, 2)), NARROW),
        run(keras, layer(clip_limit=0.0, tile_grid_size=(4, 5)), LARGE),
        run(keras, layer(clip_limit=6.0, tile_grid_size=(2, 2)), LARGE),
        run(keras, layer((0, 1), tile_grid_size=(2, 2)), UNIT),
        run(keras, layer(tile_grid_size=(2, 2)), NARROW[0]),
        run(keras, layer(tile_grid_size=(2, 2), data_format="channels_first"), np.moveaxis(NARROW, -1, 1)),
    ]


def case_shear(keras: Any) -> Any:
    layer, found = keras.layers.RandomShear, {}
    for mode in ("reflect", "wrap", "constant", "nearest"):
        found[mode] = outcomes(keras, layer((0.3, 0.3), (0.2, 0.2), fill_mode=mode, fill_value=9.0), IMAGES[0])
    found["nearest value"] = outcomes(keras, layer((0.3, 0.3), interpolation="nearest"), IMAGES[0])
    found["none"] = everywhere(keras, lambda **options: layer(**options), IMAGES)
    return found


def case_gaussian_blur(keras: Any) -> Any:
    layer = keras.layers.RandomGaussianBlur
    return [
        everywhere(keras, lambda **options: layer(BOTH, 3, (0.7, 0.7), **options), IMAGES),
        run(keras, layer(BOTH, 5, BOTH), IMAGES),  # Keras 3.15 fails at a kernel that is not square
        run(keras, layer(0.0, value_range=(0, 100)), IMAGES),
        outcomes(keras, layer((0.5, 0.5), sigma=(0.7, 0.7)), IMAGES[0]),
    ]


def case_erasing(keras: Any) -> Any:
    layer = keras.layers.RandomErasing
    return [
        everywhere(keras, lambda **options: layer(BOTH, BOTH, 7.0, **options), IMAGES),
        run(keras, layer(BOTH, BOTH, [1.0, 300.0, 3.0]), IMAGES),
        run(keras, layer(0.0), IMAGES),
        outcomes(keras, layer((0.5, 0.5), BOTH, 0.0), IMAGES[0]),
    ]


def case_perspective(keras: Any) -> Any:
    layer = keras.layers.RandomPerspective
    return [
        everywhere(keras, lambda **options: layer(0.0, **options), IMAGES),
        run(keras, layer(BOTH, 0.0), IMAGES),
    ]


def case_elastic_transform(keras: Any) -> Any:
    layer = keras.layers.RandomElasticTransform
    return [
        everywhere(keras, lambda **options: layer(0.0, **options), IMAGES),
        run(keras, layer(BOTH, 0.0), IMAGES),
    ]


def case_mixing_with_itself(keras: Any) -> Any:
    """A batch of one image has no other; so has a single image."""
    found = {}
    for name in ("MixUp", "CutMix"):
        layer = getattr(keras.layers, name)
        for each in (IMAGES[:1], IMAGES[0]):
            found[f"{name} {each.ndim}"] = run(keras, layer(), each)
        labels = keras.ops.convert_to_tensor(np.eye(3, dtype="float32")[:1])
        made = layer()({"images": keras.ops.convert_to_tensor(IMAGES[:1]), "labels": labels}, training=True)
        found[name] = {key: keras.ops.convert_to_numpy(value) for key, value in made.items()}
    return found


def case_resizing(keras: Any) -> Any:
    layer = keras.layers.Resizing
    return [
        *(run(keras, layer(*size, pad_to_aspect_ratio=True, fill_value=9.0), IMAGES) for size in ((4, 9), (12, 5))),
        run(keras, layer(5, 5, "nearest", pad_to_aspect_ratio=True), IMAGES[0]),
        run(keras, layer(5, 7, crop_to_aspect_ratio=True), IMAGES[0]),
        run(keras, layer(5, 7, pad_to_aspect_ratio=True, data_format="channels_first"), np.moveaxis(IMAGES, -1, 1)),
        run(keras, layer(5, 12, pad_to_aspect_ratio=True, fill_value=3), WHOLE.astype("uint8")),
        run(keras, keras.layers.CenterCrop(4, 5), IMAGES[0]),
        run(keras, keras.layers.RandomCrop(9, 8), IMAGES),
    ]


def case_outside_of_training(keras: Any) -> Any:
    return {name: run(keras, getattr(keras.layers, name)(), IMAGES, training=False) for name in STILL}


def case_dicts(keras: Any) -> Any:
    """Images with labels and masks."""
    masks = (IMAGES[..., :1] > 99).astype("float32")
    made = {}
    for name, options in {
        "RandomBrightness": {"factor": (0.2, 0.2)},
        "RandomErasing": {"factor": BOTH, "scale": BOTH, "fill_value": 0},
        "RandomHue": {"factor": BOTH},
        "RandomFlip": {"mode": "horizontal"},
        "AutoContrast": {},
    }.items():
        layer = getattr(keras.layers, name)(**options)
        samples = {"images": IMAGES, "labels": np.arange(2.0, dtype="float32"), "segmentation_masks": masks}
        given = {key: keras.ops.convert_to_tensor(value) for key, value in samples.items()}
        found = layer(given, training=name != "RandomFlip")
        made[name] = {key: keras.ops.convert_to_numpy(value) for key, value in found.items()}
    return made


def case_options(keras: Any) -> Any:
    """The options as configs have them."""
    layers, found = keras.layers, []
    for layer, names in (
        (layers.RandomBrightness(0.2), "factor value_range seed"),
        (layers.RandomHue([0.4, 0.1], seed=3), "factor value_range seed"),
        (layers.RandomGrayscale(), "factor"),
        (layers.RandomInvert(), "factor value_range seed"),
        (layers.RandomPosterization((2, 5)), "factor value_range seed"),
        (layers.RandomSharpness(0.2), "factor value_range seed"),
        (layers.Solarization(0.1, (0.3, 0.2)), "addition_factor threshold_factor value_range seed"),
        (layers.AutoContrast(), "value_range"),
        (layers.Equalization(), "value_range bins"),
        (layers.ContrastLimitedAdaptiveHistogramEqualization(), "value_range clip_limit tile_grid_size"),
        (layers.RandomShear((0.1, 0.2)), "x_factor fill_mode interpolation seed fill_value"),
        (layers.RandomGaussianBlur(0.2, 5), "factor kernel_size sigma value_range seed"),
        (layers.RandomErasing(), "factor scale fill_value value_range seed"),
        (layers.RandomPerspective(), "factor scale interpolation fill_value seed"),
        (layers.RandomElasticTransform(), "factor scale interpolation fill_mode fill_value value_range seed"),
        (layers.MixUp(), "alpha seed"),
        (layers.CutMix(), "factor seed"),
        (layers.RandAugment(), "value_range num_ops factor interpolation seed"),
        (layers.AugMix(), "value_range num_chains chain_depth factor alpha all_ops interpolation seed"),
    ):
        config = layer.get_config()
        found.append([config[name] for name in names.split()] + [config["data_format"]])
    return found


def case_repeats_by_seed(keras: Any) -> Any:
    """Layers of one seed draw the same numbers."""
    found = {}
    for name in [
        "RandomErasing",
        "RandomGaussianBlur",
        "RandomPerspective",
        "RandomShear",
        "CutMix",
        "MixUp",
        "Solarization",
    ]:
        made = [run(keras, getattr(keras.layers, name)(seed=5), IMAGES) for _ in range(2)]
        found[name] = bool((made[0] == made[1]).all())
    return found
