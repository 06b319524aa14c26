"""What scripts of Keras's site do: layers that look at values, dicts with further keys, convolutions by hand."""

import numpy as np
import torch

X = np.linspace(-1, 1, 2 * 7 * 6 * 4, dtype="float32").reshape(2, 7, 6, 4)
DATA = {name: np.full((4, 2), value, "float32") for name, value in (("a", 1), ("b", 5), ("c", 9))}


def array(tensor):
    return np.asarray(tensor.detach() if hasattr(tensor, "detach") else tensor)


def looking_at_values(keras, look):
    class Looking(keras.layers.Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.dense = keras.layers.Dense(3, kernel_initializer="ones")

        def call(self, x):
            return self.dense(look(x))

    return Looking()


LOOKS = {
    "if": lambda x: x if float(x.sum()) > -1e9 else x[:1],
    "item": lambda x: x * x.max().item(),
    "numpy": lambda x: torch.as_tensor(np.tanh(x.cpu().numpy())),
    "loop": lambda x: sum((x for _ in range(int(x.abs().sum() * 0) + 2)), x),
    "rows": lambda x: x[x[:, 0] > -1e9],
}


def case_layers_look_at_values(keras):
    found = {}
    for name, look in LOOKS.items():
        layer, inputs = looking_at_values(keras, look), keras.Input((4,))
        outputs = layer(inputs)
        model = keras.Model(inputs, outputs)
        shapes = [list(outputs.shape), list(layer.dense.kernel.shape), list(layer.compute_output_spec(inputs).shape)]
        found[name] = [shapes, array(model(X[:, 0, 0]))]
    return found


def models(keras):
    b, a = keras.Input((2,), name="b"), keras.Input((2,), name="a")
    return {
        "list": keras.Model([b, a], keras.layers.Subtract()([b, a])),
        "one": keras.Model(a, keras.layers.Identity()(a)),
    }


def case_a_dict_has_more_keys_than_there_are_inputs(keras):
    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return DATA, np.zeros((4, 2), "float32")

    found = {}
    for name, model in models(keras).items():
        model.compile(keras.optimizers.SGD(0.0), "mse")
        targets = np.zeros((4, 2), "float32")
        found[name] = {
            "call": array(model({key: torch.tensor(value) for key, value in DATA.items()})),
            "predict": model.predict(DATA, verbose=0),
            "batches": float(model.evaluate(Batches(), verbose=0)),
            "fit": [float(each) for each in model.fit(DATA, targets, verbose=0).history["loss"]],
            "batch": float(np.asarray(model.train_on_batch(DATA, targets))),
        }
    return found


def convolutions(keras):
    class Op(keras.layers.Conv2D):
        def convolution_op(self, inputs, kernel):
            return super().convolution_op(inputs, kernel * 2)

    class Call(keras.layers.Conv2D):
        def call(self, inputs):
            return self.convolution_op(inputs, self.kernel * 2) + self.bias[0]

    class Both(Call):
        def convolution_op(self, inputs, kernel):
            return super().convolution_op(inputs, kernel + 1)

    return Op, Call, Both


def case_classes_replace_or_call_convolution_op(keras):
    found = {}
    kernels = {"kernel_initializer": keras.initializers.Constant(0.1), "bias_initializer": "ones"}
    for kind in convolutions(keras):
        for name, options in {
            "plain": {},
            "strides": {"padding": "same", "strides": 2},
            "groups": {"groups": 2},
            "dilation": {"dilation_rate": 2, "padding": "same"},
            "first": {"data_format": "channels_first"},
            "relu": {"activation": "relu"},
            "no bias": {"use_bias": kind.__name__ != "Op"},
        }.items():
            layer, x = kind(4, 3, **kernels, **options), X.transpose(0, 3, 1, 2) if name == "first" else X
            found[f"{kind.__name__} {name}"] = [array(layer(x)), list(layer(keras.Input(x.shape[1:])).shape)]
    return found


def case_a_class_with_a_convolution_op_trains(keras):
    kind = convolutions(keras)[0]
    model = keras.Sequential([keras.Input((7, 6, 4)), kind(3, 3), keras.layers.Flatten(), keras.layers.Dense(1)])
    for weight in model.weights:
        weight.assign(np.full(weight.shape, 0.1))
    model.compile(keras.optimizers.SGD(0.0001), "mse")
    history = model.fit(X, np.ones((2, 1)), epochs=3, verbose=0, shuffle=False).history["loss"]
    return [[float(each) for each in history], [array(weight.value) for weight in model.weights]]


def own_steps(keras, seen):
    class Own(keras.Model):
        def call(self, x):
            return x

        def train_step(self, data):
            seen.append([type(data).__name__ != "tuple", *(list(each.shape) for each in keras.tree.flatten(data))])
            return {"loss": torch.tensor(0.0)}

        test_step = train_step

    return Own()


def case_a_step_gets_inputs_without_targets_as_they_are(keras):
    found = []
    for data in ((X,), ([X, X],), (X, np.ones((2, 1)))):
        model = own_steps(keras, found)
        model.compile("sgd")
        model.fit(*data, verbose=0)
    return found
