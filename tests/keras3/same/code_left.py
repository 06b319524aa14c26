"""What remained of Keras 3's code: losses after a run, variables in graphs, types of symbols, nested losses, hooks."""

import numpy as np

X = np.arange(18, dtype="float32").reshape(6, 3) / 10
Y = X[:, :1]


def numbers(keras, values):
    return [float(keras.ops.convert_to_numpy(each)) for each in values]


# --- losses after a run ----------------------------------------------------------------------------------------------


def adding(keras, in_training_alone=False):
    class Adding(keras.layers.Layer):
        def call(self, x, training=False):
            if training or not in_training_alone:
                self.add_loss(keras.ops.mean(x) * 2)
            return x

    return Adding()


def case_losses_of_a_graph_after_a_run(keras):
    added = adding(keras)
    dense = keras.layers.Dense(1, kernel_initializer="ones", activity_regularizer="l2", kernel_regularizer="l1")
    inputs = keras.Input((3,))
    model = keras.Model(inputs, dense(added(inputs)))
    model.compile("sgd", "mse")
    found = []
    for run in (
        lambda: None,
        lambda: model.fit(X, Y, batch_size=2, shuffle=False, verbose=0),
        lambda: model.evaluate(X[:2], Y[:2], verbose=0),
        lambda: model.predict(X[:3], verbose=0),
        lambda: model(X[:1]),
        lambda: model.fit(X, Y, batch_size=2, validation_data=(X[:1], Y[:1]), shuffle=False, verbose=0),
        lambda: added(3 * X),
    ):
        run()
        found.append([numbers(keras, each.losses) for each in (model, added, dense)])
    return found


def case_losses_of_own_code_after_a_run(keras):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1, activity_regularizer="l2", kernel_initializer="ones")
            self.inside = adding(keras)

        def call(self, x):
            self.add_loss(keras.ops.sum(x))
            return self.dense(self.inside(x))

    model = Own()
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=2, shuffle=False, verbose=0)
    return [numbers(keras, each.losses) for each in (model, model.inside, model.dense)]


def case_a_loss_of_training_alone_is_gone_after_inference(keras):
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(1)(adding(keras, in_training_alone=True)(inputs)))
    model.compile("sgd", "mse")
    found = []
    for run in (
        lambda: model.fit(X, Y, verbose=0),
        lambda: model(X),
        lambda: model.fit(X, Y, verbose=0),
        lambda: model.evaluate(X, Y, verbose=0),
    ):
        run()
        found.append(len(model.losses))
    return found
