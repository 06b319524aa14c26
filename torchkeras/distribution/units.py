"""Which layers of a model are gathered together when their weights are sharded: its units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from torch import Tensor, nn

from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import Node

LEAST = 1 << 21  # the values that a unit has at least, where there are so many: 8 MB

Unit = list[nn.Module]  # modules that are called one after the other


def units_of(model: nn.Module, least: int = LEAST) -> list[Unit]:
    """The units of a model, in the order of their calls; what belongs to none is gathered for the whole pass.

    The blocks of a graph are its parts between calls after which one tensor alone goes on, such as the sum that ends a
    residual block; layers after the last such call stand alone. A model inside has blocks of its own. Neighbours in
    one model make a unit together until it has `least` values. A layer that is called several times is a unit alone. A
    class with code of its own is one unit, or, with more values, one for each of its layers. Layers that have a
    parameter in common belong to no unit.
    """
    calls = Counter(node.layer for network in _graphs(model) for node in network._graphed.nodes)
    joined: list[Unit] = []
    for block in _blocks(model, calls, least):
        joined += _split(block, calls, least)
    tied = _tied(list(chain.from_iterable(joined)))
    return [kept for unit in joined if (kept := [module for module in unit if module not in tied])]


def size_of(modules: Iterable[nn.Module]) -> int:
    """How many values the parameters of some modules have."""
    return sum(parameter.numel() for parameter in _parameters(modules))


def _parameters(modules: Iterable[nn.Module]) -> list[Tensor]:
    return list({id(each): each for module in modules for each in module.parameters()}.values())


def _graphs(model: nn.Module) -> Iterator[Network]:
    for module in model.modules():
        if isinstance(module, Network) and module._graph is not None:
            yield module


def _blocks(module: nn.Module, calls: Counter[Layer], least: int) -> Iterator[Unit]:
    """The layers with weights by runs that may be joined: those of one model."""
    if isinstance(module, Network) and module._graph is not None:
        yield from _blocks_of_graph(module, calls, least)
        return
    for child in module.children():
        has_layers = any(isinstance(each, Layer) for each in child.modules() if each is not child)
        if not _is_called(child) or isinstance(child, Network) or (has_layers and size_of([child]) > least):
            yield from _blocks(child, calls, least)
        elif size_of([child]):
            yield [child]


def _is_called(module: nn.Module) -> bool:
    """Whether a module computes, rather than being a list or a dictionary of modules."""
    return type(module).forward is not nn.Module.forward


def _blocks_of_graph(network: Network, calls: Counter[Layer], least: int) -> Iterator[Unit]:
    run: Unit = []
    block: Unit = []
    seen: set[Layer] = set()
    for node, alive in _with_alive(network):
        layer = node.layer
        if layer not in seen and size_of([layer]):
            seen.add(layer)
            if isinstance(layer, Network):
                yield from _full(run)
                yield from _apart(block)
                run, block = [], []
                yield from _blocks(layer, calls, least)
            else:
                block.append(layer)
        if alive == 1 and block:
            if run and size_of(run + block) > least:
                yield run
                run = []
            run, block = run + block, []
            if size_of(run) >= least:
                yield run
                run = []
    yield from _full(run)
    yield from _apart(block)


def _apart(block: Unit) -> Iterator[Unit]:
    """Layers after which several tensors go on, such as outputs: each alone, since a loss may need some of them."""
    return ([layer] for layer in block)


def _full(run: Unit) -> Iterator[Unit]:
    if run:
        yield run


def _with_alive(network: Network) -> Iterator[tuple[Node, int]]:
    """The calls of a graph, each with how many tensors are needed after it."""
    graph = network._graphed
    left = Counter(graph.uses)
    alive = set(graph.inputs)
    for node in graph.nodes:
        if node.input_tensors:
            left.subtract(node.input_tensors)
            alive.update(node.output_tensors)
        alive = {tensor for tensor in alive if left[tensor] > 0}
        yield node, len(alive)


def _split(block: Unit, calls: Counter[Layer], least: int) -> Iterator[Unit]:
    """A run of layers without those that are called several times, or alone are large: these stand alone."""
    run: Unit = []
    for module in block:
        if calls[module] > 1 or size_of([module]) >= least:  # type: ignore[index]
            yield from _full(run)
            run = []
            yield [module]
        else:
            run.append(module)
    yield from _full(run)


def _tied(modules: list[nn.Module]) -> set[nn.Module]:
    """The modules that have a parameter in common with another."""
    owners: dict[int, set[nn.Module]] = {}
    for module in modules:
        for parameter in module.parameters():
            owners.setdefault(id(parameter), set()).add(module)
    return {module for found in owners.values() if len(found) > 1 for module in found}
