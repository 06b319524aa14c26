"""Networks for images: their layers and weights, and what the smallest of each family computes.

Their weights follow a formula, since drawn ones would be large to store.
"""

import hashlib
import json

import numpy as np
import torch

SMALLEST = {
    "VGG16": {"input_shape": (32, 48, 3), "include_top": False, "pooling": "max"},
    "Xception": {"input_shape": (72, 80, 3)},
    "InceptionV3": {"input_shape": (76, 80, 3)},
    "InceptionResNetV2": {"input_shape": (76, 80, 3), "include_top": False, "pooling": "avg"},
    "MobileNet": {"input_shape": (64, 48, 3), "alpha": 0.25},
    "MobileNetV2": {"input_shape": (64, 49, 3), "alpha": 0.35},
    "MobileNetV3Small": {"input_shape": (64, 49, 3), "alpha": 0.75},
    "MobileNetV3Large": {"input_shape": (64, 49, 3), "minimalistic": True, "include_preprocessing": False},
    "EfficientNetB0": {"input_shape": (64, 49, 3)},
    "EfficientNetV2B0": {"input_shape": (64, 49, 3)},
    "DenseNet121": {"input_shape": (64, 49, 3)},
    "ConvNeXtTiny": {"input_shape": (64, 48, 3)},
    "ResNet50": {"input_shape": (64, 49, 3)},
    "ResNet50V2": {"input_shape": (64, 49, 3)},
}
FAMILIES = {
    "resnet": ["ResNet50", "ResNet101", "ResNet152", "ResNet50V2", "ResNet101V2", "ResNet152V2"],
    "efficientnet": [f"EfficientNetB{number}" for number in range(8)],
    "efficientnet_v2": [f"EfficientNetV2{each}" for each in ("B0", "B1", "B2", "B3", "S", "M", "L")],
    "convnext": [f"ConvNeXt{each}" for each in ("Tiny", "Small", "Base", "Large", "XLarge")],
    "densenet": ["DenseNet121", "DenseNet169", "DenseNet201"],
    "inception": ["InceptionV3", "InceptionResNetV2", "Xception"],
    "mobilenet": ["MobileNet", "MobileNetV2", "MobileNetV3Small", "MobileNetV3Large"],
    "others": ["VGG16", "VGG19", "NASNetLarge"],
}
SLOW = ["InceptionResNetV2", *(f"layers_of_{family}" for family in FAMILIES)]
# Networks of many layers, in which the order of float32 sums alone makes a difference of more than 1e-5.
IN_FLOAT64 = ("ResNet50", "ConvNeXtTiny")


def values(shape, number, name):
    """Numbers for a weight: variances and factors near 1, kernels that keep the size of what they are applied to."""
    count = int(np.prod(shape))
    spread = np.modf(np.sin(np.arange(count) * 12.9898 + number) * 437.5)[0].reshape(shape)
    if len(shape) < 2:
        near = name in ("gamma", "moving_variance", "variance") or name.startswith("variable")  # which are counted
        return (near + 0.2 * spread).astype("float32")
    return (spread * np.sqrt(4.5 / np.prod(shape[:-1]))).astype("float32")


def fill(model):
    """Set all weights by the formula."""
    weights = model.weights
    model.set_weights([values(weight.shape, number, weight.name) for number, weight in enumerate(weights)])


def images(shape):
    count = 2 * int(np.prod(shape))
    return (127.5 + 127.5 * np.sin(np.arange(count) * 0.37)).reshape((2, *shape)).astype("float32")


def computed(keras, name):
    """What the smallest of a family computes from two images."""
    options = SMALLEST[name]
    top = {} if "include_top" in options else {"classes": 10, "classifier_activation": None}
    floatx = keras.config.floatx()
    keras.config.set_floatx("float64" if name in IN_FLOAT64 else floatx)
    try:
        model = getattr(keras.applications, name)(weights=None, **top, **options)
    finally:
        keras.config.set_floatx(floatx)
    fill(model)
    inputs = images(options["input_shape"])
    if name in ("VGG16", "Xception", "InceptionV3", "InceptionResNetV2", "MobileNet", "MobileNetV2", "ResNet50V2"):
        inputs = keras.applications.imagenet_utils.preprocess_input(inputs, mode="tf")
    found = keras.ops.convert_to_numpy(model(inputs))
    return {"mean": found.mean(), "deviation": found.std(), "first": found[:, :10]}


def described(keras, name):
    """The layers, the weights and the count of a network, without memory for its weights."""
    keras.backend.clear_session()
    on_meta = keras.device("meta") if hasattr(keras, "device") else torch.device("meta")
    with on_meta:
        model = getattr(keras.applications, name)(weights=None)
    # Operators are layers here, and in Keras operations that are no layers.
    layers = [(each.name, list(each.output.shape)) for each in model.layers if "peration" not in type(each).__name__]
    weights = [(each.name, list(each.shape)) for each in model.weights]
    return {
        "name": model.name,
        "layers": len(layers),
        "layers by name": digest(layers),
        "weights": digest(weights),
        "count": model.count_params(),
        "shapes": [list(model.input_shape), list(model.output_shape)],
    }


def digest(data):
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


def computing(name):
    return lambda keras: computed(keras, name)


def describing(names):
    return lambda keras: {name: described(keras, name) for name in names}


def case_preprocess_input(keras):
    utils = keras.applications.imagenet_utils
    found = {}
    for mode in ("caffe", "tf", "torch"):
        for data_format, shape in (("channels_last", (2, 2, 3)), ("channels_first", (3, 2, 2))):
            for lead in ((), (2,)):
                x = np.arange(np.prod(lead + shape), dtype="float32").reshape(lead + shape) * 5
                of_array = utils.preprocess_input(x.copy(), data_format, mode)
                tensor = keras.ops.convert_to_tensor(x.copy())
                of_tensor = keras.ops.convert_to_numpy(utils.preprocess_input(tensor, data_format, mode))
                found[f"{mode} {data_format} {len(lead)}"] = [of_array, of_tensor]
        found[f"{mode} of integers"] = utils.preprocess_input(np.arange(12).reshape((2, 2, 3)), mode=mode)
    return found


def case_preprocess_input_of_modules(keras):
    x = np.arange(12, dtype="float32").reshape((2, 2, 3)) * 20
    modules = [
        *(
            "convnext",
            "densenet",
            "efficientnet",
            "efficientnet_v2",
            "inception_resnet_v2",
            "inception_v3",
            "mobilenet",
        ),
        *(
            "mobilenet",
            "mobilenet_v2",
            "mobilenet_v3",
            "nasnet",
            "resnet",
            "resnet50",
            "resnet_v2",
            "vgg16",
            "vgg19",
            "xception",
        ),
    ]
    return {name: getattr(keras.applications, name).preprocess_input(x.copy()) for name in modules}


def case_channels_first(keras):
    keras.config.set_image_data_format("channels_first")
    try:
        names = ["EfficientNetB0", "MobileNet", "MobileNetV2", "MobileNetV3Small", "ResNet50", "VGG16"]
        return {name: described(keras, name) for name in names}
    finally:
        keras.config.set_image_data_format("channels_last")


def case_input_tensor(keras):
    inputs = keras.Input((32, 32, 4), name="four")
    x = keras.layers.Conv2D(3, 1)(inputs)
    model = keras.applications.MobileNet(
        alpha=0.25, weights=None, include_top=False, input_tensor=x, input_shape=(32, 32, 3), pooling="max"
    )
    fill(model)
    found = model(np.ones((1, 32, 32, 4), "float32"))
    return {"name": model.name, "inputs": len(model.inputs), "output": keras.ops.convert_to_numpy(found)[:, :10]}


for _name in SMALLEST:
    globals()[f"case_{_name}"] = computing(_name)
for _family, _names in FAMILIES.items():
    globals()[f"case_layers_of_{_family}"] = describing(_names)
