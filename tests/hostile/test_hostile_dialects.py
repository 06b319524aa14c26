"""Anything at any place of an architecture that any Keras wrote: built, or one of the errors of model files."""

import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import pytest

import torchkeras
from torchkeras.engine.building.building import on_meta
from torchkeras.errors import ModelFileError
from torchkeras.models import model_from_config
from torchkeras.saving.dialects import modern

GOLDEN = Path(__file__).parents[1] / "golden"
VERSIONS = {"keras-1.2.2-architectures": "1.2.2", "keras-3.15": "3.15.0", "tf_keras-2.21": "2.21.0"}
VALUES = (
    *(None, 5, -1, 10**30, 1.5, float("nan"), True, "x", "", [], [1], [[]], {}, {"class_name": "Dense"}, ["a", 0, 0]),
    *([[["a", 0, 0, {}]]], {"class_name": "__keras_tensor__", "config": {}}, {"config": 5}),
)


def configs() -> Iterator[tuple[str, Any]]:
    for folder, version in VERSIONS.items():
        for path in sorted((GOLDEN / folder).iterdir()):
            if (path / "model.keras").exists():
                with zipfile.ZipFile(path / "model.keras") as archive:
                    yield version, json.loads(archive.read("config.json"))
            else:
                with h5py.File(path / "model.h5") as file:
                    yield version, json.loads(file.attrs["model_config"])  # type: ignore[arg-type]


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield before
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from places(item, (*before, key))


def changed(config: Any, place: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at a place; without it for KeyError."""
    found = made = json.loads(json.dumps(config))
    if not place:
        return value
    for key in place[:-1]:
        found = found[key]
    if value is KeyError:
        del found[place[-1]]
    else:
        found[place[-1]] = value
    return made


@pytest.mark.filterwarnings("ignore:.* is not written; it is taken as:UserWarning")  # some configs of Keras 1
@pytest.mark.filterwarnings("ignore:.* its causal is not written by tf.keras 2.10 and later:UserWarning")
@pytest.mark.parametrize("seed", range(4))
def test_anything_at_any_place(seed: int):
    drawn, known = random.Random(seed), list(configs())
    counts = {"built": 0, "refused": 0}
    for _ in range(100):
        torchkeras.clear_session()
        version, config = drawn.choice(known)
        place = drawn.choice(list(places(config)))
        value = drawn.choice([*VALUES, KeyError]) if place else drawn.choice(VALUES)
        with on_meta():
            try:
                model_from_config(modern.of_config(changed(config, place, value), version))
                counts["built"] += 1
            except ModelFileError:
                counts["refused"] += 1
    assert min(counts.values()) > 5
