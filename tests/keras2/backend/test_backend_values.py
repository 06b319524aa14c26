"""Variables, settings, random numbers and questions: what the table of calls cannot say."""

import numpy as np
import pytest
import torch

from torchkeras import Input, backend as K, config
from torchkeras.layers import Dense


@pytest.fixture(autouse=True)
def _own_session():
    yield
    K.clear_session()


# --- variables -------------------------------------------------------------------------------------------------------


def test_values_are_read_and_set():
    v, w = K.variable([1, 2], name="v"), K.variable(np.zeros(3), dtype="float64", constraint=abs)
    assert (v.label, w.constraint, w.dtype) == ("v", abs, torch.float64)
    K.set_value(v, [3, 4])
    K.batch_set_value([(v, 2 * K.get_value(v)), (w, np.ones(3))])
    assert [each.tolist() for each in K.batch_get_value([v, w])] == [[6.0, 8.0], [1.0, 1.0, 1.0]]
    values = K.get_value(v)
    values[0] = 9
    assert K.get_value(v)[0] == 6.0
    with pytest.raises(ValueError, match=r"has the shape \(2,\); found a value of shape \(3,\)"):
        K.set_value(v, [1, 2, 3])
    with pytest.raises(TypeError, match=r"model.optimizer.lr = 0.01"):
        K.set_value(0.1, 0.2)


def test_weights_are_variables():
    layer = Dense(2)
    layer(torch.ones(1, 3))
    kernel = layer.weights[0]
    K.set_value(kernel, np.ones((3, 2)))
    assert K.get_value(kernel).tolist() == [[1.0, 1.0]] * 3
    assert layer(torch.ones(1, 3)).tolist() == [[3.0, 3.0]]
    assert K.is_variable(kernel)
    assert K.count_params(kernel) == 6
    assert K.eval(K.sum(kernel)) == 6.0
    K.update_sub(kernel, np.ones((3, 2)))
    assert K.get_value(kernel).sum() == 0.0


def test_a_variable_is_a_copy():
    values = np.zeros(2, "float32")
    v = K.variable(values)
    K.update_add(v, [1, 1])
    assert values.tolist() == [0.0, 0.0]
    assert K.moving_average_update(v, K.constant([3, 3]), 0.5) is v
    assert K.get_value(v).tolist() == [2.0, 2.0]


def test_symbols_have_no_values():
    x = Input((2,))
    for read in (K.eval, K.get_value, K.variable):
        with pytest.raises(TypeError, match=r"ha[sd]"):
            read(x)


def test_questions():
    x, place, values = Input((2,)), K.placeholder(ndim=2), K.variable(1.0)
    assert [K.is_keras_tensor(each) for each in (x, place, values)] == [True, False, False]
    assert [K.is_placeholder(each) for each in (x, place, K.exp(x), values)] == [True, True, False, False]
    assert [K.is_tensor(each) for each in (x, values, 1, np.ones(1))] == [True, True, False, False]
    assert [K.is_variable(each) for each in (values, K.constant(1), x)] == [True, False, False]
    assert [K.is_sparse(each) for each in (torch.eye(2).to_sparse(), values)] == [True, False]
    assert (K.ndim(place), K.int_shape(place), K.dtype(place)) == (2, (None, None), "float32")
    with pytest.raises(ValueError, match="is_keras_tensor takes a tensor; found int"):
        K.is_keras_tensor(1)
    with pytest.raises(ValueError, match="needs its shape or its number of axes"):
        K.placeholder()


# --- settings --------------------------------------------------------------------------------------------------------


def test_settings_are_those_of_the_package():
    K.set_floatx("float64")
    K.set_epsilon(1e-3)
    K.set_image_data_format("channels_first")
    assert (config.floatx(), config.epsilon(), config.image_data_format()) == ("float64", 1e-3, "channels_first")
    assert K.dtype(K.zeros((2,))) == K.dtype(K.random_uniform((2,))) == "float64"
    assert K.image_dim_ordering() == "th"
    assert K.normalize_data_format("Channels_Last") == "channels_last"
    assert K.int_shape(K.conv2d(K.zeros((1, 2, 5, 5)), K.zeros((3, 3, 2, 4)))) == (1, 4, 3, 3)
    with pytest.raises(ValueError, match="data_format must be one of"):
        K.normalize_data_format("tf")


def test_sessions_say_what_to_do():
    for call, words in (
        (lambda: K.get_session().run, r"K.function\(inputs, tensors\)"),
        (lambda: K.set_session(None), "leave the line out"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
    K.manual_variable_initialization(False)
    K.set_legacy_weight_ordering(False)
    for call in (K.manual_variable_initialization, K.set_legacy_weight_ordering):
        with pytest.raises(ValueError, match=r"\."):
            call(True)


def test_arguments_by_name():
    def call(x, *more, training=None, **others):
        return x, more, training, others

    assert [K.has_arg(call, name) for name in ("x", "training", "mask", "more")] == [True, True, False, False]
    assert K.has_arg(call, "mask", accept_all=True)


# --- random numbers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "mean", "std"),
    [
        (lambda n: K.random_normal((n,), 2.0, 3.0), 2.0, 3.0),
        (lambda n: K.random_uniform((n,), -1.0, 3.0), 1.0, 4 / 12**0.5),
        (lambda n: K.random_binomial((n,), 0.25), 0.25, 0.1875**0.5),
        (lambda n: K.truncated_normal((n,), 1.0, 2.0), 1.0, 2 * 0.8796),
        (lambda n: K.dropout(K.ones((n,)), 0.75), 1.0, 3**0.5),
        (lambda n: K.random_normal_variable((n,), 2.0, 3.0), 2.0, 3.0),
        (lambda n: K.random_uniform_variable((n,), -1.0, 3.0), 1.0, 4 / 12**0.5),
        (lambda n: K.cast(K.random_uniform((n,), 0, 3, "int32"), "float32"), 1.0, (2 / 3) ** 0.5),
    ],
)
def test_random_numbers_have_their_mean_and_deviation(draw, mean, std):
    found = K.eval(draw(200_000))
    np.testing.assert_allclose([found.mean(), found.std()], [mean, std], atol=0.03)


def test_a_seed_is_a_sequence_of_its_own():
    first = [K.eval(K.random_normal((2,), seed=1)).tolist() for _ in range(3)]
    K.clear_session()
    torch.manual_seed(5)
    assert [K.eval(K.random_normal((2,), seed=1)).tolist() for _ in range(3)] == first
    assert first[0] != first[1]


def test_random_numbers_are_others_each_time_they_are_read():
    made = K.random_uniform((3,), seed=1)
    first, second = K.eval(made), K.eval(made)
    assert np.array_equal(first, made.numpy())
    assert not np.array_equal(second, first)
    compute = K.function([], [made])
    assert not np.array_equal(compute([])[0], compute([])[0])
    made *= 2
    assert np.array_equal(K.eval(made), K.eval(made))
    assert np.array_equal(K.eval(made), made.numpy())


def test_the_noise_of_dropout_is_shared_along_axes():
    found = K.eval(K.dropout(K.ones((50, 20)), 0.5, noise_shape=(None, 1), seed=3))
    assert set(found.ravel().tolist()) == {0.0, 2.0}
    assert (found == found[:, :1]).all()
    with pytest.raises(ValueError, match="level must be a number from 0 to below 1"):
        K.dropout(K.ones((2,)), 1.0)


# --- others ----------------------------------------------------------------------------------------------------------


def test_numbers_and_arrays_are_tensors_of_keras_types():
    assert K.dtype(K.sum([1.0, 2.0])) == "float32"
    assert K.dtype(K.sum([1, 2])) == "int32"
    assert K.dtype(K.sum(np.ones(2))) == "float64"
    assert K.dtype(K.maximum(torch.ones(2), np.zeros(2))) == "float32"
    assert K.eval(K.shape(torch.ones(2, 3))).dtype == np.int32


def test_print_tensor_prints_when_it_is_computed(capsys):
    x = K.placeholder((2,))
    compute = K.function([x], [K.print_tensor(x, "x is ")])
    assert capsys.readouterr().out == ""
    compute([[1.0, 2.0]])
    assert capsys.readouterr().out == "x is tensor([1., 2.])\n"


def test_what_functions_refuse():
    x = torch.ones(2, 3)
    for call, words in (
        (lambda: K.squeeze(x, 1), r"takes away axes of size 1; axis 1 of \(2, 3\) is longer"),
        (lambda: K.repeat(x[0], 2), "takes a tensor of two axes"),
        (lambda: K.tile(x, 2), "needs a number for each of the axes"),
        (lambda: K.slice(x, [0], [1]), "needs a start and a size for each axis"),
        (lambda: K.batch_dot(x[None], x[None], axes=[0, 1]), "sums over no batch axis"),
        (lambda: K.switch(x > 0, x, x[:1]), "both values must have one shape"),
        (lambda: K.switch(x > 0, x[0], x[0]), "must have no more axes"),
        (lambda: K.bias_add(x, x[None, None]), "a bias has one axis or 1"),
        (lambda: K.constant([1, 2, 3], shape=(2,)), "cannot have 3 values"),
        (lambda: K.resize_images(x[None, ..., None], 2, 2, "channels_last", "cubic"), "'nearest' or 'bilinear'"),
        (lambda: K.pool2d(x[None, ..., None], (1, 1), pool_mode="sum"), "must be 'max' or 'avg'"),
        (lambda: K.conv2d(x, x, padding="full"), "must be one of 'valid', 'same'; found 'full'"),
        (lambda: K.conv1d(K.ones((1, 9, 2)), K.ones((3, 2, 2)), 2, dilation_rate=2), "cannot both be above 1"),
        (
            lambda: K.conv2d_transpose(K.ones((1, 2, 2, 1)), K.ones((3, 3, 1, 1)), (1, 9, 9, 1)),
            r"output_shape \(1, 9, 9, 1\) cannot come from the input",
        ),
        (lambda: K.rnn(lambda x, s: (x, s), x, []), "needs inputs of three axes"),
        (lambda: K.rnn(lambda x, s: (x, s), x[None], [], mask=x), "needs initial states"),
        (lambda: K.rnn(lambda x, s: (x, s), Input((None, 2)), [], unroll=True), "a known number of time steps"),
        (lambda: K.pattern_broadcast(x, (True, False)), "cannot be broadcast"),
        (lambda: K.transpose_shape((1, 2), "tf", ()), "data_format must be one of"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    for call in (lambda: K.ctc_path_probs(x, x), lambda: K.ctc_update_log_p(x, x, x, x, x)):
        with pytest.raises(NotImplementedError, match="call ctc_cost or ctc_batch_cost"):
            call()


@pytest.mark.parametrize(
    "function", [K.exp, K.softmax, K.identity, K.stop_gradient, K.transpose, K.flatten, lambda x: K.cast(x, "float32")]
)
@pytest.mark.parametrize("trains", [False, True])
def test_a_result_may_be_changed_in_place(function, trains):
    x = torch.ones(2, 3, requires_grad=trains) + 0
    found = function(x)
    wanted = K.eval(found) / 2
    found /= 2
    np.testing.assert_array_equal(K.eval(found), wanted)
    assert K.eval(x).tolist() == [[1.0] * 3] * 2
    if found.requires_grad:
        assert torch.isfinite(torch.autograd.grad(found.sum(), x)[0]).all()
