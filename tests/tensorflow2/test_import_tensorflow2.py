"""`import tensorflow` answered as TensorFlow 2: by `alias.install()`, and by `torchkeras run --as tensorflow`."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from torchkeras import commands, config
from torchkeras.keras3 import Model, layers
from torchkeras.tensorflow2 import alias, process, years


@pytest.fixture(scope="module")
def tf() -> Iterator[Any]:
    alias.install()
    yield importlib.import_module("tensorflow")
    alias.uninstall()


def run(code: str, *options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script by the command `torchkeras run`."""
    script = folder / "script.py"
    script.write_text(code)
    command = [sys.executable, "-m", "torchkeras", "run", *options, str(script)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


FORMS = """
import tensorflow
import tensorflow as tf
import tensorflow.keras as K1
import tensorflow.keras.backend as K
import tensorflow.keras.layers as by_name
from tensorflow import keras
from tensorflow.keras import layers, models
from tensorflow.keras.applications.resnet50 import ResNet50, preprocess_input
from tensorflow.keras.callbacks import EarlyStopping, ModelCheckpoint
from tensorflow.keras.datasets import mnist
from tensorflow.keras.layers import *
from tensorflow.keras.layers.experimental import preprocessing
from tensorflow.keras.layers.experimental.preprocessing import RandomFlip
from tensorflow.keras.optimizers.schedules import ExponentialDecay
from tensorflow.keras.utils import plot_model, to_categorical
from tensorflow.python.keras.layers import Dense as Dense2
from tensorflow.compat.v1 import ConfigProto
from keras.models import Sequential

assert keras is tf.keras is K1 and by_name is layers is keras.layers
assert Dense is Dense2 is layers.Dense and Sequential is models.Sequential
assert preprocessing.RandomFlip is RandomFlip and tf.optimizers.Adam is keras.optimizers.Adam
assert GRU(1).reset_after and LSTM(1).recurrent_activation.__name__ == "sigmoid"
print(tf.__version__, Dense(2).name, tf.compat.v2.reduce_sum([1, 2]).numpy())
"""


def test_every_form_of_import_is_answered(tmp_path: Path):
    done = run(FORMS, "--as", "tensorflow", folder=tmp_path)
    assert (done.stdout, done.returncode) == ("2.15.0 dense 3\n", 0), done.stderr


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("tf.reduce_men", "No name 'tensorflow.reduce_men' in TensorFlow 2.15.0 as torchkeras answers it."),
        ("tf.reduce_men", "The nearest is tensorflow.reduce_mean."),
        ("tf.mean", "The nearest is tensorflow.reduce_mean."),
        ("tf.keras.layers.Dens", "The nearest is tensorflow.keras.layers.Dense."),
        ("import tensorflow.keras.lyers", "The nearest is tensorflow.keras.layers."),
        ("from tensorflow.keras.layers import Dens", "The nearest is tensorflow.keras.layers.Dense."),
        ("tf.saved_model.load('folder')", "tf.saved_model.load: a SavedModel of TensorFlow is neither"),
        ("tf.lite.TFLiteConverter.from_keras_model(None)", "tf.lite.TFLiteConverter.from_keras_model: TensorFlow Lite"),
        ("tf.train.Example(features=None)", "tf.train.Example: TFRecord files are neither read"),
        ("tf.keras.utils.multi_gpu_model(None, 2)", "compile the model with distribute='ddp' and start it by torchrun"),
        ("tf.distribute.TPUStrategy(None)", "tf.distribute.TPUStrategy: torch runs on no TPU here"),
        ("tf.debugging.enable_check_numerics()", "tf.debugging.enable_check_numerics: ask tf.debugging.check_numerics"),
        ("tf.debugging.experimental.enable_dump_debug_info('folder')", "use torch.profiler or a debugger of Python."),
        ("tf.no_gradient('Shape')", "tf.no_gradient: tf.stop_gradient ends the gradient of a tensor."),
        ("tf.config.set_logical_device_configuration(None, [1, 2])", "one device cannot be 2 here; start several"),
        ("tf.keras.Input((None, 2))[:, 3:0:-1]", "A slice with the step -1 must have no bounds, as the size"),
        ("tf.keras.models.load_model('.')", "load_model: . has no model.keras, and a SavedModel of TensorFlow"),
        ("tf.keras.layers.BatchNormalization(renorm=True)", "BatchNormalization: renorm must be False; found True."),
    ],
)  # fmt: skip
def test_what_is_missing_or_refused_is_an_error_that_says_so(code: str, says: str, tf: Any):
    with pytest.raises((AttributeError, ImportError, NotImplementedError, OSError, ValueError)) as error:
        exec(code, {"tf": tf})  # noqa: S102  (statements, some of which import)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("tf.summary.trace_export('step')", "tf.summary.trace_export: nothing is written here; torch.profiler traces"),
        ("tf.profiler.experimental.start('folder')", "tf.profiler.experimental.start: nothing is written here"),
    ],
)
def test_a_record_that_is_not_written_is_a_warning(code: str, says: str, tf: Any):
    with pytest.warns(UserWarning, match=says):
        eval(code, {"tf": tf})


def test_messages_go_to_the_logger_of_tensorflow(tf: Any, caplog: pytest.LogCaptureFixture):
    tf.get_logger().warning("Slow.")
    assert [(each.name, each.message) for each in caplog.records] == [("tensorflow", "Slow.")]


def test_a_script_that_hides_the_gpus_computes_on_the_cpu(tf: Any):
    tf.config.set_visible_devices([], "GPU")
    try:
        assert [each.device_type for each in tf.config.get_visible_devices()] == ["CPU"]
        assert tf.Variable(1.0).device.type == "cpu"
    finally:
        config.set_device(None)


@pytest.mark.parametrize(
    ("path", "waits"),
    [("w", True), ("w.weights.h5", False)],
)
def test_weights_wait_where_a_checkpoint_of_tensorflow_does(path: str, waits: bool, tf: Any, tmp_path: Path):
    made = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    made.save_weights(tmp_path / path)
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    if not waits:
        with pytest.raises(RuntimeError, match="has no graph yet"):
            model.load_weights(tmp_path / path)
        return
    model.load_weights(tmp_path / path)
    with pytest.raises(NotImplementedError, match="call the model on data before it reads from a generator"):
        model.predict((each for each in [torch.ones(1, 3)]), steps=1, verbose=0)


OF_1 = "import tensorflow as tf\nx = tf.placeholder(tf.float32, (None, 2))\nprint(tf.__version__)\n"
OF_2 = "import tensorflow as tf\nprint(tf.__version__)\n"


@pytest.mark.parametrize(
    ("code", "name", "prints"),
    [
        (OF_1, "tensorflow", "1.14.0"),
        (OF_2, "tensorflow1", "1.14.0"),
    ],
)
def test_the_text_of_the_script_or_the_name_says_which(code: str, name: str, prints: str, tmp_path: Path):
    done = run(code, "--as", name, folder=tmp_path)
    assert (done.stdout, done.returncode) == (f"{prints}\n", 0), done.stderr


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("import tensorflow as tf\ntf.Session()", 1),
        ("import tensorflow as tf\ntf.layers.dense(x, 2)", 1),
        ("import tensorflow as tf\ntf.train.AdamOptimizer(1e-3)", 1),
        ("from tensorflow.contrib import rnn", 1),
        ("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()", 1),
        ("import keras\nimport tensorflow as tf\ntf.reduce_mean(x)", 1),
        ("import keras\nimport tensorflow as tf\ntf.keras.layers.Dense(2)", 2),
        ("from tensorflow import keras", 2),
        ("from tensorflow.keras.layers import Dense", 2),
        ("import tensorflow as tf\nwith tf.GradientTape() as tape: pass", 2),
        ("import tensorflow as tf\ntf.compat.v1.Session(config=None)", 2),
    ],
)
def test_names_of_a_script_say_which_tensorflow_it_means(text: str, version: int):
    assert years.version_of(text) == version


def test_tensorflow2_goes_with_no_other_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    script = tmp_path / "script.py"
    script.write_text(OF_2)
    assert commands.main(["run", "--as", "tensorflow2", "--as", "tf_keras", str(script)]) != 0
    says = "'tensorflow2' answers `import tensorflow` and `import keras`, as TensorFlow 2, and goes with no other name"
    assert says in capsys.readouterr().err


SCRIPT = """
import numpy as np
import tensorflow as tf

x, y = np.random.rand(16, 4).astype("float32"), np.random.rand(16, 1).astype("float32")


class Net(tf.keras.Model):
    def __init__(self):
        super(Net, self).__init__()
        self.hidden = tf.keras.layers.Dense(8, activation="relu")
        self.out = tf.keras.layers.Dense(1)

    def call(self, inputs):
        return self.out(self.hidden(inputs))


net, optimizer = Net(), tf.keras.optimizers.Adam(lr=1e-2)
checkpoint = tf.train.Checkpoint(step=tf.Variable(1), optimizer=optimizer, net=net)
manager = tf.train.CheckpointManager(checkpoint, "ckpts", max_to_keep=2)
checkpoint.restore(manager.latest_checkpoint)
losses = []
for batch in tf.data.Dataset.from_tensor_slices((x, y)).batch(8).repeat(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((batch[1] - net(batch[0])) ** 2) + sum(net.losses)
    variables = net.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    checkpoint.step.assign_add(1)
    losses.append(loss.numpy())
    manager.save()
before = net.predict(x, verbose=0)
net.hidden.set_weights([0 * each for each in net.hidden.get_weights()])
status = checkpoint.restore(tf.train.latest_checkpoint("ckpts"))
status.assert_consumed()
assert np.array_equal(net.predict(x, verbose=0), before) and int(checkpoint.step) == 7 and len(manager.checkpoints) == 2
again = Net()
fresh = tf.keras.optimizers.Adam(1e-2)
tf.train.Checkpoint(optimizer=fresh, net=again)
again.build((None, 4))
tf.train.Checkpoint(step=tf.Variable(0), optimizer=fresh, net=again).restore(manager.latest_checkpoint)
assert np.array_equal(again.predict(x, verbose=0), before)
fresh.build(again.trainable_variables)
assert int(fresh.iterations) == 6
net.compile(optimizer="adam", loss="mse", metrics=["mae"])
saver = tf.keras.callbacks.ModelCheckpoint("w/cp-{epoch:04d}.ckpt", save_weights_only=True, period=1)
history = net.fit(x, y, epochs=2, verbose=0, callbacks=[saver], workers=2, use_multiprocessing=False)
again.load_weights(tf.train.latest_checkpoint("w")).expect_partial()
assert np.array_equal(again.predict(x, verbose=0), net.predict(x, verbose=0))
model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax", input_shape=(4,))])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["acc"])
model.fit_generator(((x, np.zeros(16)) for _ in range(4)), steps_per_epoch=2, epochs=2, verbose=0)
assert model.predict_classes(x).shape == (16,)
model.save("folder")
assert np.array_equal(tf.keras.models.load_model("folder").predict(x, verbose=0), model.predict(x, verbose=0))
print(tf.config.list_physical_devices("CPU")[0].device_type, len(losses), losses[0].dtype)
"""


@pytest.mark.filterwarnings("ignore")
def test_a_script_trains_saves_and_goes_on(tmp_path: Path):
    done = run(SCRIPT, "--as", "tensorflow", folder=tmp_path)
    assert (done.stdout, done.returncode) == ("CPU 6 float32\n", 0), done.stderr


def test_uninstall_takes_everything_back(tf: Any):
    changed = torch.Tensor.numpy, torch.Tensor.__add__, Model.fit, layers.Layer.add_weight
    alias.uninstall()
    own = torch.Tensor.numpy, torch.Tensor.__add__, Model.fit, layers.Layer.add_weight
    assert not any(one is other for one, other in zip(changed, own, strict=True))
    assert not hasattr(torch.Tensor, "get_shape")
    assert not hasattr(torch.Size, "as_list")
    assert not callable(torch.nn.Parameter(torch.ones(1)))
    assert not any(name.partition(".")[0] == "tensorflow" for name in sys.modules)
    alias.install()
    assert torch.Tensor.numpy is changed[0]
    assert Model.fit is changed[2]


def test_nested_structures_are_those_of_tensorflow():
    assert process.NEST["flatten"]({"b": 1, "a": [2, 3]}) == [2, 3, 1]  # keys in order, as TensorFlow has them
    assert process.NEST["map_structure"](lambda one, two: one + two, [1, 2], [10, 20]) == [11, 22]
    with pytest.raises(ValueError, match="not nested in the same way"):
        process.NEST["assert_same_structure"]([1, 2], [1])
