"""What the functions of `tests/keras2/lambdas/bodies*.py` are as bytecode, and what Keras 2.2.4 computes with them.

    python2.7 scripts/golden_lambdas.py codes out.json      # with each Python; needs nothing else
    python3.7 scripts/golden_lambdas.py outputs out.npz     # with Keras 2.2.4
    python3.7 scripts/golden_lambdas.py models folder       # with Keras 2.2.4
    python3 scripts/golden_lambdas.py join out.json.xz out1.json out2.json ...

`tests/golden/lambdas` has the results. This script runs on Python 2.7 too.
"""

# ruff: noqa

from __future__ import print_function

import base64
import io
import json
import marshal
import os
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "keras2", "lambdas")


def bodies(scope):
    found = {}
    for name in ("bodies.py", "bodies_of_tensorflow.py"):
        with io.open(os.path.join(TESTS, name), encoding="utf-8") as file:
            exec(compile(file.read(), name, "exec"), scope)
        found.update(scope["BODIES"])
    return found


def stored(function):
    code = base64.b64encode(marshal.dumps(function.__code__)).decode("ascii")
    closure = [cell.cell_contents for cell in function.__closure__] if function.__closure__ else None
    return [code, list(function.__defaults__) if function.__defaults__ else None, closure]


def codes(out):
    found = {name: stored(function) for name, (function, _, _) in bodies({}).items()}
    with io.open(out, "wb") as file:
        file.write(json.dumps({"%d.%d" % sys.version_info[:2]: found}).encode("ascii"))


def values(shape, place):
    import numpy as np

    count = int(np.prod(shape))
    return np.sin(np.arange(count) * 0.7 + place).reshape(shape).astype("float32")


def layered(function, shapes, arguments):
    from keras.layers import Input, Lambda
    from keras.models import Model

    inputs = [Input(batch_shape=(None,) + tuple(shape[1:])) for shape in shapes]
    output = Lambda(function, arguments=arguments)(inputs if len(inputs) > 1 else inputs[0])
    return Model(inputs, output)


def keras_scope():
    import keras
    import numpy as np
    import tensorflow as tf
    from keras import activations, backend as K

    return {"K": K, "tf": tf, "np": np, "keras": keras, "activations": activations}


def outputs(out):
    import numpy as np

    found = {}
    for name, (function, shapes, arguments) in bodies(keras_scope()).items():
        print(name)
        model = layered(function, shapes, arguments)
        given = [values(shape, place) for place, shape in enumerate(shapes)]
        found[name] = model.predict(given if len(given) > 1 else given[0])
    np.savez_compressed(out, **found)


def models(folder):
    """Whole models with Lambdas, each as an HDF5 file, and what they compute as `x0`, `y0`, ... in an `.npz`."""
    import numpy as np
    from keras import layers as L
    from keras.models import Model, Sequential

    scope = keras_scope()
    exec(MODELS, scope, scope)
    scope.update(vars(L), Model=Model, Sequential=Sequential)
    for name in sorted(scope):
        if not name.startswith("model_"):
            continue
        np.random.seed(0)
        model = scope[name]()
        for layer in model.layers:
            weights = layer.get_weights()
            layer.set_weights([values(each.shape, 3) * 0.3 for each in weights])
        given = [values((3,) + tuple(int(size) for size in x.shape[1:]), k) for k, x in enumerate(model.inputs)]
        found = model.predict(given if len(given) > 1 else given[0])
        found = found if isinstance(found, list) else [found]
        path = os.path.join(folder, name[len("model_") :])
        model.save(path + ".h5", include_optimizer=False)
        arrays = {"x%d" % k: each for k, each in enumerate(given)}
        arrays.update({"y%d" % k: each for k, each in enumerate(found)})
        np.savez_compressed(path + ".npz", **arrays)
        print(name)


MODELS = """
def model_driving():
    return Sequential([
        Lambda(lambda x: x / 127.5 - 1.0, input_shape=(8, 10, 3)),
        Conv2D(4, 3, activation="elu"), Flatten(), Dense(1),
    ])


def model_cropped():
    x = Input((6, 6, 4))
    first = Lambda(lambda x: x[:, :, :, :2], output_shape=(6, 6, 2))(x)
    start, stop = 2, 4
    second = Lambda(lambda x: x[:, :, :, start:stop])(x)
    return Model(x, concatenate([Conv2D(2, 3)(first), Conv2D(3, 3)(second)]))


def model_shared():
    cut = Lambda(lambda x, n: x[:, :n], arguments={"n": 2}, output_shape=lambda s: (s[0], 2))
    a, b = Input((4,)), Input((5,))
    return Model([a, b], add([cut(a), Dense(2)(cut(b))]))


def model_siamese():
    def distance(vectors):
        x, y = vectors
        return K.sqrt(K.maximum(K.sum(K.square(x - y), axis=1, keepdims=True), K.epsilon()))

    def shape_of(shapes):
        first, second = shapes
        return (first[0], 1)

    twin = Sequential([Dense(3, input_shape=(4,)), Lambda(lambda x: K.l2_normalize(x, axis=1))])
    a, b = Input((4,)), Input((4,))
    return Model([a, b], Lambda(distance, output_shape=shape_of)([twin(a), twin(b)]))


def model_masked():
    x = Input((5, 3))
    y = Masking(0.0)(x)
    y = Lambda(lambda x: x * 2)(y)
    return Model(x, LSTM(2)(y))


def model_reparametrized():
    def sample(arguments, scale=0.0):
        mean, log_var = arguments
        noise = K.random_normal(shape=(K.shape(mean)[0], K.int_shape(mean)[1]), stddev=scale)
        return mean + K.exp(0.5 * log_var) * noise

    x = Input((5,))
    y = Lambda(sample, output_shape=(2,))([Dense(2)(x), Dense(2)(x)])
    return Model(x, Dense(3)(y))


def model_attention():
    x = Input((5, 3))
    scores = Dense(1, activation="tanh")(x)
    weights = Lambda(lambda s: K.softmax(K.squeeze(s, -1)))(scores)
    return Model(x, Lambda(lambda t: K.batch_dot(t[0], t[1], axes=[1, 1]))([weights, x]))


def model_resized():
    x = Input((4, 5, 3))
    size = (2, 3)
    y = Lambda(lambda t, s: K.resize_images(t, s[0], s[1], K.image_data_format(), "bilinear"), arguments={"s": size})(x)
    return Model(x, Conv2D(2, 3)(y))


def model_distributed():
    return Sequential([TimeDistributed(Lambda(lambda x: K.sum(x, axis=-1, keepdims=True) * 0.1), input_shape=(4, 3))])


def model_two_outputs():
    x = Input((6,))
    a, b = Lambda(lambda x: [x[:, :3], x[:, 3:]], output_shape=lambda s: [(s[0], 3), (s[0], 3)])(x)
    return Model(x, [Dense(2)(a), b])


def model_by_phase():
    x = Input((4,))
    return Model(x, Lambda(lambda x: K.in_train_phase(K.dropout(x, 0.5), x) + 1)(x))


def model_capsule():
    def squash(v, axis=-1):
        norm = K.sum(K.square(v), axis, keepdims=True)
        return norm / (1 + norm) / K.sqrt(norm + K.epsilon()) * v

    x = Input((6, 6, 2))
    y = Conv2D(4, 3)(x)
    y = Reshape((-1, 4))(y)
    y = Lambda(squash)(y)
    return Model(x, Lambda(lambda z: K.sqrt(K.sum(K.square(z), -1)))(y))
"""


def join(out, *files):
    import lzma

    found = {}
    for name in files:
        with open(name) as file:
            found.update(json.load(file))
    with lzma.open(out, "wt") as file:
        json.dump(found, file)


if __name__ == "__main__":
    {"codes": codes, "outputs": outputs, "models": models, "join": join}[sys.argv[1]](*sys.argv[2:])
