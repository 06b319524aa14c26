"""What scripts take of a compiled model as symbolic tensors, and calls that layers record themselves."""

import pytest
from old_scripts import passed

PRELUDE = """
import torchkeras.as_keras
import numpy as np
import pytest
from keras import backend as K, optimizers, regularizers
from keras.engine.topology import Layer
from keras.layers import Dense, Embedding, Input, LSTM
from keras.models import Model

random = np.random.default_rng(0)
x, y = random.random((6, 4)).astype("float32"), np.eye(3, dtype="float32")[[0, 1, 2, 0, 1, 2]]
weights = np.arange(6.0)
inputs = Input((4,))
hidden = Dense(5, activation="tanh", kernel_regularizer=regularizers.l2(0.1))(inputs)
model = Model(inputs, Dense(3, activation="softmax")(hidden))


def moved(step):
    before = model.get_weights()
    step()
    return [old - new for old, new in zip(before, model.get_weights())]
"""

LOSS = """
model.compile(optimizers.SGD(1.0), "categorical_crossentropy")
fed = [model.inputs[0], model.sample_weights[0], model.targets[0], K.learning_phase()]
compute = K.function(fed, [model.total_loss] + K.gradients(model.total_loss, model.trainable_weights))
loss, *gradients = compute([x, weights, y, 0])
assert np.allclose(loss, model.test_on_batch(x, y, sample_weight=weights))
for gradient, step in zip(gradients, moved(lambda: model.train_on_batch(x, y, sample_weight=weights))):
    assert np.allclose(gradient, step, atol=1e-6) and np.abs(step).max() > 1e-4
"""

SPARSE = """
model.compile("sgd", "sparse_categorical_crossentropy")
assert K.int_shape(model.targets[0]) == (None, 1)
compute = K.function([*model.inputs, *model.targets, *model.sample_weights], [model.total_loss])
assert np.allclose(compute([x, y.argmax(1)[:, None], np.ones(6)])[0], model.test_on_batch(x, y.argmax(1)))
"""

CLIPPED = """
for options in ({"clipnorm": 0.1}, {"clipvalue": 0.01}):
    model.compile(optimizers.SGD(1.0, **options), "categorical_crossentropy")
    gradients = model.optimizer.get_gradients(model.total_loss, model.trainable_weights)
    found = K.function([*model.inputs, *model.targets, *model.sample_weights], gradients)([x, y, np.ones(6)])
    for gradient, step in zip(found, moved(lambda: model.train_on_batch(x, y))):
        assert np.allclose(gradient, step, atol=1e-6)
with pytest.raises(ValueError, match="does not depend on weight 0"):
    model.optimizer.get_gradients(K.mean(inputs), model.trainable_weights)
with pytest.raises(TypeError, match="takes a symbolic loss"):
    model.optimizer.get_gradients(K.constant(1.0), model.trainable_weights)
"""

METRICS = """
model.compile("sgd", "categorical_crossentropy", metrics=["acc"])
plain = K.function([inputs], [K.mean(K.sum(K.square(hidden), 1)), K.max(hidden)])([x])
model.metrics_names.append("norm")
assert model.metrics_names == ["loss", "acc", "norm"]
model.metrics_tensors.append(K.mean(K.sum(K.square(hidden), 1)))
model.metrics_tensors += [K.max(hidden)]
model.metrics_names.append("most")
assert len(model.metrics_tensors) == 2
assert np.allclose(model.test_on_batch(x, y)[2:], plain)
assert list(model.fit(x, y, verbose=0).history) == ["loss", "acc", "norm", "most"]
model.compile("sgd", "categorical_crossentropy")
assert model.metrics_names == ["loss"] and model.metrics_tensors == []
"""

MASKED = """
words = Input((5,))
masked = Model(words, LSTM(2, return_sequences=True)(Embedding(9, 3, mask_zero=True)(words)))
with pytest.raises(RuntimeError, match="must compile"):
    masked.total_loss
masked.compile("sgd", "mse")
with pytest.raises(ValueError, match="total_loss is for models without masked outputs"):
    masked.total_loss
"""

NOTHING = """
with pytest.warns(UserWarning, match="^plain: add_loss is given None, which adds nothing"):
    Dense(2, name="plain").add_loss(None)
with pytest.warns(UserWarning, match=": add_loss is given None, which adds nothing"):
    model.add_loss(None)
"""

RECORDED = """
class Scaled(Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")
        super().build(shape)

    def call(self, x):
        return x * self.scale * 2.0

    def __call__(self, x):
        self.build(K.int_shape(x))
        found = self.call(x)
        shape = K.int_shape(x)
        self._add_inbound_node(input_tensors=[x], output_tensors=[found], input_masks=[None], output_masks=[None],
                               input_shapes=shape, output_shapes=shape)
        return found


class Doubled(Layer):
    def __call__(self, x):
        found = x * 2.0
        self._add_inbound_node([x], [found], [None], [None], None, None)
        return found


numbers = Input((4,))
recorded = Model(numbers, Doubled()(Scaled(name="scaled")(numbers)))
assert recorded.layers[1].name == "scaled" and recorded.count_params() == 4
assert np.allclose(recorded.predict(x), 4 * x)
recorded.set_weights([np.array([1.0, 2.0, 3.0, 4.0])])
assert np.allclose(recorded.predict(x), 4 * x * [1, 2, 3, 4])
"""


@pytest.mark.parametrize(
    "code",
    [LOSS, SPARSE, CLIPPED, METRICS, MASKED, NOTHING, RECORDED],
    ids=["loss", "sparse", "clipped", "metrics", "masked", "nothing", "recorded"],
)
def test_old_code_runs(code: str):
    passed(PRELUDE + code)
