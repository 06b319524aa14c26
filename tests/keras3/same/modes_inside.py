"""The mode of layers inside of layers and models of one's own, whose code does not hand `training` on."""

import numpy as np


def ramp(*shape):
    return (0.4 * np.sin(0.7 * np.arange(np.prod(shape)))).reshape(shape).astype("float32")


def classes(keras):
    """A layer that counts calls in training, a layer around it, and two models around that: one takes `training`."""

    class Counting(keras.layers.Layer):
        def build(self, input_shape):
            self.count = self.add_weight(shape=(), initializer="zeros", trainable=False, name="count")

        def call(self, inputs, training=None):
            if training:
                self.count.assign(self.count + 1)
            return inputs

    class Block(keras.layers.Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.counting = Counting()
            self.normalization = keras.layers.BatchNormalization()
            self.stack = keras.Sequential([keras.layers.Dense(3), keras.layers.BatchNormalization()])

        def call(self, inputs):
            return self.stack(self.normalization(self.counting(inputs)))

    class Whole(keras.Model):
        def __init__(self):
            super().__init__()
            self.block, self.last = Block(), keras.layers.Dense(1)

        def call(self, inputs):
            return self.last(self.block(inputs))

    class Asking(Whole):
        def call(self, inputs, training=None):
            return super().call(inputs)

    return Block, Whole, Asking


def after_each(model):
    """The weights that do not train, after a fit, an evaluation, a prediction and calls by hand."""
    x, y = 1 + ramp(8, 3), ramp(8, 1)
    model(x)
    model.set_weights([ramp(*weight.shape) + 1 for weight in model.get_weights()])
    found = {}
    for name, run in {
        "fit": lambda: model.fit(x, y, batch_size=4, shuffle=False, verbose=0),
        "train_on_batch": lambda: model.train_on_batch(x, y),
        "evaluate": lambda: model.evaluate(x, y, verbose=0),
        "test_on_batch": lambda: model.test_on_batch(x, y),
        "predict": lambda: model.predict(x, verbose=0),
        "call": lambda: model(x),
        "call in training": lambda: model(x, training=True),
    }.items():
        run()
        found[name] = [weight.numpy() for weight in model.non_trainable_weights]
    return found


def case_model_of_own_code(keras):
    """In `fit` the layers of a model train as such only if its `call` takes `training`, as Keras's guides say."""
    found = []
    for kind in classes(keras)[1:]:
        model = kind()
        model.compile(keras.optimizers.SGD(0.1), "mse")
        found.append(after_each(model))
    return found


def case_model_inside(keras):
    inputs = keras.Input((3,))
    model = keras.Model(inputs, classes(keras)[1]()(inputs))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return after_each(model)


def case_layer_in_a_graph(keras):
    block = classes(keras)[0]
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(1)(block()(inputs)))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return after_each(model)


def case_frozen_inside(keras):
    model = classes(keras)[2]()
    model.block.normalization.trainable = False
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return after_each(model)


def case_dropout_inside(keras):
    """A rate near 1 drops everything: the loss of a step is then that of the biases."""

    class Dropping(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.drop = keras.layers.Dropout(0.999999999)

        def call(self, inputs):
            return self.drop(inputs)

    class Whole(keras.Model):
        def __init__(self):
            super().__init__()
            self.dropping, self.last = Dropping(), keras.layers.Dense(1, use_bias=False)

        def call(self, inputs, training=None):
            return self.last(self.dropping(inputs))

    model, x, y = Whole(), ramp(8, 3), ramp(8, 1)
    model(x)
    model.set_weights([ramp(3, 1)])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    loss = model.fit(x, y, verbose=0).history["loss"][0]
    return loss, model.evaluate(x, y, verbose=0), model.predict(x, verbose=0)
