"""Cases for `test_old_models.py`, which runs this file as a program: what scripts of Keras 2 do with models.

Each function is a case. The alias changes the classes of its process, so no test of the package may share it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from types import FunctionType

import torchkeras.as_keras  # noqa: F401  # isort: skip  (a script's first line)

import h5py
import keras
import numpy as np
import old_data
import pytest
from keras import backend as K, initializers, layers, metrics, optimizers
from keras.engine import Input, get_source_inputs, saving, training_utils
from keras.engine.training import make_batches
from keras.models import Model, Sequential, clone_model, load_model, save_model

from torchkeras.base import bytecode
from torchkeras.errors import ForbiddenContentError

HELPERS = ("main", "small", "two_layers", "two_outputs")


def raises(kind, call, text=""):
    with pytest.raises(kind) as found:
        call()
    assert text in str(found.value)


def small(**options):
    model = Sequential([layers.Dense(3, input_shape=(4,), **options), layers.Dense(2)])
    model.compile("sgd", "mse")
    return model


def weights_are_equal_as_often_as_they_are_asked_for():
    model = small()
    assert model.trainable_weights == model.weights == [*model.layers[0].weights, *model.layers[1].weights]
    assert model.layers[0].weights != model.layers[1].weights
    assert len({*model.weights, *model.weights}) == 4


def numpys_seed_makes_the_weights():
    found = []
    for seed in (7, 7, 8):
        np.random.seed(seed)  # noqa: NPY002  (as scripts do)
        found.append(small().get_weights()[0])
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def losses_list_penalties_of_weights_and_of_outputs():
    model = small(kernel_regularizer="l1", activity_regularizer="l2")
    assert len(model.losses) == 2
    model.add_loss(K.mean(model.output))
    model.add_loss(3)
    assert len(model.losses) == 4


def a_number_that_is_added_counts():
    model = small()
    x, y = np.zeros((2, 4)), np.zeros((2, 2))
    model.add_loss(3)
    model.compile("sgd", "mse")
    assert model.test_on_batch(x, y) == 3.0


def a_layers_symbolic_loss_is_trained():
    x = Input((2,))
    layer = layers.Dense(2, use_bias=False, kernel_initializer="ones")
    y = layer(x)
    layer.add_loss(K.sum(y) * 0 + 5, inputs=x)
    layer.add_loss(1, inputs=None)
    assert len(layer.get_losses_for(x)) == 1
    assert layer.get_losses_for(None) == [1]
    model = Model(x, y)
    model.compile("sgd", "mse")
    model.compile("sgd", "mse")
    assert model.test_on_batch(np.ones((1, 2)), 2 * np.ones((1, 2))) == 6.0


def what_trains_is_what_did_when_the_model_was_compiled():
    x = layers.Input((3,))
    model = Model(x, layers.Dense(1)(layers.Dense(2)(x)))
    model.compile("sgd", "mse")
    model.trainable = False
    assert model.trainable_weights == []
    assert model._collected_trainable_weights == model.non_trainable_weights
    model.layers[1].trainable = False
    model.trainable = True
    model.compile("sgd", "mse")
    assert model._collected_trainable_weights == model.layers[2].weights


def updates_are_there_while_statistics_train():
    model = Sequential([layers.BatchNormalization(input_shape=(4,))])
    outer = Model(model.inputs, Model(model.inputs, model.outputs)(model.inputs))
    assert len(model.updates) == len(outer.updates) == 2
    K.function([*model.inputs, K.learning_phase()], model.outputs, updates=model.updates)([np.full((8, 4), 5.0), 1])
    assert np.allclose(model.get_weights()[2], 5.0)
    model.trainable = False
    assert model.updates == []


def the_phase_is_known_of_tensors_layers_and_models():
    x = Input((4,))
    plain, dropped = layers.Dense(2)(x), layers.Dropout(0.5)(x)
    assert not plain._uses_learning_phase
    assert layers.concatenate([plain, dropped])._uses_learning_phase
    assert Model(x, [plain, dropped]).uses_learning_phase
    assert not Model(x, layers.Dropout(0.5)(x, training=True)).uses_learning_phase
    assert not layers.Dropout(0.0)(x)._uses_learning_phase
    plain._uses_learning_phase = True
    assert Model(x, plain).uses_learning_phase


def a_graph_tells_depths_nodes_and_masks():
    x = Input((4,), name="x")
    dense = layers.Dense(2, name="dense")
    model = Model(x, layers.Activation("relu", name="relu")(dense(x)))
    assert {depth: [each.name for each in found] for depth, found in model._layers_by_depth.items()} == {
        2: ["x"],
        1: ["dense"],
        0: ["relu"],
    }
    node = dense._inbound_nodes[0]
    assert node.outbound_layer is dense
    assert node.get_config()["inbound_layers"] == ["x"]
    assert node.input_masks == node.output_masks == [None]
    assert model.compute_mask(x, None) is None
    assert get_source_inputs(model.output)[0] is x


def functions_of_a_step_take_lists():
    model = small()
    model._make_train_function()
    model._make_predict_function()
    x, y, w = np.ones((2, 4)), np.ones((2, 2)), np.ones(2)
    before = model.test_function([x, y, w, 0])
    model.train_function([x, y, w, 1])
    assert model.test_function([x, y, w, 0])[0] < before[0]
    assert model.predict_function([x, 0])[0].shape == (2, 2)
    raises(RuntimeError, Sequential([layers.Dense(1, input_shape=(1,))])._make_train_function)


def data_is_standardized_by_hand():
    x, y, w = small()._standardize_user_data(np.ones((3, 4)), np.eye(2)[[0, 0, 0]], class_weight={0: 2.0})
    assert (x[0].shape, y[0].shape, w[0].tolist()) == ((3, 4), (3, 2), [2.0, 2.0, 2.0])
    assert make_batches(5, 2) == [(0, 2), (2, 4), (4, 5)]
    assert sorted(training_utils.batch_shuffle(np.arange(5), 2)) == [0, 1, 2, 3, 4]
    assert training_utils.collect_metrics({"a": "mse"}, ["a", "b"]) == [["mse"], []]
    raises(ValueError, lambda: training_utils.standardize_input_data({"a": 1}, ["a", "b"]), "'b'")
    raises(
        ValueError,
        lambda: training_utils.standardize_input_data(np.ones((2, 3)), ["a"], [(None, 4)], exception_prefix="input"),
        "Error when checking input: expected a to have shape (None, 4); found an array with shape (2, 3).",
    )


def a_weighted_and_masked_loss_is_kerass():
    loss = training_utils.weighted_masked_objective(keras.losses.mean_absolute_error)
    true, predicted = K.constant([[[0.0], [0.0]], [[0.0], [0.0]]]), K.constant([[[1.0], [2.0]], [[3.0], [4.0]]])
    mask, weights = K.constant([[1, 1], [1, 0]]), K.constant([1.0, 0.0])
    # Keras 2.2.4: ((1 + 2) / 0.75 / 2) for the first sample; one of two counts.
    assert np.isclose(K.eval(loss(true, predicted, weights, mask)), 2.0)


def a_layer_is_a_metric_with_a_state():
    class Seen(layers.Layer):
        def __init__(self, **options):
            super().__init__(name="seen", **options)
            self.stateful = True
            self.count = K.variable(0, dtype="int32")

        def reset_states(self):
            K.set_value(self.count, 0)

        def __call__(self, y_true, y_pred):
            more = K.cast(K.sum(K.ones_like(y_true)), "int32")
            now = self.count * 1
            self.add_update(K.update_add(self.count, more), inputs=[y_true, y_pred])
            return now + more

    model = Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae", Seen()])
    assert model.stateful_metric_names == ["seen"]
    x, y = np.ones((10, 2)), np.ones((10, 1))
    history = model.fit(x, y, batch_size=3, epochs=2, validation_data=(x[:4], y[:4]), verbose=0).history
    assert history["seen"] == [10.0, 10.0]
    assert history["val_seen"] == [4.0, 4.0]
    assert model.evaluate(x, y, batch_size=4, verbose=0)[2] == 10.0
    assert [model.train_on_batch(x, y)[2] for _ in range(2)] == [20.0, 30.0]  # Keras 2 counts on
    assert model.test_on_batch(x, y)[2] == 40.0


def sparse_matrices_and_inputs_are_dense():
    sparse = __import__("scipy.sparse").sparse
    x = Input((3,), sparse=True)
    model = Model(x, layers.Dense(1)(x))
    model.compile("sgd", "mse")
    data = sparse.random(6, 3, density=0.5, random_state=1).tocsr()
    model.fit(data, np.ones((6, 1)), verbose=0)
    assert np.array_equal(model.predict(data), model.predict(data.toarray()))


def inputs_with_values_are_not_given():
    data = K.variable(np.ones((5, 2)))
    x = Input(tensor=data)
    model = Model(x, layers.Dense(1, kernel_initializer="ones")(x))
    model.compile("sgd", "mse")
    assert model.test_on_batch(None, np.zeros((5, 1))) == 4.0
    clone = clone_model(Sequential([layers.Dense(1, input_shape=(2,))]), data)
    clone.compile("sgd", "mse")
    clone.train_on_batch(None, np.zeros((5, 1)))
    raises(ValueError, lambda: model.train_on_batch([np.ones((5, 2))], np.zeros((5, 1))), "0 inputs have no values")


def target_tensors_are_checked():
    model, target = small(), K.variable(np.zeros((2, 2)))
    model.compile("sgd", "mse", target_tensors=[target])
    model.train_on_batch(np.ones((2, 4)), None)
    raises(ValueError, lambda: model.train_on_batch(np.ones((2, 4)), np.ones((2, 2))), "give no y")
    raises(TypeError, lambda: model.compile("sgd", "mse", target_tensors=set()), "must be a tensor")
    raises(ValueError, lambda: model.compile("sgd", "mse", target_tensors=[target, target]), "one entry per model")
    raises(ValueError, lambda: model.compile("sgd", "mse", target_tensors={"x": target}), "no output is called 'x'")
    model.compile("sgd", "mse", target_tensors=[K.placeholder((None, 2))])
    model.train_on_batch(np.ones((2, 4)), np.ones((2, 2)))


def a_generator_with_processes_warns_and_trains():
    def batches():
        while True:
            yield np.ones((2, 4)), np.ones((2, 2))

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        small().fit_generator(batches(), steps_per_epoch=2, use_multiprocessing=True, workers=3, verbose=0)
    assert any("a Sequence is made by several processes" in str(each.message) for each in found)


def callbacks_have_validation_data():
    callback = keras.callbacks.LambdaCallback()
    x, y = np.ones((2, 4)), np.ones((2, 2))
    small().fit(x, y, validation_data=(x, y), callbacks=[callback], verbose=0)
    assert callback.validation_data[0] is x
    assert callback.validation_data[2].tolist() == [1.0, 1.0]


def a_summary_warns_of_what_trains_no_more():
    model = small()
    model.layers[0].trainable = False
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.summary(print_fn=lambda line: None)
    assert any("Discrepancy" in str(each.message) for each in found)


def models_and_weights_in_groups_of_open_files():
    model, x = small(), np.ones((2, 4))
    with tempfile.TemporaryDirectory() as folder, h5py.File(Path(folder) / "a.h5", "w") as file:
        for group in (file, file.create_group("inside")):
            save_model(model, group)
            assert np.array_equal(load_model(group).predict(x), model.predict(x))
        model.save(file)
        other = small()
        saving.save_weights_to_hdf5_group(file.create_group("w"), model.layers)
        saving.load_weights_from_hdf5_group(file["w"], other.layers)
        assert np.array_equal(other.predict(x), model.predict(x))
        third = Sequential([layers.Dense(3, input_shape=(4,), name=model.layers[0].name)])
        saving.load_weights_from_hdf5_group_by_name(file["w"], third.layers)
        assert np.array_equal(third.get_weights()[0], model.get_weights()[0])


def arrays_of_keras_1_are_converted_by_hand():
    layer = layers.LSTM(2, input_shape=(3, 5))
    Sequential([layer])
    now = layer.get_weights()
    gates = [np.split(array, 4, axis=-1) for array in now]
    old = [gates[kind][gate] for gate in (0, 2, 1, 3) for kind in range(3)]
    found = saving.preprocess_weights_for_loading(layer, old, original_keras_version="1")
    assert all(np.array_equal(a, b) for a, b in zip(found, now, strict=True))
    assert all(
        np.array_equal(a, b) for a, b in zip(saving.preprocess_weights_for_loading(layer, now), now, strict=True)
    )


def lambdas_of_this_process_load_again():
    factor = 3.0
    x = Input((2,))
    model = Model(x, layers.Lambda(lambda t, by: helper(t) * factor + by, arguments={"by": np.ones(2)})(x))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "m.h5")
        model.save(path)
        loaded = load_model(path)
        assert loaded.predict(np.ones((1, 2))).tolist() == [[7.0, 7.0]]
        assert loaded.layers[1].arguments["by"].tolist() == [1.0, 1.0]
        bytecode.WRITTEN.clear()  # as another process has it
        raises(ForbiddenContentError, lambda: load_model(path), "its function is stored as Python bytecode")


def helper(t):
    return t * 2


def an_optimizers_config_has_its_name_in_lower_case_after_it_is_read():
    config = {"class_name": "SGD", "config": {"lr": 0.5}}
    assert K.get_value(optimizers.deserialize(config).lr) == 0.5
    assert config["class_name"] == "sgd"


def what_stands_for_nothing_is_a_value_error():
    raises(ValueError, lambda: metrics.get(5), "Could not interpret 5")


def fans_are_counted():
    assert initializers._compute_fans((3, 4)) == (3, 4)
    assert initializers._compute_fans((3, 3, 4, 5)) == (36, 45)
    assert initializers._compute_fans((5, 4, 3, 3), "channels_first") == (36, 45)


def main():
    results = {}
    for name, case in [*globals().items(), *vars(old_data).items()]:
        own = isinstance(case, FunctionType) and case.__module__ in ("__main__", "old_data")
        if own and name not in HELPERS and not case.__code__.co_argcount:
            try:
                K.clear_session()
                case()
                results[name] = ""
            except Exception:  # noqa: BLE001  (what failed is told by the test)
                results[name] = traceback.format_exc()
    print(json.dumps(results))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
    sys.exit(0)
