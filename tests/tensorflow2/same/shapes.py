"""Shapes, slices that go backwards, values of variables, and weights that wait for a model to be built."""

import os
import tempfile

import numpy as np

X = np.arange(24, dtype="float32").reshape(2, 3, 4)
BACKWARDS = {
    "first": np.s_[::-1],
    "second": np.s_[:, ::-1],
    "last": np.s_[..., ::-2],
    "bounds": np.s_[1, 2:0:-1],
    "all": np.s_[None, ::-1, :, 3:0:-2],
    "empty": np.s_[:, 0:2:-1],
    "numbers": np.s_[..., 0, ::-1],
}


def facts(shape):
    return {
        "list": shape.as_list(),
        "rank": shape.rank,
        "ndims": shape.ndims,
        "rest": shape[1:].as_list(),
        "known": shape.is_fully_defined(),
        "elements": shape.num_elements(),
        "longer": shape.concatenate([7]).as_list(),
        "fits": shape.is_compatible_with([2, 3, 4]),
        "text": str(tuple(shape)),
    }


def case_shapes(tf):
    symbolic, one = tf.keras.Input((3, 4)), tf.zeros((5,))
    kernel = tf.keras.layers.Dense(2)
    kernel.build((None, 4))
    return {
        "tensor": facts(tf.constant(X).shape),
        "symbolic": facts(symbolic.shape),
        "variable": facts(tf.Variable(X).shape),
        "weight": kernel.kernel.shape.as_list(),
        "output": tf.keras.layers.Dense(2)(symbolic).shape.as_list(),
        "sum": [(symbolic.shape + symbolic.shape[1:]).as_list(), (symbolic.shape[1:] + one.shape).as_list()],
        "print": str(symbolic.shape),
    }


def case_build(tf):
    class Scaled(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.sizes = input_shape.as_list()
            self.scale = self.add_weight(name="scale", shape=input_shape[1:].as_list(), initializer="ones")

        def call(self, inputs):
            return inputs * self.scale

    symbolic = Scaled()
    symbolic(tf.keras.Input((3, 4)))
    by_hand = Scaled()
    by_hand(tf.constant(X))
    return {"symbolic": [symbolic.sizes, symbolic.scale.shape.as_list()], "by hand": by_hand.sizes}


def case_backwards(tf):
    found = {name: tf.constant(X)[index].numpy() for name, index in BACKWARDS.items()}
    variable = tf.Variable(X)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(variable[:, ::-1] * X)
    inputs = tf.keras.Input((3, 4))
    model = tf.keras.Model(inputs, inputs[:, ::-1, 2:0:-1])
    return {**found, "gradient": tape.gradient(total, variable).numpy(), "model": model.predict(X, verbose=0)}


def case_arrays(tf):
    numbers = [tf.constant(1.0), tf.reduce_sum(tf.constant([2.0, 3.0]))]
    weight = tf.Variable(4.0)
    with tf.GradientTape():
        square = weight**2
    return {
        "mean": float(np.mean(numbers)),
        "array": np.array(numbers),
        "numbers": [np.asarray(square), np.asarray(square, "float64"), np.mean([square, square])],
        "kinds": [
            type(np.asarray(square)).__name__,
            type(square.numpy()).__name__,
            str(np.asarray(square, "int32").dtype),
        ],
    }


def case_values(tf):
    weight, count = tf.Variable([1.0, 2.0]), tf.Variable(1, trainable=False)
    before, counted = weight.value(), count.value()
    weight.assign([5.0, 6.0])
    count.assign_add(4)
    with tf.GradientTape() as tape:
        square = weight.value() ** 2
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    layer.build((None, 3))
    return {
        "before": [before.numpy(), counted.numpy()],
        "after": [weight.value().numpy(), count.value().numpy()],
        "gradient": tape.gradient(square, weight).numpy(),
        "layer": [layer.kernel.value().numpy(), layer.bias.value().shape.as_list()],
    }


def case_waiting_weights(tf):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.out = tf.keras.layers.Dense(2, kernel_initializer="zeros")

        def call(self, inputs):
            return self.out(inputs)

    x, found = X[0], {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights")
        Net().save_weights(os.path.join(folder, "none"))
        trained = Net()
        trained(x)
        trained.set_weights([np.arange(8, dtype="float32").reshape(4, 2), np.ones(2, "float32")])
        trained.save_weights(path)
        for name in ("call", "predict", "fit", "data"):
            net = Net()
            net.load_weights(path)
            if name == "predict":
                found[name] = net.predict(x, verbose=0)
            elif name == "data":
                found[name] = net.predict(tf.data.Dataset.from_tensor_slices(x).batch(2), verbose=0)
            elif name == "fit":
                net.compile(tf.keras.optimizers.SGD(1e-3), "mse")
                net.fit(x, np.zeros((3, 2), "float32"), verbose=0)
            found[name] = found.get(name, net(tf.constant(x)).numpy())
    return found


def case_checks(tf):
    def raises(check):
        try:
            check()
        except (ValueError, tf.errors.InvalidArgumentError):
            return True
        return False

    one, other = tf.zeros((2, 3)), tf.zeros((3, 4))
    return {
        "ensured": tf.ensure_shape(one, [None, 3]).shape.as_list(),
        "refused": raises(lambda: tf.ensure_shape(one, [2, 4])),
        "same": raises(lambda: tf.debugging.assert_shapes([(one, ("N", "D")), (other, ("D", 4))])),
        "another": raises(lambda: tf.debugging.assert_shapes([(one, ("N", "D")), (other, ("N", 4))])),
        "rank": raises(lambda: tf.debugging.assert_shapes([(one, ("N",))])),
    }


def case_structures(tf):
    weights = {"b": [tf.Variable(2.0), tf.Variable(3.0)], "a": (tf.Variable(5.0),)}
    with tf.GradientTape() as tape:
        product = weights["b"][0] * weights["b"][1] * weights["a"][0]
    found = tape.gradient(product, weights)
    pair = tf.map_fn(
        lambda each: {"sum": each[0] + each[1]},
        (tf.constant([1.0, 2.0]), tf.constant([10.0, 20.0])),
        fn_output_signature={"sum": tf.float32},
    )
    return {"b": [each.numpy() for each in found["b"]], "a": found["a"][0].numpy(), "map": pair["sum"].numpy()}


def case_own_inputs(tf):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.inputs = tf.keras.Input((4,))
            self.out = tf.keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, inputs):
            return self.out(inputs)

    net = Net()
    return [list(net.inputs.shape), net(X[0]).numpy()]
