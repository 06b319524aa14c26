"""`benchmarks/simulated.py`: what a rank of many holds and sends is what formulas say."""

import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist

from torchkeras.engine.building import building

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def simulated() -> Iterator[Any]:
    """(the script, the script of its models)"""
    sys.path.insert(0, str(FOLDER))
    try:
        yield import_module("simulated"), import_module("simulated_models")
    finally:
        sys.path.remove(str(FOLDER))


def small(models: Any, kind: str) -> Any:
    if kind == "transformer":
        make = partial(models.llama, 64, 100, 1024, 2048, 4, 3)
        return models.Simulated(make, (2, 64), (2, 64), of_integers=True)
    return models.Simulated(partial(models.resnet50, 10, 64), (4, 64, 64, 3), (4,), of_integers=False)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    "way",
    [
        pytest.param("ddp", marks=pytest.mark.torch("2.8", "simulated DistributedDataParallel")),
        pytest.param("fsdp", marks=pytest.mark.torch("2.8", "weights that processes share")),
    ],
)
@pytest.mark.parametrize("kind", ["transformer", "resnet"])
def test_a_rank_of_eight_holds_and_sends_what_formulas_say(simulated, kind, way):
    script, models = simulated
    model = small(models, kind)
    alone = script.measured(model, "alone", 1)
    found = script.measured(model, way, 8)
    expected = script.by_formula(model, way, 8, alone.activations)
    assert alone.sent == 0
    assert found.lasting == expected.lasting
    assert found.sent == pytest.approx(expected.sent, rel=1e-12)
    # Beside the activations, the backward pass has gradients of some of them, and of one unit.
    assert expected.peak <= found.peak <= 1.25 * expected.peak
    assert not dist.is_initialized()


def test_the_models_have_the_sizes_of_their_papers(simulated):
    _, models = simulated
    sizes = {name: sum(parameter.numel() for parameter in on_meta(each)) for name, each in models.MODELS.items()}
    assert sizes == {"resnet50": 25_557_032, "llama7b": 6_738_415_616}


def on_meta(each: Any) -> Any:
    with building.on_meta():
        model = each.make()
    assert {parameter.device.type for parameter in model.parameters()} == {"meta"}
    return model.parameters()
