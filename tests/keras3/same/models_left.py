"""Tables of models, what predictions and steps of one's own get, configs of schedules."""

import numpy as np


def graph_model(keras):
    inputs = keras.Input((4,), name="i")
    x = keras.layers.Dense(8, name="a_layer_of_a_long_name_without_spaces")(inputs)
    inner = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(8, name="n1"), keras.layers.Dropout(0.5, name="n2")], name="inner"
    )
    inner.trainable = False
    y = keras.layers.BatchNormalization(name="norm")(inner(x))
    return keras.Model(inputs, keras.layers.Dense(1, name="out")(keras.layers.Add(name="add")([x, y])), name="graph")


def chain(keras):
    return keras.Sequential(
        [keras.Input((8, 8, 3)), keras.layers.Conv2D(300, 3, name="conv"), keras.layers.Flatten(name="flat")],
        name="chain",
    )


def table(model, **options):
    """The text of a table, whether it is printed at once or by lines."""
    lines = []
    model.summary(print_fn=lambda line, *further, **options: lines.append(line), **options)
    return "\n".join(lines).rstrip("\n")


def case_table_of_a_chain(keras):
    return [
        table(chain(keras), line_length=60),
        table(chain(keras), line_length=70, show_trainable=True),
        table(chain(keras), line_length=60, positions=[0.3, 0.6, 1.0]),
        table(chain(keras), line_length=60, positions=[0.2, 0.4, 0.6]),
        table(chain(keras), line_length=60, layer_range=["conv", "conv"]),
    ]


def case_table_of_a_graph(keras):
    return [
        table(graph_model(keras), line_length=76),
        table(graph_model(keras), line_length=78, expand_nested=True, show_trainable=True),
        table(graph_model(keras), line_length=50),
        table(graph_model(keras), line_length=70, layer_range=["a_layer", "norm"]),
    ]


def case_table_of_a_trained_model(keras):
    model = graph_model(keras)
    model.compile(keras.optimizers.Adam(), "mse")
    before = table(model, line_length=70)
    model.fit(np.ones((2, 4)), np.ones((2, 1)), verbose=0)
    return [before, table(model, line_length=70)]


def case_table_before_and_after_building(keras):
    model = keras.Sequential([keras.layers.Dense(3, name="d")], name="later")
    before = table(model, line_length=60)
    model.build((None, 2))
    return [before, table(model, line_length=60)]


def case_configs_of_schedules_keep_integers(keras):
    schedules = keras.optimizers.schedules
    made = [
        schedules.ExponentialDecay(1, 10, 1),
        schedules.PiecewiseConstantDecay([1, 2], [1, 0.5, 0]),
        schedules.PolynomialDecay(1, 10, power=2),
        schedules.InverseTimeDecay(1.0, 10, 2),
        schedules.CosineDecay(0, 10, warmup_target=1, warmup_steps=3),
        schedules.CosineDecayRestarts(1, 10, t_mul=2),
    ]
    return [repr(sorted(each.get_config().items())) for each in made]


def kinds(value):
    if isinstance(value, dict):
        return {key: kinds(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(kinds, value)]
    return "array" if isinstance(value, np.ndarray) else "tensor"


def case_a_prediction_step_gets_the_inputs(keras):
    seen = []

    class Own(keras.Model):
        def call(self, x):
            return x

        def predict_step(self, data):
            seen.append(kinds(data))
            x = data[0] if isinstance(data, tuple) else data
            return x[0] if isinstance(x, list) else x

    x = np.ones((2, 3), "float32")
    for each in (x, [x, x]):
        model = Own()
        model.compile()
        model.predict(each, verbose=0)
    return seen


def case_outputs_in_a_tuple_stay_one(keras):
    class Own(keras.Model):
        def __init__(self, form):
            super().__init__()
            self.first, self.second = keras.layers.Dense(1), keras.layers.Dense(2)
            self.form = form

        def call(self, x):
            return self.form((self.first(x), self.second(x)))

    def functional(form):
        inputs = keras.Input((3,))
        return keras.Model(inputs, form((keras.layers.Dense(1)(inputs), keras.layers.Dense(2)(inputs))))

    x = np.ones((2, 3), "float32")
    found = {}
    for form in (tuple, list):
        for make in (Own, functional):
            model = make(form)
            found[f"{make.__name__} of a {form.__name__}"] = [
                kinds(each) for each in (model(x), model.predict(x, verbose=0), model.predict_on_batch(x))
            ]
    return found
