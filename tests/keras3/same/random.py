"""Cases of `keras.random`: shapes, types, and the numbers of an integer seed on the CPU, which torch settles."""

import numpy as np


def array(keras, tensor):
    return keras.ops.convert_to_numpy(tensor)


def facts(keras, tensor):
    return {"shape": list(tensor.shape), "dtype": keras.backend.standardize_dtype(tensor.dtype)}


def case_shapes_and_types(keras):
    random = keras.random
    return [
        facts(keras, each)
        for each in (
            random.normal((2, 3)),
            random.normal([4], dtype="float16"),
            random.normal(()),
            random.uniform(()),
            random.uniform((0, 3), 1, 2, dtype="float64"),
            random.truncated_normal((2, 3), 1.0, 2.0, dtype="float32"),
            random.randint((5,), 0, 9),
            random.randint((5,), 0, 9, dtype="uint8"),
            random.randint((5,), 0, 9, dtype="int64"),
            random.randint((5,), 0, 9, dtype=None),
            random.gamma((2, 3), 2.0),
            random.gamma((2, 3), keras.ops.ones((3,)), dtype="float16"),
            random.beta((2, 3), 2.0, 3.0),
            random.binomial((2, 3), 5.0, 0.5),
            random.binomial((2, 3), keras.ops.ones((3,)), 0.5, dtype="int32"),
            random.categorical(keras.ops.zeros((2, 5)), 4),
            random.categorical(keras.ops.zeros((2, 5)), 4, dtype="int64"),
            random.dropout(keras.ops.ones((2, 3), dtype="float16"), 0.5),
            random.shuffle(keras.ops.arange(6)),
        )
    ]


def case_numbers_of_a_seed(keras):
    random, found = keras.random, {}
    seeds = random.SeedGenerator(42)
    for name, seed in (("3", 3), ("-5", -5), ("of 33 bits", 2**32 + 7), ("first", seeds), ("second", seeds)):
        found[name] = [
            array(keras, each)
            for each in (
                random.normal((5,), 1.0, 2.0, seed=seed),
                random.uniform((5,), 1.0, 2.0, seed=seed),
                random.randint((5,), 1, 20, seed=seed),
                random.binomial((5,), 5.0, 0.5, seed=seed),
                random.dropout(keras.ops.ones((2, 5)), 0.3, seed=seed),
                random.dropout(keras.ops.ones((2, 5)), 0.3, noise_shape=(None, 1), seed=seed),
                random.shuffle(keras.ops.arange(10), seed=seed),
                random.shuffle(keras.ops.reshape(keras.ops.arange(24), (2, 3, 4)), axis=1, seed=seed),
            )
        ]
    return found


def case_limits(keras):
    random = keras.random
    x = keras.ops.convert_to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
    return [
        array(keras, each)
        for each in (
            random.dropout(x, 0.0),
            random.dropout(x, 1.0),
            random.binomial((3,), 5.0, 1.0),
            random.binomial((3,), 5.0, 0.0),
            random.randint((3,), 4, 5),
            random.normal((3,), 2.0, 0.0),
            random.uniform((3,), 2.0, 2.0),
            random.categorical(keras.ops.convert_to_tensor([[0.0, -1000.0], [-1000.0, 0.0]]), 3),
        )
    ]


def case_generators(keras):
    seeds = keras.random.SeedGenerator(42, name="mine")
    found = [array(keras, seeds.state), array(keras, seeds.next()), array(keras, seeds.state)]
    found += [array(keras, seeds.next(ordered=False)), array(keras, seeds.state)]
    keras.random.normal((2,), seed=seeds)
    found += [array(keras, seeds.state), seeds.get_config(), seeds.name]
    again = keras.random.SeedGenerator.from_config(seeds.get_config())
    return [*found, array(keras, again.state)]
