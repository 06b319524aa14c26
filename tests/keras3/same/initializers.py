"""Initializers: constants exactly, the bounds and moments of distributions coarsely, names and configs."""

import numpy as np
import torch


def _array(keras, value):
    return keras.ops.convert_to_numpy(value)


def case_constants(keras):
    i = keras.initializers
    window = np.linspace(0.1, 1.0, 6)
    found = {
        "zeros": i.Zeros()((2, 3)),
        "ones": i.Ones()(shape=(2, 3)),
        "ones of float64": i.Ones()((2,), dtype="float64"),
        "zeros of int32": i.Zeros()((2,), "int32"),
        "constant": i.Constant(2.5)((2, 2)),
        "constant by default": i.Constant()((2,)),
        "constant of int32": i.Constant(3)((2,), dtype="int32"),
        "identity": i.Identity()((3, 3)),
        "identity wide": i.Identity(gain=2.0)((2, 4)),
        "identity tall": i.Identity(0.5)((5, 2)),
        "scalar": i.Ones()(()),
        "stft": i.STFT(window=None)((6, 1, 5)),
        "stft imag": i.STFT("imag", None)((6, 1, 5)),
        "stft density": i.STFT("real", window)((6, 1, 4)),
        "stft spectrum": i.STFT("imag", window, scaling="spectrum")((6, 1, 4)),
        "stft without scaling": i.STFT("real", window, scaling=None)((6, 1, 4)),
    }
    return {name: _array(keras, value) for name, value in found.items()}


def _made(keras):
    i = keras.initializers
    return {
        "RandomNormal": i.RandomNormal(seed=1),
        "RandomNormal wide": i.RandomNormal(mean=2.0, stddev=3.0, seed=1),
        "RandomUniform": i.RandomUniform(seed=1),
        "RandomUniform wide": i.RandomUniform(-1.0, 3.0, seed=1),
        "TruncatedNormal": i.TruncatedNormal(seed=1),
        "TruncatedNormal wide": i.TruncatedNormal(1.0, 2.0, seed=1),
        "VarianceScaling": i.VarianceScaling(seed=1),
        "VarianceScaling out": i.VarianceScaling(2.0, "fan_out", "untruncated_normal", 1),
        "VarianceScaling mean": i.VarianceScaling(mode="fan_avg", distribution="uniform", seed=1),
        "VarianceScaling axes": i.VarianceScaling(seed=1, input_axes=(0,), output_axes=(1, 2)),
        "normal": i.VarianceScaling(distribution="normal", seed=1),
        **{
            name: getattr(i, name)(seed=1)
            for name in ("GlorotUniform", "GlorotNormal", "HeNormal", "HeUniform", "LecunNormal", "LecunUniform")
        },
        "HeNormal axes": i.HeNormal(seed=1, input_axes=[2], output_axes=[0]),
        "Orthogonal": i.Orthogonal(seed=1),
        "Orthogonal of a gain": i.Orthogonal(gain=2.0, seed=1),
    }


def case_distributions(keras):
    found = {}
    for name, initializer in _made(keras).items():
        for shape in ((300, 400), (10, 20, 600)):
            if "axes" in name and len(shape) == 2:
                continue
            values = _array(keras, initializer(shape)).astype("float64")
            ends = [values.min(), values.max()] if "normal" not in name.lower() or "runcated" in name else []
            ends = [] if name.startswith("Orthogonal") else ends
            found[f"{name} {shape}"] = [float(values.mean()), float(values.std()), *map(float, ends)]
    return found


def case_scales_of_other_ranks(keras):
    found = {}
    for shape in ((90000,), (3, 4, 5, 20, 100), (2, 2, 2, 2, 30, 250)):
        for name in ("LecunUniform", "GlorotUniform", "HeUniform"):
            values = _array(keras, getattr(keras.initializers, name)(seed=2)(shape))
            found[f"{name} {shape}"] = float(np.abs(values).max())
    return found


def case_orthogonal(keras):
    found = {}
    for shape in ((5, 5), (7, 3), (3, 7), (2, 3, 4), (2, 2, 30)):
        values = _array(keras, keras.initializers.Orthogonal(gain=2.0, seed=3)(shape)).reshape(-1, shape[-1])
        product = values.T @ values if len(values) >= shape[-1] else values @ values.T
        found[str(shape)] = np.round(product, 4) + 0.0
    return found


def case_seeds(keras):
    def same(initializer):
        one, other = (_array(keras, initializer((4, 5))) for _ in range(2))
        return bool((one == other).all())

    i, seeds = keras.initializers, keras.random.SeedGenerator
    return {
        "an integer": {name: same(each) for name, each in _made(keras).items() if "axes" not in name},
        "none": {name: same(getattr(i, name)()) for name in ("RandomNormal", "GlorotUniform", "Orthogonal")},
        "a generator": {name: same(getattr(i, name)(seed=seeds(1))) for name in ("RandomNormal", "HeUniform")},
        "two objects": bool(
            (_array(keras, i.RandomNormal()((9,))) == _array(keras, i.RandomNormal()((9,)))).all(),
        ),
        "one seed": bool(
            (_array(keras, i.RandomNormal(seed=5)((9,))) == _array(keras, i.RandomNormal(seed=5)((9,)))).all(),
        ),
    }


def case_types(keras):
    i = keras.initializers
    found = {}
    for kind in ("float16", "bfloat16", "float32", "float64"):
        found[kind] = [str(i.get(name)((2, 2), dtype=kind).dtype) for name in ("zeros", "glorot_uniform", "he_normal")]
    return {**found, "none": str(i.HeNormal()((2, 2)).dtype), "tensor": isinstance(i.Zeros()((2,)), torch.Tensor)}


def case_configs(keras):
    i = keras.initializers
    made = {
        **_made(keras),
        "no seed": i.GlorotUniform(),
        "generator": i.RandomNormal(seed=keras.random.SeedGenerator(3, name="mine")),
        "Zeros": i.Zeros(),
        "Ones": i.Ones(),
        "Constant": i.Constant(3),
        "Constant of an array": i.Constant(np.ones(2)),
        "Constant of a list": i.Constant([1, 2]),
        "Identity": i.Identity(2.0),
        "STFT": i.STFT(window=None),
    }
    found = {name: i.serialize(each) for name, each in made.items()}
    # Genuine Keras leaves the gain out, and makes another matrix of the config.
    del found["Identity"]
    return {**found, "again": [i.serialize(i.deserialize(each)) == each for each in found.values()]}


def case_by_name(keras):
    i = keras.initializers
    names = """
    glorot_uniform glorot_normal he_normal he_uniform lecun_normal lecun_uniform zeros ones zero one uniform normal
    random_normal random_uniform truncated_normal variance_scaling orthogonal identity GlorotUniform GlorotNormal
    HeNormal HeUniform LecunNormal LecunUniform Zeros Ones RandomNormal RandomUniform TruncatedNormal VarianceScaling
    Orthogonal Identity OrthogonalInitializer IdentityInitializer
    """.split()  # noqa: SIM905
    aliases = {
        "constant": "Constant",
        "glorot_normal": "GlorotNormal",
        "glorot_uniform": "GlorotUniform",
        "he_normal": "HeNormal",
        "he_uniform": "HeUniform",
        "identity": "Identity",
        "IdentityInitializer": "Identity",
        "lecun_normal": "LecunNormal",
        "lecun_uniform": "LecunUniform",
        "ones": "Ones",
        "orthogonal": "Orthogonal",
        "OrthogonalInitializer": "Orthogonal",
        "random_normal": "RandomNormal",
        "random_uniform": "RandomUniform",
        "stft": "STFT",
        "STFTInitializer": "STFT",
        "truncated_normal": "TruncatedNormal",
        "variance_scaling": "VarianceScaling",
        "zeros": "Zeros",
    }
    return {
        **{name: type(i.get(name)).__name__ for name in names},
        "aliases": {name: getattr(i, name) is getattr(i, other) for name, other in aliases.items()},
        "None": i.get(None),
        "class": type(i.get(i.Zeros)).__name__,
        "config": i.serialize(i.get({"class_name": "RandomNormal", "config": {"mean": 1.0, "stddev": 2.0}})),
        "array": _array(keras, i.get(np.ones((2, 2), "float32"))((2, 2))),
        "tensor": _array(keras, i.get(torch.full((3,), 2.0))((3,), dtype="float64")),
    }


def case_attributes(keras):
    i = keras.initializers
    scaling = i.VarianceScaling(2.0, "fan_out", "NORMAL", 3)
    return [
        [i.RandomNormal().mean, i.RandomNormal().stddev, i.RandomUniform(1, 2).minval, i.Constant(4).value],
        [scaling.scale, scaling.mode, scaling.distribution, scaling.seed, scaling.input_axes],
        [i.HeNormal().scale, i.HeNormal().mode, i.HeNormal().distribution, isinstance(i.HeNormal(), i.VarianceScaling)],
        [i.Orthogonal(2.0).gain, i.STFT(window=None).side, i.RandomNormal(seed=7).clone().seed],
    ]


def case_of_the_users(keras):
    class Halves(keras.initializers.Initializer):
        def __init__(self, value=0.5):
            self.value = value

        def __call__(self, shape, dtype=None):
            return keras.ops.full(shape, self.value, dtype=dtype or "float32")

        def get_config(self):
            return {"value": self.value}

    def threes(shape, dtype=None):
        return 3.0 * keras.ops.ones(shape, dtype)

    i, made = keras.initializers, Halves(0.25)
    again = i.deserialize(i.serialize(made), custom_objects={"Halves": Halves})
    layer = keras.layers.Dense(2, kernel_initializer=made, bias_initializer=threes)
    layer.build((None, 3))
    return {
        "config": i.serialize(made),
        "again": [again.value, made.clone().value, isinstance(again, i.Initializer)],
        "function": [i.get(threes) is threes, i.serialize(threes)],
        "layer": [_array(keras, weight) for weight in layer.get_weights()],
    }


def case_refused(keras):
    i = keras.initializers
    attempts = {
        "name": lambda: i.get("glorotUniform"),
        "number": lambda: i.get(3),
        "seed": lambda: i.RandomNormal(seed="a"),
        "scale": lambda: i.VarianceScaling(0.0),
        "mode": lambda: i.VarianceScaling(mode="fan"),
        "distribution": lambda: i.VarianceScaling(distribution="cauchy"),
        "one axis": lambda: i.Orthogonal()((3,)),
        "three axes": lambda: i.Identity()((3, 3, 3)),
        "side": lambda: i.STFT("both"),
        "scaling": lambda: i.STFT(window=None, scaling="power"),
        "window": lambda: i.STFT(window=np.ones(3))((4, 1, 3)),
        "another shape": lambda: i.get(np.ones(3))((4,)),
    }
    found = {}
    for name, attempt in attempts.items():
        try:
            attempt()
        except ValueError:
            found[name] = "ValueError"
    return found


# Drawn: means of 120,000 numbers and their ends.
TOLERANCES = {"distributions": (5e-3, 2e-2), "scales_of_other_ranks": (2e-3, 0), "orthogonal": (1e-5, 2e-4)}
