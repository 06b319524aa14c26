"""What the classes of metrics promise besides their numbers: configs, states, no host transfer, clear errors."""

import copy
import inspect
import pickle
import re

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from torchkeras import activations, losses, metrics, registry

NEEDED = {"num_classes": 3, "target_class_ids": [0, 2]}
OTHERS = ("Mean", "MeanMetricWrapper", "Sum")
CLASSES = {name: cls for name, cls in registry.metrics.classes().items() if name not in OTHERS}
# To the host, from the host, or as long as the values say.
TRANSFERS = ("_local_scalar_dense", "lift_fresh", "scalar_tensor", "nonzero", "bincount", "unique", "_unique2")


def made(name, /, **options):
    parameters = inspect.signature(CLASSES[name]).parameters.values()
    needed = {each.name: NEEDED.get(each.name, 0.4) for each in parameters if each.default is each.empty}
    return CLASSES[name](**{**needed, **options})


def batch(name):
    """y_true and y_pred that the class takes."""
    generator = torch.Generator().manual_seed(0)
    y_pred = torch.rand(12, 3, generator=generator)
    labels = torch.randint(0, 3, (12,), generator=generator)
    if name.startswith("Sparse"):
        return labels, y_pred
    if name == "BinaryIoU":
        return labels.clamp(max=1), y_pred[:, 0]
    if name in ("IoU", "MeanIoU", "Accuracy"):
        return labels, torch.randint(0, 3, (12,), generator=generator)
    return torch.eye(3)[labels], y_pred


class Operations(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(function.overloadpacket.__name__)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", sorted(CLASSES))
@pytest.mark.parametrize("weighted", [False, True])
def test_an_update_and_a_result_stay_on_the_device(name, weighted):
    metric, (y_true, y_pred) = made(name), batch(name)
    weight = torch.rand(12) if weighted else None
    metric.update_state(y_true, y_pred, weight)  # states and constants are made once
    metric.result()
    with Operations() as operations:
        metric.update_state(y_true, y_pred, weight)
        metric.result()
    assert len(operations.names) > 3
    assert [found for found in operations.names if found in TRANSFERS] == []


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_an_update_on_a_device_without_values(name):
    # Any value brought to the host, or tensor left on it, is an error here.
    metric, (y_true, y_pred) = made(name), batch(name)
    metric.update_state(y_true.to("meta"), y_pred.to("meta"), torch.ones(12, device="meta"))
    assert {state.device.type for state in metric.variables} == {metric.result().device.type} == {"meta"}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_config_makes_the_same_metric(name):
    metric = made(name, name="mine", dtype="float64")
    data = metrics.serialize(metric)
    assert data["class_name"] == name
    assert data["config"].items() >= {"name": "mine", "dtype": "float64"}.items()
    assert metrics.deserialize(data).get_config() == metric.get_config()
    assert metrics.deserialize(data).name == "mine"


def test_options_come_back():
    options = {"thresholds": [0.2, 0.4], "curve": "PR", "summation_method": "minoring", "multi_label": True}
    options |= {"num_labels": 2, "label_weights": [1.0, 3.0], "from_logits": True}
    auc = metrics.deserialize(metrics.serialize(metrics.AUC(**options)))
    assert auc.get_config() == {**options, "num_thresholds": 4, "name": "auc", "dtype": "float32"}
    wrapped = metrics.deserialize(metrics.serialize(metrics.MeanMetricWrapper(losses.huber, "mine", delta=2.0)))
    assert wrapped.get_config() == {"name": "mine", "dtype": "float32", "fn": "huber", "delta": 2.0}
    assert wrapped(torch.zeros(1, 1), torch.ones(1, 1)) == 0.5


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_names_are_those_of_keras_3(name):
    snake = {"LogCoshError": "logcosh", "IoU": "io_u", "MeanIoU": "mean_io_u", "AUC": "auc", "R2Score": "r2_score"}
    snake |= {"F1Score": "f1_score", "FBetaScore": "fbeta_score", "KLDivergence": "kl_divergence"}
    snake |= {"OneHotIoU": "one_hot_io_u", "OneHotMeanIoU": "one_hot_mean_io_u", "BinaryIoU": "binary_io_u"}
    words = snake.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=K)(?=C)", "_", name).lower()
    assert made(name).name == words


def test_classes_are_known_by_name():
    assert type(metrics.get("AUC")) is type(metrics.get("auc")) is type(metrics.get(metrics.AUC)) is metrics.AUC
    assert type(metrics.get("cosine_similarity")) is metrics.CosineSimilarity
    assert type(registry.metrics.find("mean_io_u")(3)) is metrics.MeanIoU
    assert metrics.get("binary_accuracy") is metrics.binary_accuracy
    assert metrics.get("poisson") is losses.poisson
    assert not {"accuracy", "mean", "sum"} & set(registry.metrics.names())
    for cls in (*CLASSES.values(), metrics.Mean, metrics.Sum, metrics.MeanMetricWrapper):
        assert registry.metrics.find(cls.__name__) is cls


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_states_are_saved_copied_and_reset(name):
    y_true, y_pred = batch(name)
    metric = made(name)
    metric.update_state(y_true, y_pred)
    expected = metric.result().clone()
    saved = metric.state_dict()
    again = made(name)
    again.load_state_dict(saved)
    others = [again, copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))]  # noqa: S301
    metric.update_state(y_true.flip(0), y_pred)
    for other in others:
        torch.testing.assert_close(other.result(), expected)
        other.update_state(y_true.flip(0), y_pred)
        torch.testing.assert_close(other.result(), metric.result())
        other.reset_state()
        assert all((state == 0).all() for state in other.variables)
        other.update_state(y_true, y_pred)
        torch.testing.assert_close(other.result(), expected)
    for state, kept in zip(saved.values(), metric.variables, strict=True):
        assert state.data_ptr() != kept.data_ptr()


@pytest.mark.parametrize("name", ["TruePositives", "Precision", "AUC", "BinaryAccuracy"])
def test_a_result_stays_as_it_was(name):
    metric = made(name)
    result = metric(torch.ones(4, 1), torch.ones(4, 1))
    before = result.clone()
    metric(torch.zeros(4, 1), torch.ones(4, 1))
    metric(torch.ones(4, 1), torch.ones(4, 1))
    assert torch.equal(result, before)


def test_states_follow_the_predictions():
    metric = metrics.MeanSquaredError()
    metric.update_state(torch.zeros(2, 1, device="meta"), torch.zeros(2, 1, device="meta"))
    assert [state.device.type for state in metric.variables] == ["meta", "meta"]
    assert metric.total is metric.variables[0]


def test_nothing_is_recorded_for_gradients():
    y_pred = torch.rand(4, 3, requires_grad=True)
    mean, error, area = metrics.Mean(), metrics.MeanSquaredError(), metrics.AUC()
    mean.update_state(y_pred)
    for metric in (error, area):
        metric.update_state(torch.ones(4, 3), y_pred)
    for metric in (mean, error, area):
        assert not any(state.requires_grad for state in metric.variables)
        assert not metric.result().requires_grad


def test_states_made_under_inference_mode_are_updated_outside_of_it():
    metric = metrics.F1Score("macro")
    with torch.inference_mode():
        metric.update_state(torch.eye(3), torch.eye(3))
    metric.update_state(torch.eye(3), torch.eye(3))
    assert metric.result().item() == pytest.approx(1.0, abs=1e-6)


def test_mean_and_sum():
    mean, total = metrics.Mean("loss"), metrics.Sum()
    assert (mean.result(), total.result()) == (0.0, 0.0)
    mean.update_state(3)
    mean.update_state([1.0, 2.0])
    mean.update_state(np.array([[1.0, 5.0], [0.0, 0.0]]), [1.0, 0.0])
    assert (mean.name, mean.result()) == ("loss", 9 / 4)
    total.update_state([[1.0, 2.0], [3.0, 4.0]], [1.0, 0.5])
    assert total.result() == 6.5
    total.reset_states()
    assert total.result() == 0.0


def test_half_types_count_in_float32():
    y_pred = torch.full((4096, 1), 0.1, dtype=torch.float16)
    assert metrics.MeanSquaredError()(torch.ones(4096, 1), y_pred).item() == pytest.approx(0.81, rel=1e-3)
    logits = torch.tensor([[8.0, -8.0]], dtype=torch.float16, requires_grad=True)
    found = metrics.BinaryCrossentropy()(torch.tensor([[1.0, 0.0]]), activations.sigmoid(logits))
    assert found.item() == pytest.approx(np.log1p(np.exp(-8)), rel=1e-3)


def test_a_score_that_is_no_number_is_positive_nowhere():
    y_pred = torch.tensor([float("nan"), 0.9, float("inf")])
    assert metrics.TruePositives([0.0, 0.5])(torch.ones(3), y_pred).tolist() == [2.0, 2.0]
    assert metrics.FalseNegatives([0.0, 0.5, 1.0])(torch.ones(3), y_pred).tolist() == [1.0, 1.0, 3.0]


def test_overlap_of_weights_that_are_no_whole_numbers():
    labels = torch.tensor([0, 0, 1, 1])
    metric = metrics.MeanIoU(2)
    assert metric(labels, torch.tensor([0, 1, 0, 1]), torch.tensor([0.5, 0.5, 0.25, 0.75])).item() == pytest.approx(
        (0.5 / 1.25 + 0.75 / 1.5) / 2, rel=1e-6
    )
    axis = metrics.OneHotMeanIoU(3, axis=1)
    assert axis(torch.eye(3).reshape(1, 3, 3), torch.eye(3).reshape(1, 3, 3)).item() == pytest.approx(1.0, rel=1e-6)


class Own(metrics.Metric):
    def __init__(self, scale=1.0, name="own", **options):
        super().__init__(name=name, **options)
        self.scale = scale
        self.hits = self.add_weight(name="hits", initializer="zeros")
        self.started = self.add_variable((2,), initializer="ones", dtype="int64")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.hits.assign_add(self.scale * (y_true * y_pred).sum())
        self.started.assign(torch.tensor([5, 6]))
        self.started.assign_sub(1)

    def result(self):
        return self.hits / 2


def test_a_metric_of_ones_own():
    metric = Own(2.0)
    assert metric.started.tolist() == [1, 1]
    assert metric(torch.ones(3), torch.ones(3, requires_grad=True)) == 3.0
    assert metric.started.tolist() == [4, 5]
    assert metric.get_config() == {"scale": 2.0, "name": "own", "dtype": "float32"}
    assert list(metric.state_dict()) == ["hits", "variable_1"]
    assert metric.hits.assign(7) is metric.variables[0]
    twin = copy.deepcopy(metric)
    assert twin.hits is twin.variables[0]
    twin.reset_state()
    assert (twin.result(), metric.result()) == (0.0, 3.5)


def test_states_that_are_another_metrics_are_refused():
    found = "{'true_positives': (1,), 'false_positives': (1,)}"
    text = f"Mean 'mean': its states are {{'total': (), 'count': ()}}; found {found}."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        metrics.Mean().load_state_dict(metrics.Precision().state_dict())


def test_two_states_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"^Mean 'mean': a state is called 'total' already\.$"):
        metrics.Mean().add_variable(name="total")


def test_a_metric_that_defines_nothing_is_refused():
    with pytest.raises(
        NotImplementedError, match=r"^Metric: a metric defines update_state\(y_true, y_pred, \.\.\.\)\.$"
    ):
        metrics.Metric().update_state()
    with pytest.raises(NotImplementedError, match=r"^Metric: a metric defines result\(\)\.$"):
        metrics.Metric().result()
