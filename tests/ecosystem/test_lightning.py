"""Lightning: a LightningModule around a model, its Trainer, its checkpoints."""

import copy
import warnings

import lightning
import numpy as np
import pytest
import torch
from lightning.fabric import Fabric
from lightning_module import Around
from shared import (
    BATCH,
    IMAGES,
    ROWS,
    TARGETS,
    assert_equal_states,
    dense_model,
    image_model,
    plain_dense,
    run_in_a_fresh_process,
    train_by_hand,
    values,
)
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from torchkeras.layers import Dense

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:You defined a `validation_step`"),
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
    pytest.mark.filterwarnings("ignore:.*number of training batches"),
    pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*isinstance.treespec, LeafSpec"),
]


def loader(x: np.ndarray) -> DataLoader:
    return DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(TARGETS)), BATCH)


def trainer(folder, **options) -> lightning.Trainer:
    quiet = {
        "logger": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "enable_checkpointing": False,
    }
    return lightning.Trainer(max_epochs=1, accelerator="cpu", default_root_dir=folder, **quiet, **options)


@pytest.mark.parametrize(("make", "x"), [(dense_model, ROWS), (image_model, IMAGES)])
def test_it_trains_as_a_loop_by_hand(make, x, tmp_path):
    model = make()
    twin = copy.deepcopy(model).train()
    around = Around(model)
    trainer(tmp_path, num_sanity_val_steps=0).fit(around, loader(x), loader(x))
    train_by_hand(twin, twin.parameters(), x, TARGETS)
    assert_equal_states(model, twin, atol=0)
    assert around.modes == [True] * 3 + [False] * 3


def test_a_checkpoint_loads_after_other_layers_were_made(tmp_path):
    around = Around(image_model())
    run = trainer(tmp_path)
    run.fit(around, loader(IMAGES))
    run.save_checkpoint(tmp_path / "last.ckpt")

    Dense(3)(torch.zeros(1, 2))
    fresh = image_model()
    loaded = Around.load_from_checkpoint(tmp_path / "last.ckpt", model=fresh, weights_only=True)
    assert loaded.model is fresh
    np.testing.assert_array_equal(fresh.predict(IMAGES), around.model.predict(IMAGES))
    assert "model.dense_a.linear.weight" in loaded.state_dict()


def test_a_checkpoint_loads_in_a_fresh_process(tmp_path):
    around = Around(dense_model())
    run = trainer(tmp_path)
    run.fit(around, loader(ROWS))
    run.save_checkpoint(tmp_path / "last.ckpt")
    np.save(tmp_path / "expected.npy", around.model.predict(ROWS))
    printed = run_in_a_fresh_process(
        "import sys, numpy as np\n"
        "from lightning_module import Around\n"
        "from shared import ROWS, dense_model\n"
        "dense_model()\n"
        "loaded = Around.load_from_checkpoint(sys.argv[1] + '/last.ckpt', model=dense_model(), weights_only=True)\n"
        "expected = np.load(sys.argv[1] + '/expected.npy')\n"
        "print('equal', np.array_equal(loaded.model.predict(ROWS), expected))\n",
        str(tmp_path),
    )
    assert "equal True" in printed


def test_training_goes_on_from_a_checkpoint_as_without_a_break(tmp_path):
    whole = Around(dense_model())
    start = copy.deepcopy(whole)
    run = trainer(tmp_path / "whole")
    run.fit_loop.max_epochs = 2
    run.fit(whole, loader(ROWS))

    run = trainer(tmp_path / "first")
    run.fit(start, loader(ROWS))
    run.save_checkpoint(tmp_path / "first.ckpt")
    later = Around(dense_model())
    run = trainer(tmp_path / "second")
    run.fit_loop.max_epochs = 2
    run.fit(later, loader(ROWS), ckpt_path=tmp_path / "first.ckpt", weights_only=True)
    assert_equal_states(later.model, whole.model, atol=0)


@pytest.mark.filterwarnings("ignore:Found 1 module.s. in eval mode")  # the frozen statistics
def test_a_frozen_layer_stays_in_evaluation_and_does_not_train(tmp_path):
    model = image_model()
    for layer in model.layers[:3]:
        layer.trainable = False
    around = Around(model)
    before = values(model)
    trainer(tmp_path).fit(around, loader(IMAGES))
    moved = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert moved == {name for name in before if name.startswith(("last.", "dense_a."))}


def test_a_model_trained_by_lightning_is_a_keras_model_still(tmp_path):
    model = dense_model()
    trainer(tmp_path).fit(Around(model), loader(ROWS))
    model.compile("sgd", "mse")
    expected = model.evaluate(ROWS, TARGETS, verbose=0)
    model.save(tmp_path / "model.h5")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = dense_model()
        other.load_weights(tmp_path / "model.h5")
    other.compile("sgd", "mse")
    assert other.evaluate(ROWS, TARGETS, verbose=0) == expected


def test_fabric_trains_and_loads(tmp_path):
    fabric, model = Fabric(accelerator="cpu"), dense_model()
    plain = plain_dense(model)
    called, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), 0.1))
    x, y = torch.from_numpy(ROWS), torch.from_numpy(TARGETS)
    fabric.backward(F.mse_loss(called(x), y))
    optimizer.step()
    by_hand = torch.optim.SGD(plain.parameters(), 0.1)
    F.mse_loss(plain(x), y).backward()
    by_hand.step()
    torch.testing.assert_close(model(x), plain(x))
    fabric.save(tmp_path / "state.ckpt", {"model": called})
    other = dense_model()
    fabric.load(tmp_path / "state.ckpt", {"model": fabric.setup_module(other)})
    torch.testing.assert_close(other(x), model(x))
