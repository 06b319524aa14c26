"""How time grows with layers, with models in models, with weights and with samples: seconds, and fitted exponents.

    python benchmarks/scaling.py                      # a minute
    python benchmarks/scaling.py --layers 10 100 1000 20000 --depths 1 20 200 --megabytes 1 100 5000 \
        --samples 1000 1000000 100000000

Each row is one kind of work; each column a size; the last one the exponent that the seconds grow with, by least
squares on logarithms: 1 is linear, less is what every size costs. `--svg FILE` draws the same as a picture.
"""

from __future__ import annotations

import argparse
import copy
import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from torchkeras import Input
from torchkeras.layers import Dense
from torchkeras.models import Model, Sequential, clone_model, load_model

Step = Callable[[], Any]
Rows = dict[str, list[tuple[float, float]]]  # kind of work: sizes and seconds

X, Y = np.ones((8, 2), "float32"), np.ones((8, 2), "float32")


def seconds(step: Step) -> float:
    """The shorter time of two, of a short step; that of one of a long one."""
    gc.collect()
    times: list[float] = []
    while not times or (len(times) < 2 and times[0] < 1):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return min(times)


def added(size: int) -> Sequential:
    """A Sequential, layer by layer."""
    model = Sequential()
    model.add(Dense(2, input_shape=(2,)))
    for _ in range(size - 1):
        model.add(Dense(2))
    return model


def chain(size: int) -> Model:
    """The same by the functional API."""
    inputs = outputs = Input((2,))
    for _ in range(size):
        outputs = Dense(2)(outputs)
    return Model(inputs, outputs)


def nested(depth: int) -> Sequential:
    """A model in a model in a model."""
    model = Sequential([Dense(2, input_shape=(2,))])
    for _ in range(depth - 1):
        model = Sequential([model, Dense(2)])
    return model


def work_on(model: Any, folder: Path, files: Sequence[str]) -> Iterator[tuple[str, Step]]:
    """What is done with a model that is built."""
    yield "get_config, from_config", lambda: type(model).from_config(model.get_config())
    yield "clone_model", lambda: clone_model(model)
    yield "copy.deepcopy", lambda: copy.deepcopy(model)
    yield "summary", lambda: model.summary(print_fn=lambda line: None)
    yield "to_json", model.to_json
    for suffix in files:
        path = folder / f"model{suffix}"
        yield f"save {suffix}", lambda path=path: model.save(path)
        yield f"load {suffix}", lambda path=path: load_model(path)
    yield "compile", lambda: model.compile("sgd", "mse")
    yield "one step", lambda: model.train_on_batch(X, Y)
    yield "predict", lambda: model.predict(X)


def by_layers(sizes: Sequence[int], folder: Path) -> Rows:
    """Seconds against the number of layers."""
    rows: Rows = {}
    for size in sizes:
        rows.setdefault("Sequential.add", []).append((size, seconds(lambda size=size: added(size))))
        rows.setdefault("functional API", []).append((size, seconds(lambda size=size: chain(size))))
        model = added(size)
        for name, step in work_on(model, folder, (".h5", ".keras")):
            rows.setdefault(name, []).append((size, seconds(step)))
    return rows


def by_depth(depths: Sequence[int], folder: Path) -> Rows:
    """Seconds against the number of models in models."""
    rows: Rows = {}
    for depth in depths:
        rows.setdefault("build", []).append((depth, seconds(lambda depth=depth: nested(depth))))
        model = nested(depth)
        for name, step in work_on(model, folder, ()):
            rows.setdefault(name, []).append((depth, seconds(step)))
    return rows


def by_weights(sizes: Sequence[float], folder: Path) -> Rows:
    """Seconds against the megabytes of weights, in layers of at most 64 MB."""
    rows: Rows = {}
    for size in sizes:
        count = max(1, round(size / 64))
        units = round((size * 2**20 / 4 / count) ** 0.5)
        model = Sequential([Dense(units, input_shape=(units,), use_bias=False)])
        for _ in range(count - 1):
            model.add(Dense(units, use_bias=False))
        for suffix in (".h5", ".keras"):
            path = folder / f"weights{suffix}"
            rows.setdefault(f"save {suffix}", []).append((size, seconds(lambda p=path, m=model: m.save(p))))
            rows.setdefault(f"load {suffix}", []).append((size, seconds(lambda p=path: load_model(p))))
            path.unlink()
    return rows


def by_samples(sizes: Sequence[int]) -> Rows:
    """Seconds against the samples of one epoch, which a generator gives in batches of 4,096."""
    rows: Rows = {}
    model = added(1)
    model.compile("sgd", "mse")
    for size in sizes:
        steps = max(1, size // 4096)
        x = np.ones((min(size, 4096), 2), "float32")

        def batches(x: Any = x) -> Iterator[Any]:
            while True:
                yield x, x

        fit = lambda steps=steps, batches=batches: model.fit(batches(), steps_per_epoch=steps, verbose=0)  # noqa: E731
        rows.setdefault("fit", []).append((size, seconds(fit)))
    return rows


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the logarithms of seconds over those of sizes."""
    sizes, times = np.log(np.array(points)).T
    return float(np.polyfit(sizes, times, 1)[0]) if len(points) > 1 else float("nan")


def table(title: str, rows: Rows) -> str:
    """The rows as text."""
    sizes = [f"{size:g}" for size, _ in next(iter(rows.values()))]
    lines = [f"{title:26}" + "".join(f"{size:>9}" for size in sizes) + "  exponent"]
    for name, points in rows.items():
        lines.append(f"{name:26}" + "".join(f"{took:9.4f}" for _, took in points) + f"{exponent(points):10.2f}")
    return "\n".join(lines)


SIDE, EDGE, TEXT, LINE = 250, 46, "#7b8794", "#0ca678"  # of a field and around it; colours for white and black
LETTERS = 18  # so that they can be read on a phone, which shows the picture half as wide


def drawn(tables: dict[str, Rows]) -> str:
    """A picture of all rows, one field for each table, both axes logarithmic, as SVG. Dashes: what is linear."""
    parts = []
    for number, (title, rows) in enumerate(tables.items()):
        left, top = EDGE + number % 2 * (SIDE + 2 * EDGE), EDGE + number // 2 * (SIDE + 2 * EDGE)
        parts += [f'<g transform="translate({left} {top})">', *_field(title, rows), "</g>"]
    wide, high = (count * (SIDE + 2 * EDGE) for count in (min(len(tables), 2), (len(tables) + 1) // 2))
    box = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
    style = f'font-family="sans-serif" font-size="{LETTERS}" fill="{TEXT}" text-anchor="middle"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {style}>\n' + "\n".join(parts) + "\n</svg>\n"


def _field(title: str, rows: Rows) -> Iterator[str]:
    logs = np.log10([point for points in rows.values() for point in points])
    low, high = np.floor(logs.min(0)), np.maximum(np.ceil(logs.max(0)), np.floor(logs.min(0)) + 1)

    def at(points: Any) -> str:
        shares = (np.log10(points) - low) / (high - low) * SIDE
        return " ".join(f"{x:.0f},{SIDE - y:.0f}" for x, y in shares)

    yield f'<text x="{SIDE / 2}" y="-14">seconds for {title}</text>'
    yield f'<rect width="{SIDE}" height="{SIDE}" fill="none" stroke="{TEXT}"/>'
    for axis in (0, 1):
        for power in range(int(low[axis]), int(high[axis]) + 1):
            place = (power - low[axis]) / (high[axis] - low[axis]) * SIDE
            x, y = (place, SIDE + 22) if axis == 0 else (-24, SIDE - place + 6)
            yield f'<text x="{x:.0f}" y="{y:.0f}">1e{power}</text>'
    first = 10.0 ** np.array([low, low + min(high - low)])
    yield f'<polyline points="{at(first)}" fill="none" stroke="{TEXT}" stroke-dasharray="4"/>'
    for name, points in rows.items():
        yield f'<polyline points="{at(np.array(points))}" fill="none" stroke="{LINE}"><title>{name}</title></polyline>'


def main() -> None:
    """Measure, print, and draw if told so."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, nargs="*", default=[10, 100, 1000])
    parser.add_argument("--depths", type=int, nargs="*", default=[1, 10, 100])
    parser.add_argument("--megabytes", type=float, nargs="*", default=[1, 10, 100])
    parser.add_argument("--samples", type=int, nargs="*", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--svg", type=Path)
    given = parser.parse_args()
    tables: dict[str, Rows] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, sizes, measure in (
            ("layers", given.layers, lambda sizes: by_layers(sizes, folder)),
            ("models in models", given.depths, lambda sizes: by_depth(sizes, folder)),
            ("megabytes of weights", given.megabytes, lambda sizes: by_weights(sizes, folder)),
            ("samples streamed", given.samples, by_samples),
        ):
            if sizes:
                measure(sizes[:1])  # what is imported once
                tables[title] = measure(sizes)
                print(table(title, tables[title]), end="\n\n", flush=True)
    if given.svg is not None:
        given.svg.write_text(drawn(tables))


if __name__ == "__main__":
    main()
