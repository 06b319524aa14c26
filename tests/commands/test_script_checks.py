"""Which Keras a script asks for."""

import pytest

from torchkeras.commands.script_checks import asks_for_keras3

ASKS = [
    "assert keras.__version__ >= '3'",
    "assert keras.__version__.startswith('3')",
    "assert version.parse(keras.__version__) >= version.parse('3.0.0'), 'Keras 3 is needed'",
    "assert '3' <= keras.__version__",
    "assert int(keras.__version__.split('.')[0]) >= 3",
    "assert int(keras.version().split('.')[0]) == 3",
    "assert tuple(map(int, keras.__version__.split('.')[:2])) >= (3, 1)",
    "if keras.__version__ < '3':\n    raise ImportError('Keras 3')",
    "if not keras.__version__.startswith('3.'):\n    print('needs Keras 3')\n    sys.exit(1)",
    "if int(keras.__version__[0]) <= 2:\n    exit('needs Keras 3')",
    "if keras.__version__ >= '3':\n    pass\nelse:\n    raise RuntimeError",
    "def main():\n    assert keras.__version__ >= '3'",
    '# /// script\n# dependencies = [\n#   "numpy",\n#   "keras>=3.5",\n# ]\n# ///\nimport keras',
    "# /// script\n# dependencies = ['keras ~= 3.0']\n# ///\n",
]
DOES_NOT = [
    "import keras",
    "new = keras.__version__ >= '3'",
    "if keras.__version__ >= '3':\n    from keras import ops\nelse:\n    from keras import backend as ops",
    "assert keras.__version__ >= '2.2'",
    "assert keras.__version__ < '3'",
    "if keras.__version__ < '2.2':\n    raise ImportError('too old')",
    "if keras.__version__ >= '3':\n    raise ImportError('not yet')",
    "assert torch.__version__ >= '3'",
    "assert keras.__version__ >= minimum",
    '# /// script\n# dependencies = ["keras<3", "keras-cv>=3"]\n# ///\n',
    '# "keras>=3" is too new for this script',
    "print 'a script of Python 2'",
]


@pytest.mark.parametrize("source", ASKS)
def test_a_script_that_refuses_an_earlier_keras_asks_for_keras_3(source):
    assert asks_for_keras3(source)


@pytest.mark.parametrize("source", DOES_NOT)
def test_any_other_script_does_not(source):
    assert not asks_for_keras3(source)
