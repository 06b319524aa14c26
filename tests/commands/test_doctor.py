"""`torchkeras doctor`: a line of advice for each finding, and Python that loads the file when it is followed."""

import json
import shutil
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
import yaml

import torchkeras
from torchkeras import errors
from torchkeras.commands import main
from torchkeras.commands.advice import ADVICE, OF_ERRORS, OF_OPTIONS
from torchkeras.commands.doctor import NOT_TRIED, TRIED, WITH_STAND_INS
from torchkeras.commands.findings import KINDS
from torchkeras.commands.treatment import CHOICES
from torchkeras.layers import LSTM, Conv2D, Dense, Input, Lambda, Layer, TorchModule
from torchkeras.models import Model, Sequential

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = sorted(path for kind in ("*.h5", "*.keras", "yaml/*", "model.json") for path in GOLDEN.rglob(kind))
# What no file of 1.2.2 can say, and what is not supported: their models have to be built by code.
# Files that need your code, with what `doctor` then exits with.
BY_CODE = {"convlstm_flat": 8, "eigen": 7, "1.14-gru": 7, "2.15-lstm": 7, "3.15-gru": 7, "keras3-storing": 7}
BY_CODE |= {"keras3-custom": 7, "feature_space": 7, "hdf5-dense-links": 7, "keras3-shards": 0}
ALONE = ("model.weights.h5", "MobileNet.h5", "MobileNetV2.h5")


@pytest.fixture(autouse=True)
def fresh_session(tmp_path, monkeypatch):
    torchkeras.clear_session()
    torch.manual_seed(0)
    monkeypatch.chdir(tmp_path)


def told(capsys, *arguments):
    """The exit code and the JSON of the doctor."""
    code = main(["doctor", *map(str, arguments), "--json"])
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, json.loads(printed.out)


def followed(call, **own):
    """The model that a call of the doctor's makes, run as it is written."""
    scope = dict(own)
    exec("\n".join(call["python"]), scope)  # noqa: S102  # the doctor's own text
    return scope["model"]


def advice(found, kind):
    """The finding of a kind, without what is the same for all."""
    return [(each["where"], each["text"], each["advice"]) for each in found["found"] if each["kind"] == kind]


def some(files, step=12):
    """Every file; most of them only among the slow tests."""
    special = {"yaml", "conv_26", "eigen", "pool_theano", "convlstm_flat", "up_dense_th", "mlambda", "vgg", "rnn_12"}
    return [
        pytest.param(
            path,
            id=path.relative_to(GOLDEN).as_posix(),
            marks=() if number % step == 0 or path.parent.name in special else pytest.mark.slow,
        )
        for number, path in enumerate(files)
    ]


@pytest.mark.parametrize("path", some(FILES))
def test_the_advice_for_every_golden_file_is_followed(path, capsys):
    apart = ["--architecture", path.with_name("model.json")] if path.name == "weights.h5" else []
    code, found = told(capsys, path, *apart)
    assert all(each["advice"] for each in found["found"])
    assert found["calls"]
    by_code = BY_CODE.get(path.parent.name, BY_CODE.get(path.stem))
    if path.relative_to(GOLDEN).as_posix() == "forms/keras-3.2/shared/model.keras":  # it says not which calls are meant
        by_code = 7
    if path.name in ALONE or by_code is not None:
        assert code == (by_code or 0)
        assert [call["tried"] for call in found["calls"]] == [NOT_TRIED]
        return
    assert code in (0, 1)
    assert {call["tried"] for call in found["calls"]} == {TRIED}
    assert (code == 0) == (not found["calls"][0]["options"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* is not written; it is taken as")
        warnings.filterwarnings("ignore", ".* is not written by tf.keras .*; it is taken as")
        warnings.filterwarnings("ignore", ".*the file does not show whether TensorFlow 2.1 wrote it")
        warnings.filterwarnings("ignore", ".*the state of its optimizer is not taken")  # frozen after compile
        warnings.filterwarnings("ignore", ".*its training configuration names no optimizer")
        for call in found["calls"]:
            assert isinstance(followed(call), Model)


def chosen(found, **options):
    return next(call for call in found["calls"] if call["options"] == options)


def same_outputs(model, folder):
    record = np.load(folder / "io.npz")
    np.testing.assert_allclose(model.predict(record["x0"]), record["y0"], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("backend", ["tensorflow", "theano"])
@pytest.mark.parametrize("case", ["conv_26", "conv_28", "conv_32"])
def test_the_data_format_that_is_chosen_gives_the_saved_outputs(backend, case, capsys):
    folder = GOLDEN / f"keras-1.2.2-{backend}" / case
    about = json.loads((folder / "case.json").read_text())
    code, found = told(capsys, folder / "model.h5")
    assert (code, len(found["calls"])) == (1, 2)
    data_format = torchkeras.config.DIM_ORDERINGS[about["image_data_format"]]
    same_outputs(followed(chosen(found, original_data_format=data_format)), folder)


def test_weights_of_keras_0_with_their_architecture_and_backend(capsys):
    folder = GOLDEN / "keras-0.3.3-theano" / "vgg"
    code, found = told(capsys, folder / "weights.h5", "--architecture", folder / "model.json")
    assert code == 1
    same_outputs(followed(chosen(found, original_backend="theano")), folder)
    code, found = told(capsys, folder / "weights.h5")
    assert code == 0
    assert [call["options"] for call in found["calls"]] == [
        {"original_backend": each} for each in ("theano", "tensorflow")
    ]
    assert [call["python"][1] for call in found["calls"]] == [
        f"model.load_weights({str(folder / 'weights.h5')!r}, original_backend={each!r})"
        for each in ("theano", "tensorflow")
    ]


def test_a_file_of_keras_2_that_lost_its_backend(capsys):
    folder = GOLDEN / "keras-2.2.4-theano" / "conv2d_00"
    shutil.copy(folder / "model.h5", "m.h5")
    with h5py.File("m.h5", "a") as file:
        del file.attrs["backend"], file["model_weights"].attrs["backend"]
    code, found = told(capsys, "m.h5")
    assert code == 1
    assert advice(found, "backend") == [
        (
            "",
            "there is no 'backend'; kernels are taken as TensorFlow's",
            "nothing to do unless it was trained on Theano: then give original_backend='theano' as well",
        )
    ]
    same_outputs(torchkeras.models.load_model("m.h5", original_backend="theano"), folder)


def arrays(file):
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names


def test_a_file_that_may_be_damaged_or_edited(capsys):
    model = Sequential([Dense(3, input_shape=(2,))])
    model.set_weights([np.ones((2, 3)), np.ones(3)])
    model.save("own.h5")
    with h5py.File("own.h5") as file, h5py.File("m.h5", "w") as copy:  # in which HDF5 leaves room after the last array
        file.copy("model_weights", copy)
        copy.attrs.update(file.attrs)
    with h5py.File("m.h5") as file:
        at, size = max((file[name].id.get_offset(), file[name].id.get_storage_size()) for name in arrays(file))  # pyright: ignore[reportAttributeAccessIssue]
    data, place = Path("m.h5").read_bytes(), at.to_bytes(8, "little") + size.to_bytes(8, "little")
    assert data.count(place) == 1
    Path("m.h5").write_bytes(data.replace(place, (at + 4).to_bytes(8, "little") + place[8:]))
    code, found = told(capsys, "m.h5")
    assert (code, [call["options"] for call in found["calls"]]) == (1, [{"strict": False}])
    ((_, text, do),) = advice(found, "doubt")
    assert text.endswith("If the file is known to be whole, strict=False takes it.")
    assert do.startswith(
        "if you know that somebody edited the file, take it with strict=False; else get the file again"
    )
    with pytest.warns(UserWarning, match="It is taken, since strict is False"):
        again = followed(found["calls"][0])
    assert [array.ravel().tolist() for array in again.get_weights()] == [[1] * 5 + [0], [1] * 3]  # as the file says


# --- what is said ----------------------------------------------------------------------------------------------------


def test_a_file_that_loads_as_text(capsys):
    model = Sequential([Dense(2, input_shape=(3,), name="first")])
    model.compile("adam", "mse")
    model.fit(np.zeros((4, 3), "float32"), np.zeros((4, 2), "float32"), verbose=0)
    model.save("m.h5")
    assert main(["doctor", "m.h5"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("m.h5: HDF5, a group a layer: a whole model\n")
    assert text.endswith(
        "found: nothing\n"
        "to load it (tried: it loads)\n"
        "  from torchkeras.models import load_model\n"
        "  model = load_model('m.h5')\n"
    )


def test_a_choice_as_text(capsys):
    path = GOLDEN / "keras-1.2.2-theano" / "conv_26" / "model.h5"
    assert main(["doctor", str(path)]) == 1
    text = capsys.readouterr().out
    assert text.partition("found: 2\n")[2] == (
        "  loading: ZeroPadding2D 'zeropadding2d_1': Keras 1 does not write its dim_ordering, and nothing else in the "
        "file shows it. Give original_data_format='channels_last' or 'channels_first', or set image_data_format.\n"
        "    -> say where its images had their channels: 'channels_last' is image_dim_ordering 'tf', 'channels_first' "
        "is 'th'; load it as shown below\n"
        "  optimizer: its state is not in the file\n"
        "    -> nothing to do for predict; fit goes on with an optimizer that begins anew\n"
        "to load it (tried: it loads; choose one of these)\n"
        "  from torchkeras.models import load_model\n"
        f"  model = load_model({str(path)!r}, original_data_format='channels_last')\n"
        f"  model = load_model({str(path)!r}, original_data_format='channels_first')\n"
    )


def test_every_kind_of_finding_error_and_option_has_advice():
    assert set(ADVICE) == set(KINDS)
    family = {errors.ModelFileError, *errors.ModelFileError.__subclasses__()}
    assert family <= set(OF_ERRORS)
    assert set(OF_OPTIONS) == {*CHOICES, "custom_objects", "strict"}


def test_kernels_of_theano(capsys):
    _, found = told(capsys, GOLDEN / "keras-2.2.4-theano" / "conv2d_00" / "model.h5")
    assert advice(found, "theano") == [
        (
            "",
            "1 kernel of Theano, which turned kernels by 180 degrees to compute",
            "nothing to do: loading turns them back",
        )
    ]


def test_a_function_that_was_read_from_bytecode(capsys):
    _, found = told(capsys, GOLDEN / "lambdas" / "models" / "siamese.h5")
    place, text, do = advice(found, "lambda")[0]
    assert (place, text) == (
        "lambda_14",
        "its function is kept as bytecode, which was read, not run: K.l2_normalize(x, axis=1)",
    )
    assert do == (
        "nothing to do if your script computes this; else pass your own: custom_objects={'lambda_14': function}"
    )


def test_a_model_with_channels_first_and_without_training(capsys):
    x = Input((2, 8, 8))
    Model(x, Conv2D(2, 3, data_format="channels_first")(x)).save("m.h5")
    code, found = told(capsys, "m.h5")
    assert code == 0
    assert advice(found, "channels first")[0][2] == (
        "give x as (batch, channels, rows, columns); if yours are the other way: x.transpose(0, 3, 1, 2)"
    )
    assert advice(found, "not compiled")[0][2] == (
        "nothing to do for predict; before fit or evaluate call model.compile(optimizer, loss)"
    )


def test_gates_and_precision(capsys):
    Sequential([LSTM(2, input_shape=(3, 2), dtype="mixed_bfloat16")]).save("m.h5")
    _, found = told(capsys, "m.h5")
    assert [len(advice(found, kind)) for kind in ("hard_sigmoid", "precision")] == [1, 1]


def test_defaults_of_the_keras_that_wrote_weights_alone(capsys):
    _, found = told(capsys, GOLDEN / "keras-3.15" / "lstm_default" / "model.weights.h5")
    assert [(where, do) for where, _, do in advice(found, "defaults")] == [
        ("LSTM", "unless your code gave these options, write LSTM(..., recurrent_activation='sigmoid')")
    ]
    Sequential([LSTM(2, input_shape=(3, 2))]).save_weights("w.h5")
    assert advice(told(capsys, "w.h5")[1], "defaults") == []


def test_what_loading_warns_of(capsys):
    path = GOLDEN / "keras-1.2.2-tensorflow" / "rnn_12" / "model.h5"
    _, found = told(capsys, path)
    assert [text.partition(": ")[2] for _, text, _ in advice(found, "warning")] == [
        "ConvLSTM2D 'convlstm2d_1': its subsample is not written; it is taken as (1, 1)."
    ]


# --- objects of the user's -------------------------------------------------------------------------------------------


class Mine(Layer):
    """A layer with a square kernel, or a wider one."""

    def __init__(self, units=4, **options):
        super().__init__(**options)
        self.units = units

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units))
        super().build(input_shape)

    def call(self, x):
        return x @ self.kernel

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def doubled(x):
    return 2 * x


def own_loss(y_true, y_pred):
    return ((y_true - y_pred) ** 2).mean(-1)


@pytest.mark.parametrize("name", ["m.h5", "m.keras", "m.pt", "m.safetensors"])
def test_a_class_that_is_asked_for(name, capsys):
    Sequential([Dense(4, input_shape=(3,)), Mine(name="own"), Dense(2)]).save(name)
    code, found = told(capsys, name)
    (call,) = found["calls"]
    assert (code, call["tried"], call["options"]) == (1, WITH_STAND_INS, {"custom_objects": {"Mine": "Mine"}})
    assert advice(found, "loading")[0][2] == "pass your own Mine in custom_objects; load it as shown below"
    shapes = "[(4, 4)]"
    assert (
        call["python"][0]
        == f"# Mine: your own layer; in the file 'own' has options {{'units': 4}}, weights of shapes {shapes}"
    )
    assert isinstance(followed(call, Mine=Mine).layers[1], Mine)


def test_a_class_that_nothing_can_stand_for(capsys):
    Sequential([Dense(4, input_shape=(3,)), Mine(7), Dense(2)]).save("m.h5")
    code, found = told(capsys, "m.h5")
    (call,) = found["calls"]
    assert (code, call["tried"]) == (7, NOT_TRIED)
    followed(call, Mine=Mine)


def test_functions_and_modules_that_are_asked_for(capsys):
    model = Sequential(
        [
            Dense(4, doubled, input_shape=(3,), name="first"),
            Lambda(doubled, name="if"),
            TorchModule(torch.nn.Tanh(), name="net"),
        ]
    )
    model.save("m.h5")
    code, found = told(capsys, "m.h5")
    (call,) = found["calls"]
    assert (code, call["tried"]) == (7, NOT_TRIED)
    names = {"doubled": "doubled", "net": "net"}
    assert call["options"] == {"custom_objects": names}
    assert followed(call, doubled=doubled, net=torch.nn.Tanh()).predict(np.ones((1, 3))).shape == (1, 4)


def test_a_name_that_python_has_no_variable_for(capsys):
    Sequential([Lambda(lambda x: x, name="my-scale", input_shape=(3,))]).save("m.h5")
    _, found = told(capsys, "m.h5")
    (call,) = found["calls"]
    assert call["python"][-1] == "model = load_model('m.h5', custom_objects={'my-scale': my_scale})"
    followed(call, my_scale=doubled)


def test_a_loss_is_passed_or_left_out(capsys):
    model = Sequential([Dense(2, input_shape=(3,))])
    model.compile("sgd", own_loss)
    model.save("m.h5")
    code, found = told(capsys, "m.h5")
    assert code == 1
    assert [(call["tried"], call["options"]) for call in found["calls"]] == [
        (WITH_STAND_INS, {"custom_objects": {"own_loss": "own_loss"}}),
        (TRIED, {"compile": False}),
    ]
    assert followed(found["calls"][0], own_loss=own_loss).optimizer is not None
    assert followed(found["calls"][1]).optimizer is None
    assert advice(found, "training")[0][2] == (
        "load it as shown below; without what it names, call model.compile(...) before fit or evaluate"
    )


def test_an_optimizer_that_cannot_be_restored(capsys):
    model = Sequential([Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    model.save("m.h5")
    with h5py.File("m.h5", "a") as file:
        training = json.loads(file.attrs["training_config"])  # pyright: ignore[reportArgumentType]
        training["optimizer_config"]["class_name"] = "Mine"
        file.attrs["training_config"] = json.dumps(training).encode()
    code, found = told(capsys, "m.h5")
    assert (code, [call["options"] for call in found["calls"]]) == (1, [{"compile": False}])
    followed(found["calls"][0])


# --- what holds no model, or cannot be read --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.json", "model.yaml"])
def test_an_architecture_alone(name, capsys):
    config = Sequential([Dense(4, input_shape=(3,)), Mine(), Dense(2, name="last")]).to_json()
    Path(name).write_text(config if name == "model.json" else yaml.safe_dump(json.loads(config)))
    code, found = told(capsys, name)
    (call,) = found["calls"]
    assert (code, call["tried"]) == (1, WITH_STAND_INS)
    assert followed(call, Mine=Mine).layers[-1].name == "last"


@pytest.mark.parametrize(
    ("option", "value"),
    [("--architecture", "m.json"), ("--original-backend", "theano"), ("--original-data-format", "channels_first")],
)
def test_an_architecture_alone_takes_no_option_about_weights(option, value, capsys):
    Path("m.json").write_text(Sequential([Dense(4, input_shape=(3,))]).to_json())
    assert main(["doctor", "m.json", option, value]) == 2
    assert f"m.json: an architecture, without weights; {option} goes with weights." in capsys.readouterr().err


def test_an_architecture_that_cannot_be_built(capsys):
    Path("m.json").write_text('{"class_name": "Sequential", "config": 3}')
    code, found = told(capsys, "m.json")
    assert (code, found["calls"], [each["kind"] for each in found["found"]]) == (
        7,
        [],
        ["architecture", "ArchitectureError"],
    )


@pytest.mark.parametrize(
    ("name", "content", "text", "do"),
    [
        ("m.h5", b"version https://git-lfs.github.com/spec/v1\noid", "a pointer of Git LFS", "git lfs pull"),
        ("m.h5", b"\n<!DOCTYPE html><html>", "a web page", "download the file itself"),
        ("m.h5", b"\x1f\x8b\x08\0\0", "packed by gzip", "gunzip m.h5"),
        ("w.npy", b"\x93NUMPY\x01\0", "an array of NumPy", "layer.set_weights([numpy.load('w.npy')])"),
        ("m.pb", b"\x08\x01\x12\x02", "a graph of TensorFlow", "tf.keras.models.load_model(folder).save('model.h5')"),
        ("m.ckpt", b"\0\0\0", "a checkpoint of TensorFlow", "save_weights('weights.h5')"),
        ("m.tflite", b"\x1c\0\0\0TFL3", "TensorFlow Lite", "the file that it was made of"),
        ("m.onnx", b"\x08\x08\x12", "ONNX", "the file that it was made of"),
    ],
)
def test_a_file_of_another_kind(name, content, text, do, capsys):
    Path(name).write_bytes(content)
    code, found = told(capsys, name)
    (only,) = found["found"]
    assert (code, found["calls"], only["kind"]) == (4, [], "other file")
    assert text in only["text"]
    assert do in only["advice"]


def test_folders(capsys):
    Path("saved").mkdir()
    code, found = told(capsys, "saved")
    assert (code, found["found"][0]["text"]) == (3, "a folder, not a file")
    Path("saved/saved_model.pb").write_bytes(b"\x08\x01")
    _, found = told(capsys, "saved")
    assert found["found"][0]["advice"] == (
        "in TensorFlow: tf.keras.models.load_model('saved').save('model.h5'), and load that"
    )


def test_a_limit_that_the_user_may_raise(capsys):
    Sequential([Dense(2, input_shape=(3,))]).save("my model.h5")
    code, found = told(capsys, "my model.h5", "--seconds", "1e-6")
    assert (code, found["calls"]) == (6, [])
    assert found["found"][0]["advice"] == (
        "if you trust the file, give it more: torchkeras doctor 'my model.h5' --seconds 600 --memory 8G"
    )


def test_a_file_that_cannot_be_read_as_text(capsys):
    Path("m.h5").write_bytes(b"GIF89a")
    assert main(["doctor", "m.h5"]) == 4
    assert capsys.readouterr().out == (
        "m.h5\n"
        "found: 1\n"
        "  UnknownFormatError: it begins neither as HDF5, nor as a zip, nor as safetensors.\n"
        "    -> open it with the program that wrote it, and there save the model as .h5\n"
        "to load it: no way is known\n"
    )


def test_a_file_that_is_not_there(capsys):
    assert main(["doctor", "no.h5"]) == 2
    assert capsys.readouterr().err == "torchkeras: UsageError: no.h5: there is no such file.\n"


def test_names_that_a_terminal_would_obey_are_escaped(capsys):
    Sequential([Lambda(lambda x: x, name="a\x1b[31mb", input_shape=(3,))]).save("m.h5")
    main(["doctor", "m.h5"])
    assert "\x1b" not in capsys.readouterr().out
