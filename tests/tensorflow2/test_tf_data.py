"""`tf.data.Dataset` gives TensorFlow's elements, and the methods of models take it."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.keras3.same_results import CLOSE, cases_of, check, plain
from tests.tensorflow2.same import data as same
from torchkeras import keras3 as keras
from torchkeras.tensorflow2 import data
from torchkeras.tensorflow2.data import Dataset
from torchkeras.tensorflow2.elements import StringTensor, TensorSpec

STORED = json.loads(gzip.decompress((Path(__file__).parent.parent / "golden/tensorflow2/data.json.gz").read_bytes()))
TENSORFLOW = SimpleNamespace(
    data=data, TensorSpec=TensorSpec, TensorShape=tuple, string="string",
    float32=torch.float32, float64=torch.float64, int32=torch.int32, int64=torch.int64,
)  # fmt: skip
X = np.arange(40, dtype="float32").reshape(20, 2) / 40
Y = X.sum(1, keepdims=True)


@pytest.mark.parametrize("case", cases_of(same))
def test_is_that_of_genuine_tensorflow(case: str):
    check(plain(cases_of(same)[case](TENSORFLOW)), STORED[case], CLOSE)


def test_every_stored_result_has_its_case():
    assert sorted(STORED) == sorted(cases_of(same))


# --- models ---------------------------------------------------------------------------------------------------------


def model(*metrics: str) -> keras.Model:
    made = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
    made.compile("sgd", "mse", metrics=list(metrics))
    return made


class Steps(keras.callbacks.Callback):
    """The number of training steps of each epoch, and of test steps."""

    def __init__(self) -> None:
        super().__init__()
        self.train: list[int] = []
        self.test = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.train.append(0)

    def on_train_batch_end(self, batch, logs=None):
        self.train[-1] += 1

    def on_test_batch_end(self, batch, logs=None):
        self.test += 1


def fitted(dataset: Dataset, **options: object) -> Steps:
    steps = Steps()
    model().fit(dataset, verbose=0, callbacks=[steps], **options)  # type: ignore[arg-type]
    return steps


def test_fit_takes_all_batches_each_epoch():
    assert fitted(Dataset.from_tensor_slices((X, Y)).batch(8), epochs=2).train == [3, 3]


def test_fit_shuffles_as_the_dataset_says():
    dataset = Dataset.from_tensor_slices((X, Y)).shuffle(20).batch(8).prefetch(data.AUTOTUNE)
    assert fitted(dataset, epochs=3).train == [3, 3, 3]


def test_fit_goes_on_in_a_dataset_without_an_end():
    seen = []

    def note(x, y):
        seen.append(round(float(x[0, 0]) * 20) // 4)
        return x, y

    dataset = Dataset.from_tensor_slices((X, Y)).batch(4).repeat().map(note)
    assert fitted(dataset, epochs=2, steps_per_epoch=4).train == [4, 4]
    assert seen[-8:] == [0, 1, 2, 3, 4, 0, 1, 2]


def test_fit_validates_by_a_dataset():
    dataset = Dataset.from_tensor_slices((X, Y)).batch(8)
    assert fitted(dataset, validation_data=dataset, epochs=2).test == 6
    assert fitted(dataset, validation_data=dataset.repeat(), validation_steps=2, epochs=2).test == 4


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_a_dataset_without_an_end_needs_steps(method: str):
    dataset = Dataset.from_tensor_slices(X if method == "predict" else (X, Y)).batch(8).repeat()
    option = {"fit": "steps_per_epoch", "evaluate": "steps", "predict": "steps"}[method]
    with pytest.raises(ValueError, match=f"{method}: {option} must be given with an iterable Dataset that has no end"):
        getattr(model(), method)(dataset, verbose=0)
    getattr(model(), method)(dataset, verbose=0, **{option: 2})


def test_the_numbers_are_those_of_arrays():
    one, two = model(), model()
    dataset = Dataset.from_tensor_slices((X, Y + 1)).batch(8)
    history = one.fit(X, Y + 1, batch_size=8, epochs=2, shuffle=False, verbose=0).history
    assert two.fit(dataset, epochs=2, verbose=0).history["loss"] == pytest.approx(history["loss"])
    assert two.evaluate(dataset, verbose=0) == pytest.approx(one.evaluate(X, Y + 1, batch_size=8, verbose=0))
    inputs = dataset.map(lambda x, y: x)
    np.testing.assert_allclose(two.predict(inputs, verbose=0), one.predict(X, verbose=0), rtol=1e-6)
    assert two.predict(inputs.repeat(), steps=4, verbose=0).shape == (28, 1)


def test_sample_weights_come_third():
    weights = np.arange(20, dtype="float32")
    dataset = Dataset.from_tensor_slices((X, Y + 1, weights)).batch(8)
    expected = model().evaluate(X, Y + 1, sample_weight=weights, batch_size=8, verbose=0)
    assert model().evaluate(dataset, verbose=0) == pytest.approx(expected)


def test_several_inputs_in_a_dict():
    a, b = keras.Input((2,), name="a"), keras.Input((1,), name="b")
    made = keras.Model({"a": a, "b": b}, {"y": keras.layers.Dense(1, name="y")(keras.layers.Concatenate()([a, b]))})
    made.compile("sgd", {"y": "mse"})
    dataset = Dataset.from_tensor_slices(({"a": X, "b": Y}, {"y": Y})).batch(8)
    assert len(made.fit(dataset, epochs=2, verbose=0).history["loss"]) == 2


def test_doubles_and_integers_are_cast_as_arrays_are():
    dataset = Dataset.from_tensor_slices((X.astype("float64"), Y.astype("int64"))).batch(8)
    expected = model().evaluate(X, Y.astype("int64"), batch_size=8, verbose=0)
    assert model().evaluate(dataset, verbose=0) == pytest.approx(expected)


def test_layers_adapt_to_a_dataset():
    normalization = keras.layers.Normalization()
    normalization.adapt(Dataset.from_tensor_slices(X).batch(8))
    np.testing.assert_allclose(normalization(X).mean(0), [0, 0], atol=1e-6)
    texts = keras.layers.TextVectorization()
    dataset = Dataset.from_tensor_slices(["a b", "b c"])
    texts.adapt(dataset.batch(2))
    assert texts.get_vocabulary() == ["", "[UNK]", "b", "c", "a"]
    found = dataset.batch(2).map(texts)
    assert next(iter(found)).tolist() == [[4, 2], [2, 3]]
    lookup = keras.layers.StringLookup()
    lookup.adapt(Dataset.from_tensor_slices(["x", "y", "x"]))
    assert lookup.get_vocabulary() == ["[UNK]", "x", "y"]


def test_a_layer_maps_a_dataset():
    layer = keras.layers.Rescaling(2.0)
    assert next(iter(Dataset.from_tensor_slices(X).batch(4).map(lambda x: layer(x)))).tolist() == (2 * X[:4]).tolist()


# --- orders ---------------------------------------------------------------------------------------------------------


def orders(dataset: Dataset, passes: int = 2) -> list[list[int]]:
    return [[int(each) for each in dataset] for _ in range(passes)]


def test_each_pass_has_an_order_of_its_own():
    one, two = orders(Dataset.range(50).shuffle(50))
    assert one != two
    assert sorted(one) == sorted(two)


def test_one_order_for_all_passes():
    one, two = orders(Dataset.range(50).shuffle(50, reshuffle_each_iteration=False))
    assert one == two


def test_a_seed_decides_the_orders():
    assert orders(Dataset.range(50).shuffle(50, seed=7)) == orders(Dataset.range(50).shuffle(50, seed=7))


def test_torchs_random_numbers_decide_the_orders():
    keras.utils.set_random_seed(3)
    one = orders(Dataset.range(50).shuffle(50))
    keras.utils.set_random_seed(3)
    assert orders(Dataset.range(50).shuffle(50)) == one


def test_random_numbers_are_those_of_the_first_pass():
    dataset = Dataset.random(4).take(3)
    assert orders(dataset)[0] == orders(dataset)[1]
    other = Dataset.random(4, rerandomize_each_iteration=True).take(3)
    assert orders(other)[0] != orders(other)[1]


def test_a_cache_is_made_once():
    calls = []
    dataset = Dataset.range(3).map(lambda n: calls.append(int(n)) or n).cache()
    assert orders(dataset) == [[0, 1, 2]] * 2
    assert calls == [0, 1, 2]


def test_half_a_pass_makes_no_cache():
    dataset = Dataset.range(3).cache()
    next(iter(dataset))
    assert orders(dataset) == [[0, 1, 2]] * 2


# --- tensors --------------------------------------------------------------------------------------------------------


def test_elements_are_tensors_of_torch():
    x, y = next(iter(Dataset.from_tensor_slices((X, Y.astype("float64"))).batch(4)))
    assert (x.dtype, y.dtype) == (torch.float32, torch.float64)
    assert isinstance(x, torch.Tensor)


def test_named_tuples_stay():
    from_names = Dataset.from_tensor_slices({"a": X}).map(lambda row: row)
    assert list(next(iter(from_names))) == ["a"]


def test_functions_of_elements_have_no_gradients():
    dense = keras.layers.Dense(3)
    assert not next(iter(Dataset.from_tensor_slices(X).batch(4).map(dense))).requires_grad


def test_strings():
    one = StringTensor.of("a")
    assert (one.numpy(), one.shape, str(one)) == (b"a", (), "b'a'")
    two = StringTensor.of([["a", b"b"]])
    assert two[0, 1].numpy() == b"b"
    assert two.numpy().tolist() == [[b"a", b"b"]]
    with pytest.raises(TypeError, match=r"Strings must be texts or bytes; found int: 1."):
        StringTensor.of([1])


def test_a_path_is_opened_as_it_is(tmp_path: Path):
    (tmp_path / "a.txt").write_text("read")
    for path in Dataset.list_files(str(tmp_path / "*.txt")):
        assert Path(path).read_text() == "read"


def test_an_iterator_gives_the_next():
    iterator = iter(Dataset.range(2))
    assert (int(iterator.get_next()), int(next(iterator))) == (0, 1)
    assert iterator.element_spec == TensorSpec((), torch.int64)
    with pytest.raises(StopIteration):
        iterator.get_next()


# --- errors ---------------------------------------------------------------------------------------------------------

ERRORS = {
    "from_tensor_slices": (
        lambda: Dataset.from_tensor_slices((X, Y[:3])),
        r"tensors must be arrays with a first axis of one length; found \[\(20, 2\), \(3, 1\)\].",
    ),
    "no axis": (lambda: Dataset.from_tensor_slices(3), r"a first axis of one length; found \[\(\)\]."),
    "batch_size": (lambda: Dataset.range(3).batch(0), "Dataset.batch: batch_size must be an integer of at least 1"),
    "buffer_size": (lambda: Dataset.range(3).shuffle(0), "buffer_size must be an integer of at least 1; found 0."),
    "index": (lambda: Dataset.range(3).shard(2, 2), "Dataset.shard: index must be an integer from 0 to 1; found 2."),
    "calls": (lambda: Dataset.range(3).map(abs, 0), "num_parallel_calls must be a positive integer, or -1; found 0."),
    "cache": (lambda: Dataset.range(3).cache("x"), "filename must be '': elements are kept in memory; found 'x'."),
    "shapes": (
        lambda: list(Dataset.from_tensor_slices(X).batch(8).unbatch().batch(8).batch(3)),
        r"must have one shape and type. The first has \(8, 2\), torch.float32; that at 2 has \(4, 2\)",
    ),
    "padded": (
        lambda: list(Dataset.from_tensor_slices(X).padded_batch(2, padded_shapes=[1])),
        r"an axis for each of an element, at least as long; found \[1\] for an element of shape \(2,\).",
    ),
    "generator": (
        lambda: list(Dataset.from_generator(lambda: iter([[1]]), output_signature=TensorSpec((2,), "int32"))),
        r"Dataset.from_generator: an element must have the shape \(2,\); found \(1,\).",
    ),
    "predicate": (lambda: list(Dataset.range(2).filter(lambda n: n)), "predicate must return one bool; found"),
    "compression": (lambda: data.TextLineDataset("x", "zip"), "TextLineDataset: compression_type must be"),
    "no files": (lambda: Dataset.list_files("/none/*"), "Dataset.list_files: no file matches '/none/\\*'."),
}


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_options_are_named(name: str):
    call, message = ERRORS[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_a_function_that_makes_no_dataset():
    with pytest.raises(TypeError, match=r"Dataset.flat_map: map_func must return a dataset; found Tensor."):
        list(Dataset.range(2).flat_map(lambda n: n))
    with pytest.raises(TypeError, match=r"Dataset.zip: a tuple or dict of datasets is needed; found list."):
        Dataset.zip([Dataset.range(2)])


def test_what_is_refused_says_what_to_use():
    with pytest.raises(NotImplementedError, match=r"tf.data.Dataset.snapshot has no counterpart here. Use cache."):
        Dataset.range(2).snapshot("x")
    with pytest.raises(
        NotImplementedError, match=r"tf.data.TFRecordDataset: TensorFlow's files of records are not read"
    ):
        data.TFRecordDataset("x")
    with pytest.raises(AttributeError, match=r"tf.data.Dataset has no 'batches'. The nearest is 'batch'."):
        _ = Dataset.range(2).batches
