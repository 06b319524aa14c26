"""Epochs of a given number of batches: round and round a source, and on after a stop."""

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from batches_of import X, Y, opened, rows
from test_every_kind import Numbered, Samples, Stream
from torch.utils.data import DataLoader

from torchkeras.data import random_state
from torchkeras.data.sources.limited import Limited


def items(number: int) -> Any:
    for i in range(number):
        yield np.full((1, 3), i * 3.0, np.float32), np.ones((1, 1), np.float32)


def test_epochs_go_on_and_round():
    source = opened(X, Y, batch_size=4, steps=2)
    assert (source.steps, source.batch_size) == (2, 4)
    epochs = [rows(source.batches("sequential")) for _ in range(3)]
    assert epochs == [[[0, 1, 2, 3], [4, 5, 6, 7]], [[8, 9], [0, 1, 2, 3]], [[4, 5, 6, 7], [8, 9]]]


@pytest.mark.parametrize("data", [lambda: Stream(), lambda: DataLoader(Samples(), 4)])
def test_longer_epochs_than_the_source(data):
    source = opened(data(), steps=5, **({"batch_size": 4} if isinstance(data(), Stream) else {}))
    assert [len(batch) for batch in rows(source.batches("sequential"))] == [4, 4, 2, 4, 4]
    assert [len(batch) for batch in rows(source.batches("sequential"))] == [2, 4, 4, 2, 4]
    source.close()
    assert [len(batch) for batch in rows(source.batches("sequential"))] == [4, 4, 2, 4, 4]


def test_a_sequence_is_told_at_its_own_end():
    sequence = Numbered()
    source = opened(sequence, steps=2)
    told = []
    for _ in range(3):
        told += [sequence.epochs for _ in source.batches("sequential")]
        source.on_epoch_end()
    assert told == [0, 0, 0, 1, 1, 1]
    assert sequence.epochs == 2


def test_a_split_of_limited_epochs():  # as many steps as the whole has batches: the parts have fewer
    training, validation = opened(X, Y, batch_size=4, steps=3).split(0.3)
    assert rows(training.batches("sequential")) == [[0, 1, 2, 3], [4, 5, 6], [0, 1, 2, 3]]
    assert rows(validation.batches("sequential")) == [[7, 8, 9]]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_generator_that_ends_early_ends_the_epoch_with_a_warning(workers):
    source = opened(items(5), steps=3, workers=workers)
    assert rows(source.batches("sequential")) == [[0], [1], [2]]
    assert not source.ended
    message = (
        r"^The data ran out after 2 of 3 batches of an epoch, and the epoch ends here: a generator must give "
        r"steps_per_epoch \* epochs batches in all\.$"
    )
    with pytest.warns(UserWarning, match=message):
        assert rows(source.batches("sequential")) == [[3], [4]]
    assert source.ended
    with pytest.warns(UserWarning, match="after 0 of 3 batches"):
        assert rows(source.batches("sequential")) == []
    source.close()


def test_exactly_enough_batches_give_no_warning():
    source = opened(items(4), steps=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [rows(source.batches("sequential")) for _ in range(2)] == [[[0], [1]], [[2], [3]]]
    source.close()


@pytest.mark.parametrize("method", ["validation", "evaluate"])
def test_the_warning_names_the_option(method):
    source = opened(items(1), steps=2, method=method)
    option = {"validation": "validation_steps", "evaluate": "steps"}[method]
    with pytest.warns(UserWarning, match=rf"must give {option} \* epochs batches in all"):
        list(source.batches("sequential"))
    source.close()


SOURCES = {
    "arrays": lambda: opened(X, Y, batch_size=2, steps=3),
    "dataset": lambda: opened(Samples(), batch_size=2, steps=3),
    "loader": lambda: opened(DataLoader(Samples(), 2, shuffle=True, generator=torch.Generator()), steps=3),
    "sequence": lambda: opened(Numbered(), steps=5),
    "stream": lambda: opened(Stream(), batch_size=2, steps=3),
    "generator": lambda: opened(items(100), steps=3),
}


def run(source: Any, epochs: int, stop: tuple[int, int] | None = None) -> tuple[list[Any], Any]:
    """The batches of some epochs, with a draw for each as a step with dropout makes it; at `stop` what is kept."""
    seen = []
    for epoch in range(epochs):
        for number, batch in enumerate(source.batches("shuffled")):
            seen.append((rows([batch])[0], torch.rand(()).item()))
            if stop == (epoch, number):
                kept = {"source": source.state_dict(), "random": random_state.state(source.generators())}
                source.close()
                return seen, kept
        source.on_epoch_end()
    source.close()
    return seen, None


@pytest.mark.parametrize("stop", [(0, 0), (1, 0), (1, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize("kind", SOURCES)
def test_going_on_after_a_stop_gives_the_batches_of_a_run_without(kind, stop):
    torch.manual_seed(11)
    whole, _ = run(SOURCES[kind](), 5)
    torch.manual_seed(11)
    begun, kept = run(SOURCES[kind](), 5, stop)
    torch.manual_seed(99)  # another process
    again = SOURCES[kind]()
    again.load_state_dict(kept["source"])
    epoch, number = stop
    first = again.batches("shuffled", skip=number + 1)
    random_state.restore(kept["random"], again.generators())
    rest = [(rows([batch])[0], torch.rand(()).item()) for batch in first]
    again.on_epoch_end()
    rest += run(again, 5 - epoch - 1)[0]
    assert begun + rest == whole


def test_passing_over_without_a_state():
    source = opened(X, Y, batch_size=4, steps=5)
    assert rows(source.batches("sequential", skip=4)) == [[4, 5, 6, 7]]
    assert rows(source.batches("sequential", skip=4)) == [[0, 1, 2, 3]]
    source = opened(X, Y, batch_size=4)
    assert Limited(source, 2).state_dict() == {"taken": 0, "source": source.state_dict()}


class ShufflesItself(Numbered):
    """Its batches are views of what `on_epoch_end` changes in place."""

    def __init__(self):
        super().__init__((X.copy(), Y))

    def on_epoch_end(self) -> None:
        self.parts[0][:] = -3


def test_the_last_batch_is_used_before_a_sequence_changes_its_arrays():
    source = opened(ShufflesItself(), steps=3)
    assert [rows([batch])[0] for batch in source.batches("sequential")] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    source.on_epoch_end()
    assert [rows([batch])[0] for batch in source.batches("sequential")] == [[-1] * 4, [-1] * 4, [-1] * 2]
    source.close()
