"""What the classes of losses promise besides their numbers: configs, carried logits, types, masks, clear errors."""

import copy
import pickle
import re

import numpy as np
import pytest
import torch

from torchkeras import activations, config, losses, registry
from torchkeras.losses.loss import function_of

Y_TRUE = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
LABELS = torch.tensor([1, 0])
CHANGED = {
    "CosineSimilarity": {"axis": 1},
    "Huber": {"delta": 2.5},
    "BinaryCrossentropy": {"from_logits": True, "label_smoothing": 0.1, "axis": 0},
    "BinaryFocalCrossentropy": {"apply_class_balancing": True, "alpha": 0.5, "gamma": 1.0},
    "CategoricalCrossentropy": {"from_logits": True, "label_smoothing": 0.1, "axis": 1},
    "CategoricalFocalCrossentropy": {"alpha": [0.1, 0.2, 0.3], "gamma": 1.0},
    "SparseCategoricalCrossentropy": {"from_logits": True, "ignore_class": 2, "axis": 1},
    "CategoricalGeneralizedCrossEntropy": {"q": 0.7},
    "Dice": {"axis": [1]},
    "Tversky": {"alpha": 0.1, "beta": 0.2, "axis": 1},
    "Circle": {"gamma": 2.0, "margin": 0.1, "remove_diagonal": False},
}


@pytest.mark.parametrize("name", sorted(registry.losses.classes().keys() - {"LossFunctionWrapper"}))
def test_a_config_makes_the_same_loss(name):
    options = {**CHANGED.get(name, {}), "reduction": "sum", "name": "mine", "dtype": "float64"}
    loss = getattr(losses, name)(**options)
    assert loss.get_config().items() >= options.items()
    assert losses.serialize(loss) == {"class_name": name, "config": loss.get_config()}
    for made in (losses.deserialize(losses.serialize(loss)), copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):  # noqa: S301
        assert type(made) is type(loss)
        assert made.get_config() == loss.get_config()


@pytest.mark.parametrize("name", sorted(registry.losses.classes().keys() - {"LossFunctionWrapper"}))
def test_a_name_a_class_and_an_object_are_losses(name):
    made = losses.get(name)
    assert type(made) is getattr(losses, name) is type(losses.get(getattr(losses, name)))
    assert losses.get(made) is made
    assert made.reduction == "sum_over_batch_size"
    assert "dtype" not in made.get_config()


def test_names_are_those_of_keras_3():
    assert losses.Huber().name == "huber_loss"
    assert [
        losses.get(name).name for name in ("KLDivergence", "LogCosh", "CTC", "CategoricalGeneralizedCrossEntropy")
    ] == [
        "kl_divergence",
        "log_cosh",
        "ctc",
        "categorical_generalized_cross_entropy",
    ]


def test_a_loss_knows_the_function_that_it_computes():
    assert function_of(losses.Hinge()) is losses.hinge
    assert function_of(losses.SparseCategoricalCrossentropy()) is losses.sparse_categorical_crossentropy
    assert function_of(losses.mse) is losses.mse
    assert function_of(torch.dist) is torch.dist


def test_an_object_shows_its_options():
    assert repr(losses.Huber(2.0)) == "Huber(delta=2.0, reduction='sum_over_batch_size', name='huber_loss', dtype=None)"


@pytest.mark.parametrize(
    ("loss", "activation", "y_true"),
    [
        (losses.CategoricalCrossentropy(), activations.softmax, Y_TRUE),
        (losses.CategoricalFocalCrossentropy(), activations.softmax, Y_TRUE),
        (losses.SparseCategoricalCrossentropy(), activations.softmax, LABELS),
        (losses.BinaryCrossentropy(), activations.sigmoid, Y_TRUE),
        (losses.BinaryFocalCrossentropy(), activations.sigmoid, Y_TRUE),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_logits_that_predictions_carry_are_used(loss, activation, y_true, dtype):
    logits = torch.tensor([[1.0, 14.0, -2.0], [0.3, 0.1, 0.2]], dtype=dtype, requires_grad=True)
    y_pred = activation(logits)
    found = loss(y_true, y_pred)
    exact = (torch.sigmoid if activation is activations.sigmoid else lambda x: torch.softmax(x, -1))(logits.double())
    torch.testing.assert_close(found.double(), loss(y_true, exact), rtol=1e-3, atol=1e-7)
    # In float32 and below 1 - p has no digits left here; the logits have.
    (gradient,) = torch.autograd.grad(found, logits)
    (expected,) = torch.autograd.grad(loss(y_true, exact), logits)
    torch.testing.assert_close(gradient, expected, rtol=2e-2, atol=2e-4 if dtype == torch.float16 else 1e-7)


def test_predictions_that_lose_an_axis_keep_their_logits():
    logits = torch.tensor([[[20.0]], [[1.0]]], requires_grad=True)
    loss = losses.BinaryCrossentropy(reduction=None)(torch.tensor([[0.0], [1.0]]), activations.sigmoid(logits))
    bounds = losses.BinaryCrossentropy(reduction=None)(torch.tensor([[0.0], [1.0]]), torch.sigmoid(logits.double()))
    torch.testing.assert_close(loss.double(), bounds, rtol=2e-2, atol=1e-6)
    assert loss.shape == (2,)


def test_logits_beyond_all_probabilities_have_finite_losses():
    logits = torch.tensor([[200.0, -200.0, 0.0], [-200.0, 200.0, 0.0]], requires_grad=True)
    found = [
        losses.categorical_crossentropy(Y_TRUE, logits, from_logits=True),
        losses.sparse_categorical_crossentropy(LABELS, logits, from_logits=True),
        losses.binary_crossentropy(Y_TRUE, logits, from_logits=True),
    ]
    np.testing.assert_allclose([loss[0].item() for loss in found], [400.0, 400.0, (400 + np.log(2)) / 3], rtol=1e-5)
    for loss in found:
        assert torch.autograd.grad(loss.sum(), logits, retain_graph=True)[0].isfinite().all()


def test_from_logits_of_probabilities_is_warned_of():
    y_pred = activations.softmax(torch.zeros(2, 3, requires_grad=True))
    with pytest.warns(UserWarning, match="^from_logits=True, but y_pred comes out of softmax: it is no logit.$"):
        losses.CategoricalCrossentropy(from_logits=True)(Y_TRUE, y_pred)


def test_smoothing_spreads_over_the_classes_of_the_axis():
    y_true, logits = torch.eye(3)[[0, 2]].T.reshape(1, 3, 2), torch.randn(1, 3, 2)
    along = losses.categorical_crossentropy(y_true, logits, from_logits=True, label_smoothing=0.3, axis=1)
    last = losses.categorical_crossentropy(y_true.mT, logits.mT, from_logits=True, label_smoothing=0.3)
    torch.testing.assert_close(along, last)


@pytest.mark.parametrize("weight", [None, torch.ones(2, 1)])
def test_where_all_is_masked_the_loss_is_0(weight):
    y_pred = torch.randn(2, 4, 3, requires_grad=True)
    loss = losses.MeanSquaredError()(torch.randn(2, 4, 3), y_pred, weight, mask=torch.zeros(2, 4, dtype=torch.bool))
    assert loss == 0
    assert torch.autograd.grad(loss, y_pred)[0].abs().sum() == 0


def test_a_sum_of_weights_of_0_gives_0_and_no_gradient():
    y_pred = torch.randn(2, 3, requires_grad=True)
    loss = losses.Huber(reduction="mean_with_sample_weight")(torch.randn(2, 3), y_pred, torch.zeros(2))
    assert loss == 0
    assert torch.autograd.grad(loss, y_pred)[0].abs().sum() == 0


@pytest.mark.parametrize("labels", [torch.zeros(4), torch.arange(4)], ids=["one class", "each its own"])
def test_circle_without_pairs_is_0_with_finite_gradients(labels):
    y_pred = torch.nn.functional.normalize(torch.randn(4, 3)).requires_grad_()
    loss = losses.Circle()(labels, y_pred)
    assert loss == 0
    assert torch.autograd.grad(loss, y_pred)[0].abs().sum() == 0


def test_circle_with_references_of_another_batch():
    torch.manual_seed(0)
    y_pred = torch.nn.functional.normalize(torch.randn(4, 3))
    labels = torch.tensor([0, 1, 0, 1])
    own = losses.circle(labels, y_pred, remove_diagonal=False)
    torch.testing.assert_close(losses.circle(labels, y_pred, labels, y_pred, remove_diagonal=False), own)
    other = losses.circle(labels, y_pred, torch.tensor([0, 1]), y_pred[2:], remove_diagonal=False)
    assert other.shape == (4,)
    assert (other < own).all()


@pytest.mark.parametrize(
    ("dtype", "given", "expected"),
    [
        (None, torch.float32, torch.float32),
        (None, torch.float16, torch.float32),
        (None, torch.float64, torch.float64),
        ("float64", torch.float32, torch.float64),
        pytest.param(
            torch.float16,
            torch.float32,
            torch.float16,
            marks=pytest.mark.torch("2.6", "kernels of half types on the CPU"),
        ),
    ],
)
def test_the_type_that_is_computed_in(dtype, given, expected):
    loss = losses.MeanSquaredError(dtype=dtype)(torch.ones(2, 3, dtype=torch.int64), torch.zeros(2, 3, dtype=given))
    assert (loss.dtype, loss.item()) == (expected, 1.0)


def test_the_default_float_type_counts():
    config.set_floatx("float64")
    try:
        assert losses.Huber()(torch.ones(2, 3), torch.zeros(2, 3)).dtype == torch.float64
    finally:
        config.set_floatx("float32")


def test_arrays_and_lists_are_taken():
    assert losses.MeanSquaredError()([[0.0, 1.0]], [[1.0, 1.0]]) == 0.5
    weighted = losses.MeanSquaredError("sum")(np.zeros((2, 3)), np.ones((2, 3)), [1, 2], mask=[True, False])
    assert weighted == 1.0


class Own(losses.Loss):
    def __init__(self, scale, **options):
        super().__init__(**options)
        self.scale = scale

    def call(self, y_true, y_pred):
        return self.scale * (y_true - y_pred).abs().mean(-1)


def test_a_loss_of_ones_own():
    own = Own(2.0, reduction="sum")
    assert own(torch.ones(4, 3), torch.zeros(4, 3)) == 8.0
    assert own.get_config() == {"scale": 2.0, "name": "own", "reduction": "sum"}
    assert losses.deserialize(losses.serialize(own), {"Own": Own}).get_config() == own.get_config()


def test_an_option_kept_elsewhere_needs_a_config_of_its_own():
    class Hidden(Own):
        def __init__(self, secret, **options):
            super().__init__(1.0, **options)

    text = "Hidden: the option 'secret' is no attribute of the object: keep it as `self.secret`, or define get_config."
    with pytest.raises(NotImplementedError, match=f"^{re.escape(text)}$"):
        Hidden(3).get_config()


def test_a_subclass_with_options_set():
    class Wide(losses.Huber):
        def __init__(self, **options):
            super().__init__(delta=3.0, **options)

    assert Wide(name="wide")(torch.zeros(1, 2), torch.full((1, 2), 2.0)) == 2.0


def test_ctc_of_probabilities_that_are_sure():
    y_pred = torch.full((1, 3, 3), -50.0)
    y_pred[0, [0, 1, 2], [1, 0, 2]] = 50.0
    assert losses.CTC()(torch.tensor([[1, 2]]), y_pred).item() == pytest.approx(0, abs=1e-6)


REFUSED = [
    ("Huber", {"delta": 0}, "Huber: delta must be a number above 0; found 0."),
    ("Huber", {"name": 3}, "Huber: name must be a string; found 3."),
    ("Huber", {"dtype": "real"}, "Huber: dtype must be a type of numbers such as 'float32'; found 'real'."),
    (
        "Huber",
        {"reduction": "avg"},
        (
            "Huber: reduction must be one of 'sum_over_batch_size', 'sum', 'mean', 'mean_with_sample_weight', 'none', "
            "None; found 'avg'."
        ),
    ),
    ("Dice", {"axis": "all"}, "Dice: axis must be an integer; found 'all'."),
    ("CosineSimilarity", {"axis": True}, "CosineSimilarity: axis must be an integer; found True."),
    ("BinaryCrossentropy", {"from_logits": 1}, "BinaryCrossentropy: from_logits must be True or False; found 1."),
    (
        "BinaryCrossentropy",
        {"label_smoothing": 2},
        "BinaryCrossentropy: label_smoothing must be a number from 0 to 1; found 2.",
    ),
    (
        "BinaryFocalCrossentropy",
        {"apply_class_balancing": "yes"},
        "BinaryFocalCrossentropy: apply_class_balancing must be True or False; found 'yes'.",
    ),
    ("BinaryFocalCrossentropy", {"alpha": [1]}, "BinaryFocalCrossentropy: alpha must be a finite number; found [1]."),
    (
        "CategoricalFocalCrossentropy",
        {"alpha": [1, "a"]},
        "CategoricalFocalCrossentropy: alpha must be a finite number; found 'a'.",
    ),
    (
        "CategoricalFocalCrossentropy",
        {"gamma": -1},
        "CategoricalFocalCrossentropy: gamma must be a number of at least 0; found -1.",
    ),
    (
        "SparseCategoricalCrossentropy",
        {"ignore_class": 0.5},
        "SparseCategoricalCrossentropy: ignore_class must be an integer, or None; found 0.5.",
    ),
    (
        "CategoricalGeneralizedCrossEntropy",
        {"q": 1.0},
        "CategoricalGeneralizedCrossEntropy: q must be a number between 0 and 1; found 1.0.",
    ),
    ("Tversky", {"beta": None}, "Tversky: beta must be a finite number; found None."),
    ("Circle", {"margin": float("nan")}, "Circle: margin must be a finite number; found nan."),
    ("Circle", {"remove_diagonal": 0}, "Circle: remove_diagonal must be True or False; found 0."),
]


@pytest.mark.parametrize(("name", "options", "text"), REFUSED, ids=lambda value: str(value)[:40])
def test_bad_options_are_refused(name, options, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        getattr(losses, name)(**options)


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match=r"^Huber: unknown option 'dleta'\. Did you mean 'delta'\?"):
        losses.Huber(dleta=2.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: losses.Huber()(torch.zeros(3), torch.zeros(3, 3)),
            "Huber 'huber_loss': y_true of shape (3,) does not fit y_pred of shape (3, 3).",
        ),
        (
            lambda: losses.Huber()(torch.zeros(3, 3), torch.zeros(3, 3), torch.ones(2)),
            (
                "Huber 'huber_loss': sample_weight of shape (2,) does not fit the values of shape (3,): each axis must "
                "be as long, or 1."
            ),
        ),
        (
            lambda: losses.Huber(name="h")(torch.zeros(3, 3, 3), torch.zeros(3, 3, 3), torch.ones(3)),
            (
                "Huber 'h': sample_weight of shape (3,) does not fit the values of shape (3, 3): each axis must be as "
                "long, or 1."
            ),
        ),
        (
            lambda: losses.Huber()(torch.zeros(3, 3), torch.zeros(3, 3), mask=torch.ones(3, 3)),
            (
                "Huber 'huber_loss': mask of shape (3, 3) does not fit the values of shape (3,): each axis must be as "
                "long, or 1."
            ),
        ),
        (
            lambda: losses.Huber()(torch.zeros(3, 2, 3), torch.zeros(3, 2, 3), torch.ones(3), torch.ones(3, 2)),
            (
                "Huber 'huber_loss': sample_weight of shape (3,) does not fit the mask of shape (3, 2): each axis must "
                "be as long, or 1."
            ),
        ),
        (
            lambda: losses.SparseCategoricalCrossentropy()(torch.zeros(4), torch.zeros(3, 3)),
            (
                "sparse_categorical_crossentropy: y_true of shape (4,) does not hold a class number for each row of a "
                "y_pred of shape (3, 3)."
            ),
        ),
        (
            lambda: losses.CTC()(torch.zeros(4), torch.zeros(3, 3)),
            (
                "ctc takes y_true of shape (batch, labels) and y_pred of shape (batch, time, classes); found (4,) and "
                "(3, 3)."
            ),
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call()


def test_a_loss_without_values_is_refused():
    with pytest.raises(NotImplementedError, match=r"^Loss: a loss defines call\(y_true, y_pred\)\.$"):
        losses.Loss()(torch.zeros(2), torch.zeros(2))


SHORTER = [
    ("MeanSquaredError", {}),
    ("MeanAbsoluteError", {}),
    ("BinaryCrossentropy", {}),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.1}),
    ("BinaryCrossentropy", {"axis": 0}),
]


@pytest.mark.parametrize("shape", [(2, 3), (2, 5, 3), (3,), ()])
@pytest.mark.parametrize(("name", "options"), SHORTER)
def test_the_shorter_way_to_a_mean_gives_the_mean_of_the_values(name, options, shape):
    generator = torch.Generator().manual_seed(1)
    y_true, y_pred = (torch.rand(shape, generator=generator) for _ in range(2))
    found = []
    for reduction in ("sum_over_batch_size", "mean", "mean_with_sample_weight", None):
        given = y_pred.clone().requires_grad_()
        loss = getattr(losses, name)(**options, reduction=reduction)(y_true, given).mean()
        found.append((loss.detach(), torch.autograd.grad(loss, given)[0]))
    for each in found[:-1]:
        torch.testing.assert_close(each, found[-1])


@pytest.mark.parametrize(("name", "options"), SHORTER[:-1])
def test_a_loss_of_no_samples_is_0(name, options):
    assert getattr(losses, name)(**options)(torch.zeros(0, 3), torch.zeros(0, 3)) == 0


def test_a_subclass_that_computes_otherwise_takes_no_shorter_way():
    class Twice(losses.MeanSquaredError):
        def call(self, y_true, y_pred):
            return 2.0 * super().call(y_true, y_pred)

    assert Twice()(torch.zeros(2, 1), torch.ones(2, 1)) == 2.0


def test_a_column_fits_a_vector_on_the_shorter_way_too():
    assert losses.MeanSquaredError()(torch.zeros(3), torch.ones(3, 1)) == 1.0
    with pytest.raises(ValueError, match="does not fit"):
        losses.MeanSquaredError()(torch.zeros(3), torch.ones(3, 2))


def test_values_may_carry_their_mask():
    class Masked(losses.Loss):
        def call(self, y_true, y_pred):
            values = (y_pred - y_true).abs().mean(-1)
            values._keras_mask = torch.tensor([True, False])  # type: ignore[attr-defined]
            return values

    assert Masked()(torch.zeros(2, 1), torch.tensor([[3.0], [5.0]])) == 3.0


@pytest.mark.parametrize("shape", [(5,), (5, 1)])
@pytest.mark.parametrize("options", [{"from_logits": True}, {}, {"from_logits": True, "ignore_class": 1}])
def test_the_mean_of_class_numbers_is_that_of_the_values(shape, options):
    scores = torch.randn(5, 3) if options else torch.randn(5, 3).softmax(-1)
    classes = torch.tensor([0, 1, 2, 1, 0]).reshape(shape)
    values = losses.SparseCategoricalCrossentropy(reduction="none", **options)(classes, scores)
    counted = classes.reshape(-1) != options.get("ignore_class", -1)
    found = losses.SparseCategoricalCrossentropy(**options)(classes, scores)
    torch.testing.assert_close(found, values.reshape(-1)[counted].mean())
