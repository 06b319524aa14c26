"""The hot path, by counting: the operations of a step against a tuned loop written by hand; that it never waits."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
import torch
from operations import FROM_THE_HOST, WAITS, computing, counted, data_of, evaluates_in_one_graph, one_more
from torch import nn
from torch.nn import functional as F

from torchkeras import Input, Model
from torchkeras.callbacks import LambdaCallback
from torchkeras.engine.modes import call_module
from torchkeras.engine.step.step import losses, predict_step, test_step, train_step
from torchkeras.layers import (
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Flatten,
    Masking,
    MaxPooling2D,
    TimeDistributed,
)
from torchkeras.optimizers import SGD

evaluation_step = test_step
test_step.__test__ = False  # type: ignore[attr-defined]  # it is no test of pytest's


def mlp():
    inputs = Input((20,))
    hidden = Dense(64, activation="relu")(Dense(64, activation="relu")(inputs))
    return Model(inputs, Dense(10, activation="softmax")(hidden))


def cnn():
    inputs = Input((12, 12, 2))
    hidden = Conv2D(8, 3, activation="relu")(Conv2D(4, 3, activation="relu")(inputs))
    hidden = Flatten()(Dropout(0.25)(MaxPooling2D(2)(hidden)))
    return Model(inputs, Dense(10, activation="softmax")(Dropout(0.5)(Dense(16, activation="relu")(hidden))))


def normalized():
    inputs = Input((12, 12, 2))
    hidden = Conv2D(8, 3, activation="relu")(BatchNormalization()(Conv2D(4, 3)(inputs)))
    return Model(inputs, Dense(10, activation="softmax")(Flatten()(hidden)))


SCORES = {"_log_softmax": 1, "nll_loss_forward": 1}  # what a crossentropy is made of

BY_HAND = {
    mlp: lambda: nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)),
    cnn: lambda: nn.Sequential(
        *(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25)),
        *(nn.Flatten(), nn.Linear(128, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 10)),
    ),
}


def samples(model, count=16):
    random = np.random.default_rng(0)
    shape = model.input_shape[1:]
    return random.standard_normal((count, *shape)).astype("float32"), random.integers(0, 10, count)


def compiled(make, **options):
    model = make()
    model.compile("adam", "sparse_categorical_crossentropy", ["accuracy"], **options)
    return model


def by_hand(make, training):
    """What a batch costs in the loop of benchmarks/step.py; in evaluation, where the order is fixed, it takes views."""
    x, y = map(torch.from_numpy, samples(make()))
    x = x.permute(0, 3, 1, 2).contiguous() if x.dim() == 4 else x
    network = BY_HAND[make]().train(training)
    return written_out(network, F.cross_entropy, lambda logits, target: logits.argmax(1) == target, x, y, training)


def written_out(network, loss_of, hits, x, y, training):
    """A step with loss and, where there are `hits`, accuracy, both summed up."""
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, eps=1e-7, fused=True)
    loss_sum, correct = torch.zeros(()), torch.zeros((), dtype=torch.int64)

    def step(inputs, target):
        logits = network(inputs)
        loss = loss_of(logits, target)
        if training:
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        loss_sum.add_(loss.detach() * len(target))
        if hits is not None:
            correct.add_(hits(logits.detach(), target).sum())

    def run(batches):
        for index, start in zip(torch.arange(4 * batches).split(4), range(0, 4 * batches, 4), strict=True):
            if training:
                step(x.index_select(0, index), y.index_select(0, index))
            else:
                step(x[start : start + 4], y[start : start + 4])

    return one_more(run)


# --- no more work than by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [mlp, cnn])
def test_a_training_step_computes_what_a_hand_written_one_does(make):
    model = compiled(make)
    x, y = samples(model)

    def fit(batches, callbacks=()):
        model.fit(x[: 4 * batches], y[: 4 * batches], batch_size=4, verbose=0, callbacks=list(callbacks))

    each = LambdaCallback()
    each.on_train_batch_end = lambda batch, logs=None: None  # numbers for each batch, then
    ours, theirs = one_more(lambda batches: fit(batches, [each])), by_hand(make, training=True)
    # Theirs: numbers are summed one by one, and a 1 is made to go back from.
    # A convolution's relu writes into its input.
    in_place = 2 if make is cnn else 0
    # Dropout draws words of random bits: more operations than bernoulli_, of which most are views, at a quarter of its
    # time; the first of the two here draws for images with their channels last.
    drawn, bernoulli = Counter(random_=2, empty=2, ge=2, _to_copy=2, as_strided=1), Counter(bernoulli_=2)
    drawn, bernoulli = (drawn, bernoulli) if make is cnn else (Counter(), Counter())
    # The images here lie channels last, and so do the gradients of kernels, which are copied into the kernels' order;
    # each of the two copies has an `empty_like`, as each `bernoulli_` of theirs.
    laid_out = Counter(copy_=2) if make is cnn else Counter()
    clipped = Counter(hardtanh=1, hardtanh_backward=1, mean=2, div=1)
    assert ours - theirs == clipped + Counter(relu_=in_place) + drawn + laid_out
    assert theirs - ours == Counter(mul=1, add_=2, sum=1, ones_like=1) + Counter(relu=in_place) + bernoulli
    assert ours.total() - (drawn + laid_out).total() == theirs.total() - bernoulli.total()
    # Without, metrics of a further batch come with those of others.
    assert one_more(fit) == ours - Counter(argmax=1, eq=1, mean=1)


# The end of a model under its loss: units, activation, and what a person writes for it in torch.
ENDS = {
    "binary_crossentropy": (3, "sigmoid", F.binary_cross_entropy_with_logits, lambda p, t: (p > 0) == t),
    "categorical_crossentropy": (3, "softmax", F.cross_entropy, lambda p, t: p.argmax(1) == t.argmax(1)),
    "mse": (3, None, F.mse_loss, None),
    "mae": (1, None, F.l1_loss, None),
}


@pytest.mark.parametrize("loss", ENDS)
@pytest.mark.parametrize("training", [True, False])
def test_the_end_of_a_step_computes_no_more_than_one_written_by_hand(loss, training):
    units, activation, function, hits = ENDS[loss]
    inputs = Input((20,))
    model = Model(inputs, Dense(units, activation=activation)(Dense(8, activation="relu")(inputs)))
    model.compile("adam", loss, ["accuracy"] if hits else None)
    x, y = torch.randn(16, 20), torch.eye(max(units, 2))[torch.randint(0, units, (16,))][:, :units]
    network = nn.Sequential(nn.Linear(20, 8), nn.ReLU(), nn.Linear(8, units)).train(training)
    run = model.fit if training else model.evaluate
    ours = one_more(lambda batches: run(x[: 4 * batches], y[: 4 * batches], batch_size=4, verbose=0))
    theirs = written_out(network, function, hits, x, y, training)
    assert ours.total() <= theirs.total()


@pytest.mark.parametrize("make", [mlp, cnn])
def test_a_batch_of_evaluate_computes_what_a_hand_written_one_does(make):
    model = compiled(make)
    x, y = samples(model)

    def evaluate(batches, callbacks=()):
        model.evaluate(x[: 4 * batches], y[: 4 * batches], batch_size=4, verbose=0, callbacks=list(callbacks))

    each = LambdaCallback()
    each.on_test_batch_end = lambda batch, logs=None: None  # numbers for each batch, then
    ours, theirs = one_more(lambda batches: evaluate(batches, [each])), by_hand(make, training=False)
    # The loss is clipped as Keras clips it; theirs sums the numbers one by one. A convolution's relu is in place.
    in_place = 2 if make is cnn else 0
    assert ours - theirs == Counter(hardtanh=1, mean=2, _foreach_add_=1) + Counter(relu_=in_place)
    assert theirs - ours == Counter(mul=1, add_=2, sum=1) + Counter(relu=in_place)
    assert ours.total() == theirs.total()
    # Without, a further batch is a further pass: its numbers come with those of others.
    assert one_more(evaluate) == ours - Counter(hardtanh=1, mean=2, _foreach_add_=1, argmax=1, eq=1, **SCORES)


@pytest.mark.parametrize("make", [mlp, cnn])
def test_a_batch_of_predict_computes_the_network_alone(make):
    model, network = make(), BY_HAND[make]().eval()
    x = torch.from_numpy(samples(model)[0])
    ours = one_more(lambda batches: model.predict(x[: 4 * batches], batch_size=4))
    turned = x[:4].permute(0, 3, 1, 2).contiguous() if x.dim() == 4 else x[:4]
    with torch.no_grad():
        theirs = computing(counted(lambda: network(turned)))
    in_place = Counter(relu=2) if make is cnn else Counter()
    # Each batch is copied to its place in the array of all; joining them at the end would copy them too.
    assert ours == theirs - in_place + Counter({"_softmax": 1, "copy_": 1, "relu_": in_place.total()})


# --- no waiting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [mlp, cnn, normalized])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("step", [train_step, evaluation_step])
def test_a_step_waits_for_nothing_and_brings_nothing_from_the_host(make, weighted, step):
    model = compiled(make, weighted_metrics=["accuracy"], loss_weights=[2.0])
    x, y = samples(model)
    data = data_of(model, x, y, np.ones(16) if weighted else None)
    recipe = model._training.ready()

    def steps():
        for batch in data.batches(4):
            step(recipe, batch)

    found = counted(steps)
    assert found["addmm"] > 0
    assert {name: count for name, count in found.items() if count and name in WAITS | FROM_THE_HOST} == {}


def test_penalties_masks_and_decay_wait_for_nothing_either():
    inputs = Input((6, 3))
    hidden = Dense(4, kernel_regularizer="l2", activity_regularizer="l1", kernel_constraint="max_norm")(inputs)
    model = Model(inputs, TimeDistributed(Dense(2))(Masking()(hidden)))
    model.compile(SGD(decay=0.1, momentum=0.5, clipnorm=1.0), "mse", ["mae"])
    data = data_of(model, np.ones((8, 6, 3)), np.ones((8, 6, 2)))
    recipe = model._training.ready()
    found = counted(lambda: [train_step(recipe, batch) for batch in data.batches(4)])
    assert found["addmm"] > 0
    assert {name: count for name, count in found.items() if count and name in WAITS | FROM_THE_HOST} == {}


@pytest.mark.parametrize("callbacks", [[], [LambdaCallback(on_batch_end=lambda batch, logs: None)]])
@pytest.mark.parametrize("validation", [None, 0.25])
def test_transfers_of_an_epoch_do_not_grow_with_its_batches(callbacks, validation):
    model = compiled(mlp)
    x, y = samples(model, 64)

    def reads(batch_size):
        options = {"callbacks": callbacks, "validation_split": validation or 0.0, "verbose": 0}
        return counted(lambda: model.fit(x, y, batch_size=batch_size, **options))["_local_scalar_dense"]

    assert reads(32) == reads(16) == reads(2)


def test_a_number_that_is_read_is_read_once():
    model = compiled(mlp)
    x, y = samples(model)
    quiet = LambdaCallback(on_batch_end=lambda batch, logs: None)
    reader = LambdaCallback(on_batch_end=lambda batch, logs: (logs["loss"], logs["loss"], logs["size"]))
    reads = [
        counted(lambda given=given: model.fit(x, y, batch_size=4, verbose=0, callbacks=given))["_local_scalar_dense"]
        for given in ([quiet], [reader], [reader, reader])
    ]
    assert [count - reads[0] for count in reads] == [0, 4, 4]


# --- batches ---------------------------------------------------------------------------------------------------------


def test_batches_in_order_are_views():
    model = compiled(mlp)
    x, y = map(torch.from_numpy, samples(model))
    data = data_of(model, x, y)
    assert data.inputs[0].data_ptr() == x.data_ptr()
    for order in ("sequential", "batch"):
        for batch in data.batches(4, order):
            for tensor, whole in ((batch.inputs[0], data.inputs[0]), (batch.targets[0], data.targets[0])):
                assert tensor.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr()
    found = counted(lambda: list(data.batches(4)))
    assert set(computing(found)) == set()


def test_a_shuffled_epoch_gathers_each_batch_once():
    model = compiled(mlp)
    data = data_of(model, *samples(model))
    assert computing(counted(lambda: list(data.batches(4, "shuffled")))) == {"randperm": 1, "index_select": 8}


# --- compiled --------------------------------------------------------------------------------------------------------


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("make", [mlp, cnn, normalized])
def test_forward_and_losses_compile_as_one_graph(make):
    model = compiled(make)
    data = data_of(model, *samples(model))
    (batch,) = data.batches(16)
    recipe, _ = evaluates_in_one_graph(model, batch)
    call = partial(call_module, model)
    outputs = torch.compile(partial(predict_step, call), fullgraph=True, backend="eager")(batch.inputs)
    torch.testing.assert_close(outputs, predict_step(call, batch.inputs))
    model.train()  # last, since it moves batch statistics
    loss, numbers = torch.compile(partial(losses, recipe), fullgraph=True, backend="eager")(batch)
    assert loss.requires_grad
    assert all(number.isfinite() for number in numbers.values())
    torch._dynamo.reset()
