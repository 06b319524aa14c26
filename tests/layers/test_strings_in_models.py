"""Strings as inputs of a graph: what a model of them gives, trains on, stores and refuses."""

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from torch.utils.data import DataLoader, Dataset

from torchkeras.base.texts import strings_of_tensor, tensor_of_strings
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.export.errors import EjectError, ExportError
from torchkeras.layers import (
    Concatenate,
    Dense,
    Embedding,
    GlobalAveragePooling1D,
    HashedCrossing,
    Hashing,
    Input,
    StringLookup,
    TextVectorization,
)
from torchkeras.models import Model, Sequential, clone_model, load_model, model_from_json
from torchkeras.serving import serve
from torchkeras.utils import set_random_seed

TEXTS = ["a great movie", "great fun", "I loved it", "a boring movie", "no fun at all", "I hated it"]
LABELS = np.array([1, 1, 1, 0, 0, 0])
GOLDEN = Path(__file__).parent.parent / "golden" / "strings"


def vectorization(**options: Any) -> TextVectorization:
    layer = TextVectorization(**{"output_sequence_length": 5, **options})
    layer.adapt(TEXTS)
    return layer


def head(size: int) -> list[Any]:
    return [
        Embedding(size, 4, mask_zero=True),
        GlobalAveragePooling1D(),
        Dense(1, activation="sigmoid", name="positive"),
    ]


def model_of_strings(shape: Any = (1,)) -> Sequential:
    set_random_seed(0)
    words = vectorization()
    model = Sequential([Input(shape, dtype="string", name="text"), words, *head(words.vocabulary_size())], "m")
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model


# --- strings as tensors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "strings", [["a"], ["", ""], ["abcd", "abcde"], ["é😀", "a b"], [["x", "yy"], ["", "\ud800"]], [[["deep"]]]]
)
def test_strings_come_back_from_their_tensor(strings: Any):
    found = tensor_of_strings(strings, "An input")
    assert found.dtype == torch.uint32
    assert found.shape[:-1] == np.shape(strings)
    assert strings_of_tensor(found).tolist() == strings


def test_bytes_are_those_of_utf_8():
    assert strings_of_tensor(tensor_of_strings(["é".encode()], "An input")).tolist() == ["é"]
    with pytest.raises(ValueError, match=r"^x takes strings, or bytes in UTF-8; found b'\\xff': "):
        tensor_of_strings([b"\xff"], "x")


# --- what a model gives -----------------------------------------------------------------------------------------------


def test_a_model_of_strings_gives_what_one_of_their_indices_gives():
    model = model_of_strings()
    _, words, *rest = [None, *model.layers]
    of_indices = Sequential([Input((5,), dtype="int64"), *rest])
    wanted = of_indices.predict(words(TEXTS))
    assert Input((1,), dtype=str).dtype == model.inputs[0].dtype
    for given in (TEXTS, tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object)[:, None], [[t] for t in TEXTS]):
        np.testing.assert_array_equal(model.predict(given), wanted)
        np.testing.assert_array_equal(model(given).detach().numpy(), wanted)
    np.testing.assert_array_equal(model.predict_on_batch(TEXTS), wanted)
    np.testing.assert_array_equal(model.predict([text.encode() for text in TEXTS]), wanted)


def test_training_on_strings_equals_training_on_their_indices():
    model = model_of_strings()
    twin = copy.deepcopy(model)
    words, *rest = twin.layers
    of_indices = Sequential([Input((5,), dtype="int64"), *rest])
    of_indices.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    found, wanted = [], []
    for each, x, losses in ((model, TEXTS, found), (of_indices, words(TEXTS).numpy(), wanted)):
        set_random_seed(1)
        losses.append(each.fit(x, LABELS, batch_size=2, epochs=3, validation_split=1 / 3, verbose=0).history)
        losses.append(each.evaluate(x, LABELS, verbose=0))
        losses.append(each.train_on_batch(x, LABELS))
    assert found == wanted


@pytest.mark.parametrize(
    ("layer", "shape", "strings"),
    [
        (vectorization(output_sequence_length=None), (1,), [["a great"], ["fun"]]),
        (vectorization(output_mode="multi_hot", output_sequence_length=None), (), ["a great", "fun"]),
        (vectorization(output_mode="tf_idf", output_sequence_length=None, ngrams=2), (1,), [["a great"], ["fun"]]),
        (vectorization(split=None), (3,), [["a great movie", "x", "great fun"]]),
        (StringLookup(vocabulary=["a", "b"]), (2, 2), [[["a", "z"], ["b", "b"]]]),
        (StringLookup(vocabulary=["a", "b"], output_mode="one_hot", num_oov_indices=2), (1,), [["a"], ["z"]]),
        (Hashing(7), (3,), [["a", "b", "cd"]]),
        (Hashing(7, mask_value="a", output_mode="multi_hot"), (3,), [["a", "b", "cd"]]),
    ],
    ids=str,
)
def test_a_layer_gives_the_same_inside_of_a_model(layer: Any, shape: Any, strings: Any):
    inputs = Input(shape, dtype="string")
    outputs = layer(inputs)
    found, wanted = Model(inputs, outputs)(np.array(strings)), layer(np.array(strings))
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)
    assert outputs.dtype == wanted.dtype
    assert all(size in (None, real) for size, real in zip(outputs.shape, wanted.shape, strict=True))


def test_strings_and_numbers_cross():
    colour, size = Input((1,), dtype="string", name="colour"), Input((1,), dtype="int64", name="size")
    layer = HashedCrossing(8)
    model = Model({"colour": colour, "size": size}, layer([colour, size]))
    given: Any = {"colour": [["red"], ["blue"]], "size": [[1], [2]]}
    wanted = layer([given["colour"], given["size"]])
    np.testing.assert_array_equal(model.predict({**given, "size": np.array(given["size"])}), wanted)


def test_strings_and_numbers_go_into_one_model():
    words = vectorization()
    text, size = Input((1,), dtype="string", name="text"), Input((2,), name="size")
    mean = GlobalAveragePooling1D()(Embedding(words.vocabulary_size(), 3)(words(text)))
    model = Model([text, size], Dense(1)(Concatenate()([mean, size])))
    model.compile("sgd", "mse")
    numbers = np.ones((6, 2), "float32")
    model.fit({"text": TEXTS, "size": numbers}, LABELS, verbose=0)
    by_name = model.predict({"text": TEXTS, "size": numbers})
    np.testing.assert_array_equal(model.predict([TEXTS, numbers]), by_name)
    np.testing.assert_array_equal(model([np.array(TEXTS), numbers]).detach().numpy(), by_name)


def test_a_frame_has_a_column_for_each_input():
    text, size = Input((1,), dtype="string", name="t"), Input((1,), name="s")
    joined = Concatenate()([StringLookup(vocabulary=TEXTS, output_mode="one_hot")(text), size])
    frame = pd.DataFrame({"text": TEXTS, "size": np.arange(6.0)})
    model = Model({"text": text, "size": size}, Dense(1)(joined))
    model.compile("sgd", "mse")
    model.fit(frame, LABELS, verbose=0)
    wanted = model.predict({"text": np.array(TEXTS), "size": np.arange(6.0)})
    np.testing.assert_array_equal(model.predict(frame), wanted)


def test_a_sequential_and_a_class_take_strings_without_an_input():
    words = vectorization()

    class Own(Model):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.mean = words, Sequential(head(words.vocabulary_size()))

        def call(self, inputs: Any) -> Any:
            return self.mean(self.words(inputs))

    for model in (Own(), Sequential([words, *head(words.vocabulary_size())])):
        model.compile("adam", "binary_crossentropy")
        assert len(model.fit(TEXTS, LABELS, epochs=2, verbose=0).history["loss"]) == 2
        assert model.predict(["a great movie"]).shape == (1, 1)
    assert Own()(np.array(TEXTS)).shape == (6, 1)


class Pairs(Dataset[Any]):
    def __len__(self) -> int:
        return len(TEXTS)

    def __getitem__(self, index: int) -> Any:
        return TEXTS[index], LABELS[index]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_of_strings_trains(workers: int):
    losses = [
        model_of_strings().fit(data, batch_size=size, shuffle=False, verbose=0, **targets).history["loss"]
        for data, size, targets in (
            (DataLoader(Pairs(), batch_size=2, num_workers=workers), None, {}),
            (TEXTS, 2, {"y": LABELS}),
        )
    ]
    assert losses[0] == losses[1]


def test_a_loader_of_strings_alone_is_predicted():
    model = model_of_strings()
    np.testing.assert_array_equal(model.predict(DataLoader(TEXTS, batch_size=2)), model.predict(TEXTS))  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")  # numbers made once
def test_a_compiled_step_gives_the_same_losses():
    losses = []
    for jit_compile in (False, True):
        model = model_of_strings()
        model.compile("adam", "binary_crossentropy", jit_compile=jit_compile)
        losses.append(model.fit(TEXTS, LABELS, batch_size=3, epochs=2, shuffle=False, verbose=0).history["loss"])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_a_server_takes_strings():
    model = model_of_strings()
    wanted = model.predict(TEXTS)
    with serve(model) as server:
        answers = [server.submit(text).result() for text in TEXTS]
        np.testing.assert_allclose(answers, wanted, rtol=1e-6)
        np.testing.assert_allclose(server([TEXTS[0]]), wanted[0], rtol=1e-6)
        with pytest.raises(TypeError, match=r"^Error when checking input: text takes strings; found 3, of type int\."):
            server(3)


# --- files and copies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["m.keras", "m.h5", "m.pt", "m.safetensors"])
def test_the_vocabulary_is_in_every_file(tmp_path: Path, name: str):
    model = model_of_strings()
    model.fit(TEXTS, LABELS, verbose=0)
    model.save(tmp_path / name)
    again = load_model(tmp_path / name)
    np.testing.assert_array_equal(again.predict(TEXTS), model.predict(TEXTS))
    assert again.inputs[0].shape == (None, 1, None)


def test_an_export_of_strings_is_refused_without_advice_about_sizes(tmp_path: Path):
    with pytest.raises(ExportError, match=r"an exported program holds no strings; .* before that model\.$"):
        model_of_strings().export(tmp_path / "model.pt2")


def test_a_string_goes_into_a_model_in_a_list():
    model = model_of_strings()
    with pytest.raises(TypeError, match=r"found str\. A model of strings takes a list of them, also of one\.$"):
        model("great fun")
    with pytest.raises(ValueError, match=re.escape("expected 1 array(s), for 'text', but got 0. A list")):
        model.predict([])


def test_copies_take_strings():
    model = model_of_strings()
    wanted = model.predict(TEXTS)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301  # our own
        np.testing.assert_array_equal(other.predict(TEXTS), wanted)
    for other in (clone_model(model), Sequential.from_config(model.get_config()), model_from_json(model.to_json())):
        other.set_weights(model.get_weights())
        np.testing.assert_array_equal(other.predict(TEXTS), wanted)


@pytest.mark.parametrize("writer", ["keras", "tf_keras"])
def test_files_of_keras_give_the_numbers_that_they_were_saved_with(tmp_path: Path, writer: str):
    texts = [["a great movie"], ["no fun at all"], ["great é fun"], ["unknown words here ok then more"]]
    given = [texts, [row[0] for row in texts], [["red"], ["green"], ["blue"], ["x"]]]
    model = load_model(GOLDEN / f"{writer}.keras")
    np.testing.assert_allclose(model.predict(given), np.load(GOLDEN / f"{writer}.npy"), atol=1e-6)
    model.save(tmp_path / "again.keras")
    np.testing.assert_array_equal(load_model(tmp_path / "again.keras").predict(given), model.predict(given))


# --- plain PyTorch ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layer",
    [
        vectorization(),
        vectorization(output_sequence_length=None, split="character", standardize="lower"),
        vectorization(output_sequence_length=None, standardize=None, ngrams=(2, 3)),
        vectorization(output_sequence_length=None, output_mode="tf_idf"),
        vectorization(output_sequence_length=None, output_mode="count", max_tokens=30, pad_to_max_tokens=True),
        StringLookup(vocabulary=["great fun", "é"], mask_token=""),
        StringLookup(vocabulary=["great fun", "é"], output_mode="one_hot"),
    ],
    ids=str,
)
def test_ejected_strings(tmp_path: Path, layer: Any):
    model = Sequential([Input((1,), dtype="string"), layer], name="net")
    model.eject(tmp_path / "plain")
    scope: dict[str, Any] = {"__name__": "model"}
    exec(compile((tmp_path / "plain" / "model.py").read_text(), "model.py", "exec"), scope)  # noqa: S102
    plain = scope["Net"]()
    plain.load_state_dict(load_file(tmp_path / "plain" / "model.safetensors"))
    given = [["A great,  movie!"], ["great fun"], ["é"], [""]]
    torch.testing.assert_close(plain(given), model(given), rtol=0, atol=0)
    torch.testing.assert_close(plain(np.array(given)), model(given), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (
            StringLookup(vocabulary=["a"], num_oov_indices=2, name="s"),
            "StringLookup 's': eject writes one with a vocabulary, num_oov_indices=1 and invert=False.",
        ),
        (
            TextVectorization(vocabulary=["a"], split=None, name="t"),
            (
                "TextVectorization 't': eject writes one with split 'whitespace' or 'character', and without functions "
                "of your own."
            ),
        ),
    ],
)
def test_what_eject_does_not_write_says_so(tmp_path: Path, layer: Any, text: str):
    with pytest.raises(EjectError, match=f"^{re.escape(text)}$"):
        Sequential([Input((1,), dtype="string"), layer]).eject(tmp_path / "plain")


# --- errors -----------------------------------------------------------------------------------------------------------


def of_numbers() -> Sequential:
    return Sequential([Input((1,), name="x"), Dense(1)])


def strings() -> KerasTensor:
    return Input((1,), dtype="string")


TAKES_STRINGS = (
    'Input(shape, dtype="string") takes strings, for layers such as TextVectorization, StringLookup and Hashing.'
)
REFUSED = [
    (
        lambda: Dense(1, name="d")(strings()),
        TypeError,
        "Dense 'd' takes numbers; found strings. Call TextVectorization, StringLookup or Hashing on them first.",
    ),
    (
        lambda: model_of_strings().predict(np.ones((2, 1))),
        TypeError,
        "Error when checking input: text takes strings; found 1.0, of type float.",
    ),
    (
        lambda: model_of_strings()(np.ones((2, 1))),
        TypeError,
        "Input 'text' of Sequential 'm' takes strings; found 1.0, of type float.",
    ),
    (
        lambda: model_of_strings().predict(np.array(["a", None])),
        TypeError,
        (
            "Error when checking input: text takes strings; found None, of type NoneType. Give '' for what is missing: "
            "texts.fillna('')."
        ),
    ),
    (
        lambda: model_of_strings().predict(np.array(["a", float("nan")], dtype=object)),
        TypeError,
        (
            "Error when checking input: text takes strings; found nan, of type float. Give '' for what is missing: "
            "texts.fillna('')."
        ),
    ),
    (
        lambda: model_of_strings().predict(np.array([["a", "b"]])),
        ValueError,
        (
            "Error when checking input: expected text to have shape (1,) but got array with shape (2,). Give an array "
            "of shape (samples, 1), or make the model's Input for the shape of the data."
        ),
    ),
    (
        lambda: of_numbers().predict(["a"]),
        ValueError,
        f"Error when checking input: x takes numbers; found strings. {TAKES_STRINGS}",
    ),
    (
        lambda: model_of_strings().fit(TEXTS, TEXTS),
        ValueError,
        (
            "Error when checking target: positive takes numbers; found strings. np.unique(texts, "
            "return_inverse=True)[1] numbers texts."
        ),
    ),
    (
        lambda: vectorization(name="v")(torch.ones(2, 1)),
        TypeError,
        "TextVectorization 'v' takes strings; found a tensor of torch.float32.",
    ),
    (
        lambda: StringLookup(vocabulary=["a"], invert=True, name="s")(Input((1,), dtype="int64")),
        ValueError,
        (
            "StringLookup 's': with invert=True it gives strings, which a model has no outputs for; call it on what "
            "the model predicts."
        ),
    ),
    (
        lambda: StringLookup(vocabulary=["é"], encoding="latin-1", name="s")(strings()),
        ValueError,
        (
            "StringLookup 's': in a model, encoding must be 'utf-8', as its strings are; found 'latin-1'. Decode bytes "
            "of another encoding before."
        ),
    ),
    (
        lambda: TextVectorization(output_mode="count", name="v")(strings()),
        ValueError,
        "TextVectorization 'v': there is no vocabulary yet; call adapt or set_vocabulary.",
    ),
]


@pytest.mark.parametrize(("run", "kind", "text"), REFUSED, ids=[text[:40] for _, _, text in REFUSED])
def test_the_error_says_what_was_found(run: Any, kind: Any, text: str):
    with pytest.raises(kind, match=f"^{re.escape(text)}"):
        run()
