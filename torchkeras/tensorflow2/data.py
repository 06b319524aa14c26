"""`tf.data`: data as a chain of datasets, each made from the one before. Elements are torch tensors.

A dataset is an iterable of elements, which `fit`, `evaluate`, `predict` and `adapt` take as batches. Every pass makes
them again, in order and in the thread that asks for them: options that say how TensorFlow divides that work are checked
and change nothing.
"""

from __future__ import annotations

import csv
import difflib
import glob
import gzip
import math
import random
import zlib
from collections.abc import Callable, Iterable, Iterator as Iteration, Sequence
from functools import partial
from itertools import chain, count as counted, cycle, islice, takewhile
from types import SimpleNamespace
from typing import Any

import torch

from torchkeras.base.rules import integer, one_of, optional, read
from torchkeras.tensorflow2.elements import (
    DatasetSpec,
    StringTensor,
    TensorSpec,
    as_element,
    as_leaf,
    as_numpy,
    cast,
    common,
    dtype_from,
    leaves,
    mapped,
    padded,
    sizes_of,
    spec_of,
    stacked,
)

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
TOGETHER = 4  # how many datasets `interleave` reads in turn where the script leaves it to TensorFlow
SEEDS = 2**62
END = object()

Elements = Callable[[], Iteration[Any]]

REFUSED = {
    "bucket_by_sequence_length": "padded_batch with elements of about one length",
    "fingerprint": "",
    "group_by_window": "batch",
    "ignore_errors": "a map_func that handles its errors, and filter",
    "load": "NumPy's or torch's files with from_tensor_slices or from_generator",
    "ragged_batch": "padded_batch",
    "rebatch": "unbatch().batch(batch_size)",
    "rejection_resample": "sample_from_datasets",
    "save": "NumPy's or torch's files",
    "snapshot": "cache",
    "sparse_batch": "padded_batch",
}


class Iterator:
    """One pass over a dataset. `next` gives an element, and so does `get_next`."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, self._elements = dataset, dataset._elements()

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    def get_next(self) -> Any:
        """The next element. Raises StopIteration at the end."""
        return next(self._elements)

    @property
    def element_spec(self) -> Any:
        """The types and shapes of the elements."""
        return self._dataset.element_spec


class Dataset:
    """Elements of one structure: tensors, tuples and dicts of them, nested as you like.

    Make one by `from_tensor_slices`, `from_tensors`, `from_generator`, `range` or `list_files`, and others from it by
    `map`, `shuffle`, `batch` and so on. Each method returns a new dataset.

    Example:
        >>> dataset = Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: x * 2).batch(2)
        >>> list(dataset.as_numpy_iterator())
        [array([2, 4], dtype=int32), array([6], dtype=int32)]

    Source: https://www.tensorflow.org/api_docs/python/tf/data/Dataset
    """

    def __init__(self, elements: Elements, size: int, spec: Callable[[], Any] | None = None) -> None:
        self._elements, self._size = elements, size
        self._find_spec = spec or partial(_spec_of_first, elements)
        self._spec: Any = None

    def __iter__(self) -> Iterator:
        return Iterator(self)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        if self._size < 0:
            raise TypeError(
                f"The dataset is {'infinite' if self._size == INFINITE_CARDINALITY else 'of unknown length'}: it has "
                "no len()."
            )
        return self._size

    def __getattr__(self, name: str) -> Any:
        if name in REFUSED:
            instead = f" Use {REFUSED[name]}." if REFUSED[name] else ""
            raise NotImplementedError(f"tf.data.Dataset.{name} has no counterpart here.{instead}")
        near = difflib.get_close_matches(name, [each for each in dir(type(self)) if not each.startswith("_")], 1)
        hint = f" The nearest is {near[0]!r}." if near else ""
        raise AttributeError(f"tf.data.Dataset has no {name!r}.{hint}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    @property
    def element_spec(self) -> Any:
        """The types and shapes of the elements, in their structure; an axis of None differs from one to another.

        What a function returns is seen by calling it on the first element.
        """
        if self._spec is None:
            self._spec = self._find_spec()
        return self._spec

    def cardinality(self, name: str | None = None) -> torch.Tensor:
        """The number of elements (int64): -1 where there is no end, -2 where it is not known."""
        return torch.tensor(self._size)

    def as_numpy_iterator(self) -> Iteration[Any]:
        """The elements as NumPy arrays."""
        return (mapped(as_numpy, element) for element in self)

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element. Raises ValueError where there are none or more."""
        found = list(islice(self, 2))
        if len(found) != 1:
            raise ValueError(f"Dataset.get_single_element: there must be one element; found {len(found) or 'none'}.")
        return found[0]

    # --- where elements come from -----------------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element.

        Arguments:
            tensors (structure of arrays): the element. A list is one array, a tuple or dict a structure.
        """
        element = as_element(tensors)
        return Dataset(lambda: iter([element]), 1, lambda: spec_of(element))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The slices of arrays along their first axis.

        Arguments:
            tensors (structure of arrays): all of one length.

        Errors:
            ValueError: there are no arrays; one has no axis; lengths differ.
        """
        whole = as_element(tensors)
        shapes = [tuple(leaf.shape) for leaf in leaves(whole)]
        if not shapes or () in shapes or len({shape[0] for shape in shapes}) > 1:
            raise ValueError(
                f"Dataset.from_tensor_slices: tensors must be arrays with a first axis of one length; found {shapes}."
            )
        length = shapes[0][0]

        def elements() -> Iteration[Any]:
            return (mapped(lambda leaf, at=number: leaf[at], whole) for number in range(length))

        return Dataset(elements, length, lambda: mapped(TensorSpec.unbatched, spec_of(whole)))

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What an iterable gives that a function returns; every pass calls the function.

        Arguments:
            generator (function): returns the iterable, as the function of a generator does.
            output_types (structure of types or None, default None): the types.
            output_shapes (structure of shapes or None, default None): the shapes; None leaves them open.
            args (tuple or None, default None): what the function is called with, as arrays of NumPy.
            output_signature (structure of `TensorSpec` or None, default None): types and shapes.

        Errors:
            TypeError: `generator` is no function; there is neither `output_types` nor `output_signature`, or both.
            ValueError: an element is of another structure or shape.
        """
        if not callable(generator):
            raise TypeError(f"Dataset.from_generator: generator must be a function; found {type(generator).__name__}.")
        if (output_types is None) == (output_signature is None):
            raise TypeError("Dataset.from_generator: give output_types or output_signature, and not both.")
        signature = output_signature
        if output_signature is None:
            signature = _signature(output_types, output_shapes)
        arguments = () if args is None else tuple(as_numpy(as_leaf(each)) for each in args)

        def elements() -> Iteration[Any]:
            return (mapped(_checked, signature, _like(signature, element)) for element in generator(*arguments))

        return Dataset(elements, UNKNOWN_CARDINALITY, lambda: signature)

    @staticmethod
    def range(*args: Any, output_type: Any = torch.int64, name: str | None = None) -> Dataset:
        """The numbers of Python's `range`, as int64 or the type `output_type`."""
        numbers = range(*(int(each) for each in args))
        dtype = dtype_from(output_type)
        return Dataset(
            lambda: (torch.tensor(number, dtype=dtype) for number in numbers),
            len(numbers),
            lambda: TensorSpec((), dtype),
        )

    @staticmethod
    def counter(start: int = 0, step: int = 1, dtype: Any = torch.int64, name: str | None = None) -> Dataset:
        """Numbers without an end: start, start + step, ..."""
        kind = dtype_from(dtype)
        return Dataset(
            lambda: (torch.tensor(number, dtype=kind) for number in counted(int(start), int(step))),
            INFINITE_CARDINALITY,
            lambda: TensorSpec((), kind),
        )

    @staticmethod
    def random(
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Random integers from 0 to below 2**32 (int64), without an end. They are not TensorFlow's numbers.

        Arguments:
            seed (integer or None, default None): makes them the same in every run of the program.
            rerandomize_each_iteration (bool or None, default None): whether each pass has others; None is False.
        """
        draws = _Seeds(seed, bool(rerandomize_each_iteration))

        def elements() -> Iteration[Any]:
            drawn = draws.next()
            return (torch.tensor(drawn.getrandbits(32)) for _ in counted())

        return Dataset(elements, INFINITE_CARDINALITY, lambda: TensorSpec((), torch.int64))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: Any = None
    ) -> Dataset:
        """The paths of files that match patterns, as strings.

        Arguments:
            file_pattern (text or list of texts): patterns with `*`, `?` and `[...]`.
            shuffle (bool or None, default None): whether the order is random, and another in each pass; None is True.
            seed (integer or None, default None): makes the orders the same in every run of the program.

        Errors:
            ValueError: no file matches.
        """
        patterns = [each.decode() for each in StringTensor.of(file_pattern).ravel().tolist()]
        paths = sorted(chain.from_iterable(map(glob.glob, patterns)))
        if not paths:
            raise ValueError(f"Dataset.list_files: no file matches {', '.join(map(repr, patterns))}.")
        found = Dataset.from_tensor_slices(StringTensor.of(paths))
        return found.shuffle(len(paths), seed) if shuffle is not False else found

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """The elements of several datasets side by side, until the shortest ends.

        Arguments:
            args (datasets): one, in a tuple or dict of datasets, or several, for a tuple of elements.
            datasets (structure of datasets or None, default None): the same by name.
        """
        together = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = leaves(together)
        wrong = next((type(each).__name__ for each in parts if not isinstance(each, Dataset)), None)
        if wrong is not None or not parts:
            raise TypeError(f"Dataset.zip: a tuple or dict of datasets is needed; found {wrong or 'none'}.")
        sizes = [each._size for each in parts if each._size != INFINITE_CARDINALITY]
        size = min(sizes, default=INFINITE_CARDINALITY)  # an unknown one is the least

        def elements() -> Iteration[Any]:
            passes = [each._elements() for each in parts]
            return (_put_into(together, row) for row in zip(*passes, strict=False))

        return Dataset(elements, size, lambda: mapped(lambda each: each.element_spec, together))

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of several datasets, each from one that is drawn.

        Arguments:
            datasets (list of datasets): at least one.
            weights (list of numbers or None, default None): how often each is drawn; None is equally often.
            seed (integer or None, default None): makes the draws the same in every run of the program.
            stop_on_empty_dataset (bool, default False): whether the end of one is the end of all.
            rerandomize_each_iteration (bool or None, default None): whether each pass has other draws; None is False.
        """
        shares = [1.0] * len(datasets) if weights is None else [float(each) for each in as_leaf(weights)]
        if len(shares) != len(datasets) or not datasets:
            raise ValueError(
                f"Dataset.sample_from_datasets: weights must have a number for each dataset; found {len(shares)} for "
                f"{len(datasets)}."
            )
        draws = _Seeds(seed, bool(rerandomize_each_iteration))

        def elements() -> Iteration[Any]:
            drawn, passes = draws.next(), dict(enumerate(each._elements() for each in datasets))
            while any(shares[each] for each in passes):
                (chosen,) = drawn.choices(list(passes), [shares[each] for each in passes])
                element = next(passes[chosen], END)
                if element is not END:
                    yield element
                elif stop_on_empty_dataset:
                    return
                else:
                    del passes[chosen]

        sizes = [each._size for each in datasets]
        known = not stop_on_empty_dataset and min(sizes) >= 0 and all(shares)
        return Dataset(elements, sum(sizes) if known else UNKNOWN_CARDINALITY, lambda: datasets[0].element_spec)

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of several datasets, each from the one whose index the next element of `choice_dataset` is.

        Arguments:
            datasets (list of datasets): at least one.
            choice_dataset (dataset): the indices.
            stop_on_empty_dataset (bool, default True): whether the end of one is the end of all.
        """

        def elements() -> Iteration[Any]:
            passes = [each._elements() for each in datasets]
            for index in choice_dataset:
                element = next(passes[int(index)], END)
                if element is not END:
                    yield element
                elif stop_on_empty_dataset:
                    return

        return Dataset(elements, UNKNOWN_CARDINALITY, lambda: datasets[0].element_spec)

    # --- which elements, and in what order --------------------------------------------------------------------------

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, and after them those of another of the same structure and types.

        Errors:
            TypeError: structures or types differ.
        """
        sizes = self._size, dataset._size
        size = sum(sizes) if min(sizes) >= 0 else _endless_or_unknown(sizes)

        def spec() -> Any:
            try:
                return mapped(common, self.element_spec, dataset.element_spec)
            except ValueError as error:
                raise TypeError(f"Dataset.concatenate: {error}") from error

        return Dataset(lambda: chain(self._elements(), dataset._elements()), size, spec)

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of a number (int64), from `start` on, and an element."""
        return Dataset(
            lambda: ((torch.tensor(number), element) for number, element in enumerate(self._elements(), int(start))),
            self._size,
            lambda: (TensorSpec((), torch.int64), self.element_spec),
        )

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which a function returns True."""

        def holds(element: Any) -> bool:
            found = as_leaf(_called(predicate, element))
            if found.dtype != torch.bool or found.ndim:
                raise ValueError(f"Dataset.filter: predicate must return one bool; found {TensorSpec.of(found)}.")
            return bool(found)

        return self._same(lambda: (each for each in self._elements() if holds(each)), UNKNOWN_CARDINALITY)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which a function returns False."""
        return self._same(
            lambda: takewhile(lambda element: bool(_called(predicate, element)), self._elements()), UNKNOWN_CARDINALITY
        )

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first `count` elements; -1 takes all."""
        number = _integer("take", "count", count)
        if number < 0:
            return self._same(self._elements, self._size)
        size = number if self._size == INFINITE_CARDINALITY else min(self._size, number)
        return self._same(lambda: islice(self._elements(), number), size)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """The elements after the first `count`; -1 leaves none."""
        number = _integer("skip", "count", count)
        if number < 0:
            return self._same(lambda: iter(()), 0)
        size = self._size if self._size < 0 else max(self._size - number, 0)
        return self._same(lambda: islice(self._elements(), number, None), size)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from that at `index` on."""
        number = _integer("shard", "num_shards", num_shards, 1)
        first = _integer("shard", "index", index, 0, number - 1)
        size = self._size if self._size < 0 else max(0, -(-(self._size - first) // number))
        return self._same(lambda: islice(self._elements(), first, None, number), size)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The elements `count` times over; None and -1 are without an end."""
        number = -1 if count is None else _integer("repeat", "count", count)
        if number >= 0:
            size = self._size * number if self._size >= 0 or not number else self._size
            return self._same(lambda: chain.from_iterable(self._elements() for _ in range(number)), size)
        return self._same(lambda: _without_end(self._elements), INFINITE_CARDINALITY if self._size else 0)

    def shuffle(
        self,
        buffer_size: Any,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements in a random order: each is drawn from a buffer of the next `buffer_size`.

        The orders are not TensorFlow's.

        Arguments:
            buffer_size (integer): how many elements the buffer holds. With all of them, every order is equally likely.
            seed (integer or None, default None): makes the orders the same in every run of the program. None takes
                torch's random numbers, which `keras.utils.set_random_seed` and `tf.random.set_seed` set.
            reshuffle_each_iteration (bool or None, default None): whether each pass has an order of its own; None is
                True.
        """
        size = _integer("shuffle", "buffer_size", buffer_size)
        if size == UNKNOWN_CARDINALITY:  # what `cardinality` gave; TensorFlow then takes all
            size = None
        elif size < 1:
            raise ValueError(f"Dataset.shuffle: buffer_size must be an integer of at least 1; found {size}.")
        seeds = _Seeds(seed, reshuffle_each_iteration is not False)
        return self._same(lambda: _shuffled(self._elements(), size, seeds.next()), self._size)

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """The elements, which the first whole pass keeps in memory for later ones.

        Arguments:
            filename (text, default ""): must be "": elements are kept in memory only.
        """
        if filename != "":
            raise ValueError(f"Dataset.cache: filename must be '': elements are kept in memory; found {filename!r}.")
        kept: list[Any] = []

        def elements() -> Iteration[Any]:
            if kept:
                yield from kept
                return
            found = []
            for element in self._elements():
                found.append(element)
                yield element
            kept.extend(found)

        return self._same(elements, self._size)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements: nothing is made ahead here.

        Arguments:
            buffer_size (integer): how many elements TensorFlow makes ahead; -1 leaves it to TensorFlow.
        """
        _integer("prefetch", "buffer_size", buffer_size, -1)
        return self._same(self._elements, self._size)

    def unique(self, name: str | None = None) -> Dataset:
        """Each element once, where it first stands; an element is one tensor."""

        def elements() -> Iteration[Any]:
            seen = set()
            for element in self._elements():
                key = (str(element.dtype), tuple(element.shape), str(as_numpy(element).tolist()))
                if key not in seen:
                    seen.add(key)
                    yield element

        return self._same(elements, UNKNOWN_CARDINALITY)

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements, with options."""
        found = self._same(self._elements, self._size)
        found._options = options
        return found

    _options: Options | None = None

    def options(self) -> Options:
        """The options of `with_options`."""
        return self._options or Options()

    # --- functions of elements --------------------------------------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """What a function returns for each element.

        Arguments:
            map_func (function): takes an element; the items of one that is a tuple are arguments of their own. Returns
                tensors, arrays or numbers, or a tuple or dict of these. It is called without gradients.
            num_parallel_calls (integer or None, default None): how many calls TensorFlow makes at a time.
            deterministic (bool or None, default None): whether TensorFlow keeps the order, which is kept here.
            synchronous (bool or None, default None): how TensorFlow makes calls, as does `use_unbounded_threadpool`.
        """
        _check_parallel("map", num_parallel_calls, deterministic)
        made = partial(_called, map_func)

        def spec() -> Any:
            first = next(self._elements(), END)
            if first is END:
                raise ValueError(
                    "Dataset.map: there is no element to find the types and shapes of what map_func returns."
                )
            return _open_batches(self.element_spec, first, spec_of(made(first)))

        return Dataset(lambda: (made(element) for element in self._elements()), self._size, spec)

    def flat_map(self, map_func: Callable[..., Dataset], name: str | None = None) -> Dataset:
        """The elements of the datasets that a function returns for each element, one dataset after another."""
        opened = partial(_opened, "flat_map", map_func)
        return Dataset(lambda: chain.from_iterable(map(opened, self._elements())), UNKNOWN_CARDINALITY)

    def interleave(
        self,
        map_func: Callable[..., Dataset],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets that a function returns, taken from several in turn.

        Arguments:
            map_func (function): returns a dataset for an element.
            cycle_length (integer or None, default None): from how many at a time; None and -1 are 4.
            block_length (integer or None, default None): how many of each in turn; None is 1.
            num_parallel_calls (integer or None, default None): how many TensorFlow reads at a time.
            deterministic (bool or None, default None): whether TensorFlow keeps the order, which is kept here.
        """
        _check_parallel("interleave", num_parallel_calls, deterministic)
        length = AUTOTUNE if cycle_length is None else _integer("interleave", "cycle_length", cycle_length)
        together = TOGETHER if length == AUTOTUNE else _integer("interleave", "cycle_length", length, 1)
        block = 1 if block_length is None else _integer("interleave", "block_length", block_length, 1)
        opened = partial(_opened, "interleave", map_func)
        return Dataset(lambda: _interleaved(map(opened, self._elements()), together, block), UNKNOWN_CARDINALITY)

    def scan(self, initial_state: Any, scan_func: Callable[[Any, Any], Any], name: str | None = None) -> Dataset:
        """What a function of a state and an element returns beside the next state.

        Arguments:
            initial_state (structure of arrays): the first state.
            scan_func (function): takes the state and the element, returns the next state and what to give.
        """

        def elements() -> Iteration[Any]:
            state = as_element(initial_state)
            for element in self._elements():
                with torch.no_grad():
                    state, found = map(as_element, scan_func(state, element))
                yield found

        return Dataset(elements, self._size)

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Any:
        """The last state of a function of a state and an element.

        Arguments:
            initial_state (structure of arrays): the first state.
            reduce_func (function): takes the state and the element, returns the next state.
        """
        state = as_element(initial_state)
        for element in self._elements():
            with torch.no_grad():
                state = as_element(reduce_func(state, element))
        return state

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function of the dataset returns. Raises TypeError unless it is a dataset."""
        found = transformation_func(self)
        if not isinstance(found, Dataset):
            raise TypeError(f"Dataset.apply: the function must return a dataset; found {type(found).__name__}.")
        return found

    # --- batches ----------------------------------------------------------------------------------------------------

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Batches of consecutive elements, stacked along a new first axis.

        Arguments:
            batch_size (integer): how many elements.
            drop_remainder (bool, default False): whether a last batch of fewer is left out.
            num_parallel_calls (integer or None, default None): how many batches TensorFlow makes at a time.
            deterministic (bool or None, default None): whether TensorFlow keeps the order, which is kept here.

        Errors:
            ValueError: elements have other shapes.
        """
        _check_parallel("batch", num_parallel_calls, deterministic)
        size = _integer("batch", "batch_size", batch_size, 1)
        return self._batched(size, drop_remainder, lambda rows: _stack(rows), lambda: self.element_spec)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of consecutive elements, each filled up at the end of its axes.

        Arguments:
            batch_size (integer): how many elements.
            padded_shapes (structure of shapes or None, default None): the lengths of the axes; None and -1 are those
                of the longest of the batch.
            padding_values (structure of numbers, number or None, default None): what they are filled up with; None is
                0, or the empty string.
            drop_remainder (bool, default False): whether a last batch of fewer is left out.

        Errors:
            ValueError: an element is longer than `padded_shapes` says, or has other axes.
        """
        size = _integer("padded_batch", "batch_size", batch_size, 1)

        def stack(rows: list[Any]) -> Any:
            shapes = _by_leaf(rows[0], padded_shapes)
            values = [padding_values] * len(shapes)
            if isinstance(padding_values, (tuple, dict)):
                values = _by_leaf(rows[0], padding_values)
            columns = zip(*map(leaves, rows), strict=True)
            return _put_into(rows[0], [padded(*each) for each in zip(columns, shapes, values, strict=True)])

        def spec() -> Any:
            shapes = _by_leaf(self.element_spec, padded_shapes)
            return mapped(lambda one, at: one.with_shape(_open(one, shapes[at])), *_with_numbers(self.element_spec))

        return self._batched(size, drop_remainder, stack, spec)

    def _batched(
        self, size: int, drop_remainder: bool, stack: Callable[[list[Any]], Any], spec: Callable[[], Any]
    ) -> Dataset:
        drop = bool(drop_remainder)

        def elements() -> Iteration[Any]:
            found = self._elements()
            while len(rows := list(islice(found, size))) == size or (rows and not drop):
                yield stack(rows)

        number = self._size if self._size < 0 else self._size // size if drop else -(-self._size // size)
        return Dataset(elements, number, lambda: mapped(lambda leaf: leaf.batched(size if drop else None), spec()))

    def unbatch(self, name: str | None = None) -> Dataset:
        """The elements of batches, one by one."""

        def elements() -> Iteration[Any]:
            for batch in self._elements():
                for number in range(len(leaves(batch)[0])):
                    yield mapped(lambda leaf, at=number: leaf[at], batch)

        return Dataset(elements, UNKNOWN_CARDINALITY, lambda: mapped(TensorSpec.unbatched, self.element_spec))

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Datasets of consecutive elements; of elements that are tuples or dicts, tuples or dicts of datasets.

        Arguments:
            size (integer): how many elements a window has.
            shift (integer or None, default None): how far the next window begins after one; None is `size`.
            stride (integer, default 1): how far the next element of a window stands after one.
            drop_remainder (bool, default False): whether windows of fewer elements are left out.
        """
        length = _integer("window", "size", size, 1)
        step = length if shift is None else _integer("window", "shift", shift, 1)
        every = _integer("window", "stride", stride, 1)
        extent, drop = (length - 1) * every + 1, bool(drop_remainder)

        def spec() -> Any:
            return mapped(DatasetSpec, self.element_spec)

        def window(rows: list[Any]) -> Any:
            def component(leaf: Any, at: int) -> Dataset:
                return Dataset(lambda: (leaves(row)[at] for row in rows), len(rows), lambda: leaf)

            return mapped(component, *_with_numbers(self.element_spec))

        def elements() -> Iteration[Any]:
            found, held = self._elements(), []
            while True:
                held += islice(found, extent - len(held))
                if not held or (drop and len(held) < extent):
                    return
                yield window(held[::every])
                held = held[step:] if step <= len(held) else list(islice(found, step - len(held), step - len(held)))

        number = self._size
        if number >= 0:
            number = max(0, (number - extent) // step + 1) if drop else math.ceil(number / step)
        return Dataset(elements, number, spec)

    def _same(self, elements: Elements, size: int) -> Dataset:
        """A dataset of elements of the same types and shapes."""
        return Dataset(elements, size, lambda: self.element_spec)


class TextLineDataset(Dataset):
    """The lines of text files, as strings without their ends.

    Arguments:
        filenames (text, list of texts or dataset of them): the files, one after another.
        compression_type (None, "", "GZIP" or "ZLIB", default None): how they are compressed.
        buffer_size (integer or None, default None): how much TensorFlow reads at a time.
        num_parallel_reads (integer or None, default None): how many files TensorFlow reads at a time.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        read("TextLineDataset", "compression_type", one_of(None, "", "GZIP", "ZLIB"), compression_type)
        _check_parallel("TextLineDataset", num_parallel_reads, None)

        def elements() -> Iteration[Any]:
            found = list(filenames) if isinstance(filenames, Dataset) else [filenames]
            paths = chain.from_iterable(StringTensor.of(each).ravel().tolist() for each in found)
            return chain.from_iterable(_lines(path.decode(), compression_type) for path in paths)

        super().__init__(elements, UNKNOWN_CARDINALITY, lambda: TensorSpec((), "string"))


class TFRecordDataset:
    """Refused: TensorFlow's own files of records are not read here."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError(
            f"tf.data.{type(self).__name__}: TensorFlow's files of records are not read. Write the data as NumPy's or "
            "torch's files, and read these by Dataset.from_tensor_slices or Dataset.from_generator."
        )


class FixedLengthRecordDataset(TFRecordDataset):
    """Refused, as `TFRecordDataset` is."""


OPTIONS = (
    *("autotune", "deterministic", "distribute", "experimental_deterministic", "experimental_distribute"),
    *(
        "experimental_external_state_policy",
        "experimental_optimization",
        "experimental_slack",
        "experimental_symbolic_checkpoint",
    ),
    *("experimental_threading", "experimental_warm_start", "framework_type", "threading"),
)


class Options:
    """How TensorFlow makes elements: threads, orders of work, shares of workers. Nothing of it changes the elements.

    Errors:
        AttributeError: there is no such option.
    """

    def __init__(self) -> None:
        groups = ("autotune", "distribute", "experimental_distribute", "experimental_optimization")
        for name in OPTIONS:
            inner = SimpleNamespace() if name in groups or name.endswith("threading") else None
            setattr(self, name, inner)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in OPTIONS:
            raise AttributeError(f"tf.data.Options has no option {name!r}; found of it are {', '.join(OPTIONS)}.")
        super().__setattr__(name, value)


# --- steps of passes ------------------------------------------------------------------------------------------------


class _Seeds:
    """A random generator for each pass: of a seed, or of torch's random numbers."""

    def __init__(self, seed: int | None, every_pass: bool) -> None:
        self._of_passes = None if seed is None else random.Random(int(seed))
        self._every_pass, self._fixed = every_pass, None

    def next(self) -> random.Random:
        """That of the next pass."""
        if self._fixed is None:
            own = self._of_passes
            drawn = int(torch.randint(SEEDS, (), device="cpu")) if own is None else own.getrandbits(62)
            if self._every_pass:
                return random.Random(drawn)
            self._fixed = drawn
        return random.Random(self._fixed)


def _shuffled(elements: Iteration[Any], size: int | None, drawn: random.Random) -> Iteration[Any]:
    held = list(islice(elements, size))
    for element in elements:
        place = drawn.randrange(len(held))
        yield held[place]
        held[place] = element
    drawn.shuffle(held)
    yield from held


def _without_end(elements: Elements) -> Iteration[Any]:
    """Passes one after another, until one has no element."""
    while True:
        one = END
        for one in elements():
            yield one
        if one is END:
            return


def _interleaved(passes: Iteration[Iteration[Any]], together: int, block: int) -> Iteration[Any]:
    open_ones: list[Iteration[Any] | None] = [None] * together
    for place in cycle(range(together)):
        if open_ones[place] is None:
            open_ones[place] = next(passes, None)
        one = open_ones[place]
        if one is None:
            if not any(each is not None for each in open_ones):
                return
            continue
        found = list(islice(one, block))
        yield from found
        if len(found) < block:
            open_ones[place] = None


def _called(function: Callable[..., Any], element: Any) -> Any:
    """What a function returns for an element, whose items are its arguments where it is a tuple."""
    with torch.no_grad():
        found = function(*element) if is_arguments(element) else function(element)
        return as_element(tuple(found) if isinstance(found, list) else found)


def is_arguments(element: Any) -> bool:
    """Whether the items of an element are the arguments of a function: it is a tuple without names."""
    return isinstance(element, tuple) and not hasattr(element, "_fields")


def _opened(method: str, function: Callable[..., Any], element: Any) -> Iteration[Any]:
    found = _called(function, element)
    if not isinstance(found, Dataset):
        raise TypeError(f"Dataset.{method}: map_func must return a dataset; found {type(found).__name__}.")
    return found._elements()


def _lines(path: str, compression: str | None) -> Iteration[Any]:
    if compression == "ZLIB":
        with open(path, "rb") as file:
            lines = zlib.decompress(file.read()).splitlines()
        yield from map(StringTensor.of, lines)
        return
    with gzip.open(path) if compression == "GZIP" else open(path, "rb") as file:
        for line in file:
            yield StringTensor.of(line.rstrip(b"\n").removesuffix(b"\r"))


def _stack(rows: list[Any]) -> Any:
    return mapped(lambda *each: stacked(each), *rows)


def _put_into(form: Any, row: Sequence[Any]) -> Any:
    """The items of a row in place of the leaves of a form."""
    items = iter(row)
    return mapped(lambda _: next(items), form)


def _with_numbers(structure: Any) -> tuple[Any, Any]:
    """A structure, and the same with the number of each leaf in its place."""
    numbers = counted()
    return structure, mapped(lambda _: next(numbers), structure)


# --- types and shapes -----------------------------------------------------------------------------------------------


def _by_leaf(structure: Any, given: Any) -> list[Any]:
    """What is given for each leaf of a structure, in its order; None in place of a structure is None for its leaves.

    Raises ValueError where `given` is of another form.
    """
    if isinstance(structure, (dict, tuple)):
        keys = list(structure) if isinstance(structure, dict) else list(range(len(structure)))
        if given is not None and len(given) != len(keys):
            raise ValueError(f"Structures differ: {len(keys)} items and {given!r:.100}.")
        items = [None if given is None else given[key] for key in keys]
        return list(chain.from_iterable(_by_leaf(structure[key], item) for key, item in zip(keys, items, strict=True)))
    return [given]


def _open(spec: TensorSpec, shape: Any) -> Any:
    """The sizes of a shape; where it is left out, as many open ones as a spec has."""
    sizes = sizes_of(shape)
    return (None,) * len(spec.shape or ()) if sizes is None else sizes


def _signature(types: Any, shapes: Any) -> Any:
    """The specs of types, and of shapes of the same form."""
    if isinstance(types, dict):
        return {key: _signature(item, None if shapes is None else shapes[key]) for key, item in types.items()}
    if isinstance(types, (tuple, list)):
        given = [None] * len(types) if shapes is None else shapes
        return tuple(_signature(*each) for each in zip(types, given, strict=True))
    return TensorSpec(shapes, types)


def _like(signature: Any, element: Any) -> Any:
    """An element with tuples where the signature has them, which a generator may give as lists."""
    if isinstance(signature, tuple) and isinstance(element, (list, tuple)) and len(element) == len(signature):
        return tuple(_like(*each) for each in zip(signature, element, strict=True))
    return element


def _checked(spec: TensorSpec, value: Any) -> Any:
    found = cast(value, spec.dtype)
    if not spec.holds(found):
        raise ValueError(
            f"Dataset.from_generator: an element must have the shape {spec.shape}; found {tuple(found.shape)}."
        )
    return found


def _spec_of_first(elements: Elements) -> Any:
    first = next(elements(), END)
    if first is END:
        raise ValueError("Dataset.element_spec: there is no element to find types and shapes of.")
    return spec_of(first)


def _open_batches(before: Any, element: Any, found: Any) -> Any:
    """The specs that a function's results have for all batches, by those of one: batches may have another length."""
    specs, tensors = leaves(before), leaves(element)
    if not all(isinstance(spec, TensorSpec) and spec.shape and spec.shape[0] is None for spec in specs):
        return found
    length = tensors[0].shape[0]

    def opened(spec: Any) -> Any:
        is_batch = isinstance(spec, TensorSpec) and spec.shape and spec.shape[0] == length
        return spec.with_shape((None, *spec.shape[1:])) if is_batch else spec

    return mapped(opened, found)


# --- options --------------------------------------------------------------------------------------------------------


def _integer(method: str, option: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """An integer, also from a tensor of one."""
    plain = value.item() if hasattr(value, "item") else value
    return int(read(f"Dataset.{method}", option, integer(least, most), plain))


def _check_parallel(method: str, calls: Any, deterministic: Any) -> None:
    if calls is not None and _integer(method, "num_parallel_calls", calls, AUTOTUNE) == 0:
        raise ValueError(f"Dataset.{method}: num_parallel_calls must be a positive integer, or -1; found 0.")
    read(f"Dataset.{method}", "deterministic", optional(one_of(True, False)), deterministic)


def _endless_or_unknown(sizes: Iterable[int]) -> int:
    return INFINITE_CARDINALITY if INFINITE_CARDINALITY in sizes else UNKNOWN_CARDINALITY


# --- tf.data.experimental -------------------------------------------------------------------------------------------


def cardinality(dataset: Dataset) -> torch.Tensor:
    """The number of elements of a dataset (int64): -1 where there is no end, -2 where it is not known."""
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: int) -> Callable[[Dataset], Dataset]:
    """A function for `Dataset.apply`: the same elements, whose number is said to be this one."""
    return lambda dataset: dataset._same(dataset._elements, int(expected_cardinality))


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of the rows of CSV files: a dict from column to values, and the values of `label_name` where it is given.

    Arguments:
        file_pattern (text or list of texts): the files, or patterns of their names.
        batch_size (positive integer): how many rows a batch has.
        column_names (list of texts, default None): the columns; None for those in the first row.
        column_defaults (list, default None): for each column that is read, a list with the value where a row has none,
            whose type is that of the column. None takes the type from the rows, and 0 or "".
        label_name (text, default None): the column of the targets.
        select_columns (list of texts or integers, default None): the columns to read; None for all.
        field_delim, use_quote_delim, na_value, header, encoding: how the files are written.
        num_epochs (integer, default None): how often the rows come; None for ever.
        shuffle, shuffle_buffer_size, shuffle_seed: whether, and how, `Dataset.shuffle` is used.

    Errors:
        ValueError: there is no such file or column, or the number of defaults is another.
    """
    patterns = [file_pattern] if isinstance(file_pattern, str) else file_pattern
    paths = [path for pattern in patterns for path in sorted(glob.glob(str(pattern)))]
    if not paths:
        raise ValueError(f"make_csv_dataset: no file is called {file_pattern!r}.")
    quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
    rows: list[list[str]] = []
    for path in paths:
        with open(path, encoding=encoding, newline="") as file:
            found = [row for row in csv.reader(file, delimiter=field_delim, quoting=quoting) if row]
        names = list(column_names or found[0])
        rows += found[1:] if header else found
    chosen = [names[each] if isinstance(each, int) else each for each in select_columns or names]
    unknown = [name for name in (*chosen, *([label_name] if label_name else [])) if name not in names]
    if unknown:
        raise ValueError(f"make_csv_dataset: there is no column {unknown[0]!r}; the columns are {names}.")
    defaults = [None] * len(chosen) if column_defaults is None else list(column_defaults)
    if len(defaults) != len(chosen):
        raise ValueError(f"make_csv_dataset: column_defaults must have {len(chosen)} items; found {len(defaults)}.")
    columns = {
        name: _column([row[names.index(name)] for row in rows], default, na_value)
        for name, default in zip(chosen, defaults, strict=True)
    }
    labels = columns.pop(label_name) if label_name else None
    dataset = Dataset.from_tensor_slices(columns if labels is None else (columns, labels))
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    return dataset.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None)


def _column(texts: list[str], default: Any, missing: str) -> Any:
    """The values of a column of a CSV file: numbers, or texts."""
    if default is None:
        filled = [text for text in texts if text not in ("", missing)]
        kind = next((kind for kind in (int, float) if all(_is_number(text, kind) for text in filled)), str)
        default = kind()
    else:
        default = default[0] if isinstance(default, (list, tuple)) else default
        if not isinstance(default, (int, float, str)):
            raise ValueError(f"make_csv_dataset: a default must be a list of a number or text; found {default!r}.")
        kind = type(default)
    values = [default if text in ("", missing) else kind(text) for text in texts]
    if kind is str:
        return values
    return torch.tensor(values, dtype=torch.int32 if kind is int else torch.float32)


def _is_number(text: str, kind: type) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


experimental = SimpleNamespace(
    AUTOTUNE=AUTOTUNE,
    INFINITE_CARDINALITY=INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY=UNKNOWN_CARDINALITY,
    AutoShardPolicy=SimpleNamespace(OFF=-1, AUTO=0, FILE=1, DATA=2, HINT=3),
    assert_cardinality=assert_cardinality,
    cardinality=cardinality,
    choose_from_datasets=Dataset.choose_from_datasets,
    get_single_element=lambda dataset: dataset.get_single_element(),
    make_csv_dataset=make_csv_dataset,
    prefetch_to_device=lambda device, buffer_size=None: lambda dataset: dataset.prefetch(AUTOTUNE),
    sample_from_datasets=Dataset.sample_from_datasets,
    shuffle_and_repeat=lambda buffer_size, count=None, seed=None: (
        lambda data: data.shuffle(buffer_size, seed).repeat(count)
    ),
    unbatch=lambda: Dataset.unbatch,
    unique=lambda: Dataset.unique,
)
