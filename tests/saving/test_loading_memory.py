"""What `load_model` allocates and copies, without a clock: torch's record of allocations, tracemalloc for NumPy's."""

import gc
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from torchkeras.layers import Conv2D, Dense, Flatten
from torchkeras.models import Sequential, load_model

BUFFERS = 18_000_000  # of the pieces that a file is read by, whatever its size
COPIES = ("copy_", "clone", "_to_copy", "cat", "contiguous")


@pytest.fixture(scope="module")
def benchmark(script: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
        yield script("benchmarks/memory.py")


class Copies(TorchDispatchMode):
    """Counts the bytes that torch's operations copy."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **kwargs or {})
        if func._schema.name.removeprefix("aten::") in COPIES and not found.is_meta:
            self.bytes += found.numel() * found.element_size()
        return found


@pytest.mark.parametrize("suffix", [".h5", ".keras", ".safetensors", ".pt"])
def test_loading_takes_the_memory_of_the_weights(suffix: str, benchmark: Any, tmp_path: Path):
    model = Sequential([Conv2D(64, 3, input_shape=(16, 16, 3)), Conv2D(128, 3), Flatten(), Dense(1000)])
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    path = tmp_path / f"model{suffix}"
    model.save(path)
    load_model(path)  # what is imported, and stays
    gc.collect()
    # torch counts a file that it maps, of which a load takes no memory, as an allocation.
    mapped = path.stat().st_size if suffix in (".safetensors", ".pt") else 0
    loaded: list[Any] = []
    allocated = benchmark.peak_of_allocations(lambda: loaded.append(load_model(path)))
    assert size <= allocated - mapped <= 1.01 * size
    tracemalloc.start()
    load_model(path)
    _, beside = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert beside <= BUFFERS < size / 4
    with Copies() as copies:
        load_model(path)
    assert copies.bytes <= size / 100
    for found, wanted in zip(loaded[0].state_dict().values(), model.state_dict().values(), strict=True):
        assert torch.equal(found, wanted)
