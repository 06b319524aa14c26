"""`FeatureSpace`. For genuine Keras, TensorFlow must be installed beside torch: it computes by it there."""

import os
import tempfile

import numpy as np

COLUMNS = {
    "age": [20.0, 31.0, 44.0, 52.0, 60.0, 71.0],
    "weight": [50.0, 62.5, 70.0, 81.0, 90.0, 77.0],
    "height": [1.5, 1.6, 1.7, 1.8, 1.9, 2.0],
    "kind": ["b", "a", "b", "c", "b", "a"],
    "place": ["here", "there", "here", "far", "near", "far"],
    "level": [3, 1, 3, 2, 3, 1],
    "number": [101, 205, 999, 101, 7, 8],
}
UNKNOWN = {**{name: values[:2] for name, values in COLUMNS.items()}, "kind": ["new", "a"], "level": [77, 2]}


def _features(keras, encoding="one_hot"):
    space = keras.utils.FeatureSpace
    return {
        "age": "float",
        "weight": space.float_normalized(),
        "height": space.float_rescaled(scale=2.0, offset=-1.0),
        "kind": space.string_categorical(output_mode=encoding),
        "place": space.string_hashed(num_bins=5, output_mode=encoding),
        "level": space.integer_categorical(max_tokens=3, num_oov_indices=1, output_mode=encoding),
        "number": space.integer_hashed(num_bins=6, output_mode=encoding),
    }


def _of(space, columns):
    return {name: columns[name] for name in space.features}


def _found(keras, outputs):
    if isinstance(outputs, dict):
        return {name: [keras.ops.convert_to_numpy(each), str(each.dtype)] for name, each in outputs.items()}
    return keras.ops.convert_to_numpy(outputs)


def _sample(columns, place):
    return {name: values[place] for name, values in columns.items()}


def case_concat(keras):
    crosses = [("kind", "level"), keras.utils.FeatureSpace.cross(("place", "number"), crossing_dim=4)]
    space = keras.utils.FeatureSpace(_features(keras), crosses=crosses, crossing_dim=7)
    space.adapt(_of(space, COLUMNS))
    arrays = {name: np.array(values) for name, values in COLUMNS.items()}
    return {
        "all": _found(keras, space(_of(space, COLUMNS))),
        "arrays": _found(keras, space(_of(space, arrays))),
        "unknown": _found(keras, space(_of(space, UNKNOWN))),
        "sample": _found(keras, space(_sample(_of(space, COLUMNS), 3))),
        "shape": list(space.get_encoded_features().shape),
        "inputs": sorted(space.get_inputs()),
        "preprocessors": [type(each).__name__ for each in list(space.preprocessors.values())[1:]],
        "crossers": [[name, each.num_bins] for name, each in space.crossers.items()],
    }


def case_dict_of_integers(keras):
    cross = keras.utils.FeatureSpace.cross(("kind", "level"), crossing_dim=8, output_mode="int")
    space = keras.utils.FeatureSpace(_features(keras, "int"), crosses=[cross], output_mode="dict")
    space.adapt(_of(space, COLUMNS))
    values = _found(keras, space(_of(space, COLUMNS)))
    sample = {name: found[0] for name, found in _found(keras, space(_sample(_of(space, COLUMNS), 1))).items()}
    return {"values": values, "sample": sample}


def case_files(keras):
    space = keras.utils.FeatureSpace(
        {
            "weight": "float_normalized",
            "age": "float_normalized",
            "level": "integer_categorical",
            "number": "integer_hashed",
            "height": "float",
        },
        crosses=[("level", "number")],
    )
    space.adapt(_of(space, COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "space.keras")
        space.save(path)
        loaded = keras.models.load_model(path)
    return {"before": _found(keras, space(_of(space, COLUMNS))), "after": _found(keras, loaded(_of(space, COLUMNS)))}


def case_texts(keras):
    text = keras.layers.TextVectorization(output_mode="multi_hot")
    space = keras.utils.FeatureSpace({"text": keras.utils.FeatureSpace.feature("string", text, "float")})
    columns = {"text": ["one two", "two three three", "four"]}
    space.adapt(columns)
    return _found(keras, space(columns))
