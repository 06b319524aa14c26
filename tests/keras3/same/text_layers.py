"""Layers of texts, of hashes and of signals.

For genuine Keras, TensorFlow and SciPy must be installed beside torch: these layers compute by them there.
"""

import numpy as np

TOLERANCES = {
    "mel_spectrogram": (1e-5, 2e-5),  # decibels are logarithms: near 0 all their digits are rounded
    "stft_spectrogram": (1e-5, 4e-6),  # genuine's angles, by kernels in float32, miss those in float64 by 3.5e-6
}


def _signals(*shape):
    steps = np.arange(np.prod(shape), dtype="float64").reshape(shape)
    return (np.sin(steps * 0.37) + 0.5 * np.cos(steps * 1.1) + 0.1 * np.sin(steps**2 * 0.01)).astype("float32")


def _given(keras, values):
    return keras.ops.convert_to_tensor(values)


def _found(keras, outputs):
    return keras.ops.convert_to_numpy(outputs)


def case_mel_spectrogram(keras):
    kind = keras.layers.MelSpectrogram
    small = {"fft_length": 128, "sequence_stride": 50, "num_mel_bins": 12, "sampling_rate": 8000}
    layers = {
        "defaults": kind(fft_length=512, sequence_stride=128, num_mel_bins=16),
        "frames": kind(**small, sequence_length=100, window="hamming"),
        "no window": kind(**small, window=None, power_to_db=False, mag_exp=1.0),
        "own window": kind(**small, sequence_length=4, window=[0.5, 1.0, 1.0, 0.5], power_to_db=False),
        "range": kind(**small, min_freq=300.0, max_freq=3000.0, top_db=20.0, ref_power=2.0, min_power=1e-5),
    }
    found = {name: _found(keras, layer(_given(keras, _signals(2, 900)))) for name, layer in layers.items()}
    single = _found(keras, kind(**small)(_given(keras, _signals(700))))
    shapes = [list(kind(**small)(keras.Input((900,))).shape), [layers["frames"].sequence_length]]
    return {"values": found, "single": single, "shapes": shapes}


def case_stft_spectrogram(keras):
    kind, signals = keras.layers.STFTSpectrogram, _given(keras, _signals(2, 150, 2))
    modes = ("log", "magnitude", "psd", "real", "imag", "angle", "stft")
    found = {mode: kind(mode, frame_length=16, frame_step=7) for mode in modes}
    # The frequencies 0 and half the sampling rate have an imaginary part of 0, whose sign is that of rounding.
    del found["angle"]
    found |= {
        "same": kind("magnitude", frame_length=20, padding="same"),
        "expanded": kind("magnitude", frame_length=16, expand_dims=True, scaling="spectrum"),
        "periodic": kind("magnitude", frame_length=16, fft_length=64, window="hamming", periodic=True),
        "own": kind("real", frame_length=4, window=[1.0, 2.0, 2.0, 1.0], scaling=None),
        "none": kind("real", frame_length=4, window=None),
        **{name: kind("real", frame_length=6, window=name) for name in ("bartlett", "blackman", "cosine", "nuttall")},
    }
    values = {name: _found(keras, layer(signals)) for name, layer in found.items()}
    angles = kind("angle", frame_length=16, expand_dims=True)
    values["angle"] = _found(keras, angles(signals))[:, :, 1:-1]
    first = kind("stft", frame_length=16, data_format="channels_first")
    both = kind("stft", frame_length=16, data_format="channels_first", expand_dims=True)
    turned = _given(keras, np.moveaxis(_signals(2, 150, 2), -1, 1))
    values |= {"channels first": _found(keras, first(turned)), "both": _found(keras, both(turned))}
    weights = {name: [list(weight.shape) for weight in layer.weights] for name, layer in found.items()}
    kernels = [_found(keras, weight) for weight in found["stft"].get_weights()]
    return {"values": values, "weights": weights, "kernels": kernels}


WORDS = ["", "A", "bc", "def", "Keras", "torchkeras", "é", "日本語", "a b", "!", "x" * 20, "yz" * 20, "abc" * 40]


def case_hashing(keras):
    kind, words = keras.layers.Hashing, np.array([*WORDS, "w" * 64]).reshape(7, 2)
    numbers = np.array([[0, 7, -1], [12345678901, 7, 2]])
    layers = {
        "plain": (kind(2**31), words),
        "salt": (kind(1000, salt=133), words),
        "two salts": (kind(1000, salt=[133, 137]), words),
        "mask": (kind(5, mask_value="A"), words),
        "one bin": (kind(1, mask_value="A"), words),
        "bytes": (kind(1000), np.char.encode(words, "utf-8")),
        "lists": (kind(1000), words.tolist()),
        "integers": (kind(1000), numbers),
        "integers, mask": (kind(4, mask_value=7), numbers),
        "int32": (kind(10, dtype="int32"), numbers),
        "floats": (kind(1000), np.array([1.0, 2.9, -3.0])),
        "one_hot": (kind(3, output_mode="one_hot"), numbers),
        "one_hot of columns": (kind(3, output_mode="one_hot"), words[:, :1]),
        "multi_hot": (kind(3, output_mode="multi_hot"), words),
        "count": (kind(4, output_mode="count", mask_value=7), numbers),
        "count of one": (kind(4, output_mode="count"), ["a", "b", "a"]),
    }
    values = {name: _found(keras, layer(given)) for name, (layer, given) in layers.items()}
    values["tensor"] = _found(keras, kind(100, salt=3)(_given(keras, numbers)))
    shapes = {
        mode: list(kind(3, output_mode=mode)(keras.Input((4,), dtype="int64")).shape)
        for mode in ("int", "multi_hot", "count")
    }
    keys = ("num_bins", "salt", "mask_value", "output_mode", "sparse")
    configs = {name: {key: layer.get_config()[key] for key in keys} for name, (layer, _) in layers.items()}
    return {"values": values, "shapes": shapes, "configs": configs}


def case_hashing_in_a_model(keras):
    inputs = keras.Input((3,), dtype="int64")
    model = keras.Model(inputs, keras.layers.Hashing(4, output_mode="count")(inputs))
    return _found(keras, model(_given(keras, np.arange(12).reshape(4, 3))))


def case_hashed_crossing(keras):
    kind = keras.layers.HashedCrossing
    first, second = np.array(["A", "B", "A", "B", "A"]), np.array([101, 101, 101, 102, 102])
    values = {
        "int": kind(5)((first, second)),
        "columns": kind(1000)([first[:, None], second[:, None]]),
        "one_hot": kind(5, output_mode="one_hot")((first, second)),
        "one_hot of columns": kind(5, output_mode="one_hot")((first[:, None], second[:, None])),
        "three": kind(1000)([second, first, second * -3]),
        "two words": kind(1000)([first, np.array(WORDS[:5])]),
        "scalars": kind(1000)(["A", 7]),
        "int32": kind(7, dtype="int32")([first, second.astype("int32")]),
    }
    return {name: _found(keras, value) for name, value in values.items()}


def _floats(keras, outputs):
    """Vectors in one type: genuine Keras says float32 of their symbolic form, and gives integers."""
    return _found(keras, outputs).astype("float32")


def _adapted(layer, data):
    layer.adapt(data)
    return layer


def _vocabulary(layer, **given):
    return [each.item() if hasattr(each, "item") else each for each in layer.get_vocabulary(**given)]


TOKENS = np.array([["b", "a", "b"], ["c", "b", "a"], ["d", "", "[UNK]"]])
NUMBERS = np.array([[5, 7, 5], [9, 5, 7], [2, 0, -1]])


def case_string_lookup(keras):
    kind, words = keras.layers.StringLookup, ["c", "b", "a"]
    unknown = np.array([["b", "zz", "m"], ["yy", "", "é"]])
    weights = {"output_mode": "tf_idf", "idf_weights": [0.25, 0.75, 0.6]}
    layers = {
        "plain": kind(vocabulary=words),
        "several unknown": kind(vocabulary=words, num_oov_indices=4, mask_token=""),
        "salt": kind(vocabulary=words, num_oov_indices=5, salt=[3, 4]),
        "tf_idf": kind(vocabulary=words, **weights),
        "tf_idf, mask": kind(vocabulary=words, mask_token="", num_oov_indices=2, **weights),
        "tf_idf, all": kind(vocabulary=["[UNK]", *words], output_mode="tf-idf", idf_weights=[0.9, 0.25, 0.75, 0.6]),
        "tf_idf, padded": kind(7, vocabulary=words, pad_to_max_tokens=True, **weights),
        "binary": kind(vocabulary=words, output_mode="binary"),
        "adapted": _adapted(kind(), TOKENS),
        "adapted, tf_idf": _adapted(kind(output_mode="tf_idf"), TOKENS),
        "adapted, few": _adapted(kind(3, output_mode="tf_idf", mask_token=""), TOKENS),
        "list": _adapted(kind(output_mode="tf_idf"), TOKENS.ravel().tolist()),
        "batches": _adapted(kind(output_mode="tf_idf"), iter([TOKENS, TOKENS[0], TOKENS[:2]])),
    }
    weighed = kind(output_mode="tf_idf")
    weighed.set_vocabulary(words, idf_weights=[1.0, 2.0, 3.0])
    layers["set"] = weighed
    values = {name: _floats(keras, layer(unknown)) for name, layer in layers.items()}
    vocabularies = {name: _vocabulary(layer) for name, layer in layers.items()}
    return {"values": values, "vocabularies": vocabularies}


def case_string_lookup_step_by_step(keras):
    layer = keras.layers.StringLookup()
    layer.reset_state()
    layer.update_state(TOKENS[:1])
    layer.update_state(TOKENS[1:])
    layer.finalize_state()
    return [_vocabulary(layer), _vocabulary(layer, include_special_tokens=False), layer.vocabulary_size()]


def case_integer_lookup(keras):
    kind, numbers = keras.layers.IntegerLookup, [12, 36, 1138, 42]
    unknown = np.array([[12, 1138, 42, 42], [42, 7, 36, -8]])
    layers = {
        "lists": kind(vocabulary=numbers),
        "floormod": kind(vocabulary=numbers, num_oov_indices=3),
        "farmhash": kind(vocabulary=numbers, num_oov_indices=3, oov_method="farmhash"),
        "salt": kind(vocabulary=numbers, num_oov_indices=4, oov_method="farmhash", salt=7),
        "tf_idf": kind(vocabulary=numbers, output_mode="tf_idf", idf_weights=[0.25, 0.75, 0.6, 0.4]),
        "adapted": _adapted(kind(output_mode="tf_idf", mask_token=0), NUMBERS),
    }
    values = {name: _floats(keras, layer(_given(keras, unknown))) for name, layer in layers.items()}
    values["of a list"] = _floats(keras, layers["lists"](unknown.tolist()))
    return {"values": values, "vocabularies": {name: _vocabulary(layer) for name, layer in layers.items()}}


TEXTS = [
    "The quick, brown fox -- jumps.",
    "the lazy DOG\tjumps\n\nover the fox's ear!",
    "ÉTÉ été\u00a0x\u3000y",
    "",
    "  quick   quick ",
]


def case_text_vectorization(keras):
    kind = keras.layers.TextVectorization
    options = {
        "plain": {},
        "length": {"output_sequence_length": 3},
        "long": {"output_sequence_length": 12},
        "few": {"max_tokens": 5},
        "lower": {"standardize": "lower"},
        "punctuation": {"standardize": "strip_punctuation"},
        "nothing": {"standardize": None},
        "characters": {"split": "character"},
        "no split": {"split": None},
        "2 words": {"ngrams": 2},
        "2 and 3 words": {"ngrams": (2, 3), "output_sequence_length": 4},
        "pairs": {"ngrams": (2,), "split": "character"},
        "multi_hot": {"output_mode": "multi_hot"},
        "binary": {"output_mode": "binary"},
        "count": {"output_mode": "count", "max_tokens": 30, "pad_to_max_tokens": True},
        "tf_idf": {"output_mode": "tf_idf"},
        "tf-idf": {"output_mode": "tf-idf", "max_tokens": 6, "ngrams": 2},
        "functions": {"standardize": np.char.upper},
    }
    found = {}
    for name, given in options.items():
        layer = kind(**given)
        layer.adapt(TEXTS)
        given_texts = [TEXTS[1], "fox unknown", TEXTS[2]]
        found[name] = {
            "vocabulary": _vocabulary(layer),
            "size": layer.vocabulary_size(),
            "own": _vocabulary(layer, include_special_tokens=False),
            "rows": _floats(keras, layer(given_texts)),
            "columns": _floats(keras, layer(np.array(given_texts)[:, None])),
        }
    return found


def case_text_vectorization_inputs(keras):
    layer = keras.layers.TextVectorization(vocabulary=["quick", "fox", "été"])
    vectors = keras.layers.TextVectorization(vocabulary=["quick", "fox"], output_mode="count")
    texts = np.array(TEXTS)
    inputs = {
        "list": TEXTS,
        "lists": [[text] for text in TEXTS],
        "array": texts,
        "objects": texts.astype(object),
        "bytes": np.char.encode(texts, "utf-8"),
        "one": TEXTS[0],
        "three axes": texts[:4].reshape(2, 2, 1),
    }
    values = {name: _found(keras, layer(given)) for name, given in inputs.items()}
    values["one vector"] = _floats(keras, vectors(TEXTS[4]))
    return {"values": values, "type": str(_found(keras, layer(TEXTS)).dtype)}


def case_text_vectorization_vocabulary(keras):
    kind = keras.layers.TextVectorization
    given = kind(vocabulary=["earth", "wind", "and", "fire"], output_sequence_length=4)
    special = kind(vocabulary=["", "[UNK]", "earth", "wind"])
    weighed = kind(vocabulary=["earth", "wind"], output_mode="tf_idf", idf_weights=[0.5, 2.0])
    later = kind(output_mode="tf_idf")
    later.set_vocabulary(["[UNK]", "earth", "wind"], idf_weights=[4.0, 0.5, 2.0])
    batches = kind(output_mode="tf_idf")
    batches.adapt(iter([TEXTS[:2], np.array(TEXTS[2:])]))
    first = kind()
    first.adapt(iter([TEXTS[:1], TEXTS[1:]]), steps=1)
    layers = {"given": given, "special": special, "weighed": weighed, "later": later, "first": first}
    layers["batches"] = batches
    texts = ["Earth, wind", "fire! fire, the fox"]
    return {
        "values": {name: _floats(keras, layer(texts)) for name, layer in layers.items()},
        "vocabularies": {name: _vocabulary(layer) for name, layer in layers.items()},
    }


def case_text_vectorization_config(keras):
    layer = keras.layers.TextVectorization(
        max_tokens=9, standardize="lower", split="character", ngrams=(2, 3), vocabulary=["a", "b"], name="texts"
    )
    config = layer.get_config()
    same = type(layer).from_config(config)
    keys = ("max_tokens", "standardize", "split", "output_mode", "output_sequence_length", "pad_to_max_tokens")
    keys += ("sparse", "ragged", "idf_weights", "encoding", "name")
    return [{key: config[key] for key in keys}, list(config["ngrams"]), _vocabulary(same), _found(keras, same("ab b"))]


def _weighed(keras, layer, *arguments, **given):
    """A layer with weights that are the same everywhere."""
    layer(*arguments, **given)
    layer.set_weights([_signals(*weight.shape) for weight in layer.weights])
    return layer


def case_reversible_embedding(keras):
    kind = keras.layers.ReversibleEmbedding
    integers = _given(keras, np.array([[1, 4, 0], [2, 2, 3]], dtype="int32"))
    vectors = _given(keras, _signals(2, 3, 4))
    options = {
        "tied": {},
        "untied": {"tie_weights": False},
        "capped": {"logit_soft_cap": 1.5},
    }
    layers = {name: _weighed(keras, kind(5, 4, **given), integers) for name, given in options.items()}
    inputs = keras.Input((3,), dtype="int32")
    hidden = kind(5, 4, tie_weights=False)
    there = hidden(inputs)
    half = _weighed(keras, kind(5, 4, reverse_dtype="float16"), integers)
    return {
        "half": str(_found(keras, half(vectors, reverse=True)).dtype),
        "there": {name: _found(keras, layer(integers)) for name, layer in layers.items()},
        "back": {name: _found(keras, layer(vectors, reverse=True)) for name, layer in layers.items()},
        "weights": {name: [list(weight.shape) for weight in layer.weights] for name, layer in layers.items()},
        "symbolic": [list(there.shape), list(hidden(there, reverse=True).shape)],
        "shapes": [
            list(hidden.compute_output_shape((None, 3))),
            list(hidden.compute_output_shape((2, 4), reverse=True)),
        ],
    }


def case_pipeline(keras):
    layers = keras.layers
    pipeline = layers.Pipeline([layers.Rescaling(0.5, 1.0), layers.Dense(3), layers.Activation("tanh")], name="steps")
    inputs = _given(keras, _signals(2, 4))
    _weighed(keras, pipeline, inputs)
    again = _weighed(keras, layers.Pipeline.from_config(pipeline.get_config()), inputs)
    outer = keras.Input((4,))
    model = keras.Model(outer, pipeline(outer))
    config = pipeline.get_config()
    return {
        "values": [_found(keras, each(inputs)) for each in (pipeline, again, model)],
        "layers": [type(layer).__name__ for layer in pipeline.layers],
        "config": [config["name"], [entry["class_name"] for entry in config["layers"]]],
    }
