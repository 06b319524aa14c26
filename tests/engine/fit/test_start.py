"""A program starts without torch's compiler, whose import takes longer than that of all else."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import torch
from torchkeras import Input, Model, layers
before = {"torch._dynamo", "torch._inductor", "sympy"} & set(sys.modules)
%s
model.compile("adam", "sparse_categorical_crossentropy", ["accuracy"])
print(sorted({"torch._dynamo", "torch._inductor", "sympy"} & set(sys.modules) - before))
"""
MODELS = {
    "dense": """
inputs = Input((20,))
hidden = layers.Dropout(0.5)(layers.Dense(8, activation="relu")(inputs))
""",
    "images": """
inputs = Input((16, 16, 3))
hidden = layers.Activation("relu")(layers.BatchNormalization()(layers.Conv2D(8, 3, padding="same")(inputs)))
hidden = layers.MaxPooling2D()(layers.Add()([hidden, layers.Conv2D(8, 1, activation="relu")(inputs)]))
hidden = layers.Conv2D(8, 3, strides=2)(hidden)
hidden = layers.Dense(4, activation="relu")(layers.Flatten()(layers.AveragePooling2D(2)(hidden)))
""",
    "tokens": """
inputs = Input((9,), dtype="int32")
hidden = layers.LSTM(8)(layers.Embedding(20, 8, mask_zero=True)(inputs))
""",
}


@pytest.mark.torch("2.10", "imports sympy where the compiler needs it")
@pytest.mark.parametrize("name", MODELS)
def test_building_and_compiling_imports_no_compiler(name):
    text = MODELS[name] + 'model = Model(inputs, layers.Dense(3, activation="softmax")(hidden))\n'
    done = subprocess.run([sys.executable, "-c", PROGRAM % text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
