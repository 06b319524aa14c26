"""Makes the files of one genuine Keras: `every_keras.py` runs this in the environment of that version.

    EVERY_KERAS=keras|tensorflow.keras|tf_keras python every_keras_models.py FOLDER [model ...]

Each model is built by the same code, in every version; `Words` has what they call otherwise. Weights are drawn from one
seed. Each model trains for two steps, is saved in every form that the version has, and trains for three more, whose
losses and last outputs are recorded. It runs under Python 3.6 and later, and imports nothing of this package.
"""

import importlib
import json
import os
import sys
import traceback

import numpy as np

NAME = os.environ["EVERY_KERAS"]
STEPS_BEFORE, STEPS_AFTER = 2, 3


def _imported():
    """Keras, and its version as three numbers; tf.keras has that of TensorFlow, and counts as Keras 2."""
    if NAME == "tensorflow.keras":
        tensorflow = importlib.import_module("tensorflow")
        return tensorflow.keras, [int(part) for part in tensorflow.__version__.split(".")[:2]]
    found = importlib.import_module(NAME)
    for name in ("models", "layers", "optimizers", "backend"):
        importlib.import_module(NAME + "." + name)
    return found, [int(part) for part in found.__version__.split(".")[:2]]


keras, version = _imported()
is_standalone = NAME == "keras"
generation = version[0] if is_standalone else 2
if generation == 0:
    for module in ("core", "convolutional", "embeddings", "normalization", "recurrent"):
        found = importlib.import_module(NAME + ".layers." + module)
        vars(keras.layers).update((name, value) for name, value in vars(found).items() if isinstance(value, type))
K, L, models, optimizers = keras.backend, keras.layers, keras.models, keras.optimizers
Input = getattr(L, "Input", None)
backend = K.backend() if hasattr(K, "backend") else K._BACKEND
on_tensorflow1 = is_standalone and backend == "tensorflow" and generation < 3


# --- what versions call otherwise ------------------------------------------------------------------------------------


class Words:
    """The words of Keras 2 and later."""

    conv = staticmethod(lambda filters: L.Conv2D(filters, (3, 3), padding="same", use_bias=False))
    subtract = staticmethod(lambda tensors: L.Subtract()(tensors))
    concatenate = staticmethod(lambda tensors: L.Concatenate()(tensors))
    image = (6, 6, 2)
    axis = -1


class Keras1(Words):
    conv = staticmethod(lambda filters: L.Convolution2D(filters, 3, 3, border_mode="same", bias=False))
    concatenate = staticmethod(lambda tensors: L.merge(tensors, mode="concat"))
    subtract = staticmethod(lambda tensors: L.merge([tensors[0], L.Lambda(_negated)(tensors[1])], mode="sum"))


def _negated(tensor):
    return -tensor


class Keras2Early(Words):
    """Keras 2.0.0 to 2.0.6, which have no Subtract."""

    subtract = staticmethod(lambda tensors: L.Add()([tensors[0], L.Dense(3, use_bias=False)(tensors[1])]))


class Keras0(Keras1):
    """Keras 0, on Theano: a Sequential, or a Graph."""

    image = (2, 6, 6)


if generation == 0:
    words = Keras0

    class Graph(models.Graph):
        """A Graph that takes and returns lists as well as dicts."""

        def named(self, values, names):
            values = values if isinstance(values, (dict, list)) else [values]
            return values if isinstance(values, dict) else {name: values[k] for k, name in enumerate(names)}

        def train_on_batch(self, x, t):
            return super().train_on_batch({**self.named(x, self.input_order), **self.named(t, self.output_order)})

        def predict(self, x, verbose=0):
            found = super().predict(self.named(x, self.input_order))
            return found if isinstance(x, dict) else [found[name] for name in self.output_order]

elif generation == 1:
    words = Keras1
    words.subtract = staticmethod(lambda tensors: L.merge([tensors[0], L.Dense(3, bias=False)(tensors[1])], mode="sum"))
    if K.image_dim_ordering() == "th":
        words.image, words.axis = (2, 6, 6), 1
elif generation == 2 and not hasattr(L, "Subtract"):
    words = Keras2Early
else:
    words = Words


if generation == 0:

    class Scale(L.Layer):
        """`factor * scale * x`, with one scale for each feature."""

        def __init__(self, factor=2.0, **options):
            super().__init__(**options)
            self.factor = factor

        def build(self):
            self.scale = K.variable(np.ones(self.input_shape[-1]))
            self.trainable_weights = [self.scale]

        def get_output(self, train=False):
            return self.factor * self.scale * self.get_input(train)

        def get_config(self):
            return dict(super().get_config(), name=type(self).__name__, factor=self.factor)

elif generation == 1:

    class Scale(L.Layer):
        """`factor * scale * x`, with one scale for each feature."""

        def __init__(self, factor=2.0, **options):
            super().__init__(**options)
            self.factor = factor

        def build(self, input_shape):
            self.scale = K.variable(np.ones(input_shape[-1]), name=f"{self.name}_scale")
            self.trainable_weights = [self.scale]

        def call(self, x, mask=None):
            return self.factor * self.scale * x

        def get_output_shape_for(self, input_shape):
            return input_shape

        def get_config(self):
            return dict(super().get_config(), factor=self.factor)

else:

    class Scale(L.Layer):
        """`factor * scale * x`, with one scale for each feature."""

        def __init__(self, factor=2.0, **options):
            super().__init__(**options)
            self.factor = factor

        def build(self, input_shape):
            self.scale = self.add_weight(name="scale", shape=(int(input_shape[-1]),), initializer="ones")
            super().build(input_shape)

        def call(self, inputs):
            return self.factor * self.scale * inputs

        def compute_output_shape(self, input_shape):
            return input_shape

        def get_config(self):
            return dict(super().get_config(), factor=self.factor)


# --- the models ------------------------------------------------------------------------------------------------------


def stack(shape, layers, name=None):
    """A Sequential; the first layer, or an Input before it, has the shape."""
    model = models.Sequential(name=name) if name and generation else models.Sequential()
    if generation == 3:
        model.add(Input(shape))
    for number, layer in enumerate(layers):
        model.add(layer({"input_shape": shape} if number == 0 and generation < 3 else {}))
    return model


def dense(units, activation="linear"):
    return lambda options: L.Dense(units, activation=activation, **options)


def make_dense():
    return stack((5,), [dense(6, "relu"), dense(4, "tanh"), dense(3, "softmax")])


def _as_it_is(layer):
    """For `stack`: a layer that has its shape."""
    return lambda options: layer


def make_conv():
    if generation == 0:
        convolution = L.Convolution2D(4, 3, 3, border_mode="same", input_shape=words.image)
        rest = [L.BatchNormalization(axis=1), L.Activation("relu"), L.MaxPooling2D((2, 2)), L.Flatten(), L.Dense(3)]
        return stack(words.image, map(_as_it_is, [convolution, *rest]))
    image = Input(words.image)
    x = words.conv(4)(image)
    x = L.Activation("relu")(L.BatchNormalization(axis=words.axis)(x))
    x = L.MaxPooling2D((2, 2))(x)
    return models.Model(image, L.Dense(3)(L.Flatten()(x)))


def make_lstm():
    if generation == 0:
        return stack((6,), map(_as_it_is, [L.Embedding(10, 5, input_length=6), L.LSTM(4), L.Dense(2)]))
    words_in = Input((6,), dtype="int32")
    return models.Model(words_in, L.Dense(2)(L.LSTM(4)(L.Embedding(10, 5)(words_in))))


def make_bidirectional():
    if generation == 0:
        raise NotImplementedError("Keras 0 has no Bidirectional.")
    words_in = Input((6,), dtype="int32")
    x = L.Embedding(10, 5, mask_zero=True)(words_in)
    x = L.Bidirectional(L.LSTM(3, return_sequences=True))(x)
    return models.Model(words_in, L.Dense(2)(L.Bidirectional(L.GRU(3))(x)))


def make_nested():
    if generation == 0:
        first = stack((5,), [dense(4, "tanh"), dense(4)])
        second = stack((4,), [dense(4, "relu"), dense(3)])
        return stack((5,), [_as_it_is(first), _as_it_is(second), dense(2)])
    inside, outside = Input((4,)), Input((5,))
    first = stack((5,), [dense(4, "tanh"), dense(4)], "first")
    second = models.Model(inside, L.Dense(3)(L.Dense(4, activation="relu")(inside)), name="second")
    return models.Model(outside, L.Dense(2)(second(first(outside))))


def make_shared():
    if generation == 0:
        return make_shared_graph()
    a, b, both = Input((4,)), Input((4,)), L.Dense(4, activation="tanh")
    left, right = both(a), both(b)
    return models.Model([a, b], [L.Dense(2)(words.concatenate([left, right])), L.Dense(3)(right)])


def make_shared_graph():
    graph = Graph()
    for name in "ab":
        graph.add_input(name, (4,))
    graph.add_shared_node(L.Dense(4, activation="tanh"), "both", ["a", "b"], outputs=["left", "right"])
    graph.add_node(L.Dense(2), "two", inputs=["left", "right"])
    graph.add_node(L.Dense(3), "three", input="right")
    graph.add_output("of_two", "two")
    graph.add_output("of_three", "three")
    return graph


def make_dicts_graph():
    graph = Graph()
    for name in ("b_in", "a_in"):
        graph.add_input(name, (3,))
    graph.add_node(L.Dense(2), "of_b", input="b_in")
    graph.add_node(L.Dense(2), "of_both", inputs=["b_in", "a_in"], merge_mode="sum")
    graph.add_output("z", "of_b")
    graph.add_output("k", "of_both")
    return graph


def make_dicts():
    if generation == 0:
        return make_dicts_graph()
    a, b = Input((3,), name="b_in"), Input((3,), name="a_in")
    y, z = L.Dense(2, name="z")(a), L.Dense(2, name="k")(words.subtract([a, b]))
    if generation == 3 or (not is_standalone and (NAME == "tf_keras" or version >= [2, 2])):
        return models.Model({"b_in": a, "a_in": b}, {"z": y, "k": z})
    return models.Model([a, b], [y, z])


def make_own():
    return stack((4,), [dense(4, "tanh"), lambda options: Scale(0.5), dense(2)])


def make_deep():
    # Twelve layers of equal shapes: states in the order of names (dense_10 before dense_2) would be exchanged silently.
    return stack((4,), [dense(4, "tanh")] * 12)


def sgd():
    return optimizers.SGD(0.05)


# name: (builder, optimizer, loss, number of integers that the input may be)
MODELS = {
    "dense": (make_dense, sgd, "categorical_crossentropy"),
    "conv_bn": (make_conv, sgd, "mse"),
    "lstm": (make_lstm, sgd, "mse"),
    "bidirectional": (make_bidirectional, sgd, "mse"),
    "nested": (make_nested, sgd, "mse"),
    "shared": (make_shared, sgd, "mse"),
    "dicts": (make_dicts, sgd, {"z": "mse", "k": "mae"}),
    "own": (make_own, sgd, "mse"),
    "adam": (make_deep, lambda: optimizers.Adam(0.01), "mse"),
    "rmsprop": (make_deep, lambda: optimizers.RMSprop(0.01), "mse"),
    "momentum": (make_deep, lambda: optimizers.SGD(0.05, 0.9), "mse"),
}
INTEGERS = ("lstm", "bidirectional")
SHAPES = {
    "dense": [(5,)],
    "conv_bn": [words.image],
    "lstm": [(6,)],
    "bidirectional": [(6,)],
    "nested": [(5,)],
    "shared": [(4,), (4,)],
    "dicts": [(3,), (3,)],
}
SAMPLES = 8


def data_of(name):
    """The inputs and targets of a model: arrays, lists of them, or dicts."""
    random = np.random.RandomState(7)
    shapes = SHAPES.get(name, [(4,)])
    if name in INTEGERS:
        x = [random.randint(1, 10, (SAMPLES,) + shapes[0]).astype("int32")]
        x[0][:4, 3:] = 0  # padding
    else:
        x = [random.uniform(-1, 1, (SAMPLES, *tuple(shape))).astype("float32") for shape in shapes]
    if name == "dense":
        t = [np.eye(3, dtype="float32")[random.randint(0, 3, SAMPLES)]]
    else:
        units = {"conv_bn": [3], "shared": [2, 3], "dicts": [2, 2]}.get(name, [4 if name in DEEP else 2])
        t = [random.uniform(-1, 1, (SAMPLES, size)).astype("float32") for size in units]
    if name == "dicts":
        return {"b_in": x[0], "a_in": x[1]}, {"z": t[0], "k": t[1]}
    return (x[0] if len(x) == 1 else x), (t[0] if len(t) == 1 else t)


DEEP = ("adam", "rmsprop", "momentum")


def drawn(model):
    """Weights of one seed: matrices around 0, vectors (biases, and the moments of batches) over 0."""
    random = np.random.RandomState(11)
    arrays = []
    for old in model.get_weights():
        least, most = (0.2, 1.0) if len(old.shape) == 1 else (-0.6, 0.6)
        arrays.append(random.uniform(least, most, old.shape).astype(old.dtype))
    return arrays


# --- saving ----------------------------------------------------------------------------------------------------------


def _text(name):
    def save(model, path):
        text = getattr(model, name)()
        with open(path, "w") as file:
            file.write(text)

    return save


FORMS = {  # `.keras` first: Keras 3 forgets the optimizer when it writes HDF5
    "model.keras": lambda model, path: model.save(path),
    "model.weights.h5": lambda model, path: model.save_weights(path),
    "model.h5": lambda model, path: model.save(path),
    "weights.h5": lambda model, path: model.save_weights(path),
    "model.json": _text("to_json"),
    "model.yaml": _text("to_yaml"),
}
# By paths only from these versions on; what older ones write under such names is HDF5 as before, or a SavedModel.
has_paths = generation == 3 or NAME == "tf_keras" or (not is_standalone and version >= [2, 12])


def named(value):
    """Arrays with names: `0`, `1`, .. of a list."""
    if isinstance(value, dict):
        return {key: np.asarray(array) for key, array in value.items()}
    arrays = value if isinstance(value, (list, tuple)) else [value]
    return {str(number): np.asarray(array) for number, array in enumerate(arrays)}


def predicted(model, x):
    return model.predict(x, verbose=0)


def make(name, folder):
    builder, optimizer, loss = MODELS[name]
    if hasattr(K, "clear_session"):
        K.clear_session()
    model = builder()
    model.set_weights(drawn(model))
    if generation == 0 and not isinstance(loss, dict) and hasattr(model, "output_order"):
        loss = dict.fromkeys(model.output_order, loss)
    model.compile(optimizer=optimizer(), loss=loss)
    x, t = data_of(name)
    for _ in range(STEPS_BEFORE):
        model.train_on_batch(x, t)
    unsaved = {}
    for form, save in FORMS.items():
        path = os.path.join(folder, form)
        if form in ("model.keras", "model.weights.h5") and not has_paths:
            continue
        try:
            save(model, path)
        except Exception as error:  # noqa: BLE001  # whatever a version refuses is recorded
            unsaved[form] = f"{type(error).__name__}: {str(error).strip()[:200]}"
            if os.path.exists(path):
                os.remove(path)
    record = {"x_" + key: array for key, array in named(x).items()}
    record.update({"t_" + key: array for key, array in named(t).items()})
    record.update({"y_" + key: array for key, array in named(predicted(model, x)).items()})
    losses = []
    for _ in range(STEPS_AFTER):
        if hasattr(model, "reset_metrics"):
            model.reset_metrics()  # some versions of Keras 3 go on with the mean
        losses.append(float(np.ravel(model.train_on_batch(x, t))[0]))
    record.update({"after_" + key: array for key, array in named(predicted(model, x)).items()})
    np.savez(os.path.join(folder, "io.npz"), losses=losses, **record)
    return {"unsaved": unsaved, "returns_dict": isinstance(predicted(model, x), dict)}


# --- TensorFlow 1 ----------------------------------------------------------------------------------------------------


def make_updates_simultaneous():
    """Let all updates of a step be computed from the values before it, as on Theano, and averages move without a bias.

    TensorFlow 1 runs them in any order, so that Adam may read its count of steps before or after it is increased: two
    runs differ. It also corrects the first moving averages of a BatchNormalization ("zero debias").
    """
    tensorflow = importlib.import_module("tensorflow")
    module = sys.modules[K.__name__ + ".tensorflow_backend"]
    if not hasattr(module, "Function"):
        return  # Keras 2.3 calls tf.keras's functions
    replaced = {
        "update": lambda x, new: (x, new),
        "update_add": lambda x, increment: (x, x + increment),
        "update_sub": lambda x, decrement: (x, x - decrement),
        "moving_average_update": lambda x, value, momentum: (x, x * momentum + value * (1.0 - momentum)),
    }
    for place in (K, module):
        for name, function in replaced.items():
            setattr(place, name, function)
    original = module.Function.__init__

    def init(self, inputs, outputs, updates=None, name=None, **options):  # Keras looks for the argument `name`
        options = options if name is None else dict(options, name=name)
        pairs = [update for update in updates or [] if isinstance(update, tuple)]
        rest = [update for update in updates or [] if not isinstance(update, tuple)]
        with tensorflow.control_dependencies(list(outputs) + [new for _, new in pairs if hasattr(new, "op")]):
            assigned = [tensorflow.assign(old, new) for old, new in pairs]
        original(self, inputs, outputs, assigned + rest, **options)

    module.Function.__init__ = init


def main():
    folder, wanted = sys.argv[1], sys.argv[2:] or list(MODELS)
    if on_tensorflow1:
        make_updates_simultaneous()
    made = {
        "keras": getattr(keras, "__version__", ""),
        "version": version,
        "name": NAME,
        "backend": backend,
        "python": sys.version.split()[0],
        "models": {},
    }
    for name in wanted:
        place = os.path.join(folder, name)
        if not os.path.isdir(place):
            os.makedirs(place)
        try:
            made["models"][name] = make(name, place)
        except Exception as error:  # noqa: BLE001  # as above
            traceback.print_exc()
            made["models"][name] = {"unmade": f"{type(error).__name__}: {str(error).strip()[:300]}"}
    with open(os.path.join(folder, "made.json"), "w") as file:
        json.dump(made, file, indent=1, sort_keys=True)


main()
