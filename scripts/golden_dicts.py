"""Make genuine files of models whose inputs, calls and outputs are dicts, in tests/golden/dicts.

    KERAS_BACKEND=torch python scripts/golden_dicts.py keras         with keras 3.15.0
    KERAS_BACKEND=tensorflow python scripts/golden_dicts.py keras    with keras 3.15.0
    python scripts/golden_dicts.py tensorflow.keras                  with tensorflow 2.15
    python scripts/golden_dicts.py torchkeras                        with torchkeras of 8f058a50, which sorted no keys

The first three run without torchkeras. Each source below makes `model`, over the names of keras.layers and `OWN`; one
whose name begins with "trained" is compiled, and trained for two steps. A file `<version>.npz` has for each source a
pickle of plain data: `own` and `source`, the code; `whole.<suffix>` and `weights.<suffix>`, the bytes of files;
`inputs`, `targets`, `outputs`; `arrays`, those of `get_weights`; `scores`, of `evaluate`, before and after two more
steps.
"""

import importlib
import os
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
VERSION = sys.argv[1]
TITLES = {
    "keras": f"keras-3.15-{os.environ.get('KERAS_BACKEND')}",
    "tensorflow.keras": "tf.keras-2.15-tensorflow",
    "torchkeras": "torchkeras-unsorted",
}
WHOLE = {"torchkeras": ("keras", "h5", "pt")}.get(VERSION, ("keras", "h5"))
WEIGHTS = {"keras": ("weights.h5",), "tensorflow.keras": ("weights.h5", "tf.h5")}.get(
    VERSION, ("weights.h5", "w.h5", "w.pt")
)
# On torch, Keras 3.15 does not sort the keys of a dict inside a dict, but on other backends. Before it sorted keys,
# torchkeras took inputs by the names of layers before it looked at the keys.
LEFT_OUT = {"keras-3.15-torch": ("dict_in_dict",), "torchkeras-unsorted": ("inputs_by_exchanged_names",)}

keras = importlib.import_module(VERSION) if "." not in VERSION else importlib.import_module("tensorflow").keras
FOLDER = Path(__file__).parents[1] / "tests" / "golden" / "dicts"

# Classes of one's own, for sources that name them.
OWN = """
class Split(Layer):
    def call(self, x):
        return {"b": x * 2.0, "a": x + 1.0}

class Join(Layer):
    def call(self, x, more=None, extra=None):
        return x["p"] - 2.0 * x["o"] + 3.0 * more - 5.0 * extra
"""

SOURCES = {
    "outputs": """
i = Input((2,))
model = Model(i, {"b": Dense(2)(i), "a": Dense(2)(i)})
""",
    "one_output": """
i = Input((2,))
model = Model(i, {"b": Dense(2)(i)})
""",
    "inputs": """
z, a = Input((2,), name="zz"), Input((2,), name="aa")
model = Model({"zz": z, "aa": a}, Subtract()([Dense(2)(z), Dense(2)(a)]))
""",
    "inputs_by_other_names": """
z, a = Input((2,), name="one"), Input((2,), name="two")
model = Model({"zz": z, "aa": a}, Subtract()([Dense(2)(z), Dense(2)(a)]))
""",
    "inputs_by_exchanged_names": """
z, a = Input((2,), name="aa"), Input((2,), name="zz")
model = Model({"zz": z, "aa": a}, Subtract()([Dense(2)(z), Dense(2)(a)]))
""",
    "deep": """
i = Input((2,))
d = [Dense(2)(i) for _ in range(5)]
model = Model([i], {"b": [d[0], d[1]], "a": (d[2], [d[3], d[4]])})
""",
    "dict_in_dict": """
i = Input((2,))
d = [Dense(2)(i) for _ in range(5)]
model = Model([i], {"b": {"n": d[0], "m": d[1]}, "a": (d[2], {"z": d[3], "y": d[4]})})
""",
    "dicts_in_a_list": """
i, j, k = Input((2,), name="i"), Input((2,), name="j"), Input((2,), name="k")
model = Model([{"y": i, "x": j}, k], [{"b": Dense(2)(i), "a": Dense(2)(j)}, Dense(2)(k)])
""",
    "inner_inputs": """
z, a = Input((2,), name="zz"), Input((2,), name="aa")
inner = Model({"zz": z, "aa": a}, Subtract()([Dense(2)(z), Dense(2)(a)]))
q, b = Input((2,), name="q"), Input((2,), name="b")
model = Model({"q": q, "b": b}, inner({"zz": Dense(2)(q), "aa": Dense(2)(b)}))
""",
    "inner_outputs": """
x = Input((2,))
inner = Model(x, {"q": Dense(2)(x), "c": Dense(2)(x)})
i = Input((2,))
found = inner(Dense(2)(i))
model = Model(i, {"q": Dense(2)(found["q"]), "c": Dense(2)(found["c"]), "b": found["q"]})
""",
    "inner_called_twice": """
z, a = Input((2,), name="zz"), Input((2,), name="aa")
inner = Model({"zz": z, "aa": a}, {"n": Dense(2)(z), "m": Dense(2)(a)})
i, j = Input((2,), name="i"), Input((2,), name="j")
one = inner({"zz": i, "aa": j})
two = inner({"zz": one["n"], "aa": one["m"]})
model = Model([i, j], Subtract()([Dense(2)(two["n"]), Dense(2)(two["m"])]))
""",
    "inner_of_inner": """
z, a = Input((2,), name="zz"), Input((2,), name="aa")
deepest = Model({"zz": z, "aa": a}, {"n": Dense(2)(z), "m": Dense(2)(a)})
z, a = Input((2,), name="z2"), Input((2,), name="a2")
found = deepest({"zz": z, "aa": a})
inner = Model({"z2": z, "a2": a}, {"v": Dense(2)(found["n"]), "u": found["m"]})
z, a = Input((2,), name="z3"), Input((2,), name="a3")
found = inner({"z2": z, "a2": a})
model = Model({"z3": z, "a3": a}, {"t": found["v"], "s": Dense(2)(found["u"])})
""",
    "layers_of_ones_own": """
i = Input((2,))
d = [Dense(2)(i) for _ in range(5)]
found = Split()(d[0])
joined = Join()({"p": d[1], "o": d[2]}, more=d[3], extra=d[4])
model = Model(i, [Subtract()([Dense(2)(found["b"]), Dense(2)(found["a"])]), joined])
""",
    "trained": """
i = Input((2,))
model = Model(i, {"b": Dense(2)(i), "a": Dense(2)(i)})
model.compile("adam", {"b": "mse", "a": "mae"}, loss_weights={"b": 3.0, "a": 0.5}, metrics={"b": ["mae"], "a": ["mse"]})
""",
    "trained_by_lists": """
i = Input((2,))
model = Model(i, {"b": Dense(2)(i), "a": Dense(2)(i)})
model.compile("adam", ["mse", "mae"], loss_weights=[3.0, 0.5])
""",
    "trained_nested": """
x = Input((2,))
inner = Model(x, {"q": Dense(2)(x), "c": Dense(2)(x)})
i, j = Input((2,), name="i"), Input((2,), name="j")
found = inner(Add()([Dense(2)(i), Dense(2)(j)]))
model = Model({"y": i, "x": j}, {"b": Dense(2)(found["q"]), "a": Dense(2)(found["c"])})
model.compile("adam", {"b": "mse", "a": "mae"}, metrics={"a": ["mse"]})
""",
}


def names():
    """What a source may name."""
    found = {**vars(keras.layers), "Model": keras.Model, "Input": keras.Input}
    exec(OWN, found)  # noqa: S102  (the same text is run here and in the tests)
    return found


def of_form(value, make):
    """The same nested value with `make` of each tensor, in Keras's order."""
    if isinstance(value, dict):
        made = {key: of_form(value[key], make) for key in sorted(value)}
        return {key: made[key] for key in value}
    return [of_form(item, make) for item in value] if isinstance(value, (list, tuple)) else make(value)


def as_arrays(value):
    """The same nested value with arrays."""
    return of_form(value, lambda tensor: np.array(tensor.detach() if hasattr(tensor, "detach") else tensor))


def record(name, source):
    """What the file of a version has of a model."""
    (keras if VERSION == "torchkeras" else keras.backend).clear_session()
    scope = names()
    exec(source, scope)  # noqa: S102  (as above)
    model, random = scope["model"], np.random.default_rng(len(name))

    def drawn(tensor):
        return random.normal(size=(4, 2)).astype("float32")

    forms = (getattr(model, form, None) for form in ("_inputs_struct", "_nested_inputs", "_input_form"))
    x = of_form(next((form for form in forms if form is not None), model.inputs), drawn)
    x = x[0] if isinstance(x, list) and len(x) == 1 else x
    model.set_weights([random.normal(size=array.shape).astype("float32") for array in model.get_weights()])
    found = {"own": OWN, "source": source, "inputs": x}
    if name.startswith("trained"):
        y = {"b": drawn(None), "a": drawn(None)}
        for _ in range(2):
            model.train_on_batch(x, y)
        found["targets"], found["scores"] = y, [model.evaluate(x, y, verbose=0)]
    found["outputs"] = as_arrays(model(x))
    found["arrays"] = model.get_weights()
    with tempfile.TemporaryDirectory() as folder:
        for kind, suffixes, save in (("whole", WHOLE, model.save), ("weights", WEIGHTS, model.save_weights)):
            for suffix in suffixes:
                path = os.path.join(folder, f"file.{suffix}")
                save(path)
                found[f"{kind}.{suffix}"] = Path(path).read_bytes()
    if name.startswith("trained"):
        for _ in range(2):
            model.train_on_batch(x, y)
        found["scores"].append(model.evaluate(x, y, verbose=0))
    return found


def main():
    """Write the file of the version that is installed."""
    title, arrays = TITLES[VERSION], {}
    for name, source in SOURCES.items():
        if name not in LEFT_OUT.get(title, ()):
            arrays[name] = np.frombuffer(pickle.dumps(record(name, source), protocol=4), np.uint8)
    FOLDER.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(FOLDER / f"{title}.npz", **arrays)


if __name__ == "__main__":
    main()
