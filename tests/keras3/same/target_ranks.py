"""The axes of the targets that losses and metrics of one's own get."""

import numpy as np

CLASSES = np.array([0, 2, 1, 2])


def case_classes_of_one_axis(keras):
    """A metric that compares class numbers with `argmax` counts each sample once."""

    class Hits(keras.metrics.Metric):
        def __init__(self, **options):
            super().__init__(**options)
            self.total = self.add_weight(name="total", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            hits = keras.ops.equal(keras.ops.cast(y_true, "int32"), keras.ops.argmax(y_pred, -1))
            hits = keras.ops.cast(hits, "float32")
            self.total.assign_add(keras.ops.sum(hits if sample_weight is None else hits * sample_weight))

        def result(self):
            return self.total

    found = {}
    steps = np.array([CLASSES, CLASSES])
    for name, inputs, shape, targets in [
        ("samples", np.arange(8.0).reshape(4, 2), (2,), CLASSES),
        ("steps", np.arange(16.0).reshape(2, 4, 2), (4, 2), steps),
    ]:
        kernel = keras.initializers.Constant(np.linspace(-0.4, 0.5, 6).reshape(2, 3))
        model = keras.Sequential(
            [keras.Input(shape), keras.layers.Dense(3, kernel_initializer=kernel, activation="softmax")]
        )
        model.compile("sgd", "sparse_categorical_crossentropy", metrics=[Hits(name="hits"), "accuracy"])
        weights = None if name == "steps" else np.arange(1.0, 5.0)
        found[name] = model.evaluate(inputs, targets, verbose=0, return_dict=True)
        found[f"{name} trained"] = model.fit(inputs, targets, sample_weight=weights, verbose=0, shuffle=False).history
    return found


def case_a_loss_of_ones_own(keras):
    """Numbers of one axis beside outputs of three units are compared along the last axis, as they come."""

    def distances(y_true, y_pred):
        ranks.append(len(y_true.shape))
        return keras.ops.mean((y_true - y_pred[:, 0]) ** 2 if len(y_true.shape) == 1 else (y_true - y_pred) ** 2)

    found = {}
    for units in (3, 1):
        ranks: list[int] = []
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(units, kernel_initializer="ones")])
        model.compile("sgd", distances)
        targets = np.array([1.0, 2.0, 3.0])
        found[units] = [
            model.evaluate(np.ones((3, 2)), targets, verbose=0),
            model.evaluate(np.ones((3, 2)), targets[:, None], verbose=0),
        ]
        found[f"axes for {units}"] = sorted(set(ranks))
    return {str(key): value for key, value in found.items()}
