"""accelerate: the loop of its documentation around a model, and its checkpoints."""

import copy
import re

import numpy as np
import pytest
import torch
from accelerate import Accelerator, init_empty_weights, load_checkpoint_in_model
from accelerate.state import AcceleratorState, GradientState
from shared import (
    BATCH,
    IMAGES,
    ROWS,
    SERIES,
    TARGETS,
    TEXTS,
    assert_equal_states,
    dense_model,
    fit,
    image_model,
    run_as_a_user,
    series_model,
    text_model,
    train_by_hand,
)
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _one_state_for_each_test():
    """Accelerators of one process share their state."""
    yield
    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()


def prepared(model, x, **options):
    accelerator = Accelerator(cpu=True, **options)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(TARGETS)), BATCH)
    return accelerator, *accelerator.prepare(model, optimizer, data)


def train(accelerator, model, optimizer, data):
    model.train()
    for x, y in data:
        with accelerator.accumulate(model):
            accelerator.backward(F.mse_loss(model(x), y))
            optimizer.step()
            optimizer.zero_grad()  # after the step: while gradients are accumulated this does nothing


@pytest.mark.parametrize(("make", "x"), [(dense_model, ROWS), (image_model, IMAGES)])
def test_it_trains_as_a_loop_by_hand(make, x):
    model = make()
    twin = copy.deepcopy(model).train()
    train(*prepared(model, x))
    train_by_hand(twin, twin.parameters(), x, TARGETS)
    assert_equal_states(model, twin, atol=0)


def test_accumulated_gradients_are_those_of_one_large_batch():
    model = dense_model()
    twin = copy.deepcopy(model)
    train(*prepared(model, ROWS, gradient_accumulation_steps=3))
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1, momentum=0.9)
    F.mse_loss(twin(torch.from_numpy(ROWS)), torch.from_numpy(TARGETS)).backward()
    optimizer.step()
    assert_equal_states(model, twin)


def test_bfloat16():
    model = dense_model()
    twin = copy.deepcopy(model)
    accelerator, wrapped, optimizer, data = prepared(model, ROWS, mixed_precision="bf16")
    train(accelerator, wrapped, optimizer, data)

    def forward(x):
        with torch.autocast("cpu", torch.bfloat16):
            return twin(x).float()

    train_by_hand(forward, twin.parameters(), ROWS, TARGETS)
    assert_equal_states(accelerator.unwrap_model(wrapped), twin)


def test_states_and_models_saved_by_accelerate(tmp_path):
    model = image_model()
    accelerator, wrapped, optimizer, data = prepared(model, IMAGES)
    train(accelerator, wrapped, optimizer, data)
    accelerator.save_state(str(tmp_path / "state"))
    expected = model.predict(IMAGES)
    train(accelerator, wrapped, optimizer, data)
    assert not np.array_equal(model.predict(IMAGES), expected)
    accelerator.load_state(str(tmp_path / "state"))
    np.testing.assert_array_equal(model.predict(IMAGES), expected)

    accelerator.save_model(wrapped, str(tmp_path / "model"))
    other = image_model()
    other.load_weights(tmp_path / "model" / "model.safetensors")
    np.testing.assert_array_equal(other.predict(IMAGES), expected)


MODELS = [(dense_model, ROWS), (image_model, IMAGES), (text_model, TEXTS), (series_model, SERIES)]


@pytest.mark.parametrize("include_buffers", [False, True])
@pytest.mark.parametrize(("make", "x"), MODELS)
def test_a_model_made_without_memory_is_filled_from_a_checkpoint(make, x, include_buffers, tmp_path):
    expected = make()
    Accelerator(cpu=True).save_model(expected, str(tmp_path))
    with init_empty_weights(include_buffers=include_buffers):
        model = make()
    assert {parameter.device.type for parameter in model.parameters()} == {"meta"}
    assert include_buffers or {buffer.device.type for buffer in model.buffers()} <= {"cpu"}
    load_checkpoint_in_model(model, str(tmp_path / "model.safetensors"), device_map={"": "cpu"})
    assert_equal_states(model, expected, atol=0)
    np.testing.assert_array_equal(model.predict(x), expected.predict(x))
    for each in (model, expected):
        fit(each, x, TARGETS)
    assert_equal_states(model, expected, atol=0)


def test_a_checkpoint_is_loaded_into_a_model_with_values(tmp_path):
    expected, model = image_model(), image_model()
    Accelerator(cpu=True).save_model(expected, str(tmp_path))
    load_checkpoint_in_model(model, str(tmp_path / "model.safetensors"))
    assert_equal_states(model, expected, atol=0)


def test_the_unwrapped_model_is_the_model_and_trains_by_fit():
    model = dense_model()
    accelerator, wrapped, optimizer, data = prepared(model, ROWS)
    train(accelerator, wrapped, optimizer, data)
    assert accelerator.unwrap_model(wrapped) is model
    twin = copy.deepcopy(model)
    fit(model, ROWS, TARGETS)
    train_by_hand(twin, twin.parameters(), ROWS, TARGETS)
    assert_equal_states(model, twin)


def test_the_processes_of_its_launcher_train_as_one():
    launcher = ["-m", "accelerate.commands.launch", "--num_machines", "1", "--mixed_precision", "no"]
    options = ["--dynamo_backend", "no", "--multi_gpu", "--num_processes", "2", "--main_process_port", "0"]
    script = "examples/accelerate_launch.py"
    said = re.compile(r"^(\d) processes, last loss (\S+)$", re.MULTILINE)
    alone, together = (said.findall(run_as_a_user(*before, script)) for before in ([], [*launcher, *options]))
    loss = alone[0][1]
    assert (alone, together) == ([("1", loss)], [("2", loss)])
