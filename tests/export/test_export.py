"""`model.export("m.pt2")`: torch's own program of a model, checked before it is kept; and what export refuses."""

import importlib.util
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras.engine.shapes.input_spec import InputSpec
from torchkeras.export import checking, exporting
from torchkeras.export.errors import ExportError
from torchkeras.layers import (
    GRU,
    LSTM,
    RNN,
    Attention,
    BatchNormalization,
    Bidirectional,
    Conv2D,
    ConvLSTM2D,
    CuDNNGRU,
    CuDNNLSTM,
    Dense,
    Dropout,
    Embedding,
    GlobalAveragePooling2D,
    GRUCell,
    Input,
    Lambda,
    LSTMCell,
    Masking,
    MaxPooling2D,
    SimpleRNN,
)
from torchkeras.models import Model, Sequential

pytestmark = pytest.mark.torch("2.8", "its compiler follows whole models")
F = torch.float32
TIMES = Input((None, 4), name="times")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def loaded(path: str = "m.pt2") -> Any:
    return torch.export.load(path)


def two() -> Model:
    a, b = Input((4,), name="a"), Input((None, 4), name="b.c")
    hidden = Dense(3, name="left")(a)
    return Model([a, b], [hidden, Dense(2, name="right/1")(b), a, hidden])


def test_a_program_has_the_names_of_the_layers_and_any_sizes():
    model = two()
    model.export("m.pt2")
    program = loaded()
    assert program.graph_signature.user_inputs == ("a", "b_c")
    assert program.graph_signature.user_outputs == ("left", "right_1", "a", "left")
    assert set(program.state_dict) == set(model.state_dict())
    for batch, length in ((1, 1), (2, 9), (7, 3)):
        given = [torch.randn(batch, 4), torch.randn(batch, length, 4)]
        for found, wanted in zip(program.module()(*given), model(given), strict=True):
            torch.testing.assert_close(found, wanted)


def test_an_export_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        two().export("m.pt2")


def test_a_model_is_exported_in_evaluation_mode_and_stays_as_it_is():
    model = Sequential([Dense(8, input_shape=(4,)), BatchNormalization(), Dropout(0.5), Dense(1)])
    model.train()
    model.layers[1].eval()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    random = torch.random.get_rng_state()
    model.export("m.pt2")
    assert [layer.training for layer in model.layers] == [True, False, True, True]
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert torch.equal(random, torch.random.get_rng_state())
    x = torch.randn(5, 4)
    np.testing.assert_allclose(loaded().module()(x).detach(), model.predict(x.numpy()), rtol=1e-5, atol=1e-6)


def test_no_path_of_this_machine_is_in_a_program():
    two().export("m.pt2")
    folder = str(Path(exporting.__file__).parent.parent).encode()
    with zipfile.ZipFile("m.pt2") as found:
        assert not any(folder in found.read(name) for name in found.namelist())


def test_a_stateful_model_begins_at_its_beginning_and_goes_on():
    model = Sequential([LSTM(3, stateful=True, batch_input_shape=(2, 5, 4))])
    x = np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32")
    model.predict(x)
    states = [state.clone() for state in model.layers[0].states]
    model.export("m.pt2")
    assert all(map(torch.equal, states, model.layers[0].states))
    model.reset_states()
    program = loaded().module()
    for _ in range(3):
        np.testing.assert_allclose(program(torch.from_numpy(x)).detach(), model.predict(x), rtol=1e-5, atol=1e-6)


MASKED = Masking()(TIMES)
WALKS = {
    "lstm": lambda: LSTM(3)(TIMES),
    "lstm of torch's kernel": lambda: LSTM(3, recurrent_activation="sigmoid", return_sequences=True)(TIMES),
    "gru": lambda: GRU(3, return_sequences=True)(TIMES),
    "gru of torch's kernel": lambda: GRU(3, reset_after=True, recurrent_activation="sigmoid")(TIMES),
    "simple": lambda: SimpleRNN(3, go_backwards=True, return_sequences=True)(TIMES),
    "cells": lambda: RNN([LSTMCell(3), GRUCell(5)])(TIMES),
    "masked": lambda: LSTM(3, return_sequences=True)(MASKED),
    "masked and zero": lambda: LSTM(3, return_sequences=True, zero_output_for_mask=True)(MASKED),
    "masked and kept": lambda: GRU(3, return_sequences=True, zero_output_for_mask=False)(MASKED),
    "masked cells of other sizes": lambda: RNN([GRUCell(5), GRUCell(3)], return_sequences=True)(MASKED),
    "both ways": lambda: Bidirectional(GRU(3, return_sequences=True))(MASKED),
    "cudnn lstm": lambda: CuDNNLSTM(2)(TIMES),
    "cudnn gru": lambda: CuDNNGRU(2, return_sequences=True)(TIMES),
    "attention": lambda: Attention()([TIMES, TIMES]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKS)
def test_sequences_of_any_length(name: str):
    model = Model(TIMES, WALKS[name]())
    model.export("m.pt2")
    program = loaded().module()
    for batch, length in ((1, 1), (3, 40)):
        x = torch.randn(batch, length, 4)
        x[:, length // 2 :: 3] = 0.0
        with torch.no_grad():
            torch.testing.assert_close(program(x), model.eval()(x), rtol=1e-4, atol=1e-5)


def test_a_long_walk_is_one_operation():
    model = Sequential([GRU(2, input_shape=(200, 1))])
    model.export("m.pt2")
    assert sum(node.op == "call_function" for node in loaded().graph.nodes) < 60


@pytest.mark.slow
def test_images_of_any_size_and_words():
    images, words = Input((None, None, 3)), Input((None,))
    seen = GlobalAveragePooling2D()(MaxPooling2D(2, padding="same")(Conv2D(4, 3, strides=2, padding="same")(images)))
    model = Model([images, words], [seen, Embedding(7, 3)(words)])
    model.export("m.pt2")
    given = [torch.randn(2, 30, 41, 3), torch.tensor([[0.0, 6.0, 3.0], [1.0, 2.0, 5.0]])]
    for found, wanted in zip(loaded().module()(*given), model.eval()(given), strict=True):
        torch.testing.assert_close(found, wanted)


def test_signatures_fix_what_is_unknown():
    model = Model(TIMES, Dense(2)(TIMES))
    for given in ((None, 5, 4), [(2, 5, 4)], {"times": InputSpec(shape=(None, 5, 4))}, torch.zeros(9, 5, 4)):
        model.export("m.pt2", input_signature=given)
        assert loaded().module()(torch.randn(2, 5, 4)).shape == (2, 5, 2)
        with pytest.raises((AssertionError, RuntimeError), match=r"5|size"):
            loaded().module()(torch.randn(2, 6, 4))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            (None, 5, 3),
            f"export: input_signature must fit the input 'times', (None, None, 4) of {F}; found (None, 5, 3) of {F}.",
        ),
        ([None, None], "export: input_signature must have an entry for each input (times); found 2 of them."),
        ({"x": None}, "export: input_signature must have an entry for each input (times); found 'x'."),
    ],
)
def test_signatures_that_do_not_fit(given: Any, text: str):
    with pytest.raises(ValueError, match="input_signature") as caught:
        Model(TIMES, Dense(2)(TIMES)).export("m.pt2", input_signature=given)
    assert str(caught.value) == text


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "options", "text"),
    [
        ("m.tflite", {}, "m.tflite: export goes by the suffix, .onnx or .pt2; for other names give format=."),
        ("m", {"format": "tf_saved_model"}, "export: format must be 'onnx' or 'torch' (.pt2); found 'tf_saved_model'."),
        ("m.pt2", {"format": "onnx"}, "m.pt2: export got format='onnx'; the suffix says 'torch'."),
        ("m.pt2", {"opset_version": 18}, "export: opset_version goes with ONNX alone."),
    ],
)
def test_formats_that_are_refused(path: str, options: dict[str, Any], text: str):
    with pytest.raises(ValueError, match="export") as caught:
        two().export(path, **options)
    assert str(caught.value) == text


def test_other_names_need_a_format(capsys):
    two().export("program", format="torch", verbose=True)
    assert capsys.readouterr().out == "program: exported, and checked against the model.\n"
    assert len(loaded("program").graph_signature.user_inputs) == 2


def test_onnx_needs_its_packages(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError) as caught:
        two().save("m.onnx")
    assert str(caught.value) == (
        "An .onnx file: onnx and onnxscript not found. Install with `pip install torchkeras-graph[onnx]`."
    )


def by_value(x: torch.Tensor) -> torch.Tensor:
    return x if x.is_meta or float(x.detach().sum()) > 0.0 else x * 2


def test_what_torch_cannot_follow_names_the_layer():
    x = Input((4,))
    model = Model(x, Lambda(by_value, name="looks")(x), name="m")
    Path("m.pt2").write_bytes(b"before")
    with pytest.raises(
        ExportError, match=r"^Model 'm' cannot be exported to m\.pt2: torch\.export cannot follow it: L"
    ):
        model.export("m.pt2")
    assert Path("m.pt2").read_bytes() == b"before"
    assert [path.name for path in Path().iterdir()] == ["m.pt2"]


def test_random_outputs_are_not_kept():
    x = Input((4,))
    model = Model(x, Lambda(lambda x: x + torch.randn_like(x), name="noise")(x), name="m")
    with pytest.raises(
        ExportError, match=r"the written file gives another output 'noise' for a batch of 1: it differs"
    ):
        model.export("m.pt2")
    assert list(Path().iterdir()) == []


def test_a_program_that_gives_something_else_is_not_kept(monkeypatch):
    monkeypatch.setattr(exporting.program, "read", lambda path: lambda inputs: [inputs[0] * 0.5])
    with pytest.raises(ExportError, match="the written file has 1 outputs; the model has 4"):
        two().export("m.pt2")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (torch.ones(2), None),
        (torch.ones(2) + 1e-6, None),
        (torch.ones(2) + 1e-3, "it differs by up to 0.001."),
        (torch.ones(3), "its shape is torch.Size([3]); the model's is torch.Size([2])."),
        (torch.ones(2).double(), "its dtype is torch.float64; the model's is torch.float32."),
        (torch.tensor([1.0, torch.nan]), "it differs by up to nan."),
    ],
)
def test_differences(found: torch.Tensor, text: str | None):
    assert checking.differing(torch.ones(2), found) == text


@pytest.mark.slow
def test_a_walk_over_images_of_any_length():
    images = Input((None, 6, 6, 1))
    Model(images, ConvLSTM2D(2, 3, padding="same")(images)).export("m.pt2")
    assert loaded().module()(torch.randn(2, 5, 6, 6, 1)).shape == (2, 6, 6, 2)
