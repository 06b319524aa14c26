"""`eject`: a model as plain PyTorch, kept whole or not at all, and only when it computes the same."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import torchkeras
from torchkeras import layers as L
from torchkeras.commands import main
from torchkeras.export.errors import EjectError, UnequalError
from torchkeras.export.plain import proof
from torchkeras.models import Model, Sequential

NET = '''"""Sequential 'net', as plain PyTorch.

To load and run it:

    from safetensors.torch import load_file
    from model import Net

    model = Net()
    model.load_state_dict(load_file("model.safetensors"))
    model.eval()
    y = model(x)  # on inputs in Keras's order of axes
"""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    """(batch, 8, 8, 1) -> (batch, 2)"""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.drop = nn.Dropout(0.25)
        self.out = nn.Linear(36, 2)

    def forward(self, x):
        x = x.permute(0, 3, 1, 2)  # (batch, 1, 8, 8)
        x = F.relu(self.conv(x))  # (batch, 4, 6, 6)
        x = F.max_pool2d(x, 2)  # (batch, 4, 3, 3)
        x = x.permute(0, 2, 3, 1)  # (batch, 3, 3, 4)
        x = x.flatten(1)  # (batch, 36)
        x = self.drop(x)
        return torch.softmax(self.out(x), -1)  # (batch, 2)
'''


@pytest.fixture(autouse=True)
def fresh_session(tmp_path, monkeypatch):
    torchkeras.clear_session()
    torch.manual_seed(0)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def here(monkeypatch):
    """Written modules run in this process: where it is not the clean one that a test is about."""
    monkeypatch.setattr(
        proof, "_found_there", lambda written, folder, _, batches: proof._found_here(written, folder, batches)
    )


def convnet():
    return Sequential(
        [
            L.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 1), name="conv"),
            L.MaxPooling2D(name="pool"),
            L.Flatten(name="flat"),
            L.Dropout(0.25, name="drop"),
            L.Dense(2, activation="softmax", name="out"),
        ],
        name="net",
    )


def small():
    return Sequential([L.Dense(2, input_shape=(3,), name="out")], name="small")


def written(folder, name, *arguments):
    """An instance of the class in a folder, with the weights of that folder."""
    scope: dict[str, Any] = {"__name__": "model"}
    exec(compile((Path(folder) / "model.py").read_text(), "model.py", "exec"), scope)  # noqa: S102
    model = scope[name](*arguments)
    model.load_state_dict(importlib.import_module("safetensors.torch").load_file(Path(folder) / "model.safetensors"))
    return model


def test_the_text_of_a_convnet():
    assert convnet().eject("net") == Path("net")
    assert Path("net/model.py").read_text() == NET
    assert sorted(path.name for path in Path("net").iterdir()) == ["model.py", "model.safetensors"]


@pytest.mark.usefixtures("here")
def test_the_module_computes_and_trains_as_the_model():
    model = convnet()
    model.eject("net")
    net = written("net", "Net")
    x, target = torch.randn(4, 8, 8, 1), torch.randn(4, 2)
    for module in (model, net):
        module.eval()
        torch.nn.functional.mse_loss(module(x), target).backward()
    torch.testing.assert_close(net(x), model(x))
    own, found = dict(model.get_layer("conv").conv.named_parameters()), dict(net.conv.named_parameters())
    for name, parameter in own.items():
        torch.testing.assert_close(found[name].grad, parameter.grad)


@pytest.mark.usefixtures("here")
def test_weights_as_a_state_dict():
    small().eject("net", weights="pt")
    assert sorted(path.name for path in Path("net").iterdir()) == ["model.pt", "model.py"]
    assert list(torch.load("net/model.pt", weights_only=True)) == ["out.weight", "out.bias"]
    assert 'model.load_state_dict(torch.load("model.pt"))' in Path("net/model.py").read_text()


@pytest.mark.usefixtures("here")
def test_batch_normalization_trains_with_kerass_momentum():
    model = Sequential([L.BatchNormalization(momentum=0.9, input_shape=(3,), name="norm")], name="net")
    model.eject("net")
    assert "self.norm = nn.BatchNorm1d(3, eps=0.001, momentum=0.1)\n" in Path("net/model.py").read_text()
    net, x = written("net", "Net"), torch.randn(6, 3) * 2 + 1
    for module in (model, net):
        module.train()
        module(x)
    torch.testing.assert_close(net.norm.running_mean, model.get_layer("norm").norm.running_mean)
    torch.testing.assert_close(net.norm.running_var, model.get_layer("norm").norm.running_var)


@pytest.mark.usefixtures("here")
def test_what_is_frozen_stays_frozen():
    model = Sequential([L.Dense(3, input_shape=(2,), name="a", trainable=False), L.Dense(1, name="b")], name="net")
    model.eject("net")
    assert [p.requires_grad for p in written("net", "Net").parameters()] == [False, False, True, True]


@pytest.mark.usefixtures("here")
def test_states_go_on_from_batch_to_batch():
    model = Sequential([L.LSTM(3, stateful=True, batch_input_shape=(2, 4, 5), name="walk")], name="net")
    model(torch.randn(2, 4, 5))
    before = [state.clone() for state in model.get_layer("walk").states]
    model.eject("net")
    for state, kept in zip(model.get_layer("walk").states, before, strict=True):
        assert torch.equal(state, kept)  # the proof leaves the model as it was
    net, x = written("net", "Net"), torch.randn(2, 4, 5)
    model.reset_states()
    for _ in range(2):
        torch.testing.assert_close(net(x), model(x))
    net.reset_states()
    model.reset_states()
    torch.testing.assert_close(net(x), model(x))


@pytest.mark.usefixtures("here")
def test_a_function_of_the_users_own_is_an_argument():
    x = L.Input((3,))
    model = Model(x, L.Lambda(lambda t: t * 2, name="twice")(x), name="net")
    model.eject("net")
    text = Path("net/model.py").read_text()
    assert "    def __init__(self, twice):\n" in text
    assert "arguments of `Net`: twice." in text
    given = torch.randn(2, 3)
    assert torch.equal(written("net", "Net", lambda t: t * 2)(given), given * 2)


@pytest.mark.usefixtures("here")
def test_a_model_inside_is_a_class_used_twice():
    inner = Sequential([L.Dense(2, input_shape=(3,), name="d")], name="encoder")
    a, b = L.Input((3,), name="a"), L.Input((3,), name="b")
    model = Model([a, b], L.Subtract()([inner(a), inner(b)]), name="siamese")
    model.eject("net")
    text = Path("net/model.py").read_text()
    assert text.count("class Encoder(nn.Module):") == 1
    assert text.endswith(
        "        x = self.encoder(a)  # (batch, 2)\n        x1 = self.encoder(b)  # (batch, 2)\n        return x - x1\n"
    )


class Own(L.Layer):
    def call(self, inputs):
        return inputs


@pytest.mark.usefixtures("here")
def test_a_class_of_the_users_own_is_refused_and_nothing_is_left():
    model = Sequential([Own(input_shape=(3,), name="mine")], name="net")
    with pytest.raises(EjectError) as caught:
        model.eject("net")
    assert str(caught.value) == (
        "Own 'mine': eject knows no plain PyTorch for this class. Put its computation into a Lambda, whose function "
        "you then give to the written module."
    )
    assert list(Path().iterdir()) == []


def test_a_module_that_computes_something_else_is_not_kept(monkeypatch):
    monkeypatch.setattr(proof, "found_by", lambda *_: [[torch.zeros(3, 2)], [torch.zeros(3, 2)]])
    with pytest.raises(
        UnequalError, match=r"Sequential 'small': output 0 of the written module differs from the model"
    ):
        small().eject("net")
    assert list(Path().iterdir()) == []


def test_a_module_that_does_not_run_is_not_kept(monkeypatch):
    eject = importlib.import_module("torchkeras.export.plain.eject")
    broken = eject.write
    monkeypatch.setattr(eject, "write", lambda *given: _without_torch(broken(*given)))
    with pytest.raises(UnequalError) as caught:
        small().eject("net")
    assert str(caught.value) == (
        "Sequential 'small': the written module does not run: ImportError: torchkeras is not to be had here."
    )
    assert list(Path().iterdir()) == []


def _without_torch(found):
    return type(found)("import torchkeras\n" + found.text, *(getattr(found, name) for name in list(vars(found))[1:]))


@pytest.mark.usefixtures("here")
def test_a_folder_that_is_not_empty_stays():
    small().eject("net")
    before = Path("net/model.py").read_text()
    with pytest.raises(FileExistsError) as caught:
        convnet().eject("net")
    assert str(caught.value) == "net: the folder is not empty. Give overwrite=True to replace an ejected model."
    assert Path("net/model.py").read_text() == before
    convnet().eject("net", overwrite=True, weights="pt")
    assert sorted(path.name for path in Path("net").iterdir()) == ["model.pt", "model.py"]
    Path("net/notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"the folder holds 'notes\.txt', which no eject wrote"):
        small().eject("net", overwrite=True)
    assert [path.name for path in Path().iterdir()] == ["net"]


@pytest.mark.usefixtures("here")
def test_an_empty_folder_is_filled_and_a_file_is_not():
    Path("net").mkdir()
    small().eject("net")
    assert Path("net/model.py").exists()
    Path("file").touch()
    with pytest.raises(FileExistsError, match="file: it is a file; eject writes a folder"):
        small().eject("file")
    with pytest.raises(FileNotFoundError, match="there is no folder 'none' to put it into"):
        small().eject("none/net")


@pytest.mark.usefixtures("here")
def test_options_and_packages(monkeypatch):
    with pytest.raises(ValueError, match=r"weights must be one of 'safetensors', 'pt'; found 'h5'"):
        small().eject("net", weights="h5")
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    with pytest.raises(
        ImportError, match=r"pip install torchkeras-graph\[safetensors\]`, or give weights='pt' \(--weights pt\)"
    ):
        small().eject("net")
    assert list(Path().iterdir()) == []


def test_a_model_without_a_graph():
    with pytest.raises(RuntimeError, match="has no graph yet"):
        Sequential([L.Dense(2)]).eject("net")


@pytest.mark.usefixtures("here")
def test_names_in_a_file_are_no_code():
    name = 'a"""\nraise SystemExit("run")\n"""'
    model = Sequential([L.Dense(2, input_shape=(3,), name='self.x = 1\n"""')], name=name)
    model.eject("net")
    assert written("net", "ARaiseSystemExitRun")(torch.ones(1, 3)).shape == (1, 2)


def test_the_command(capsys):
    convnet().save("old.h5")
    assert main(["eject", "old.h5", "net"]) == 0
    told = "old.h5 -> net: model.py and model.safetensors, outputs equal on random inputs\n"
    assert capsys.readouterr().out == told
    assert Path("net/model.py").read_text() == NET
    assert main(["eject", "old.h5", "net", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["message"].startswith("net: the folder is not empty.")
    assert main(["eject", "old.h5", "net", "--overwrite", "--weights", "pt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == ["model.py", "model.pt"]


def test_importing_torchkeras_imports_nothing_of_it():
    text = "import sys, torchkeras.layers, torchkeras.models.files\n"
    text += "print([name for name in sys.modules if name.startswith('torchkeras.export.plain')])"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout == "[]\n"


ROOT = Path(torchkeras.__file__).parents[1]


@pytest.mark.usefixtures("here")
def test_modules_are_torchs_own():
    convnet().eject("net")
    assert {type(module) for module in written("net", "Net").children()} == {nn.Conv2d, nn.Dropout, nn.Linear}


@pytest.mark.usefixtures("here")
def test_a_layer_of_two_models_is_one():
    shared = L.Dense(3, name="shared")
    x = L.Input((3,))
    inner = Model(x, shared(x), name="inner")
    y = L.Input((3,))
    Model(y, L.Add()([inner(y), shared(y)]), name="net").eject("net")
    assert "        self.inner.shared = self.shared\n" in Path("net/model.py").read_text()
    net = written("net", "Net")
    assert net.shared is net.inner.shared
    assert len(list(net.parameters())) == 2


# --- what a torch user brings ----------------------------------------------------------------------------------------


class Doubling(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return 2 * x * self.weight


@pytest.mark.usefixtures("here")
def test_modules_of_torch_are_written_and_others_are_arguments():
    own = Doubling()
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU())
    model = Sequential([L.TorchModule(module, input_shape=(3,), name="a"), L.TorchModule(own, name="b")], name="net")
    model.eject("net")
    text = Path("net/model.py").read_text()
    assert "        self.a = nn.Sequential(\n            nn.Linear(in_features=3, out_features=3, bias=True),\n" in text
    assert "    def __init__(self, b):\n" in text
    assert own.training
    x = torch.randn(2, 3)
    torch.testing.assert_close(written("net", "Net", Doubling()).eval()(x), model.eval()(x))


@pytest.mark.usefixtures("here")
def test_torchs_functions_and_their_constants():
    inputs: list[Any] = [L.Input((3, 4), name="a"), L.Input((3, 4), name="b")]
    c = torch.cat(inputs, 1).softmax(-1) * torch.arange(4.0) + nn.Parameter(torch.randn(4))
    c = torch.nn.functional.gelu(c, approximate="tanh")[:, 1:, None]
    model = Model(inputs, torch.einsum("bijk,bjlk->bil", c, c), name="net")
    model.eject("net")
    x, y = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    torch.testing.assert_close(written("net", "Net")(x, y), model([x, y]))


@pytest.mark.usefixtures("here")
def test_a_backbone_that_stays_in_evaluation_mode():
    x = L.Input((3,))
    backbone = Sequential([L.BatchNormalization(input_shape=(3,), name="norm")], name="backbone")
    model = Model(x, L.Dense(2, name="head")(backbone(x, training=False)), name="net")
    model.eject("net")
    text = Path("net/model.py").read_text()
    assert text.endswith("""\
        self.backbone.eval()

    def forward(self, x):
        x = self.backbone(x)
        return self.head(x)  # (batch, 2)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self
""")
    net = written("net", "Net").train()
    net(torch.randn(5, 3))
    assert torch.equal(net.backbone.norm.running_mean, torch.zeros(3))


@pytest.mark.usefixtures("here")
def test_parametrized_weights_are_what_they_give():
    model = small()
    linear = model.get_layer("out").linear
    torch.nn.utils.parametrizations.weight_norm(linear)
    model.eject("net")
    assert torch.equal(written("net", "Small").out.weight, linear.weight)


class Lora(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base

    def forward(self, x):
        return self.base(x) + x.sum()


def test_a_module_in_the_place_of_torchs_own_is_refused():
    model = small()
    model.get_layer("out").linear = Lora(model.get_layer("out").linear)
    with pytest.raises(EjectError) as caught:
        model.eject("net")
    assert str(caught.value) == (
        "Dense 'out': it holds a Lora in the place of torch's own module; eject writes what Keras has there."
    )


@pytest.mark.usefixtures("here")
def test_a_hook_that_changes_what_a_layer_gives_is_not_lost_silently():
    model = small()
    model.get_layer("out").register_forward_hook(lambda *given: given[2] + 1)
    with pytest.raises(UnequalError, match="output 0 of the written module differs"):
        model.eject("net")


@pytest.mark.usefixtures("here")
def test_outputs_in_a_dict():
    a = L.Input((3,), name="a")
    Model({"a": a}, {"y": L.Dense(2)(a), "z": L.Dense(1)(a)}, name="net").eject("net")
    assert Path("net/model.py").read_text().endswith('        return {"y": x1, "z": x}\n')


@pytest.mark.usefixtures("here")
def test_weights_of_another_type():
    model = Sequential([L.Dense(2, input_shape=(3,), dtype="float64", name="a")], name="net")
    model.eject("net")
    assert "        self.to(torch.float64)\n" in Path("net/model.py").read_text()
    assert written("net", "Net")(torch.ones(1, 3, dtype=torch.float64)).dtype is torch.float64


def test_a_model_that_is_random_in_evaluation_is_refused():
    x = L.Input((30,))
    with pytest.raises(UnequalError) as caught:
        Model(x, L.Dropout(0.5)(x, training=True), name="net").eject("net")
    assert str(caught.value) == (
        "Model 'net': its written form cannot be checked, since it draws random numbers in evaluation mode, too."
    )


class Written(Model):
    def __init__(self):
        super().__init__(name="own")
        self.dense = L.Dense(2)

    def call(self, inputs):
        return self.dense(inputs)


def test_a_model_of_code_of_its_own_is_refused():
    model = Written()
    model(torch.ones(1, 3))
    with pytest.raises(EjectError) as caught:
        model.eject("net")
    assert str(caught.value) == (
        "Written 'own': its class computes by code of its own, which eject cannot write: it writes models of calls of "
        "layers on symbolic tensors."
    )


@pytest.mark.usefixtures("here")
def test_masks_go_through_models_inside():
    i = L.Input((7,), dtype="int32")
    embedder = Sequential([L.Embedding(9, 4, mask_zero=True, input_shape=(7,), name="e")], name="embedder")
    x = L.Input((7, 4))
    encoder = Model(x, L.LSTM(5, return_sequences=True, name="walk")(x), name="encoder")
    Model(i, L.GRU(3, name="end")(encoder(embedder(i))), name="net").eject("net")
    assert (
        Path("net/model.py")
        .read_text()
        .endswith("""\
        x, mask = self.embedder(x)  # (batch, 7, 4)
        x, mask = self.encoder(x, mask)  # (batch, 7, 5)
        x, _ = walk_masked(self.end, x, mask)
        return x[:, -1]  # (batch, 3)
""")
    )
