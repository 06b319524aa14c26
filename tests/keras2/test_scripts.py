"""What old scripts find under `import keras`, in a process of their own."""

import subprocess
import sys

from old_scripts import FORKS

FIRST = "import torchkeras.as_keras\nimport numpy as np\nfrom keras import backend as K\n"


def run(code: str) -> list[str]:
    done = FORKS.run(FIRST + code)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_names_that_numpy_has_no_more():
    code = "print(np.zeros(2, dtype=np.float).dtype, np.int is int, np.object is object, np.NaN != np.NaN, np.Inf)"
    assert run(code) == ["float64", "True", "True", "True", "inf"]


def test_the_package_alone_leaves_numpy_as_it_is():
    code = "import torchkeras, torchkeras.backend, numpy; print('float' in vars(numpy))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_own_layers_of_several_inputs():
    code = """
from keras.layers import Input
from keras.layers.merge import _Merge
from keras.models import Model

class Between(_Merge):
    def _merge_function(self, inputs):
        weights = K.ones((4, 1)) * 0.25
        return weights * inputs[0] + (1 - weights) * inputs[1]

pair = [Input((3,)), Input((3,))]
found = Between()(pair)
print(K.int_shape(found), Model(pair, found).predict([np.zeros((4, 3)), np.ones((4, 3))]).mean())
"""
    assert run(code) == ["(None,", "3)", "0.75"]


def test_an_input_that_wraps_a_tensor():
    code = """
from keras.layers import Dense, Input

x = Input(tensor=K.variable([[1.0, 2.0]]), shape=(None,), name="x")
y = K.placeholder((1, 2))
print(K.int_shape(x), *K.function([y], [K.sum(x * y)])([[[3.0, 4.0]]]))
"""
    assert run(code) == ["(1,", "2)", "11.0"]


def test_an_input_that_wraps_a_symbolic_tensor():
    code = """
from keras.engine.topology import get_source_inputs
from keras.layers import Dense, Input
from keras.models import Model

y = K.placeholder((1, 2))
both = K.concatenate([K.variable([[1.0, 2.0]]), y], axis=0)
x = Input(tensor=both)
model = Model(get_source_inputs(both), Dense(1, use_bias=False, kernel_initializer="ones")(x))
gradient = K.gradients(K.sum(K.square(model.output)), y)[0]
found = K.function([y], [model.output, gradient])([[[3, 4]]])
print(K.is_keras_tensor(both), len(model.layers), *[each.ravel() for each in found])
"""
    assert "".join(run(code)) == "False2[3.7.][14.14.]"
