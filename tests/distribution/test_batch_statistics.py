"""Batch normalization on a batch that processes share: outputs, gradients and moving statistics of one process."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
from pool import Pool
from torch import Tensor, nn
from torch.nn import functional as F

from torchkeras import backend as K
from torchkeras.data.part import bounds
from torchkeras.distribution.batch_statistics import Synchronizing, normalizing
from torchkeras.distribution.shared_batch import SharedBatch
from torchkeras.layers import BatchNormalization, Dense, Input, Lambda, Layer, TimeDistributed, TorchModule
from torchkeras.models import Model
from torchkeras.world.one_process import CURRENT

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def data(shape: tuple[int, ...], dtype: torch.dtype, spread: float = 1.0) -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    x = 3 + spread * torch.randn(shape, dtype=torch.float64) * torch.linspace(0.5, 2, shape[-1], dtype=torch.float64)
    return x.to(dtype), torch.randn(shape, dtype=torch.float64).to(dtype)


def passed(layer: Any, x: Tensor, factors: Tensor, scale: float = 1.0, training: bool = True) -> list[Tensor]:
    """[outputs, the inputs' gradients, moving tensors..., weights' gradients...] of a mean loss over two passes."""
    found = []
    for _ in range(2):
        layer.zero_grad()
        given = x.clone().requires_grad_()
        outputs = layer(given, training=training)
        ((outputs * factors).mean() * scale).backward()
        found = [outputs.detach(), given.grad]
    found += [buffer.clone() for buffer in layer.buffers()]
    return found + [p.grad.clone() for p in layer.parameters() if p.grad is not None]


def made(make: Callable[[], Layer], shape: tuple[int, ...], dtype: torch.dtype) -> Layer:
    layer = make()
    layer.build((None, *shape[1:]))
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return layer if dtype in (torch.float16, torch.bfloat16) else layer.to(dtype)


def shared_pass(make: Any, shape: Any, dtype: Any, options: dict[str, Any]) -> list[Tensor]:
    """What one process's part of `passed` is, put together to the whole: rows joined, weights' gradients averaged."""
    rank, processes, whole = dist.get_rank(), dist.get_world_size(), shape[0]
    layer, (x, factors) = made(make, shape, dtype), data(shape, dtype)
    first, last = bounds(whole, rank, processes)
    rows = slice(first, last) if last > first else slice(0, 1)
    batch = SharedBatch(last - first, whole, sync_batch_norm=options.get("sync_batch_norm", True))
    with CURRENT.on(batch), normalizing(layer):
        found = passed(layer, x[rows], factors[rows], batch.weight, options.get("training", True))
    outputs, own_gradients, *others = found
    if last == first:
        assert not own_gradients.any()
    return [batch.rows(outputs), batch.rows(own_gradients) / processes, *others]


def average(found: list[list[Tensor]], buffers: int) -> list[Tensor]:
    """What all processes give. Outputs and buffers must be equal; weights' gradients are averaged."""
    assert len({len(each) for each in found}) == 1
    for each in found[1:]:
        for a, b in zip(found[0][: 2 + buffers], each[: 2 + buffers], strict=True):
            assert torch.equal(a, b)
    gradients = [torch.stack(each).mean(0) for each in zip(*(each[2 + buffers :] for each in found), strict=True)]
    return [*found[0][: 2 + buffers], *gradients]


def compare(pool: Pool, make: Any, shape: Any, dtype: Any = torch.float64, close: Any = EXACT, **options: Any) -> None:
    layer = made(make, shape, dtype)
    expected = passed(layer, *data(shape, dtype), training=options.get("training", True))
    found = average(pool.run(shared_pass, make, shape, dtype, options), len(list(layer.buffers())))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, **close)


def plain() -> Layer:
    return BatchNormalization(momentum=0.7)


def by_population() -> Layer:
    return BatchNormalization(momentum=0.7, variance="population")


def flat() -> Layer:
    return BatchNormalization(momentum=0.7, variance="flat")


def first() -> Layer:
    return BatchNormalization(1, momentum=0.7, epsilon=1e-5)


def bare() -> Layer:
    return BatchNormalization(center=False, scale=False)


def frozen() -> Layer:
    return BatchNormalization(trainable=False)


def mode_2() -> Layer:
    return BatchNormalization(mode=2)


def mode_1() -> Layer:
    return BatchNormalization(mode=1)


def middle() -> Layer:
    return BatchNormalization(2)


def mean_of_all() -> Layer:
    layer = BatchNormalization()
    layer.build((None, 3))
    layer.norm.momentum = None
    return layer


def timed() -> Layer:
    return TimeDistributed(BatchNormalization(momentum=0.7))


class Users(Layer):
    """A layer of a user's with torch's module in it, which is called on the channels first."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.inside = nn.BatchNorm1d(3)

    def call(self, inputs: Tensor) -> Tensor:
        return self.inside(inputs)


class Masked(Layer):
    """A normalization behind a mask."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.inside = BatchNormalization(momentum=0.7, variance="population", frozen_is_fixed=True)

    def build(self, input_shape: Any) -> None:
        self.inside.build(input_shape)
        super().build(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        return self.inside(inputs, mask=inputs[..., 0] > 3)


class Function(nn.Module):
    """torch's function, without moving statistics."""

    def forward(self, inputs: Tensor) -> Tensor:
        return F.batch_norm(inputs, None, None, training=True)


def torchs() -> Layer:
    return TorchModule(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.BatchNorm1d(3, momentum=None)))


def functions() -> Layer:
    return TorchModule(Function())


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (plain, (5, 3)),
        (plain, (5, 4, 3)),
        (plain, (5, 4, 2, 3)),
        (plain, (5, 2, 4, 2, 3)),
        (by_population, (5, 3)),
        (by_population, (5, 4, 2, 3)),
        (flat, (5, 4, 3)),
        (flat, (5, 4, 2, 3)),
        (first, (5, 3, 2)),
        (first, (5, 3, 2, 4)),
        (first, (5, 3, 2, 1, 4)),
        (middle, (5, 2, 3, 4)),
        (bare, (5, 4, 3)),
        (frozen, (5, 3)),
        (mode_1, (5, 3)),
        (mode_2, (5, 4, 3)),
        (mean_of_all, (5, 3)),
        (timed, (5, 4, 3)),
        (Users, (5, 3)),
        (Masked, (5, 4, 3)),
        (torchs, (5, 3)),
        (functions, (5, 3)),
    ],
    ids=lambda each: each.__name__ if callable(each) else f"{len(each)}D",
)
def test_two_processes_normalize_as_one(pools, make, shape):
    compare(pools(2), make, shape)


@pytest.mark.parametrize("whole", [2, 3, 4, 7])
@pytest.mark.parametrize("make", [plain, by_population, Masked, torchs])
def test_parts_of_any_size_and_of_none(pools, make, whole):
    compare(pools(3), make, (whole, 3))


def test_a_whole_batch_of_one_value(pools):
    compare(pools(3), plain, (1, 3))
    compare(pools(3), by_population, (1, 3))
    with pytest.raises(AssertionError, match=r"needs more than one value of a channel; found \(1, 3\)"):
        pools(3).run(shared_pass, torchs, (1, 3), torch.float64, {})  # as torch does for one process


def test_by_the_batch_outside_training(pools):
    compare(pools(3), mode_2, (5, 3), training=False)
    compare(pools(3), plain, (5, 3), training=False)


@pytest.mark.parametrize(
    ("dtype", "close"),
    [
        (torch.float32, {"rtol": 1e-5, "atol": 1e-5}),
        (torch.bfloat16, {"rtol": 2e-2, "atol": 2e-2}),
        (torch.float16, {"rtol": 3e-3, "atol": 3e-3}),
    ],
    ids=str,
)
def test_types(pools, dtype, close):
    compare(pools(2), plain, (7, 5, 3), dtype, close)


def statistics(make: Any, shape: Any, sync: bool) -> Any:
    rank, processes = dist.get_rank(), dist.get_world_size()
    layer, (x, _) = made(make, shape, torch.float64), data(shape, torch.float64)
    begin, end = bounds(shape[0], rank, processes)
    with CURRENT.on(SharedBatch(end - begin, shape[0], sync_batch_norm=sync)), torch.no_grad():
        layer(x[begin:end] if end > begin else x[:1], training=True)
    return layer.get_weights()[-2:]


def synchronized() -> Layer:
    return BatchNormalization(momentum=0.7, synchronized=True)


def test_each_by_its_own_part_where_that_is_asked_for(pools):
    x, _ = data((4, 3), torch.float64)
    found = pools(2).run(statistics, plain, (4, 3), False)
    for rank, (mean, variance) in enumerate(found):
        part = x[2 * rank : 2 * rank + 2]
        torch.testing.assert_close(torch.as_tensor(mean), part.mean(0) * 0.3)
        torch.testing.assert_close(torch.as_tensor(variance), 0.7 + 0.3 * part.var(0))


def test_what_stands_in_for_no_sample_moves_nothing(pools):
    without, with_one = pools(2).run(statistics, plain, (1, 3), False)
    assert (without[0] == 0).all()
    assert (without[1] == 1).all()
    assert (with_one[0] != 0).all()


def test_a_synchronized_layer_is_so_whatever_compile_says(pools):
    x, _ = data((4, 3), torch.float64)
    for mean, variance in pools(2).run(statistics, synchronized, (4, 3), False):
        torch.testing.assert_close(torch.as_tensor(mean), x.mean(0) * 0.3)
        torch.testing.assert_close(torch.as_tensor(variance), 0.7 + 0.3 * x.var(0))


def stray(x: Tensor, factors: Tensor) -> list[Tensor]:
    """The gradients of the sample of the last process, or of what stands in for it in the others."""
    samples = int(dist.get_rank() == dist.get_world_size() - 1)
    layer, given = made(plain, x.shape, x.dtype), x.clone().requires_grad_()
    with CURRENT.on(SharedBatch(samples, 1)):
        (layer(given, training=True) * factors).sum().backward()
    assert given.grad is not None
    return [given.grad, *(parameter.grad for parameter in layer.parameters() if parameter.grad is not None)]


def test_gradients_of_what_stands_in_count_for_nothing(pools):
    x, factors = data((1, 4, 3), torch.float64)
    layer, given = made(plain, x.shape, x.dtype), x.clone().requires_grad_()
    (layer(given, training=True) * factors).sum().backward()
    first, last = pools(2).run(stray, x, factors)
    assert [gradient.any().item() for gradient in first] == [False] * 3
    expected = [given.grad, *(parameter.grad for parameter in layer.parameters())]
    for a, b in zip(last, expected, strict=True):
        torch.testing.assert_close(a, b, **EXACT)


def counted(layer: Any, shape: Any) -> list[list[int]]:
    """The sizes of what is sent forward and backward."""
    sent: list[list[int]] = [[], []]

    class Counting(SharedBatch):
        def stacked(self, values: Tensor) -> Tensor:
            sent[0].append(values.numel())
            return super().stacked(values)

        def total(self, values: Tensor) -> Tensor:
            sent[1].append(values.numel())
            return super().total(values)

    with CURRENT.on(Counting(2, 4)):
        layer(torch.ones(shape, requires_grad=True), training=True).sum().backward()
        layer(torch.ones(shape), training=True).sum().backward()
    return sent


def test_what_is_sent(pools):
    layer = BatchNormalization()
    layer.build((None, 5))
    for forward, backward in pools(2).run(counted, layer, (2, 5)):
        assert forward == [2 * 5 + 1] * 2
        assert backward == [2 * 5]  # none where the inputs have no gradient


def by_backend(axes: list[int], shape: Any) -> list[Any]:
    (x, factors), whole = data(shape, torch.float64), shape[0]
    gamma, beta = torch.tensor([0.5, 2, 3], dtype=torch.float64), torch.arange(3, dtype=torch.float64)
    if not dist.is_initialized():
        given = x.clone().requires_grad_()
        outputs, *others = K.normalize_batch_in_training(given, gamma, beta, axes)
        (outputs * factors).mean().backward()
        return [outputs.detach(), given.grad, *(each.detach() for each in others)]
    begin, end = bounds(whole, dist.get_rank(), dist.get_world_size())
    rows, shared = slice(begin, max(end, begin + 1)), SharedBatch(end - begin, whole)
    given = x[rows].clone().requires_grad_()
    with CURRENT.on(shared):
        outputs, *others = K.normalize_batch_in_training(given, gamma, beta, axes)
        ((outputs * factors[rows]).mean() * shared.weight).backward()
    return [shared.rows(outputs), shared.rows(given.grad) / shared.processes, *(each.detach() for each in others)]


@pytest.mark.parametrize(("axes", "shape"), [([0], (2, 3)), ([0, 1, 2], (5, 2, 2, 3)), ([0, 1], (5, 2, 3))])
def test_the_function_of_the_backend(pools, axes, shape):
    expected = by_backend(axes, shape)
    for found in pools(3).run(by_backend, axes, shape):
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b, **EXACT)


def tracking() -> str:
    module = nn.InstanceNorm1d(3, track_running_stats=True)
    plain = nn.InstanceNorm1d(3)
    x = torch.randn(2, 3, 4)
    with CURRENT.on(SharedBatch(2, 4)), Synchronizing():
        assert torch.equal(plain(x), F.instance_norm(x))
        module.eval()(x)
        try:
            module.train()(x)
        except NotImplementedError as error:
            return str(error)
    return ""


def test_instance_normalization_that_follows_the_batch_is_refused(pools):
    text = (
        "Instance normalization with track_running_stats=True follows the statistics of a batch, which several "
        "processes share here: make it with track_running_stats=False, or compile with sync_batch_norm=False."
    )
    assert pools(2).run(tracking) == [text] * 2


def test_an_axis_that_is_the_batch_is_refused():
    layer = BatchNormalization(0, name="bn")
    layer.build((4, 3))
    normalize = layer._facts.hook_free()
    with (
        CURRENT.on(SharedBatch(2, 4, processes=2)),
        pytest.raises(ValueError, match="axis 0 is the batch, of which each process has only a part"),
    ):
        normalize(torch.ones(4, 3), training=True)


@pytest.mark.parametrize(
    ("layer", "looks"),
    [
        (Dense(3, name="given"), False),  # names are counted anew before it is used
        (BatchNormalization(), False),
        (TorchModule(nn.Linear(3, 3)), False),
        (TorchModule(nn.BatchNorm1d(3)), True),
        (Lambda(lambda x: x), True),
        (Users(), True),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Layer) else str(each),
)
def test_torchs_functions_are_replaced_for_models_that_may_call_them(layer, looks):
    x = Input((3,))
    assert isinstance(normalizing(Model(x, layer(Dense(3)(x)))), Synchronizing) is looks
