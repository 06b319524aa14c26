"""`tf.data.Dataset`: elements, types, shapes and numbers of elements. Random orders are compared as sets."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

FLOATS = np.arange(12, dtype="float32").reshape(6, 2)
DOUBLES = np.linspace(0, 1, 6)
LABELS = np.array([0, 1, 2, 0, 1, 2])


def plain(value: Any) -> Any:
    """An element as `same_results` takes it: texts for strings, lists for tuples."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray) and value.dtype == object:
        return {"shape": list(value.shape), "texts": [each.decode() for each in value.ravel().tolist()]}
    return value if value is None else np.asarray(value)


def spec(value: Any) -> Any:
    """The types and shapes of a dataset's elements."""
    if isinstance(value, dict):
        return {key: spec(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [spec(item) for item in value]
    if hasattr(value, "element_spec"):
        return {"dataset": spec(value.element_spec)}
    shape = None if value.shape is None or getattr(value.shape, "rank", 0) is None else list(value.shape)
    return {"shape": shape, "dtype": getattr(value.dtype, "name", str(value.dtype).removeprefix("torch."))}


def seen(dataset: Any, most: int = 50) -> dict[str, Any]:
    """All that is compared of a dataset."""
    return {
        "elements": [plain(element) for element in dataset.take(most).as_numpy_iterator()],
        "cardinality": int(dataset.cardinality()),
        "spec": spec(dataset.element_spec),
    }


def sizes(dataset: Any) -> list[int]:
    """The numbers of a dataset whose length alone is compared."""
    return [int(dataset.cardinality()), len(list(dataset.take(50)))]


def raised(function: Any) -> str:
    """The name of the error of a call; "" where there is none."""
    try:
        function()
    except Exception as error:  # noqa: BLE001  # any is compared
        return type(error).__name__
    return ""


def case_slices(tf):
    make = tf.data.Dataset.from_tensor_slices
    return {
        "float32": seen(make(FLOATS)),
        "float64": seen(make(DOUBLES)),
        "int64": seen(make(LABELS)),
        "uint8": seen(make(np.arange(4, dtype="uint8"))),
        "bool": seen(make(np.array([True, False]))),
        "a list": seen(make([1, 2, 3])),
        "a list of floats": seen(make([1.0, 2.0])),
        "a list of lists": seen(make([[1, 2], [3, 4]])),
        "a list of arrays": seen(make([DOUBLES, DOUBLES + 1])),
        "texts": seen(make(["a", "bc"])),
        "texts of NumPy": seen(make(np.array([["a", "bc"], ["d", "e"]]))),
        "a tuple": seen(make((FLOATS, LABELS))),
        "a tuple of one": seen(make((FLOATS,))),
        "a dict": seen(make({"x": FLOATS, "b": DOUBLES})),
        "nested": seen(make(({"a": FLOATS, "t": ["u", "v", "w", "x", "y", "z"]}, (LABELS, DOUBLES)))),
    }


def case_tensors(tf):
    make = tf.data.Dataset.from_tensors
    return {"an array": seen(make(FLOATS)), "a number": seen(make(3)), "a tuple": seen(make((1.5, {"a": "text"})))}


def case_generator(tf):
    def pairs():
        for number in range(3):
            yield np.full(number, number), number

    def numbers(start, stop):
        yield from range(start, stop)

    make = tf.data.Dataset.from_generator
    signature = (tf.TensorSpec(shape=(None,), dtype=tf.float32), tf.TensorSpec(shape=(), dtype=tf.int64))
    texts = tf.TensorSpec((), tf.string)
    return {
        "types": seen(make(pairs, (tf.int64, tf.int32))),
        "shapes": seen(make(pairs, output_types=(tf.float32, tf.int64), output_shapes=([None], []))),
        "signature": seen(make(pairs, output_signature=signature)),
        "dict": seen(make(lambda: iter([{"a": 1}, {"a": 2}]), output_types={"a": tf.float32})),
        "args": seen(make(numbers, args=(2, 5), output_types=tf.int64, output_shapes=())),
        "texts": seen(make(lambda: iter(["a", "b"]), output_signature=texts)),
        "of lists": seen(make(lambda: iter([[1, 2], [3]]), tf.int32, [None])),
        "again": seen(make(pairs, (tf.int64, tf.int32)).repeat(2)),
        "no types": raised(lambda: make(pairs)),
        "no function": raised(lambda: make([1, 2], output_types=tf.int32)),
    }


def case_range(tf):
    make = tf.data.Dataset.range
    return {
        "stop": seen(make(3)),
        "start": seen(make(2, 5)),
        "step": seen(make(5, 1, -2)),
        "none": sizes(make(2, 2)),
        "type": seen(make(3, output_type=tf.float32)),
    }


def case_map(tf):
    data = tf.data.Dataset.from_tensor_slices((FLOATS, LABELS))
    return {
        "a tuple": seen(data.map(lambda x, y: (x * 2, y + 1))),
        "one": seen(data.map(lambda x, y: x, num_parallel_calls=tf.data.AUTOTUNE)),
        "a dict": seen(data.map(lambda x, y: {"x": x, "y": y}).map(lambda row: row["x"] + 1.0)),
        "nested": seen(data.map(lambda x, y: ((x, {"y": y}), 1.0), deterministic=False)),
        "numbers": seen(data.map(lambda x, y: (1, 2.0, True))),
        "a list": seen(data.map(lambda x, y: [x, x + 1])),
        "of batches": seen(data.batch(4).map(lambda x, y: (x[:, 0], y, x * x))),
        "of whole batches": seen(data.batch(3, drop_remainder=True).map(lambda x, y: x[:, :1])),
        "a slice": seen(data.batch(4).map(lambda x, y: (x[:, :-1], x[:, 1:]))),
    }


def case_batch(tf):
    data = tf.data.Dataset.from_tensor_slices((FLOATS, {"y": LABELS}))
    uneven = tf.data.Dataset.from_generator(lambda: iter([[1], [2, 3], [4, 5, 6]]), tf.int32, [None])
    return {
        "batches": seen(data.batch(4)),
        "dropped": seen(data.batch(4, drop_remainder=True)),
        "twice": seen(data.batch(2).batch(2)),
        "unbatched": seen(data.batch(4).unbatch()),
        "texts": seen(tf.data.Dataset.from_tensor_slices(["a", "bc", "d"]).batch(2)),
        "parallel": seen(data.batch(4, num_parallel_calls=2, deterministic=True)),
        "zero": raised(lambda: list(data.batch(0))) != "",
        "other shapes": raised(lambda: list(uneven.batch(3))) != "",
    }


def case_padded_batch(tf):
    rows = [[1], [2, 3], [4, 5, 6]]
    data = tf.data.Dataset.from_generator(lambda: iter(rows), tf.int32, tf.TensorShape([None]))
    pairs = tf.data.Dataset.from_generator(
        lambda: ((row, float(len(row))) for row in rows), (tf.int32, tf.float32), ([None], [])
    )
    named = tf.data.Dataset.from_generator(
        lambda: ({"w": [str(each) for each in row]} for row in rows), {"w": tf.string}, {"w": [None]}
    )
    square = tf.data.Dataset.from_generator(
        lambda: (np.ones((n, 3 - n)) for n in (1, 2)), output_types=tf.float64, output_shapes=[None, None]
    )
    return {
        "longest": seen(data.padded_batch(2)),
        "of batch": seen(data.padded_batch(3, padded_shapes=[None])),
        "length": seen(data.padded_batch(2, padded_shapes=[4], padding_values=-1)),
        "dropped": seen(data.padded_batch(2, padded_shapes=(None,), drop_remainder=True)),
        "pairs": seen(pairs.padded_batch(3, padded_shapes=([None], []))),
        "values": seen(pairs.padded_batch(3, padded_shapes=([5], []), padding_values=(9, 0.0))),
        "no shapes": seen(pairs.padded_batch(2)),
        "texts": seen(named.padded_batch(2)),
        "named": seen(named.padded_batch(2, padded_shapes={"w": [4]}, padding_values={"w": "-"})),
        "square": seen(square.padded_batch(2)),
        "too long": raised(lambda: list(data.padded_batch(3, padded_shapes=[2]))) != "",
    }


def case_order(tf):
    data = tf.data.Dataset.range(10)
    shuffled = data.shuffle(4, seed=3)
    near = [int(each) for each in data.shuffle(2)]
    return {
        "contents": sorted(int(each) for each in shuffled),
        "sizes": sizes(shuffled),
        "reshuffled": sorted(int(each) for each in data.shuffle(10, reshuffle_each_iteration=True).repeat(2)),
        "same order": [int(each) for each in data.shuffle(10, reshuffle_each_iteration=False).repeat(2)][:10]
        != list(range(10)),
        "of a buffer": all(value <= place + 1 for place, value in enumerate(near)),
        "one": [int(each) for each in data.shuffle(1)],
        "of cardinality": sorted(int(each) for each in data.shuffle(data.cardinality())),
        "zero": raised(lambda: data.shuffle(0)) != "",
    }


def case_parts(tf):
    data = tf.data.Dataset.range(7)
    none = data.filter(lambda n: n > 100)
    return {
        "take": seen(data.take(3)),
        "take more": seen(data.take(9)),
        "take all": seen(data.take(-1)),
        "take none": sizes(data.take(0)),
        "skip": seen(data.skip(5)),
        "skip more": sizes(data.skip(9)),
        "skip all": sizes(data.skip(-1)),
        "shard": seen(data.shard(3, 1)),
        "shards": [sizes(data.shard(3, index)) for index in range(3)],
        "filter": seen(data.filter(lambda n: n % 2 == 0)),
        "filter pairs": seen(tf.data.Dataset.zip((data, data)).filter(lambda a, b: a + b > 8)),
        "take while": seen(data.take_while(lambda n: n < 3)),
        "repeat": seen(data.take(2).repeat(3)),
        "repeat none": sizes(data.repeat(0)),
        "repeat on": [int(data.repeat().cardinality()), plain(list(data.repeat().take(9).as_numpy_iterator()))],
        "repeat -1": int(data.repeat(-1).cardinality()),
        "repeat nothing": sizes(none.repeat(2)),
        "skip on": int(data.repeat().skip(2).cardinality()),
        "batch on": int(data.repeat().batch(2).cardinality()),
        "enumerate": seen(data.take(2).enumerate(5)),
        "unique": seen(tf.data.Dataset.from_tensor_slices([1, 2, 1, 3, 2]).unique()),
        "prefetch": seen(data.take(2).prefetch(tf.data.AUTOTUNE)),
        "cache": seen(data.take(2).cache().repeat(2)),
        "length": [len(data), len(data.batch(4)), len(data.take(3).repeat(2))],
        "no length": [raised(lambda: len(data.repeat())), raised(lambda: len(none))],
        "true": [bool(data.take(0)), bool(data)],
    }


def case_together(tf):
    one, two = tf.data.Dataset.range(3), tf.data.Dataset.from_tensor_slices(FLOATS)
    return {
        "zip": seen(tf.data.Dataset.zip((one, two))),
        "zip of a dict": seen(tf.data.Dataset.zip({"a": one, "b": (two, one)})),
        "zip of arguments": seen(tf.data.Dataset.zip(one, two)),
        "zip without an end": [int(tf.data.Dataset.zip((one.repeat(), two)).cardinality())],
        "zip of filtered": sizes(tf.data.Dataset.zip((one.filter(lambda n: n < 2), two))),
        "concatenate": seen(one.concatenate(tf.data.Dataset.range(8, 10))),
        "concatenate shapes": seen(two.batch(4, True).concatenate(two.batch(2, True))),
        "concatenate on": int(one.concatenate(one.repeat()).cardinality()),
        "choose": seen(
            tf.data.Dataset.choose_from_datasets(
                [one, one.map(lambda n: n + 10)], tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1, 0, 1, 1, 0]))
            )
        ),
        "sample": sorted(
            int(each)
            for each in tf.data.Dataset.sample_from_datasets([one, one], [0.5, 0.5], stop_on_empty_dataset=False)
        ),
    }


def case_many(tf):
    data = tf.data.Dataset.range(1, 5)

    def repeated(n):
        return tf.data.Dataset.from_tensors(n).repeat(3)

    return {
        "flat_map": plain(list(data.flat_map(repeated).as_numpy_iterator())),
        "flat_map of rows": plain(
            list(
                tf.data.Dataset.from_tensor_slices(FLOATS)
                .flat_map(tf.data.Dataset.from_tensor_slices)
                .as_numpy_iterator()
            )
        ),
        "interleave": seen(data.interleave(repeated, cycle_length=2, block_length=2)),
        "interleave one": seen(data.interleave(repeated, cycle_length=1)),
        "interleave many": seen(data.interleave(repeated, cycle_length=9, block_length=1, num_parallel_calls=2)),
        "interleave long": seen(data.interleave(repeated, cycle_length=3, block_length=5)),
        "interleave sizes": sizes(data.interleave(repeated)),
    }


def case_window(tf):
    data = tf.data.Dataset.range(7)

    def windows(*args, **options):
        found = data.window(*args, **options)
        return [int(found.cardinality()), [plain(list(each.as_numpy_iterator())) for each in found]]

    pairs = tf.data.Dataset.from_tensor_slices((LABELS, {"d": DOUBLES})).window(2)
    return {
        "size": windows(3),
        "shift": windows(3, shift=1),
        "dropped": windows(3, shift=1, drop_remainder=True),
        "stride": windows(2, shift=1, stride=3),
        "stride dropped": windows(2, 2, 2, drop_remainder=True),
        "far": windows(2, shift=4),
        "far dropped": windows(2, shift=4, drop_remainder=True),
        "too long": windows(9, drop_remainder=True),
        "batches": plain(
            list(data.window(3, 1, drop_remainder=True).flat_map(lambda w: w.batch(3)).as_numpy_iterator())
        ),
        "pairs": [plain([list(a.as_numpy_iterator()), list(b["d"].as_numpy_iterator())]) for a, b in pairs],
        "zipped": plain(
            list(pairs.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(2), b["d"].batch(2)))).as_numpy_iterator())
        ),
        "spec": spec(data.window(3).element_spec),
    }


def case_folds(tf):
    data = tf.data.Dataset.range(5)
    pairs = tf.data.Dataset.zip((data, data))
    state = np.int64(0)
    return {
        "reduce": plain(data.reduce(state, lambda total, n: total + n).numpy()),
        "reduce pairs": plain(pairs.reduce(state, lambda total, pair: total + pair[0] * pair[1]).numpy()),
        "reduce two": [plain(each.numpy()) for each in data.reduce((state, state), lambda s, n: (s[0] + 1, s[1] + n))],
        "scan": plain(list(data.scan(state, lambda total, n: (total + n, total * 2)).as_numpy_iterator())),
        "apply": plain(list(data.apply(lambda d: d.batch(2)).as_numpy_iterator())),
        "single": plain(data.take(1).get_single_element().numpy()),
        "not single": raised(lambda: data.get_single_element()) != "",
        "counter": plain(list(tf.data.Dataset.counter(2, 3).take(3).as_numpy_iterator())),
        "random": int(tf.data.Dataset.random(4).cardinality()),
    }


def case_files(tf):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.txt").write_bytes(b"one\ntwo\r\n\nlast")
        (folder / "b.txt").write_bytes(b"more\n")
        (folder / "c.gz").write_bytes(gzip.compress(b"in gzip\n"))
        files = tf.data.Dataset.list_files(f"{name}/*.txt", shuffle=False)
        lines = tf.data.TextLineDataset(f"{name}/a.txt")
        return {
            "names": [Path(each.decode()).name for each in files.as_numpy_iterator()],
            "shuffled": sorted(
                Path(each.decode()).name for each in tf.data.Dataset.list_files([f"{name}/*.txt", f"{name}/*.gz"])
                .as_numpy_iterator()
            ),
            "sizes": int(files.cardinality()),
            "spec": spec(files.element_spec),
            "no file": raised(lambda: list(tf.data.Dataset.list_files(f"{name}/*.none"))) != "",
            "lines": seen(lines),
            "of two": seen(tf.data.TextLineDataset([f"{name}/a.txt", f"{name}/b.txt"]).skip(1)),
            "of files": seen(tf.data.TextLineDataset(files)),
            "gzip": seen(tf.data.TextLineDataset(f"{name}/c.gz", compression_type="GZIP")),
            "interleaved": seen(files.interleave(tf.data.TextLineDataset, cycle_length=2)),
        }  # fmt: skip


def case_options(tf):
    data = tf.data.Dataset.range(3)
    options = tf.data.Options()
    options.deterministic = False
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return {
        "options": seen(data.with_options(options)),
        "constants": [
            int(each)
            for each in (
                tf.data.AUTOTUNE, tf.data.experimental.AUTOTUNE, tf.data.INFINITE_CARDINALITY,
                tf.data.UNKNOWN_CARDINALITY, tf.data.experimental.cardinality(data),
            )
        ],
        "asserted": seen(data.filter(lambda n: n < 2).apply(tf.data.experimental.assert_cardinality(2))),
        "no option": raised(lambda: setattr(options, "no_such_option", 1)),
    }  # fmt: skip
