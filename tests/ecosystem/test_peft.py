"""LoRA by peft: the adapters train, nothing else, as on the same network in plain PyTorch."""

from typing import Any

import numpy as np
import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model, inject_adapter_in_model
from peft.tuners.lora import LoraLayer
from shared import (
    IMAGES,
    ROWS,
    SERIES,
    TARGETS,
    TEXTS,
    assert_equal_states,
    dense_model,
    fit,
    image_model,
    plain_dense,
    plain_images,
    series_model,
    text_model,
    train_by_hand,
    values,
)

from torchkeras.models import clone_model, load_model

pytestmark = pytest.mark.slow

MODELS: dict[str, tuple[Any, np.ndarray, list[str]]] = {
    "dense": (dense_model, ROWS, ["linear"]),
    "images": (image_model, IMAGES, ["conv", "linear"]),
    "transformer": (text_model, TEXTS, ["product", "linear", "embedding"]),
    "series": (series_model, SERIES, ["linear"]),
}


def lora(targets: list[str]) -> LoraConfig:
    return LoraConfig(r=2, lora_alpha=4, target_modules=targets, init_lora_weights=False)


@pytest.mark.parametrize("case", MODELS)
def test_only_the_adapters_train(case):
    make, x, targets = MODELS[case]
    model = make()
    plain_count = model.count_params()
    inject_adapter_in_model(lora(targets), model)
    before = values(model)

    fit(model, x, TARGETS)

    adapters = {name for name in before if "lora_" in name}
    statistics = {name for name in before if "running_" in name or name.endswith("num_batches_tracked")}
    changed = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert changed - statistics == adapters
    assert len(adapters) >= 2
    assert model.count_params() == plain_count + sum(before[name].numel() for name in adapters)
    assert sum(np.prod(weight.shape) for weight in model.trainable_weights) == sum(
        before[name].numel() for name in adapters
    )


def test_summary_counts_adapters_as_what_trains():
    model = inject_adapter_in_model(lora(["linear"]), dense_model())
    lines: list[str] = []
    model.summary(print_fn=lines.append)
    adapters = 2 * (6 + 5) + 2 * (5 + 4)
    text = "\n".join(lines)
    assert f"Trainable params: {adapters}" in text
    assert f"Total params: {6 * 5 + 5 + 5 * 4 + 4 + adapters}" in text


def test_dense_adapters_train_as_in_plain_pytorch():
    model = dense_model()
    plain = plain_dense(model)
    torch.manual_seed(1)
    inject_adapter_in_model(lora(["linear"]), model)
    torch.manual_seed(1)
    inject_adapter_in_model(lora(["0", "2"]), plain)

    fit(model, ROWS, TARGETS)
    train_by_hand(plain, [p for p in plain.parameters() if p.requires_grad], ROWS, TARGETS)

    assert_equal_states(model, plain)
    with torch.no_grad():
        np.testing.assert_allclose(model.predict(ROWS), plain(torch.from_numpy(ROWS)), rtol=1e-5, atol=1e-6)


def test_convolutional_adapters_train_as_in_plain_pytorch():
    model = image_model()
    plain = plain_images(model)
    torch.manual_seed(1)
    inject_adapter_in_model(lora(["conv", "linear"]), model)
    torch.manual_seed(1)
    inject_adapter_in_model(lora(["0", "3", "7"]), plain)

    fit(model, IMAGES, TARGETS)
    channels_first = np.ascontiguousarray(IMAGES.transpose(0, 3, 1, 2))
    train_by_hand(plain.train(), [p for p in plain.parameters() if p.requires_grad], channels_first, TARGETS)

    for (name, own), other in zip(model.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-5, msg=lambda text, n=name: f"{n}: {text}")


@pytest.mark.parametrize("suffix", [".h5", ".weights.h5", ".safetensors", ".pt"])
@pytest.mark.parametrize("case", MODELS)
def test_weights_go_through_files_with_the_adapters(case, suffix, tmp_path):
    make, x, targets = MODELS[case]
    model = inject_adapter_in_model(lora(targets), make())
    fit(model, x, TARGETS)
    path = tmp_path / f"adapted{suffix}"
    model.save_weights(path)

    other = inject_adapter_in_model(lora(targets), make())
    assert not np.array_equal(other.predict(x), model.predict(x))
    other.load_weights(path)
    np.testing.assert_array_equal(other.predict(x), model.predict(x))


@pytest.mark.parametrize("case", MODELS)
def test_merged_adapters_give_the_same_outputs(case):
    make, x, targets = MODELS[case]
    model = inject_adapter_in_model(lora(targets), make())
    fit(model, x, TARGETS)
    expected = model.predict(x)
    adapted = [module for module in model.modules() if isinstance(module, LoraLayer)]
    for module in adapted:
        module.merge()  # type: ignore[operator]
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-4, atol=1e-5)
    for module in adapted:
        module.unmerge()  # type: ignore[operator]
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_a_merged_and_unloaded_model_is_a_plain_one_again(suffix, tmp_path):
    model = image_model()
    shapes = [weight.shape for weight in model.get_weights()]
    peft_model = get_peft_model(model, lora(["conv", "linear"]))
    fit(model, IMAGES, TARGETS)
    expected = model.predict(IMAGES)
    with torch.no_grad():
        np.testing.assert_allclose(peft_model.eval()(torch.from_numpy(IMAGES)), expected, rtol=1e-5, atol=1e-6)

    merged = peft_model.merge_and_unload()

    assert merged is model
    assert [weight.shape for weight in model.get_weights()] == shapes
    np.testing.assert_allclose(model.predict(IMAGES), expected, rtol=1e-4, atol=1e-5)
    model.save(tmp_path / f"merged{suffix}", include_optimizer=False)
    np.testing.assert_array_equal(load_model(tmp_path / f"merged{suffix}").predict(IMAGES), model.predict(IMAGES))


def test_adapters_saved_by_peft_go_onto_another_model_of_the_same_code(tmp_path):
    model = dense_model()
    base = model.get_weights()
    peft_model = get_peft_model(model, lora(["linear"]))
    fit(model, ROWS, TARGETS)
    peft_model.save_pretrained(tmp_path)

    dense_model()  # other layers made in between change no key
    other = dense_model()
    other.set_weights(base)
    PeftModel.from_pretrained(other, str(tmp_path))
    np.testing.assert_array_equal(other.predict(ROWS), model.predict(ROWS))


def test_a_frozen_layer_keeps_its_adapters_frozen():
    model = dense_model()
    first = model.layers[1]
    inject_adapter_in_model(lora(["linear"]), model)
    first.trainable = False
    before = values(model)
    fit(model, ROWS, TARGETS)
    changed = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == {name for name in before if "lora_" in name and name.startswith("dense_b")}


def test_a_clone_of_an_adapted_model_has_the_plain_layers():
    model = inject_adapter_in_model(lora(["linear"]), dense_model())
    assert not any("lora_" in name for name in clone_model(model).state_dict())


def test_a_layer_that_trains_whole_beside_the_adapters(tmp_path):
    model = dense_model()
    config = LoraConfig(r=2, target_modules=["dense_a.linear"], modules_to_save=["dense_b"], init_lora_weights=False)
    peft_model: Any = get_peft_model(model, config)
    before = values(model)
    fit(model, ROWS, TARGETS)
    changed = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == {name for name in before if "lora_" in name or "modules_to_save" in name}
    expected = model.predict(ROWS)
    merged = peft_model.merge_and_unload()
    np.testing.assert_allclose(merged.predict(ROWS), expected, rtol=1e-4, atol=1e-5)
    assert not any("lora_" in name or "modules_to_save" in name for name in merged.state_dict())
