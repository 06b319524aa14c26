"""Recurrent layers from outside: the form of states, sizes, initial states, and cells of one's own."""

import numpy as np

X = np.arange(24, dtype="float32").reshape(2, 3, 4) / 10
NESTED = ("lstms", "grus", "mixed")


def form(found):
    """The lists and tuples of a result, and the shapes in them."""
    if isinstance(found, (list, tuple)):
        return ["tuple" if isinstance(found, tuple) else "list", *map(form, found)]
    return found if isinstance(found, int) else [*found.shape]


def numbers(keras, found):
    if isinstance(found, (list, tuple)):
        return [numbers(keras, each) for each in found]
    return np.asarray(keras.ops.convert_to_numpy(found))


def result(keras, found):
    return [form(found), numbers(keras, found)]


def weights(keras):
    return {"kernel_initializer": "ones", "recurrent_initializer": keras.initializers.Constant(0.1)}


def cells(keras, kind):
    classes = {
        "lstms": (keras.layers.LSTMCell, keras.layers.LSTMCell),
        "grus": (keras.layers.GRUCell, keras.layers.GRUCell),
        "mixed": (keras.layers.SimpleRNNCell, keras.layers.LSTMCell),
    }[kind]
    return [make(units, **weights(keras)) for make, units in zip(classes, (2, 3), strict=True)]


def filled(size):
    return np.full((2, size), 0.5, "float32")


def case_states_of_stacked_cells_are_in_a_list_for_each(keras):
    eager = keras.layers.RNN(cells(keras, "lstms"), return_state=True)
    found = {"eager": result(keras, eager(X)), "shape": str(eager.compute_output_shape((2, 3, 4)))}
    for kind in NESTED:
        inputs = keras.Input((3, 4))
        outputs = keras.layers.RNN(cells(keras, kind), return_state=True, return_sequences=True)(inputs)
        model = keras.Model(inputs, outputs)
        found[kind] = [form(outputs), result(keras, model.predict(X, verbose=0))]
    return found


def case_outputs_with_states_are_a_tuple(keras):
    made = {
        "LSTM": keras.layers.LSTM(2, return_state=True, **weights(keras)),
        "GRU": keras.layers.GRU(2, return_state=True, return_sequences=True, **weights(keras)),
        "SimpleRNN": keras.layers.SimpleRNN(2, return_state=True, **weights(keras)),
        "both ways": keras.layers.Bidirectional(keras.layers.LSTM(2, return_state=True, **weights(keras))),
        "both apart": keras.layers.Bidirectional(
            keras.layers.GRU(2, return_state=True, **weights(keras)), merge_mode=None
        ),
        "both ways, stacked": keras.layers.Bidirectional(keras.layers.RNN(cells(keras, "lstms"), return_state=True)),
    }
    inputs = keras.Input((3, 4))
    return {name: [result(keras, layer(X)), form(layer(inputs))] for name, layer in made.items()}


def case_sizes(keras):
    found = {}
    for kind in NESTED:
        stacked = keras.layers.StackedRNNCells(cells(keras, kind))
        found[kind] = [form(stacked.state_size), stacked.output_size, form(keras.layers.RNN(stacked).state_size)]
    for name in ("SimpleRNN", "LSTM", "GRU"):
        cell = getattr(keras.layers, f"{name}Cell")(3)
        layer = getattr(keras.layers, name)(3)
        found[name] = [form(layer.state_size), form(cell.state_size), cell.output_size]
        found[name].append(form(keras.layers.RNN(cell).state_size))
    return {name: str(each).replace("TrackedList", "list") for name, each in found.items()}


def case_initial_states(keras):
    found = {}
    for kind in NESTED:
        stacked = keras.layers.StackedRNNCells(cells(keras, kind))
        layer = keras.layers.RNN(cells(keras, kind))
        states = stacked.get_initial_state(batch_size=2), layer.get_initial_state(2)
        found[kind] = [*map(form, states), result(keras, layer.get_initial_state(batch_size=2))]
    for name in ("SimpleRNN", "LSTM", "GRU"):
        layer, cell = getattr(keras.layers, name)(3), getattr(keras.layers, f"{name}Cell")(3)
        states = layer.get_initial_state(2), layer.get_initial_state(batch_size=2), cell.get_initial_state(2)
        found[name] = [*map(form, states), result(keras, cell.get_initial_state(batch_size=2))]
    return found


def case_cells_by_hand(keras):
    found = {}
    for kind in NESTED:
        stacked = keras.layers.StackedRNNCells(cells(keras, kind))
        found[kind] = result(keras, stacked(X[:, 0], stacked.get_initial_state(batch_size=2)))
    for name in ("SimpleRNN", "LSTM", "GRU"):
        cell = getattr(keras.layers, f"{name}Cell")(3, **weights(keras))
        found[name] = result(keras, cell(X[:, 0], cell.get_initial_state(batch_size=2)))
    return found


def case_initial_states_that_are_given(keras):
    given = {
        "lstms": [[[filled(2)] * 2, [filled(3)] * 2], ([filled(2)] * 2, [filled(3)] * 2)],
        "grus": [[filled(2), filled(3)], (filled(2), filled(3))],
        "mixed": [[filled(2), [filled(3)] * 2]],
    }
    found = {}
    for kind, forms in given.items():
        layer = keras.layers.RNN(cells(keras, kind), return_state=True)
        found[kind] = [result(keras, layer(X, initial_state=states)) for states in forms]
    for name, forms in {
        "SimpleRNN": [filled(3), [filled(3)], (filled(3),)],
        "GRU": [filled(3), [filled(3)]],
        "LSTM": [[filled(3), filled(3)], (filled(3), filled(3))],
    }.items():
        layer = getattr(keras.layers, name)(3, return_state=True, **weights(keras))
        found[name] = [result(keras, layer(X, initial_state=states)) for states in forms]
    return found


def own_cells(keras):
    class One(keras.layers.Layer):
        def __init__(self, units, **options):
            super().__init__(**options)
            self.units = self.state_size = units

        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="ones", name="kernel")

        def call(self, x, states):
            found = keras.ops.matmul(x, self.kernel) + 0.5 * states[0]
            return found, [found]

    class Bare(One):
        def call(self, x, states):
            found = super().call(x, states)[0]
            return found, found

    class Listed(One):
        def __init__(self, units, **options):
            super().__init__(units, **options)
            self.state_size = [units]

    class Two(One):
        def __init__(self, units, **options):
            super().__init__(units, **options)
            self.state_size, self.output_size = (units, 1), units

        def call(self, x, states):
            found = keras.ops.matmul(x, self.kernel) + 0.5 * states[0] + states[1]
            return found, [found, states[1] + 1]

    class Begun(One):
        def get_initial_state(self, batch_size=None):
            return [keras.ops.ones((batch_size, self.units))]

    return One, Bare, Listed, Two, Begun


def case_own_cells(keras):
    found = {}
    for make in own_cells(keras):
        inputs = keras.Input((3, 4))
        model = keras.Model(inputs, keras.layers.RNN(make(3), return_state=True)(inputs))
        found[make.__name__] = [result(keras, model.predict(X, verbose=0))]
        for whole in (False, True):
            layer = keras.layers.RNN(make(3), return_state=True, return_sequences=whole)
            found[make.__name__] += [result(keras, layer(X)), form(layer.get_initial_state(2))]
        if make.__name__ in ("One", "Two"):
            layer = keras.layers.RNN([make(3), make(2)], return_state=True)
            found[make.__name__].append(result(keras, layer(X)))
    return found


def case_stacked_cells_train(keras):
    found = {}
    for kind in NESTED:
        inputs = keras.Input((3, 4))
        last, *_ = keras.layers.RNN(cells(keras, kind), return_state=True)(inputs)
        model = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="ones")(last))
        model.compile("sgd", "mse")
        history = model.fit(X, np.ones((2, 1)), verbose=0, epochs=2).history["loss"]
        found[kind] = [float(loss) for loss in history]
    return found
