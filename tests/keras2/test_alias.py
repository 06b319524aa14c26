"""`import keras` answered by this package. Each test runs a process of its own, as a script does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from old_scripts import FORKS, passed

from torchkeras.keras2.modules import MODULES, SAME

PRELUDE = "import torchkeras.as_keras\n"


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def printed(code: str) -> str:
    found = run(code)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def script(
    tmp_path: Path, code: str, *options: str, arguments: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "script.py"
    path.write_text(code)
    command = [sys.executable, "-m", "torchkeras", "run", *options, str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_module_is_there_under_its_name_in_keras():
    names = [f"keras.{name}".rstrip(".") for name in (*MODULES, *SAME) if name != "legacy.layers"]
    code = f"{PRELUDE}import importlib\nfor name in {names!r}:\n    importlib.import_module(name)\nprint('all')"
    assert passed(code) == "all"


@pytest.mark.parametrize("line", [
    "from keras.layers.convolutional import Convolution2D, MaxPooling2D, ZeroPadding2D",
    "from keras.layers.core import Dense, Dropout, Activation, Flatten, Lambda, Masking",
    "from keras.layers.normalization import BatchNormalization",
    "from keras.layers.advanced_activations import LeakyReLU, PReLU",
    "from keras.layers import merge, Merge, Input, K",
    "from keras.engine.topology import Layer, InputSpec, Node, get_source_inputs, Container",
    "from keras.engine import Layer, InputSpec",
    "from keras.objectives import mse, binary_crossentropy",
    "from keras.utils.np_utils import to_categorical",
    "from keras.utils import np_utils, plot_model",
    "from keras.backend import tensorflow_backend as KTF",
    "from keras.legacy import interfaces",
    "from keras import initializations, initializers, backend as K, losses, objectives, applications, datasets",
    "from keras.layers.recurrent import GRU, LSTM, Recurrent",
    "from keras.layers.wrappers import TimeDistributed, Bidirectional",
    "from keras.optimizers import SGD, Adam, Optimizer",
    "import keras.layers as KL, keras.models as KM, keras.engine as KE",
])  # fmt: skip
def test_imports_that_scripts_have(line: str):
    assert passed(f"{PRELUDE}{line}\nprint('there')") == "there"


def test_the_classes_are_this_package_s_own():
    code = "import keras, torchkeras\nprint(keras.__version__, keras.layers.Dense is torchkeras.layers.Dense)\n"
    code += "from keras import backend\nimport torchkeras.backend\n"
    code += "print(backend is torchkeras.backend, backend.backend())"
    assert passed(PRELUDE + code) == "2.2.4 True\nTrue tensorflow"


def test_a_name_that_keras_does_not_have_is_an_error():
    found = FORKS.run(PRELUDE + "import keras\nkeras.wizardry")
    assert "module 'keras' has no 'wizardry' (Keras 2.2.4, answered by torchkeras)" in found.stderr
    assert "No module named 'keras.wizardry'" in FORKS.run(PRELUDE + "import keras.wizardry").stderr


def test_a_framework_that_is_not_installed_is_explained():
    found = FORKS.run(PRELUDE + "import theano")
    assert "No module named 'theano': what `keras.backend` has of it stands in torchkeras.backend." in found.stderr
    assert passed(PRELUDE + "import importlib.util\nprint(importlib.util.find_spec('theano'))") == "None"


def test_nothing_is_changed_in_torch():
    code = "import torch\nkinds = torch.Tensor, torch.nn.Parameter, torch.nn.Module, torch, torch.nn.functional\n"
    code += "before = [dict(vars(kind)) for kind in kinds]\nimport torchkeras\n"
    code += "before[3] = dict(vars(torch))\n"  # torch imports parts of itself when they are asked for
    code += "import torchkeras.as_keras, keras, keras.layers, keras.models, keras.backend\n"
    code += "for kind, old in zip(kinds, before):\n    now = vars(kind)\n"
    code += "    print([name for name in old if now.get(name) is not old[name]])\n"
    code += "    print([name for name in now if name not in old and kind is not torch])"
    assert set(printed(code).splitlines()) == {"[]"}


def test_tensorflow_is_left_alone_unless_it_is_asked_for():
    code = "import tensorflow as tf\nprint(tf.reduce_sum([1, 2]))"
    found = FORKS.run(PRELUDE + code)
    assert "No module named 'tensorflow': what `keras.backend` has of it stands in torchkeras.backend; " in found.stderr
    asked = "from torchkeras.keras2 import alias\nalias.install(['keras', 'tensorflow'])\n"
    assert passed(asked + code) == "tensor(3, dtype=torch.int32)"
    kept = "from keras import backend as K\nimport sys\nprint(K.tf.reduce_sum([1, 2]), 'tensorflow' in sys.modules)"
    assert passed(PRELUDE + kept) == "tensor(3, dtype=torch.int32) False"


@pytest.mark.parametrize(
    ("code", "missing", "answers"),
    [
        ("import tensorflow.keras", "tensorflow", "tensorflow.keras"),
        ("from tensorflow.keras.layers import Dense", "tensorflow", "tensorflow.keras"),
        ("import tensorflow as tf\ntf.keras.layers.Dense", "tensorflow", "tensorflow.keras"),
        ("import tf_keras\ntf_keras.layers.Dense", "tf_keras", "tf_keras"),
    ],
)
def test_what_an_error_says_to_write_runs(code: str, missing: str, answers: str, tmp_path: Path):
    error = script(tmp_path, code).stderr.strip().splitlines()[-1]
    assert error.startswith(f"ModuleNotFoundError: No module named {missing!r}: ")
    option = re.search(r"`torchkeras run (--as \S+) SCRIPT`", error)
    install = re.search(r"`(alias\.install\(.*\))` of torchkeras\.keras2", error)
    assert option, error
    assert install, error
    assert option[1] == f"--as {answers}"
    assert script(tmp_path, code, *option[1].split()).stderr == ""
    assert passed(f"from torchkeras.keras2 import alias\n{install[1]}\n{code}") == ""


def test_tensorflow_alone_says_how_its_keras_is_answered():
    asked = "from torchkeras.keras2 import alias\nalias.install(['keras', 'tensorflow'])\n"
    text = "`torchkeras run --as tensorflow.keras SCRIPT`, or first `alias.install(['keras', 'tensorflow.keras'])` of "
    text += "torchkeras.keras2, answers it."
    for code in ("import tensorflow.keras", "import tensorflow as tf\ntf.keras.layers"):
        assert text in run(asked + code).stderr


def test_tensorflow_keras_is_answered_when_it_is_asked_for():
    code = "from torchkeras.keras2 import alias\nalias.install(['tensorflow.keras', 'tf_keras'])\n"
    code += "from tensorflow.keras.layers import Dense\nimport tensorflow as tf\nimport tf_keras\n"
    code += "print(Dense is tf.keras.layers.Dense is tf_keras.layers.Dense)\ntf.estimator"
    found = run(code)
    assert found.stdout.strip() == "True"
    text = "module 'tensorflow' has no 'estimator': TensorFlow is not installed here, and torchkeras has nothing in its"
    assert text in found.stderr


def test_other_names_are_refused():
    found = run("from torchkeras.keras2 import alias\nalias.install('caffe')")
    text = "ValueError: alias.install: a name must be one of 'keras', 'tensorflow', 'tensorflow.keras', 'tf_keras'; "
    text += "found 'caffe'."
    assert text in found.stderr


def test_a_keras_that_is_imported_stays():
    code = "import sys, types\nsys.modules['keras'] = types.ModuleType('keras')\nimport torchkeras.as_keras"
    text = "ImportError: 'keras' is imported already, from elsewhere: import torchkeras.as_keras before it."
    assert text in run(code).stderr


def test_uninstall_takes_it_back():
    code = "from torchkeras.keras2 import alias\nalias.install()\nimport keras.layers\nalias.uninstall()\nimport sys\n"
    code += "print([name for name in sys.modules if name.partition('.')[0] == 'keras'])\n"
    code += "print([type(finder).__name__ for finder in sys.meta_path if 'keras2' in type(finder).__module__])"
    assert printed(code) == "[]\n[]"


def test_a_script_gets_its_arguments_and_its_folder(tmp_path: Path):
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    code = "import sys\nimport beside, keras\nprint(keras.__version__, beside.VALUE, sys.argv[1:], __name__)\n"
    found = script(tmp_path, code, arguments=("--epochs", "3", "--json"))
    assert (found.returncode, found.stdout.strip()) == (0, "2.2.4 7 ['--epochs', '3', '--json'] __main__")


@pytest.mark.parametrize(("end", "code", "error"), [
    ("import sys\nsys.exit(5)", 5, ""),
    ("raise SystemExit('no data')", 1, "no data\n"),
    ("exit()", 0, ""),
])  # fmt: skip
def test_a_script_that_ends_itself(tmp_path: Path, end: str, code: int, error: str):
    found = script(tmp_path, end)
    assert (found.returncode, found.stderr) == (code, error)


def test_an_error_of_a_script_is_shown_from_its_own_line_on(tmp_path: Path):
    found = script(tmp_path, "def f():\n    raise KeyError('x')\nf()")
    assert found.returncode == 1
    lines = found.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "script.py" in lines[1]
    assert lines[-1] == "KeyError: 'x'"


def test_a_script_that_is_not_there_and_a_name_that_cannot_be_answered(tmp_path: Path):
    command = [sys.executable, "-m", "torchkeras", "run", str(tmp_path / "none.py")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (2, f"torchkeras: UsageError: {tmp_path / 'none.py'}: no such file.\n")
    assert script(tmp_path, "", "--as", "caffe").returncode == 2
