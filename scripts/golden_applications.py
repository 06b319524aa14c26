"""Records the networks of `keras.applications`, by Keras 2.2.4; and compares ours with its weights.

In an environment with Keras 2.2.4, keras-applications 1.0.8 and TensorFlow 1.14:

    python scripts/golden_applications.py tests/golden/keras-2.2.4-applications
    python scripts/golden_applications.py --weights /some/folder

The first writes the tables and the small files of `tests/keras2/test_applications.py`. The second writes weights of all
networks that a check by hand reads, in an environment with torchkeras-graph[scripts]:

    python scripts/golden_applications.py --compare /some/folder
"""

import importlib
import json
import sys
from pathlib import Path

import numpy as np

NETWORKS = {  # the smallest sides of images that networks take
    "VGG16": 32,
    "VGG19": 32,
    "ResNet50": 32,
    "InceptionV3": 75,
    "InceptionResNetV2": 75,
    "Xception": 71,
    "MobileNet": 32,
    "MobileNetV2": 32,
    "DenseNet121": 32,
    "DenseNet169": 32,
    "DenseNet201": 32,
    "NASNetMobile": 32,
    "NASNetLarge": 32,
}
SMALL = {"MobileNet": {"alpha": 0.25}, "MobileNetV2": {"alpha": 0.35}}


def row(layer):
    shape = [layer.output_shape] if isinstance(layer.output_shape, tuple) else layer.output_shape
    weights = " ".join("x".join(map(str, weight.shape.as_list())) for weight in layer.weights)
    return f"{layer.name} {type(layer).__name__} {shape[0]} {layer.count_params()} {weights}".rstrip()


def images(side, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, (2, side, side, 3)).astype("float32")


def set_all(model, seed=0):
    """Weights that let every layer matter: variances above zero, the rest small."""
    draw = np.random.RandomState(seed)
    for layer in model.layers:
        found = []
        for array in layer.get_weights():
            if type(layer).__name__ == "BatchNormalization":
                found.append(draw.uniform(0.5, 1.5, array.shape))
            else:
                fan = max(1, int(np.prod(array.shape[:-1])))
                found.append(
                    draw.normal(0, fan**-0.5, array.shape) if array.ndim > 1 else draw.normal(0, 0.1, array.shape)
                )
        layer.set_weights([array.astype("float32") for array in found])


def record(folder):
    applications, backend = map(importlib.import_module, ("keras.applications", "keras.backend"))

    folder.mkdir(exist_ok=True)
    tables = {}
    for name in NETWORKS:
        backend.clear_session()
        tables[name] = [row(layer) for layer in getattr(applications, name)(weights=None).layers]
        print(name, len(tables[name]), flush=True)
    (folder / "layers.json").write_text(json.dumps(tables, indent=0))
    for name, options in SMALL.items():
        backend.clear_session()
        model = getattr(applications, name)(
            weights=None, include_top=False, pooling="avg", input_shape=(64, 64, 3), **options
        )
        set_all(model)
        model.save_weights(str(folder / (name + ".h5")))
        np.save(str(folder / (name + ".npy")), model.predict(images(64)))


def write_weights(folder):
    applications, backend = map(importlib.import_module, ("keras.applications", "keras.backend"))

    for name, side in NETWORKS.items():
        backend.clear_session()
        side = max(side, 96)
        model = getattr(applications, name)(weights=None, include_top=False, pooling="avg", input_shape=(side, side, 3))
        set_all(model)
        model.save_weights(str(folder / (name + ".h5")))
        np.save(str(folder / (name + ".npy")), model.predict(images(side)))
        print(name)


def compare(folder):
    applications = importlib.import_module("torchkeras.keras2.applications")

    for name, side in NETWORKS.items():
        if not (folder / f"{name}.npy").exists():
            continue
        side = max(side, 96)
        weights = str(folder / f"{name}.h5")
        model = getattr(applications, name)(
            weights=weights, include_top=False, pooling="avg", input_shape=(side, side, 3)
        )
        wanted = np.load(folder / f"{name}.npy")
        print(
            name, "largest difference", np.abs(model.predict(images(side)) - wanted).max(), "of", np.abs(wanted).max()
        )


if __name__ == "__main__":
    modes = {"--weights": write_weights, "--compare": compare}
    if sys.argv[1] in modes:
        modes[sys.argv[1]](Path(sys.argv[2]))
    else:
        record(Path(sys.argv[1]))
