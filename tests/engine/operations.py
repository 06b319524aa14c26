"""What tests of the hot path count: the operations that torch runs, those that wait, those that bring numbers."""

from collections import Counter
from functools import partial

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from torchkeras.data.batch import ArrayData
from torchkeras.engine.fit.opening import Intake
from torchkeras.engine.step.step import test_step as evaluation_step

# What moves no numbers: views, and the handles that autograd and the profiler take.
FREE = {"view", "t", "detach", "permute", "expand", "split", "select", "unsqueeze", "squeeze", "slice", "alias"}
WAITS = {"_local_scalar_dense", "item", "is_nonzero", "equal", "nonzero"}
FROM_THE_HOST = {"scalar_tensor", "lift_fresh", "lift_fresh_copy", "between devices"}


class Counted(TorchDispatchMode):
    """The names of the operations that compute, as often as they ran."""

    def __init__(self):
        super().__init__()
        self.seen: Counter[str] = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        namespace, _, name = func.name().partition("::")
        if namespace == "aten":
            self.seen[name.partition(".")[0]] += 1
        result = func(*args, **(kwargs or {}))
        devices = {value.device for value in (*args, result) if isinstance(value, torch.Tensor)}
        self.seen["between devices"] += len(devices) > 1
        return result


def data_of(model, *arrays):
    return ArrayData(*Intake(model._training).arrays(*arrays))


def counted(act):
    """The operations of the second run: the first makes the optimizer's state and all that is made once."""
    act()
    with Counted() as found:
        act()
    return found.seen


def one_more(run):
    """What a batch costs: the operations of four batches less those of three."""
    return computing(counted(lambda: run(4)) - counted(lambda: run(3)))


def computing(seen):
    return Counter({name: count for name, count in seen.items() if count and name not in FREE})


def evaluates_in_one_graph(model, batch):
    """Assert that torch.compile makes one graph of an evaluation, of the same numbers; returns recipe and numbers."""
    recipe = model._training.ready()
    model.eval()
    expected = evaluation_step(recipe, batch)
    torch._dynamo.reset()
    step = torch.compile(partial(evaluation_step, recipe), fullgraph=True, backend="eager")
    torch.testing.assert_close(step(batch), expected)
    return recipe, expected
