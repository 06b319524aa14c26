"""One sample, or a few: how long a call of a model takes, against the same network written by hand in PyTorch.

    python benchmarks/latency.py [--only mlp] [--batch 1] [--calls 2000] [--threads 1] [--processor] [--compiled]

Contenders take turns, call by call; a line has medians. On a machine that others use the clock says little: with
`--processor` a line has the least of the process's own processor time. `by hand` is `module(x)` under `inference_mode`;
`model(x)` and `frozen(x)` (of `freeze_for_inference`) are the same of torchkeras, with their ratios to it. `predict`
takes and gives an array, of one sample only, and sets its modes by itself; what it takes more than the call by hand
stands in microseconds. With `--compiled`, `compiled` is the module by hand under torch.compile, and `frozen for x` the
model frozen for this input. Where they are installed, ONNX Runtime computes the exported model, and Keras 3 on torch
predicts by the same network with the same weights.
"""

import argparse
import importlib
import importlib.util
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import workloads
from by_hand import NETWORKS, made
from simulated_models import resnet50
from torch import Tensor, nn

import torchkeras
import torchkeras.layers
import torchkeras.models

NAMES = ("mlp", "cnn", "resnet50", "lstm", "transformer")


class Bottleneck(nn.Module):
    def __init__(self, channels: int, filters: int, strides: int, project: bool):
        super().__init__()
        self.shortcut = joined(channels, 4 * filters, 1, strides) if project else nn.Identity()
        self.first = joined(channels, filters, 1)
        self.second = joined(filters, filters, 3, strides)
        self.third = joined(filters, 4 * filters, 1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.relu(self.second(self.relu(self.first(x))))
        return self.relu(self.third(hidden) + self.shortcut(x))

    def in_order(self) -> list[nn.Module]:
        """As the model has them: side by side at the end."""
        ends = zip(self.third, self.shortcut, strict=True) if isinstance(self.shortcut, nn.Sequential) else [self.third]
        return [*self.first, *self.second, *(each for pair in ends for each in pair)]


class ResNet50(nn.Module):
    """Takes channels last, as the model does."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(joined(3, 64, 7, 2), nn.ReLU(inplace=True), nn.ZeroPad2d(1), nn.MaxPool2d(3, 2))
        blocks, channels = [], 64
        for stage, count in enumerate((3, 4, 6, 3)):
            filters = 64 * 2**stage
            for block in range(count):
                blocks.append(Bottleneck(channels, filters, 2 if stage and not block else 1, not block))
                channels = 4 * filters
        self.blocks = nn.Sequential(*blocks)
        self.logits = nn.Linear(channels, 1000)

    def forward(self, images: Tensor) -> Tensor:
        return self.logits(self.blocks(self.stem(images.permute(0, 3, 1, 2))).mean((2, 3)))

    def in_order(self) -> list[nn.Module]:
        """The layers with weights as the model has them."""
        return [*self.stem[0], *(layer for block in self.blocks for layer in block.in_order()), self.logits]  # type: ignore[operator, union-attr]


def joined(channels: int, filters: int, kernel: int, strides: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(channels, filters, kernel, strides, kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(filters, eps=1e-3))


def contenders(name: str, batch: int) -> tuple[Any, nn.Module, np.ndarray]:
    """The model of torchkeras, the network by hand with its weights, and some samples."""
    if name == "resnet50":
        model, by_hand = resnet50(), ResNet50()
        ours = [m for m in model.modules() if isinstance(m, (nn.Conv2d, nn.BatchNorm2d, nn.Linear))]
        for one, other in zip(ours, by_hand.in_order(), strict=True):
            other.load_state_dict(one.state_dict())
        return model, by_hand.to(memory_format=torch.channels_last), np.ones((batch, 224, 224, 3), "float32")  # type: ignore[call-overload]
    workload = workloads.WORKLOADS[name]
    model = workload.network(torchkeras)
    samples = workloads.samples(workload, -(-batch // workload.batch_size))[0][0][:batch].astype("float32")
    assert name in NETWORKS
    return model, nn.Sequential(made(name, workloads.weights_of(model)), nn.Softmax(-1)), samples


def calls_of(name: str, batch: int, compiled: bool) -> dict[str, Callable[[], Any]]:
    """What is timed, by its name."""
    model, by_hand, sample = contenders(name, batch)
    model.eval()
    by_hand.eval()
    frozen, x = model.freeze_for_inference(), torch.from_numpy(sample)
    found: dict[str, Callable[[], Any]] = {
        "by hand": lambda: by_hand(x),
        "model(x)": lambda: model(x),
        "frozen(x)": lambda: frozen(x),
    }
    if batch == 1:  # a longer `predict` leaves to the next call what it looks at
        found["predict"] = lambda: model.predict(sample)
    if compiled:
        module = torch.compile(by_hand)
        found["compiled"] = lambda: module(x)
        for_x = model.freeze_for_inference(example=x)
        found["frozen for x"] = lambda: for_x(x)
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnxscript"):
        found["onnxruntime"] = by_onnx(model, sample)
    if importlib.util.find_spec("keras") and name != "resnet50":
        found["keras 3"] = by_keras(name, workloads.weights_of(model), sample)
    expected = by_hand(x).numpy()
    for called, call in found.items():
        np.testing.assert_allclose(np.asarray(call()), expected, rtol=1e-3, atol=1e-4, err_msg=f"{name}: {called}")
    return found


def by_onnx(model: Any, sample: np.ndarray) -> Callable[[], Any]:
    onnxruntime = importlib.import_module("onnxruntime")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.onnx")
        model.export(path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        session = onnxruntime.InferenceSession(path, options)
    given = session.get_inputs()[0].name
    return lambda: session.run(None, {given: sample})[0]


def by_keras(name: str, weights: workloads.Weights, sample: np.ndarray) -> Callable[[], Any]:
    os.environ["KERAS_BACKEND"] = "torch"
    keras = importlib.import_module("keras")
    peer = workloads.WORKLOADS[name].network(keras)
    workloads.set_weights(peer, weights)
    return lambda: peer.predict(sample, verbose=0)


def microseconds(
    name: str, calls: int, batch: int = 1, processor: bool = False, compiled: bool = False
) -> dict[str, float]:
    """Microseconds of each contender's call: medians by the clock, or the least of the processor's time."""
    clock, taken = (time.process_time, min) if processor else (time.perf_counter, statistics.median)
    with torch.inference_mode():
        contending = calls_of(name, batch, compiled)
    times: dict[str, list[float]] = {each: [] for each in contending}
    for turn in range(calls + calls // 10):
        for each, call in contending.items():
            with torch.inference_mode(each != "predict"):  # which sets the mode by itself
                began = clock()
                call()
                ended = clock()
            if turn >= calls // 10:
                times[each].append(ended - began)
    return {each: 1e6 * taken(one) for each, one in times.items()}


def line(name: str, found: dict[str, float]) -> str:
    by_hand = found["by hand"]
    text = f"{name:12} {by_hand:9.1f}"
    for each, one in found.items():
        if each == "predict":
            text += f"  predict {one:9.1f} ({one - by_hand:+7.1f})"
        elif each != "by hand":
            text += f"  {each} {one:9.1f} ({one / by_hand:5.3f})"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=NAMES)
    parser.add_argument("--batch", type=int, default=1, help="samples in a call")
    parser.add_argument("--calls", type=int, default=2000, help="of each contender; a tenth for resnet50")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processor", action="store_true", help="the least of the processor's time, not the clock's")
    parser.add_argument("--compiled", action="store_true", help="also what is compiled")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    kind = "of the processor, the least" if given.processor else "medians"
    print(f"microseconds, {kind}; {given.threads} threads\n{'':12} {'by hand':>9}")
    for name in given.only or NAMES:
        calls = given.calls // 10 if name == "resnet50" else given.calls
        print(line(name, microseconds(name, calls, given.batch, given.processor, given.compiled)), flush=True)


if __name__ == "__main__":
    main()
