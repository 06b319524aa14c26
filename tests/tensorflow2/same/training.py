"""Gradients, steps of optimizers and training of `tf.keras`."""

import numpy as np

X = (np.arange(24) % 7 / 7.0).reshape(8, 3).astype("float32")
Y = (np.arange(8) % 3 / 2.0).reshape(8, 1).astype("float32")
IMAGES = (np.arange(2 * 6 * 6) % 11 / 10.0).reshape(2, 6, 6, 1).astype("float32")
TOLERANCES = dict.fromkeys(("fit", "layers", "optimizers", "loop", "penalty", "own_step"), (0.0001, 1e-05))


def arrays(values):
    if isinstance(values, (list, tuple)):
        return [arrays(each) for each in values]
    return None if values is None else np.asarray(values.numpy() if hasattr(values, "numpy") else values)


def weights(model):
    """Set the weights to numbers that are not random."""
    model.set_weights([np.sin(np.arange(each.size)).reshape(each.shape) * 0.5 for each in model.get_weights()])
    return model


def small(tf, **options):
    layers = tf.keras.layers
    return weights(
        tf.keras.Sequential([layers.Dense(4, activation=tf.nn.tanh, input_shape=(3,)), layers.Dense(1, **options)])
    )


def case_gradients(tf):
    x, w = tf.constant([1.0, 2.0]), tf.Variable([3.0, -1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * w
        loss = tf.reduce_sum(y**2)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            cube = x**3
        first = inner.gradient(cube, x)
    with tf.GradientTape() as rows:
        rows.watch(x)
        squares = x * x
    other = tf.Variable(1.0)
    return {
        "all": arrays([tape.gradient(loss, x), tape.gradient(loss, [w, x]), tape.gradient(y, w)]),
        "dict": {name: arrays(each) for name, each in tape.gradient(loss, {"w": w, "x": x}).items()},
        "none": arrays([tape.gradient(loss, other), tape.gradient(loss, other, unconnected_gradients="zero")]),
        "weighted": arrays(tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0]))),
        "second": arrays([first, outer.gradient(first, x)]),
        "jacobian": arrays(rows.jacobian(squares, x)),
    }


def case_custom_gradient(tf):
    @tf.custom_gradient
    def clipped(x):
        return x * 1.0, lambda gradient: tf.clip_by_value(gradient, -0.5, 0.5)

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.square(clipped(x)))
    return arrays([y, tape.gradient(y, x)])


def case_optimizers(tf):
    found = {}
    for name in ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam"):
        optimizer = getattr(tf.keras.optimizers, name)(learning_rate=0.1)
        w = tf.Variable([1.0, -2.0])
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(w))
            optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=False))
        found[name] = [arrays(w), int(optimizer.iterations.numpy())]
    w = tf.Variable([1.0, -2.0])
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)
    for _ in range(3):
        optimizer.minimize(lambda: tf.reduce_sum(w**2), [w])
    return {**found, "minimize": arrays(w)}


def case_decay(tf):
    w = tf.Variable([1.0, -2.0])
    optimizer = tf.keras.optimizers.legacy.SGD(learning_rate=0.1, decay=0.5)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=False))
    return arrays(w)


def case_loop(tf):
    model = small(tf, activation="sigmoid")
    optimizer, compute = tf.keras.optimizers.Adam(0.05), tf.keras.losses.BinaryCrossentropy()
    mean, accuracy = tf.keras.metrics.Mean(name="loss"), tf.keras.metrics.BinaryAccuracy()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            outputs = model(x, training=True)
            loss = compute(y, outputs)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=False))
        mean(loss)
        accuracy.update_state(y, outputs)
        return loss

    losses = [step(tf.constant(X), tf.constant(np.round(Y))) for _ in range(4)]
    found = {"losses": arrays(losses), "mean": arrays(mean.result()), "accuracy": arrays(accuracy.result())}
    mean.reset_states()
    return {**found, "weights": model.get_weights(), "reset": arrays(mean.result())}


def case_penalty(tf):
    critic = small(tf)
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(x)
            scores = critic(x)
        slopes = tf.sqrt(tf.reduce_sum(inner.gradient(scores, x) ** 2, axis=1))
        loss = tf.reduce_mean((slopes - 1.0) ** 2)
    return {"loss": arrays(loss), "gradients": arrays(tape.gradient(loss, critic.trainable_variables)[:3:2])}


def case_fit(tf):
    tf.keras.backend.clear_session()  # the numbers in names
    model = small(tf)
    model.compile(
        optimizer=tf.keras.optimizers.SGD(0.1), loss="mse", metrics=["mae", tf.keras.metrics.RootMeanSquaredError()]
    )
    history = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0, validation_data=(X, Y))
    return {
        "history": history.history,
        "evaluated": model.evaluate(X, Y, verbose=0),
        "predicted": model.predict(X, verbose=0),
        "on_batch": model.predict_on_batch(X),
        "names": [each.name for each in model.layers],
    }


def case_accuracy(tf):
    layers = tf.keras.layers
    model = weights(tf.keras.Sequential([layers.Dense(3, activation="softmax", input_shape=(3,))]))
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["acc"])
    one = model.fit(X, np.arange(8) % 3, epochs=1, batch_size=8, verbose=0).history
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    two = model.fit(X, np.eye(3)[np.arange(8) % 3], epochs=1, batch_size=8, verbose=0).history
    return [one, two]


def case_own_step(tf):
    class Own(tf.keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=False))
            return {"loss": loss}

    inputs = tf.keras.Input((3,))
    model = weights(Own(inputs, tf.keras.layers.Dense(1)(inputs)))
    model.compile(optimizer=tf.keras.optimizers.SGD(0.1))
    return [model.fit(X, Y, batch_size=8, epochs=3, verbose=0).history, model.get_weights()]


def case_layers(tf):
    layers = tf.keras.layers

    class Scale(layers.Layer):
        def __init__(self, units, **options):
            super().__init__(**options)
            self.units = units

        def build(self, input_shape):
            self.kernel = self.add_weight(
                "kernel", shape=(input_shape[-1], self.units), initializer="ones", trainable=True
            )
            self.bias = self.add_weight(
                name="bias", shape=[self.units], initializer=tf.keras.initializers.Constant(0.5)
            )

        def call(self, inputs):
            return tf.matmul(inputs, self.kernel) + self.bias

    steps = tf.keras.Sequential([layers.Embedding(5, 4), layers.GRU(3, return_sequences=True), layers.LSTM(2)])
    numbers = np.array([[1, 2, 3], [4, 0, 1]])
    steps(numbers)
    images = tf.keras.Sequential(
        [
            layers.Conv2D(2, 3, padding="same", activation="relu", input_shape=(6, 6, 1)),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.UpSampling2D(interpolation="bilinear"),
            layers.LeakyReLU(alpha=0.1),
            layers.GlobalAveragePooling2D(),
        ]
    )
    inputs = tf.keras.Input(shape=(3,))
    functional = tf.keras.Model(inputs, tf.concat([tf.square(inputs), inputs[:, :1] * 2.0], axis=-1))
    return {
        "own": arrays(Scale(2)(X)),
        "steps": arrays(weights(steps)(numbers)),
        "images": arrays(weights(images)(IMAGES)),
        "functional": arrays(functional(X)),
        "shapes": [list(functional.output_shape), list(images.output_shape)],
    }


def case_older_names(tf):
    K = tf.keras.backend
    model = small(tf)
    model.compile(tf.keras.optimizers.legacy.Adam(lr=0.01), "mse")
    K.set_value(model.optimizer.lr, 0.5)
    return {
        "rate": [float(K.get_value(model.optimizer.lr)), float(model.optimizer.learning_rate.numpy())],
        "backend": arrays(
            [K.mean(tf.constant(X)), K.sum(tf.constant(X), axis=1), K.square(tf.constant(X)), K.epsilon()]
        ),
        "losses": arrays(
            [
                tf.keras.losses.MSE(Y, Y * 0.5),
                tf.keras.losses.mean_absolute_error(Y, Y * 0.5),
                tf.keras.losses.MeanSquaredError(reduction=tf.keras.losses.Reduction.NONE)(X, X * 0.5),
                tf.keras.losses.MeanSquaredError(reduction=tf.keras.losses.Reduction.SUM)(X, X * 0.5),
                tf.losses.CategoricalCrossentropy(from_logits=True)([[0.0, 1.0]], [[0.5, 2.0]]),
                tf.losses.Huber()(X, X * 4),
            ]
        ),
        "utils": arrays([tf.keras.utils.to_categorical([0, 2], 3), tf.keras.utils.normalize(X)]),
        "padded": tf.keras.preprocessing.sequence.pad_sequences([[1, 2], [3]], maxlen=3, padding="post"),
    }
