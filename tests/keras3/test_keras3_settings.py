"""`keras.config`, `keras.backend`, `keras.dtype_policies`: what they settle for training, and errors."""

import copy
import logging
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch

from torchkeras import config as settings, layers
from torchkeras.callbacks import Callback, EarlyStopping
from torchkeras.engine.graph.input import Input
from torchkeras.keras3 import backend, config, dtype_policies, mixed_precision
from torchkeras.models import Model
from torchkeras.utils import Sequence

X, Y = np.arange(20, dtype="float32").reshape(10, 2), np.ones((10, 1), "float32")


def compiled() -> Model:
    inputs = Input((2,))
    model = Model(inputs, layers.Dense(1, kernel_initializer="zeros")(inputs))
    model.compile("sgd", "mse")
    return model


class Counted(Callback):
    def __init__(self):
        super().__init__()
        self.trained, self.tested, self.predicted = [], 0, 0

    def on_train_batch_end(self, batch, logs=None):
        self.trained.append(batch)

    def on_test_batch_end(self, batch, logs=None):
        self.tested += 1

    def on_predict_batch_end(self, batch, logs=None):
        self.predicted += 1


class Batches(Sequence):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return X[2 * index : 2 * index + 2], Y[2 * index : 2 * index + 2]


# --- limits ----------------------------------------------------------------------------------------------------------


def test_no_more_epochs():
    config.set_max_epochs(2)
    with pytest.warns(UserWarning, match="fit: epochs is limited to 2 by config.set_max_epochs"):
        history = compiled().fit(X, Y, epochs=5, verbose=0)
    assert history.epoch == [0, 1]
    assert compiled().fit(X, Y, epochs=1, verbose=0).epoch == [0]


@pytest.mark.parametrize("data", [(X, Y), (Batches(),)])
def test_no_more_steps(data):
    config.set_max_steps_per_epoch(2)
    counted = Counted()
    options = {} if len(data) == 1 else {"batch_size": 2}
    with pytest.warns(UserWarning, match="steps_per_epoch is limited to 2 by config.set_max_steps_per_epoch"):
        compiled().fit(*data, epochs=2, verbose=0, callbacks=[counted], **options)
    assert counted.trained == [0, 1, 0, 1]
    with pytest.warns(UserWarning, match="steps is limited to 2"):
        compiled().evaluate(*data, verbose=0, callbacks=[counted], **options)
    with pytest.warns(UserWarning, match="steps is limited to 2"):
        found = compiled().predict(data[0], verbose=0, callbacks=[counted], **options)
    assert (counted.tested, counted.predicted, len(found)) == (2, 2, 4)


@pytest.mark.filterwarnings("ignore:.* is limited to 2:UserWarning")
@pytest.mark.parametrize("options", [{"validation_data": (X, Y)}, {"validation_split": 0.5}])
def test_steps_of_a_validation_are_limited(options):
    config.set_max_steps_per_epoch(2)
    counted = Counted()
    compiled().fit(X, Y, batch_size=1, verbose=0, callbacks=[counted], **options)
    assert (counted.trained, counted.tested) == ([0, 1], 2)


def test_a_split_that_is_shorter_than_the_limit():
    config.set_max_steps_per_epoch(4)
    counted = Counted()
    with pytest.warns(UserWarning, match="steps_per_epoch is limited to 4"):
        compiled().fit(X, Y, batch_size=2, validation_split=0.6, verbose=0, callbacks=[counted])
    assert (counted.trained, counted.tested) == ([0, 1], 3)


def test_fewer_steps_stay():
    config.set_max_steps_per_epoch(5)
    counted = Counted()
    compiled().fit(X, Y, batch_size=2, steps_per_epoch=3, verbose=0, callbacks=[counted])
    compiled().fit(X, Y, batch_size=2, verbose=0, callbacks=[counted])
    assert counted.trained == [0, 1, 2, 0, 1, 2, 3, 4]


def test_limits_of_the_environment():
    code = "from torchkeras.keras3 import config; print(config.max_epochs(), config.max_steps_per_epoch())"
    limits = {"KERAS_MAX_EPOCHS": "3", "KERAS_MAX_STEPS_PER_EPOCH": "4"}
    found = subprocess.run([sys.executable, "-c", code], env=_with(limits), capture_output=True, text=True, check=True)
    assert found.stdout == "3 4\n"
    wrong = subprocess.run([sys.executable, "-c", code], env=_with({"KERAS_MAX_EPOCHS": "few"}), capture_output=True)
    assert b"the environment variable KERAS_MAX_EPOCHS must be an integer of at least 1; found 'few'" in wrong.stderr


def _with(variables: dict[str, str]) -> dict[str, str]:
    return {**os.environ, **variables}


@pytest.mark.parametrize("value", [0, -1, 1.5, "2"])
def test_limits_are_integers(value):
    with pytest.raises(ValueError, match="config: max_epochs must be an integer of at least 1, or None; found"):
        config.set_max_epochs(value)
    with pytest.raises(
        ValueError, match="config: max_steps_per_epoch must be an integer of at least 1, or None; found"
    ):
        config.set_max_steps_per_epoch(value)


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_nothing_is_shown_without_interactive_logging(capsys, caplog):
    config.disable_interactive_logging()
    stopping = EarlyStopping("loss", patience=0, verbose=1, min_delta=1e9)
    with caplog.at_level(logging.INFO, "torchkeras"):
        compiled().fit(X * 0, Y, epochs=3, verbose=1, callbacks=[stopping])
        compiled().predict(X, verbose=1)
    assert capsys.readouterr().out == ""
    assert "Epoch 2: loss was not better than 1, stopping." in caplog.text
    config.enable_interactive_logging()
    compiled().fit(X, Y, verbose=2)
    assert "loss" in capsys.readouterr().out


# --- switches --------------------------------------------------------------------------------------------------------


def test_flash_attention_is_torchs_own_switch():
    config.disable_flash_attention()
    assert not torch.backends.cuda.flash_sdp_enabled()
    config.enable_flash_attention()
    assert torch.backends.cuda.flash_sdp_enabled()
    assert config.is_flash_attention_enabled()


def test_tracebacks_are_shown_whole():
    config.disable_traceback_filtering()
    assert not config.is_traceback_filtering_enabled()
    with pytest.raises(ValueError, match="all frames of a traceback are shown here"):
        config.enable_traceback_filtering()


def test_unsafe_deserialization_holds_until_the_session_is_cleared():
    assert config.in_safe_mode()
    config.enable_unsafe_deserialization()
    assert not config.in_safe_mode()
    backend.clear_session()
    assert config.in_safe_mode()
    assert not config.in_safe_mode(safe_mode=False)


def test_the_backend_is_torch():
    config.set_backend("torch")
    with pytest.raises(ValueError, match="set_backend: backend must be 'torch', the only one here; found 'jax'"):
        config.set_backend("jax")


def test_names_of_keras2_say_where_they_are():
    with pytest.raises(
        AttributeError, match=r"keras.backend has no 'mean' in Keras 3: it has backend, clear_session, "
    ):
        _ = backend.mean


def test_uids_count_the_names_of_layers():
    backend.clear_session()
    assert [backend.get_uid("dense_2"), backend.get_uid("dense_2"), backend.get_uid("dense")] == [1, 2, 1]
    assert backend.is_keras_tensor(Input((2,)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: backend.standardize_dtype("half"), "dtype must be the name of a type that Keras has, .* found 'half'"),
        (lambda: backend.result_type("float8_e5m2", int), "types of 8 bits have no type with others"),
        (lambda: backend.result_type("string", "int8"), "these types have none together"),
        (lambda: config.set_floatx("int8"), "config: floatx must be .* found 'int8'"),
        (lambda: config.set_image_data_format(None), "config: image_data_format must be .* found None"),
    ],
)
def test_errors(call, message: str):
    with pytest.raises(ValueError, match=message):
        call()


# --- dtype policies --------------------------------------------------------------------------------------------------


def test_layers_take_and_have_the_policy():
    policy = dtype_policies.DTypePolicy("mixed_bfloat16")
    layer = layers.Dense(1, dtype=policy)
    assert layer.dtype_policy is policy
    mixed_precision.set_global_policy("mixed_bfloat16")
    assert isinstance(layers.Dense(1).dtype_policy, dtype_policies.DTypePolicy)
    assert dtype_policies.DTypePolicy() == dtype_policies.get(None) == policy


def test_a_policy_without_a_name_follows_floatx():
    settings.set_floatx("float64")
    assert dtype_policies.DTypePolicy().name == "float64"


@pytest.mark.parametrize("name", sorted(dtype_policies.REFUSED))
def test_policies_of_quantized_weights_are_refused(name: str):
    with pytest.raises(
        ValueError, match=rf"{name} 'int8': Weights are not quantized here: train with 'mixed_bfloat16'"
    ):
        getattr(dtype_policies, name)("int8")
    with pytest.raises(ValueError, match=f"{name}: Weights are not quantized here"):
        dtype_policies.deserialize({"class_name": name, "config": {"mode": "int8", "source_name": "float32"}})


@pytest.mark.parametrize("name", ["int8_from_float32", "float8_from_mixed_bfloat16", "int4/128_from_float32"])
def test_names_of_quantized_weights_are_refused(name: str):
    for call in (dtype_policies.get, config.set_dtype_policy):
        with pytest.raises(ValueError, match=f"dtype policy '{name}': Weights are not quantized here"):
            call(name)


class OfMyOwn(dtype_policies.DTypePolicy):
    pass


def test_policies_of_ones_own():
    written = dtype_policies.serialize(OfMyOwn("float16"))
    assert written["class_name"] == "OfMyOwn"
    assert type(dtype_policies.deserialize(written, {"OfMyOwn": OfMyOwn})) is OfMyOwn
    with pytest.raises(ValueError, match="unknown dtype policy 'OfMyOwn'; give its class by custom_objects="):
        dtype_policies.deserialize(written)


def test_copies_and_pickles():
    policies = dtype_policies.DTypePolicyMap("float16", {"a": dtype_policies.DTypePolicy("float64")})
    for other in (copy.deepcopy(policies), pickle.loads(pickle.dumps(policies))):  # noqa: S301
        assert dict(other) == dict(policies)
        assert other.default_policy == policies.default_policy
    assert repr(policies) == "<DTypePolicyMap default_policy=float16, mapping={'a': <DTypePolicy \"float64\">}>"
    del policies["a"]
    assert len(policies) == 0


def test_a_layer_takes_no_map():
    with pytest.raises(
        ValueError, match="a dtype policy is mixed_float16, mixed_bfloat16 or the name of a torch dtype"
    ):
        layers.Dense(1, dtype=dtype_policies.DTypePolicyMap())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dtype_policies.get(3), ValueError, "dtype must be the name of a type that Keras has"),
        (lambda: dtype_policies.deserialize("no"), ValueError, "has a class_name and a config; found 'no'"),
        (lambda: config.set_dtype_policy(None), ValueError, "policy must be the name of a policy or a DTypePolicy"),
        (
            lambda: dtype_policies.DTypePolicyMap(dtype_policies.DTypePolicyMap()),
            ValueError,
            "default_policy must be one policy; found a DTypePolicyMap",
        ),
        (lambda: dtype_policies.DTypePolicyMap(None, []), TypeError, r"policy_map must be a dict, or None; found \[\]"),
    ],
)
def test_errors_of_policies(call, error, message: str):
    with pytest.raises(error, match=message):
        call()


def test_a_path_with_two_patterns():
    policies = dtype_policies.DTypePolicyMap("float32", {})
    policies["a/.*"] = policies["a/b/.*"] = "float16"
    with pytest.raises(ValueError, match=r"the path 'a/b/c' matches several keys: 'a/\.\*', 'a/b/\.\*'"):
        policies["a/b/c"]
    with pytest.raises(ValueError, match=r"'a/\.\*' has a policy already, .*; delete it first"):
        policies["a/.*"] = "float64"
