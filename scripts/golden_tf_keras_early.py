"""Files by TensorFlow 1.13 to 2.0, of layers that they write or compute otherwise. All call themselves 2.2.4-tf.

    python golden_tf_keras_early.py tests/golden/tf.keras-2.2.4-tf      # under each of TensorFlow 1.13, 1.14, 1.15, 2.0

Each model becomes `VERSION-NAME.h5`, with its inputs and outputs in `VERSION-NAME.npz`. See
`tests/saving/test_tf_keras_early.py`.
"""

import os
import sys

import numpy as np
import tensorflow as tf

K, L, models = tf.keras.backend, tf.keras.layers, tf.keras.models
version = ".".join(tf.__version__.split(".")[:2])
random = np.random.RandomState(3)
IMAGE, STEPS = (3, 4, 2), (5, 3)


def recurrent(kind, **options):
    """A Bidirectional of a recurrent layer, after a Masking."""
    return lambda x: L.Bidirectional(getattr(L, kind)(2, return_sequences=True, **options))(L.Masking()(x))


MODELS = {
    "bilinear": (IMAGE, lambda x: L.UpSampling2D((2, 3), interpolation="bilinear")(x)),
    "nearest": (IMAGE, lambda x: L.UpSampling2D((2, 3))(x)),
    "causal": (STEPS, lambda x: L.Attention(causal=True)([x, x])),
    "bidirectional_lstm": (STEPS, recurrent("LSTM")),
    "bidirectional_gru": (STEPS, recurrent("GRU")),
    "bidirectional_relu": (STEPS, recurrent("LSTM", activation="relu")),
    "bidirectional_simple": (STEPS, recurrent("SimpleRNN")),
    "loss_without_name": (STEPS, lambda x: L.Dense(2)(x)),
}


def main(folder):
    if not os.path.isdir(folder):
        os.makedirs(folder)
    for name, (shape, call) in sorted(MODELS.items()):
        K.clear_session()
        place = os.path.join(folder, f"{version}-{name}")
        inputs = L.Input(shape)
        try:
            model = models.Model(inputs, call(inputs))
            if name == "loss_without_name":
                model.compile("sgd", tf.keras.losses.Hinge())
            model.set_weights([random.uniform(-0.6, 0.6, w.shape) for w in model.get_weights()])
            model.save(place + ".h5")
        except (AttributeError, NotImplementedError) as error:
            print(place, error)  # 1.13 has no Attention and no classes of losses; 2.0 cannot save an Attention
            continue
        x = random.uniform(-1, 1, (2, *shape)).astype("float32")
        if shape == STEPS:
            x[0, 3:], x[1, 0], x[1, 2] = 0, 0, 0  # padding, and gaps
        np.savez(place + ".npz", x=x, y=model.predict(x))


main(sys.argv[1])
