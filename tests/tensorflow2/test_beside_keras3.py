"""`torchkeras run --as keras3 --as tensorflow2`: a script of Keras 3 whose data comes by `tf.data`."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import keras
import numpy as np
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices((np.ones((6, 3), "float32"), np.ones((6, 1), "float32"))).batch(2)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, verbose=0)
print(keras.__version__, tf.__version__, model.history.params["steps"])
"""


def test_keras_is_that_of_keras_3_and_tensorflow_gives_data(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "torchkeras", "run", "--as", "keras3", "--as", "tensorflow2", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["3.15.0", "2.15.0", "3"], done.stderr
