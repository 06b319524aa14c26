"""The layout of Keras 3's `.weights.h5`: a group for each layer, nested as layers are, with numbered weights in `vars`.

A layer of a model is at `layers/<class in snake case>`, with a number from the second layer of a class on. An inner
layer is at the name of the attribute that holds it: `forward_layer/cell`. tf_keras and Keras 2.12 to 2.15 have the same
layout, but count layers in other ways. Groups are matched with layers by name if the file has the names and
they are the model's, else by this structure. Every weight and every array needs a match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import h5py
import numpy as np
from torch import nn

from torchkeras.base.arrays import as_tensor, to_numpy
from torchkeras.base.torch_tables import own_modules, own_parameters
from torchkeras.engine.facts import facts_of
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph.network import Network, layers_in
from torchkeras.engine.graph.trace import graph_if_any
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import Variable, own_variables
from torchkeras.engine.weights.weight_lists import sublayers
from torchkeras.errors import ModelFileError, WeightMismatchError
from torchkeras.saving.containers.hdf5 import attribute as attribute_of, group_in, groups, members, values, write_array
from torchkeras.saving.containers.hdf5_rules import is_bfloat16
from torchkeras.saving.containers.open_file import filename
from torchkeras.saving.containers.parts import Dataset
from torchkeras.saving.layer_facts import facts, inherited
from torchkeras.saving.weights.matching import ADVICE, Match, warn_of_skipped

# How many numbers a layer takes when the layers of its class are counted, by the attribute that holds a model's layers:
# `(layer, whether it came before) -> number`. Keras 3, 2.12 and 2.13 count each occurrence; 2.14, 2.15 and tf_keras the
# first one. `_layer_checkpoint_dependencies` has layers with weights twice.
Count = Callable[[Layer, bool], int]
COUNTS: Mapping[str, tuple[Count, ...]] = {
    "layers": (lambda layer, seen: 1, lambda layer, seen: int(not seen)),
    "_layer_checkpoint_dependencies": (
        lambda layer, seen: 2 if layer.weights else 1,
        lambda layer, seen: int(not seen),
    ),
}

# Groups that are not weights: those of training, and the states of random numbers.
BESIDE = ("optimizer", "metrics")
BY_CONFIG = ("idf_weights",)  # arrays of a look-up, which its config has too
GENERATORS = ("seed_generator", "random_generator", "_random_generator")


def pairs(
    group: h5py.Group,
    model: Network,
    order: str | None = None,
    by_name: bool = False,
    skip_mismatch: bool = False,
    skipped: Sequence[Layer] = (),
) -> list[tuple[Variable, Dataset]]:
    """Every weight of a built model with its array in the file; nothing is read or set.

    `order`: that of the layers in the file, if it is not today's. `by_name` leaves alone the layers of the model whose
    names the file does not have; `skip_mismatch`, with a warning, those that do not fit. `skipped`: layers that are
    left alone, with those inside. Layers that store themselves are left to `own_stores`. Raises WeightMismatchError
    for a weight without an array, an array without a weight, and another shape; ModelFileError for a file of another
    layout.
    """
    pairing = _Pairing(order, by_name, skip_mismatch, skipped)
    pairing.take(model, group)
    if by_name or skip_mismatch:
        return list(pairing.found.values())
    left = {id(variable.layer) for layer in skipped for variable in layer.weights} | set(map(id, pairing.own))
    weights = [variable for variable in model.weights if id(variable.layer) not in left]
    lacking = [variable for variable in weights if _key(variable) not in pairing.found]
    if lacking:
        names = ", ".join(variable.full_name for variable in lacking)
        raise WeightMismatchError(f"{filename(group)}: no path of Keras 3 leads to the weights {names}.")
    for dataset in _datasets(group, BESIDE):
        if dataset.name not in pairing.taken:
            raise WeightMismatchError(
                f"{filename(group)}: {dataset.name} of shape {tuple(dataset.shape)} is of no weight of the model."
            )
    return list(pairing.found.values())


def own_stores(group: h5py.Group, model: Network, taking: Any, order: str | None) -> list[tuple[Layer, Any]]:
    """The layers that store themselves, each with its values by name; `taking` has the options of `pairs`."""
    pairing = _Pairing(order, taking.by_name, taking.skip_mismatch, taking.objects_to_skip)
    pairing.take(model, group)
    return [(layer, {name: values(found) for name, found in own.items()}) for layer, own in pairing.own.items()]


def folders(layer: Layer, path: str = "", seen: set[Layer] | None = None) -> Iterator[tuple[Layer, str]]:
    """A layer and those inside it, at any depth, with the paths of their groups, which are those of their files too."""
    seen = set() if seen is None else seen
    seen.add(layer)
    yield layer, path
    before = f"{path}/" if path else ""
    for (attribute, *_), inside in _children(layer):
        if not isinstance(inside, list):
            if inside not in seen:
                yield from folders(inside, before + attribute, seen)
            continue
        for found, name in _by_class(inside, seen, COUNTS["layers"][0]).items():
            if found not in seen:
                yield from folders(found, f"{before}{attribute}/{name}", seen)


def write(group: h5py.Group, model: Network, skipped: Sequence[Layer] = ()) -> None:
    """Write the weights of a built model as Keras 3.15 does, without those of the layers in `skipped`."""
    _write(group, model, set(skipped), Weighted())


class _Pairing:
    """The pairs found on a walk through a model and a file."""

    def __init__(
        self, order: str | None, by_name: bool = False, skip_mismatch: bool = False, skipped: Sequence[Layer] = ()
    ) -> None:
        self.order, self.by_name, self.skip_mismatch, self.skipped = order, by_name, skip_mismatch, set(skipped)
        self.own: dict[Layer, Mapping[str, Dataset]] = {}  # of layers that store themselves
        self.found: dict[Any, tuple[Variable, Dataset]] = {}
        self.taken: set[str] = set()
        self.seen: set[Layer] = set()
        self.weighted = Weighted()

    def take(self, layer: Layer, group: h5py.Group) -> None:
        """Pair the weights of a layer, and of its inner layers, with those in its group."""
        if layer in self.seen:
            return
        self.seen.add(layer)
        if layer in self.skipped:
            self.taken |= {str(found.name) for found in _datasets(group)}
            return
        self._or_skip(layer, lambda: self._take_own(layer, group))
        for attributes, inside in _children(layer, self.order):
            if isinstance(inside, list):
                self._or_skip(layer, partial(self._take_several, layer, inside, group, attributes))
            elif self.weighted[inside] and inside not in self.seen:
                self._or_skip(inside, partial(self._take_named, inside, group, attributes))
            else:
                self.seen.add(inside)

    def _take_named(self, layer: Layer, group: h5py.Group, attributes: tuple[str, ...]) -> None:
        attribute = _present(group, attributes)
        if layer not in self.skipped or attribute in groups(group):
            self.take(layer, group_in(group, attribute))

    def _or_skip(self, layer: Layer, take: Callable[[], None]) -> None:
        """Pair what `take` pairs; with `skip_mismatch` none of it, and a warning, where it does not fit."""
        if not self.skip_mismatch:
            take()
            return
        found, taken = dict(self.found), set(self.taken)
        try:
            take()
        except ModelFileError as error:
            self.found, self.taken = found, taken
            warn_of_skipped(layer.name, error)

    def _take_own(self, layer: Layer, group: h5py.Group) -> None:
        variables = _own_weights(layer, self.weighted.own)
        if not variables and not facts_of(layer).stores_itself:
            return
        vars_group = group_in(group_in(group, "cell") if _has_cell(layer) else group, "vars")
        where = f"{filename(group)}: layer {layer.name!r} ({type(layer).__name__})"
        stored = {name: found for name, found in members(vars_group).items() if isinstance(found, Dataset)}
        if facts_of(layer).stores_itself:
            self.own[layer] = stored
            self.taken |= {str(found.name) for found in stored.values()}
            return
        arrays = [stored[name] for name in numbered(list(stored))]
        if len(arrays) == len(variables) - 1 and variables[0].layer is not layer:
            variables = variables[1:]  # without the kernel that occurs twice
        if len(arrays) != len(variables):
            raise WeightMismatchError(
                f"{where} has {len(variables)} weights ({', '.join(v.full_name for v in variables)}); "
                f"{vars_group.name} in the file has {len(arrays)}. {ADVICE}"
            )
        for variable, array in zip(variables, arrays, strict=True):
            self._match(where, variable, array)

    def _match(self, where: str, variable: Variable, array: Dataset) -> None:
        if array.dtype.kind not in "fiub" and not is_bfloat16(array):
            raise WeightMismatchError(f"{where}: {array.name} in the file holds {array.dtype}, not numbers.")
        if tuple(array.shape) != variable.shape:
            raise WeightMismatchError(
                f"{where}: weight {variable.full_name!r} has shape {variable.shape}; "
                f"{array.name} in the file has shape {tuple(array.shape)}. {ADVICE}"
            )
        _, first = self.found.setdefault(_key(variable), (variable, array))
        self.taken.add(str(array.name))
        if first.name != array.name and not np.array_equal(values(first), values(array)):
            raise WeightMismatchError(
                f"{where}: {first.name} and {array.name} in the file are one weight, "
                f"{variable.full_name!r}, and have different values."
            )

    def _take_several(self, owner: Layer, layers: list[Layer], group: h5py.Group, attributes: tuple[str, ...]) -> None:
        attribute = _present(group, attributes)
        if not any(self.weighted[layer] and layer not in self.seen for layer in layers):
            self.seen.update(layers)
            return
        inside = group_in(group, attribute)
        stored = {name for name in groups(inside) if next(_datasets(group_in(inside, name)), None) is not None}
        counts = COUNTS.get(attribute, COUNTS["layers"])
        if self.by_name and group.name == group.file.name:
            chosen = self._named(owner, layers, inside, stored)
        else:
            chosen = self._by_any_way(layers, counts, inside, stored)
        if chosen is None:
            raise self._other_layers(owner, layers, inside, stored, counts[0])
        for layer in layers:
            if layer in chosen and chosen[layer] in stored:
                self.take(layer, group_in(inside, chosen[layer]))
            self.seen.add(layer)

    def _other_layers(
        self, owner: Layer, layers: list[Layer], inside: h5py.Group, stored: set[str], count: Count
    ) -> WeightMismatchError:
        """The error for layers of a model that are not those of a group."""
        names = [name for layer, name in _by_class(layers, self.seen, count).items() if self.weighted[layer]]
        return WeightMismatchError(
            f"{filename(inside)}: {inside.name} has {len(stored)} layers with weights "
            f"({', '.join(sorted(stored))}); {type(owner).__name__} {owner.name!r} of the model has "
            f"{len(names)} ({', '.join(names)})."
        )

    def _by_any_way(
        self, layers: list[Layer], counts: tuple[Count, ...], inside: h5py.Group, stored: set[str]
    ) -> dict[Layer, str] | None:
        """The names of the groups of layers with weights, by the first way that fits; None without."""
        chosen = self._chosen(layers, self.seen, counts, inside, stored)
        if chosen is None:
            chosen = self._chosen(layers, self.seen | _met_inside(layers), counts, inside, stored)
        if chosen is None:  # a layer whose weights all came earlier, inside another one, has an empty group
            chosen = self._chosen(layers, self.seen, counts, inside, stored, self._with_new_weights(layers))
        if chosen is None and self.skip_mismatch:
            by_class = _by_class(layers, self.seen, counts[0])
            weighted = {layer: name for layer, name in by_class.items() if self.weighted[layer]}
            chosen = self._without_the_missing(weighted, inside, stored)
        return chosen

    def _chosen(
        self,
        layers: list[Layer],
        seen: set[Layer],
        counts: tuple[Count, ...],
        group: h5py.Group,
        stored: set[str],
        those: set[Layer] | None = None,
    ) -> dict[Layer, str] | None:
        """The names of the groups of layers with weights, by the first way that gives those stored; None without.

        `those`: the layers with weights in the file; None for all that have weights.
        """
        those = {layer for layer in layers if self.weighted[layer]} if those is None else those
        way = _by_name([layer for layer in layers if layer in those], seen, group, stored)
        if self._is_of(way, stored):
            return way
        ways = (_by_class(layers, seen, count) for count in counts)
        weighted = ({layer: name for layer, name in way.items() if layer in those} for way in ways)
        return next((way for way in weighted if self._is_of(way, stored)), None)

    def _is_of(self, way: Mapping[Layer, str], stored: set[str]) -> bool:
        """Whether the names of layers are those stored, where skipped layers may be missing."""
        wanted = {name for layer, name in way.items() if layer not in self.skipped}
        return wanted <= stored <= set(way.values())

    def _with_new_weights(self, layers: list[Layer]) -> set[Layer]:
        """Those of some layers that have a weight which no layer before them has."""
        found: set[Layer] = set()
        met = set(self.seen)
        for layer in layers:
            pending = [layer]
            while pending:
                inside = pending.pop()
                if inside not in met:
                    met.add(inside)
                    pending += sublayers(inside)
                    found |= {layer} if own_variables(inside) else set()
        return found

    def _without_the_missing(self, path: dict[Layer, str], inside: h5py.Group, stored: set[str]) -> dict[Layer, str]:
        """The layers that the file has; the others are skipped, each with a warning."""
        for layer, name in path.items():
            if name not in stored:
                warn_of_skipped(layer.name, f"{filename(inside)}: {inside.name} has no group {name!r}.")
        return {layer: name for layer, name in path.items() if name in stored}

    def _named(self, owner: Layer, layers: list[Layer], inside: h5py.Group, stored: set[str]) -> dict[Layer, str]:
        """The layers whose names the file has. Raises WeightMismatchError for none."""
        by_name, weighted = (
            _group_names(inside, stored),
            {layer.name: layer for layer in layers if self.weighted[layer]},
        )
        found = {layer: by_name[name] for name, layer in weighted.items() if name in by_name}
        if not found:
            raise WeightMismatchError(
                f"{filename(inside)}: by_name finds no layer: the file has {', '.join(sorted(by_name)) or 'no names'}; "
                f"the model has {', '.join(weighted) or 'none'} with weights."
            )
        return found


class Own(dict[Layer, list[Variable]]):
    """The weights of layers themselves, listed once."""

    def __missing__(self, layer: Layer) -> list[Variable]:
        self[layer] = own_variables(layer)
        return self[layer]


class Weighted(dict[Layer, bool]):
    """Whether layers have weights, their own or of layers inside: each is looked at once, however deep it stands.

    `own`: the weights of layers themselves.
    """

    def __init__(self) -> None:
        super().__init__()
        self.own = Own()

    def __missing__(self, layer: Layer) -> bool:
        has_own = facts_of(layer).stores_itself or bool(self.own[layer])
        self[layer] = has_own or any(self[inside] for inside in sublayers(layer))
        return self[layer]


# --- structure -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def snake_case(class_name: str) -> str:
    """The name of a class in a path: `conv_lstm2d` for `ConvLSTM2D`."""
    name = facts(class_name).group or class_name
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def _has_cell(layer: Layer) -> bool:
    return any(facts(cls.__name__).has_cell for cls in type(layer).__mro__)


def _own_weights(layer: Layer, own: Own) -> list[Variable]:
    """A layer's own weights in the order of Keras 3: the trainable ones, then the others.

    The kernel that SpectralNormalization tracks comes first; the inner layer has it, too.
    """
    ordered = sorted(own[layer], key=lambda variable: not variable.made_to_train)
    is_spectral = any(cls.__name__ == "SpectralNormalization" for cls in type(layer).__mro__)
    tracked = getattr(layer, "_kernel", None) if is_spectral else None
    return ordered if tracked is None else [tracked(), *ordered]


def _children(layer: Layer, order: str | None = None) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The inner layers of a layer, or lists of them, with the names that the attribute may have in a file."""
    graphed: set[Any] = set()
    if isinstance(layer, Network) and graph_if_any(layer) is not None:
        layers = layers_in(layer, order) if order else layer.layers
        graphed = set(layers)
        yield tuple(COUNTS), [found for found in layers if not _is_without_group(found)]
    names = inherited(type(layer), "inner")
    for attribute, module in own_modules(layer).items():
        found = names.get(attribute, (attribute,))
        if isinstance(module, Layer) and module not in graphed:
            yield found, module
        elif module is not None and (inside := layers_inside(module)):
            yield found, inside


def _is_without_group(layer: Any) -> bool:
    """Whether Keras 3 writes no group for a layer of ours: a function that holds no parameters."""
    return isinstance(layer, Operation) and not own_parameters(layer)


def layers_inside(module: nn.Module) -> list[Layer]:
    """The layers inside a torch module, such as a list; without those inside other layers."""
    found: list[Layer] = []
    for inside in own_modules(module).values():
        if isinstance(inside, Layer):
            found.append(inside)
        elif inside is not None:
            found += layers_inside(inside)
    return [] if isinstance(module, Layer) else found


def _met_inside(layers: list[Layer]) -> set[Layer]:
    """Those of some layers that are also inside an earlier one of them, where a file has their weights."""
    found: set[Layer] = set()
    reached: set[Layer] = set()
    for layer in layers:
        if layer in reached:
            found.add(layer)
        pending = [layer]
        while pending:
            new = [inside for inside in pending.pop()._sublayers() if inside not in reached]
            reached.update(new)
            pending += new
    return found


def _by_class(layers: list[Layer], seen: set[Layer], count: Count) -> dict[Layer, str]:
    """The name of each layer's group, except for layers seen before."""
    used: dict[str, int] = {}
    names: dict[Layer, str] = {}
    for layer in layers:
        name = snake_case(type(layer).__name__)
        before = used.get(name, 0)
        if layer not in seen and layer not in names:
            names[layer] = f"{name}_{before}" if before else name
        used[name] = before + count(layer, layer in seen)
    return names


def _by_name(layers: list[Layer], seen: set[Layer], group: h5py.Group, stored: set[str]) -> dict[Layer, str]:
    """The same, of layers with weights, by the names of layers in a file; empty if they are not the model's."""
    by_name = _group_names(group, stored)
    wanted = {layer.name: layer for layer in layers if layer not in seen}
    if len(by_name) != len(stored) or set(by_name) != set(wanted):
        return {}
    return {layer: by_name[name] for name, layer in wanted.items()}


def _group_names(group: h5py.Group, stored: set[str]) -> dict[str, str]:
    """The groups of layers by the names of layers that they tell; tf_keras writes no names."""
    by_name: dict[str, str] = {}
    for name in stored:
        inside = group_in(group, name)
        by_name[str(attribute_of(group_in(inside, "vars"), "name", "")) if "vars" in groups(inside) else ""] = name
    return by_name


def untaken(group: h5py.Group, matches: Iterable[Match]) -> list[str]:
    """The paths of the arrays that no weight took."""
    taken = {source.path for found in matches for source in found.sources}
    return [str(found.name) for found in _datasets(group, BESIDE) if str(found.name) not in taken]


def _present(group: h5py.Group, attributes: tuple[str, ...]) -> str:
    inside = groups(group)
    return next((name for name in attributes if name in inside), attributes[0])


def _key(variable: Variable) -> Any:
    return id(variable.layer), variable.paths


def numbered(names: list[str]) -> list[str]:
    """Names that are numbers, in numeric order; others, which never match, come last."""
    return sorted(names, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0, name))


def _datasets(group: h5py.Group, but: tuple[str, ...] = ()) -> Iterator[Dataset]:
    """All arrays of a group and the groups inside, but the states of random numbers, `but` and what configs have."""
    inside = members(group)
    yield from (found for name, found in inside.items() if isinstance(found, Dataset) and name not in BY_CONFIG)
    for name, found in inside.items():
        if isinstance(found, h5py.Group) and name not in GENERATORS and name not in but:
            yield from _datasets(found)


# --- writing ---------------------------------------------------------------------------------------------------------


def _write(group: h5py.Group, layer: Layer, seen: set[Layer], weighted: Weighted) -> None:
    seen.add(layer)
    if facts_of(layer).stores_itself:
        _write_itself(group, layer)
    else:
        _write_own(group, layer.name, [] if _has_cell(layer) else _own_weights(layer, weighted.own))
    if _has_cell(layer) and not facts_of(layer).stores_itself:
        kind = "ConvLSTM" if getattr(layer, "rank", 0) else type(layer).__name__
        _write_own(group.create_group("cell"), snake_case(f"{kind}Cell"), _own_weights(layer, weighted.own))
    for attributes, inside in _children(layer):
        if not isinstance(inside, list):
            if weighted[inside] and inside not in seen:
                _write(group.create_group(attributes[0]), inside, seen, weighted)
            continue
        container = group.create_group(attributes[0])
        for found, name in _by_class(inside, seen, COUNTS["layers"][0]).items():
            if found not in seen:
                _write(container.create_group(name), found, seen, weighted)


def _write_itself(group: h5py.Group, layer: Layer) -> None:
    """What a layer says of itself in `save_own_variables`."""
    vars_group, store = group.create_group("vars"), dict[str, Any]()
    vars_group.attrs["name"] = layer.name
    layer.save_own_variables(store)
    for name, found in store.items():
        vars_group.create_dataset(name, data=to_numpy(as_tensor(found)))


def _write_own(group: h5py.Group, name: str, variables: list[Variable]) -> None:
    vars_group = group.create_group("vars")
    vars_group.attrs["name"] = name
    for index, variable in enumerate(variables):
        write_array(vars_group, str(index), variable.shared_numpy())
