"""The networks of `workloads.py` and their training loop, written by hand in PyTorch, as fast as idiomatic code allows.

Data are tensors on the device, batches are gathered by `index_select`, Adam is fused, loss and accuracy are added up on
the device and read once per epoch. Images and kernels have their channels last in memory, torch's faster format. An
image in Keras's order of axes is just this, seen in torch's order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from workloads import CATEGORIES, CLASSES, NUMBERS, RESIDUAL_BLOCKS, VOCABULARY, Weights, Workload

EPSILON = 1e-3  # of Keras's BatchNormalization; its momentum of 0.99 is torch's 0.01


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.ModuleList(nn.Linear(64 if k else 20, 64) for k in range(6))
        self.logits = nn.Linear(64, CLASSES)

    def forward(self, hidden: Tensor) -> Tensor:
        for layer in self.hidden:
            hidden = F.relu(layer(hidden))
        return self.logits(hidden)


class CNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 32, 3)
        self.second = nn.Conv2d(32, 64, 3)
        self.hidden = nn.Linear(12 * 12 * 64, 128)
        self.logits = nn.Linear(128, CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        hidden = F.relu(self.first(image.permute(0, 3, 1, 2)))
        hidden = F.max_pool2d(F.relu(self.second(hidden)), 2)
        hidden = F.dropout(hidden, 0.25, self.training).permute(0, 2, 3, 1).flatten(1)
        hidden = F.dropout(F.relu(self.hidden(hidden)), 0.5, self.training)
        return self.logits(hidden)


class Block(nn.Module):
    """Two convolutions with their normalizations, and a shortcut."""

    def __init__(self, before: int, filters: int, shrinks: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, filters, 3, 2 if shrinks else 1, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(filters, EPSILON, momentum=0.01)
        self.second = nn.Conv2d(filters, filters, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(filters, EPSILON, momentum=0.01)
        self.shortcut = nn.Conv2d(before, filters, 1, bias=False) if shrinks else None

    def forward(self, image: Tensor) -> Tensor:
        hidden = F.relu(self.first_norm(self.first(image)), inplace=True)
        hidden = self.second_norm(self.second(hidden))
        if self.shortcut is not None:
            image = self.shortcut(F.avg_pool2d(image, 2))
        return F.relu(hidden + image, inplace=True)


class ResNet20(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(16, EPSILON, momentum=0.01)
        before = [16, *(filters for filters, _ in RESIDUAL_BLOCKS)]
        self.blocks = nn.ModuleList(Block(count, *shape) for count, shape in zip(before, RESIDUAL_BLOCKS, strict=False))
        self.logits = nn.Linear(64, CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        hidden = F.relu(self.stem_norm(self.stem(image.permute(0, 3, 1, 2))), inplace=True)
        for block in self.blocks:
            hidden = block(hidden)
        return self.logits(hidden.mean((2, 3)))


class LSTM(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.logits = nn.Linear(64, CLASSES)

    def forward(self, sequence: Tensor) -> Tensor:
        output, _ = self.lstm(sequence)
        return self.logits(output[:, -1])


class MaskedLSTM(nn.Module):
    """Takes the output at the last token. Padding comes after it, so that output does not depend on it.

    A packed sequence gives the same, but takes five times as long on a CPU; on CUDA it needs the lengths on the host.
    """

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 32)
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.logits = nn.Linear(64, CLASSES)

    def forward(self, tokens: Tensor, last: Tensor) -> Tensor:
        output, _ = self.lstm(self.embedding(tokens))
        return self.logits(output.gather(1, last.view(-1, 1, 1).expand(-1, 1, 64)).squeeze(1))


class Attention(nn.Module):
    """Queries, keys and values by one product, then torch's fused attention."""

    def __init__(self) -> None:
        super().__init__()
        self.projection = nn.Linear(64, 3 * 64)
        self.output = nn.Linear(64, 64)

    def forward(self, sequence: Tensor) -> Tensor:
        query, key, value = self.projection(sequence).view(-1, 32, 3, 4, 16).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value)
        return self.output(attended.transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.first_norm = nn.LayerNorm(64, 1e-6)
        self.widen = nn.Linear(64, 128)
        self.narrow = nn.Linear(128, 64)
        self.second_norm = nn.LayerNorm(64, 1e-6)
        self.logits = nn.Linear(64, CLASSES)

    def forward(self, sequence: Tensor) -> Tensor:
        hidden = self.first_norm(sequence + self.attention(sequence))
        hidden = self.second_norm(hidden + self.narrow(F.relu(self.widen(hidden))))
        return self.logits(hidden.mean(1))


class Embeddings(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedded = nn.ModuleDict({name: nn.Embedding(*sizes) for name, sizes in CATEGORIES.items()})
        self.first = nn.Linear(sum(size for _, size in CATEGORIES.values()) + NUMBERS, 128)
        self.second = nn.Linear(128, 64)
        self.logits = nn.Linear(64, CLASSES)

    def forward(self, *inputs: Tensor) -> Tensor:
        embedded = [layer(chosen) for layer, chosen in zip(self.embedded.values(), inputs, strict=False)]
        hidden = torch.cat([*embedded, inputs[-1]], 1)
        return self.logits(F.relu(self.second(F.relu(self.first(hidden)))))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "mlp": MLP,
    "cnn": CNN,
    "resnet20": ResNet20,
    "lstm": LSTM,
    "masked_lstm": MaskedLSTM,
    "transformer": Transformer,
    "embeddings": Embeddings,
    "evaluate": MLP,
    "predict": MLP,
}

# --- from Keras's axes to torch's ------------------------------------------------------------------------------------


def flipped(images: np.ndarray) -> list[np.ndarray]:
    """Images flipped, like the kernels: with a stride of 2 Keras's "same" pads the end, torch the start."""
    return [images[:, ::-1, ::-1]]


def with_last(tokens: np.ndarray) -> list[np.ndarray]:
    """Sequences, and the place of the last token of each."""
    return [tokens, np.count_nonzero(tokens, 1) - 1]


REORDERED: dict[str, Callable[..., Any]] = {
    "resnet20": flipped,
    "masked_lstm": with_last,
    "embeddings": lambda *inputs: [*(each[:, 0] for each in inputs[:-1]), inputs[-1]],
}


def tensors(name: str, inputs: list[np.ndarray], device: str) -> list[Tensor]:
    """The inputs in the form that the network of that name takes, on the device."""
    arrays = REORDERED[name](*inputs) if name in REORDERED else inputs
    return [torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays]


def convolution(kernel: np.ndarray, *bias: np.ndarray) -> list[np.ndarray]:
    return [kernel.transpose(3, 2, 0, 1), *bias]


def flipped_convolution(kernel: np.ndarray) -> list[np.ndarray]:
    return [kernel[::-1, ::-1].transpose(3, 2, 0, 1)]


def dense(kernel: np.ndarray, bias: np.ndarray) -> list[np.ndarray]:
    return [kernel.T, bias]


def recurrent(kernel: np.ndarray, recurrent_kernel: np.ndarray, bias: np.ndarray) -> list[np.ndarray]:
    """Keras has one bias, torch two."""
    return [kernel.T, recurrent_kernel.T, bias, np.zeros_like(bias)]


def attention(*arrays: np.ndarray) -> list[np.ndarray]:
    """Kernels and biases for query, key, value and output, with the first three merged into one."""
    kernels = [kernel.reshape(64, 64).T for kernel in arrays[::2]]
    biases = [bias.reshape(64) for bias in arrays[1::2]]
    return [np.concatenate(kernels[:3]), np.concatenate(biases[:3]), kernels[3], biases[3]]


CONVERTED: dict[type, Callable[..., list[np.ndarray]]] = {
    nn.Linear: dense,
    nn.Conv2d: convolution,
    nn.LSTM: recurrent,
    Attention: attention,
}
CONVERTED_IN: dict[tuple[type, str], Callable[..., list[np.ndarray]]] = {
    (ResNet20, name): flipped_convolution for name in ("stem", "first", "second")
}


@torch.no_grad()
def copy_weights(weights: Weights, network: nn.Module) -> None:
    """Give the network the weights of the Keras model, whose layers have the names of its modules."""
    for name, arrays in weights.items():
        module = network.get_submodule(name.replace("__", "."))
        convert = CONVERTED_IN.get((type(network), name.rpartition("__")[2]), CONVERTED.get(type(module)))
        own = [*module.parameters(), *(each for each in module.buffers() if each.dim())]
        for tensor, array in zip(own, convert(*arrays) if convert else arrays, strict=True):
            assert tensor.shape == array.shape, f"{name}: {tuple(tensor.shape)} for {array.shape}"
            tensor.copy_(torch.from_numpy(np.ascontiguousarray(array)))


def made(name: str, weights: Weights) -> nn.Module:
    """The network of a workload with a Keras model's weights; convolution kernels have their channels last."""
    network = NETWORKS[name]()
    copy_weights(weights, network)
    return network.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]  # not in torch's stubs


# --- the loop --------------------------------------------------------------------------------------------------------


class Loop:
    """`epoch()`: one pass over the data in the workload's mode; returns the loss, or the mean largest probability."""

    def __init__(
        self, name: str, workload: Workload, x: list[np.ndarray], y: np.ndarray, weights: Weights, device: str
    ):
        self.network = made(name, weights).to(device)
        self.inputs, self.targets = tensors(name, x, device), torch.from_numpy(y).to(device)
        self.batch_size, self.device = workload.batch_size, device
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3, eps=1e-7, fused=True)
        self.epoch = {"fit": self.train, "evaluate": self.evaluate, "predict": self.predict}[workload.mode]

    def train(self) -> float:
        network, optimizer, inputs, targets = self.network.train(), self.optimizer, self.inputs, self.targets
        loss_sum = torch.zeros((), device=self.device)
        correct = torch.zeros((), dtype=torch.int64, device=self.device)
        for index in torch.randperm(len(targets), device=self.device).split(self.batch_size):
            target = targets.index_select(0, index)
            logits = network(*(each.index_select(0, index) for each in inputs))
            loss = F.cross_entropy(logits, target)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            loss_sum += loss.detach() * len(index)
            correct += (logits.detach().argmax(1) == target).sum()
        float(correct / len(targets))
        return float(loss_sum / len(targets))

    @torch.inference_mode()
    def evaluate(self) -> float:
        network = self.network.eval()
        loss_sum = torch.zeros((), device=self.device)
        correct = torch.zeros((), dtype=torch.int64, device=self.device)
        for *inputs, target in self.in_order():
            logits = network(*inputs)
            loss_sum += F.cross_entropy(logits, target, reduction="sum")
            correct += (logits.argmax(1) == target).sum()
        float(correct / len(self.targets))
        return float(loss_sum / len(self.targets))

    @torch.inference_mode()
    def predict(self) -> float:
        network = self.network.eval()
        parts = [network(*inputs).softmax(1) for *inputs, _ in self.in_order()]
        return float(torch.cat(parts).cpu().numpy().max(1).mean())

    def in_order(self) -> Any:
        """Batches as views."""
        return zip(*(each.split(self.batch_size) for each in (*self.inputs, self.targets)), strict=True)


class Compiled(Loop):
    """The loop around a network under torch.compile."""

    mode = "default"

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.network.compile(mode=self.mode)


class Autotuned(Compiled):
    """The same with torch's search for the fastest kernels."""

    mode = "max-autotune"


class Idiomatic(Loop):
    """The loop as most people write it: a DataLoader, Adam with its defaults, numbers read at each step."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3, eps=1e-7)
        self.data = torch.utils.data.TensorDataset(*self.inputs, self.targets)

    def train(self) -> float:
        network, loss_sum, correct = self.network.train(), 0.0, 0
        for *inputs, target in torch.utils.data.DataLoader(self.data, self.batch_size, shuffle=True):
            logits = network(*(each.to(self.device) for each in inputs))
            target = target.to(self.device)
            loss = F.cross_entropy(logits, target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            loss_sum += loss.item() * len(target)
            correct += (logits.argmax(1) == target).sum().item()
        return loss_sum / len(self.targets)

    def in_order(self) -> Any:
        return torch.utils.data.DataLoader(self.data, self.batch_size)
