"""The loops of `scan` give the values and the gradients of the same formulas, step by step, under autograd."""

import io
import re
from typing import Any

import pytest
import torch
from torch import nn

from torchkeras import Input, Model
from torchkeras.activations import hard_sigmoid
from torchkeras.base.tracing import traced
from torchkeras.layers import GRU, LSTM
from torchkeras.layers.scan import gru_scan, gru_scan_reset_after, lstm_scan

STEPS, BATCH, UNITS = 5, 4, 3
# In double precision the derivative of torch's own hardsigmoid, in `hard_sigmoid`, has the 1/6 of single precision.
ACTIVATIONS = {"hard_sigmoid": lambda x: torch.clamp(0.2 * x + 0.5, 0, 1), "sigmoid": torch.sigmoid}


def plain_lstm(projected, h, c, kernel, gate, valid=None, drops=None) -> Any:
    activation, outputs = ACTIVATIONS[gate], []
    drops = torch.ones(1, 1, 1) if drops is None else drops
    each_gate_drops = drops.expand(4, -1, -1)
    for step, x in enumerate(projected):
        products = [(h * drop) @ part.t() for drop, part in zip(each_gate_drops, kernel.chunk(4), strict=True)]
        i, f, g, o = (x + torch.cat(products, -1)).chunk(4, -1)
        cell = activation(f) * c + activation(i) * torch.tanh(g)
        output = activation(o) * torch.tanh(cell)
        if valid is not None:
            cell, output = (torch.where(valid[step, :, None], *pair) for pair in ((cell, c), (output, h)))
        h, c = output, cell
        outputs.append(h)
    return torch.stack(outputs), h, c


def plain_gru(projected, h, kernel, gate, valid=None) -> Any:
    activation, outputs = ACTIVATIONS[gate], []
    kernel_r, kernel_z, kernel_n = kernel.chunk(3)
    for step, x in enumerate(projected):
        x_r, x_z, x_n = x.chunk(3, -1)
        z, r = activation(x_z + h @ kernel_z.t()), activation(x_r + h @ kernel_r.t())
        output = z * h + (1 - z) * torch.tanh(x_n + (r * h) @ kernel_n.t())
        h = output if valid is None else torch.where(valid[step, :, None], output, h)
        outputs.append(h)
    return torch.stack(outputs), h


def plain_gru_reset_after(projected, h, kernel, bias, gate, valid=None) -> Any:
    activation, outputs = ACTIVATIONS[gate], []
    for step, x in enumerate(projected):
        x_r, x_z, x_n = x.chunk(3, -1)
        u_r, u_z, u_n = (h @ kernel.t() + bias).chunk(3, -1)
        z, r = activation(x_z + u_z), activation(x_r + u_r)
        output = z * h + (1 - z) * torch.tanh(x_n + r * u_n)
        h = output if valid is None else torch.where(valid[step, :, None], output, h)
        outputs.append(h)
    return torch.stack(outputs), h


def drops_of(sets, like):
    """Factors of so many sets, each with other places that are dropped."""
    factors = torch.tensor([0.0, 1.25, 1.25, 1.25, 1.25]).repeat(sets * BATCH * UNITS)[: sets * BATCH * UNITS]
    return factors.view(sets, BATCH, UNITS).to(like)


def dropped(loop, sets):
    """The loop with dropout of the state."""
    return lambda *given: loop(*given, drops=drops_of(sets, given[0]))


# The loop, the formulas, the number of gates, and of states; whether it has a bias.
LOOPS: dict[str, Any] = {
    "lstm": (lstm_scan, plain_lstm, 4, 2, False),
    "lstm_dropped": (dropped(lstm_scan, 1), dropped(plain_lstm, 1), 4, 2, False),
    "lstm_dropped_by_gate": (dropped(lstm_scan, 4), dropped(plain_lstm, 4), 4, 2, False),
    "gru": (gru_scan, plain_gru, 3, 1, False),
    "gru_reset_after": (gru_scan_reset_after, plain_gru_reset_after, 3, 1, True),
}

each_loop = pytest.mark.parametrize("name", LOOPS)
each_gate = pytest.mark.parametrize("gate", ACTIVATIONS)
masked = pytest.mark.parametrize("valid", [None, "some"], ids=["unmasked", "masked"], indirect=True)


@pytest.fixture
def valid(request):
    """Steps missing at the beginning, in the middle and at the end; all of the third sample; none of the fourth."""
    if getattr(request, "param", "some") is None:
        return None
    return torch.tensor([[0, 1, 0, 1], [1, 1, 0, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 0, 0, 1]]).bool()


def tensors(name, dtype=torch.float64, device="cpu"):
    """Numbers that reach both ends of hard_sigmoid and what lies between."""
    random = torch.Generator().manual_seed(0)
    _, _, gates, states, has_bias = LOOPS[name]
    shapes = [(STEPS, BATCH, gates * UNITS), *[(BATCH, UNITS)] * states, (gates * UNITS, UNITS)]
    shapes += [(gates * UNITS,)] * has_bias
    drawn = [torch.randn(shape, generator=random, dtype=torch.float64) for shape in shapes]
    return [(2 * tensor).to(device, dtype).requires_grad_() for tensor in drawn]


def gradients(result, given):
    return torch.autograd.grad(result.sin().sum(), given, allow_unused=True, materialize_grads=True)


def test_the_numbers_reach_all_parts_of_hard_sigmoid():
    activated = hard_sigmoid(tensors("lstm")[0])
    assert (activated == 0).any()
    assert (activated == 1).any()
    assert ((activated > 0) & (activated < 1)).any()


@each_loop
@each_gate
@masked
def test_the_values_and_each_results_gradients_are_those_of_the_formulas(name, gate, valid):
    scan, plain, _, states, _ = LOOPS[name]
    given = tensors(name)
    for index in range(1 + states):
        found, expected = scan(*given, gate, valid), plain(*given, gate, valid)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(gradients(found[index], given), gradients(expected[index], given))


@each_loop
@each_gate
@masked
def test_the_gradients_are_those_of_finite_differences(name, gate, valid):
    assert torch.autograd.gradcheck(lambda *given: LOOPS[name][0](*given, gate, valid), tensors(name))


@each_loop
def test_at_the_ends_of_hard_sigmoid_the_derivative_is_that_of_the_activation(name, monkeypatch):
    monkeypatch.setitem(ACTIVATIONS, "hard_sigmoid", hard_sigmoid)
    scan, plain, _, states, _ = LOOPS[name]
    given = [tensor.detach() for tensor in tensors(name)]
    given[0] = torch.tensor([-2.5, 2.5]).double().repeat_interleave(STEPS * BATCH * given[0].shape[-1] // 2)
    given[0] = given[0].view(STEPS, BATCH, -1).requires_grad_()
    given[1 + states :] = map(torch.zeros_like, given[1 + states :])
    found, expected = (loop(*given, "hard_sigmoid")[0] for loop in (scan, plain))
    torch.testing.assert_close(gradients(found, given[:1]), gradients(expected, given[:1]))


@each_loop
@each_gate
@masked
def test_without_gradients_the_values_are_the_same_bits(name, gate, valid):
    given = tensors(name)
    expected = LOOPS[name][0](*given, gate, valid)
    with torch.no_grad():
        found = LOOPS[name][0](*given, gate, valid)
    assert all(map(torch.equal, found, expected))
    assert not any(result.requires_grad for result in found)


@each_loop
def test_some_inputs_alone_get_a_gradient(name):
    scan, plain, *_ = LOOPS[name]
    for index in range(len(tensors(name))):
        given = [tensor.detach() for tensor in tensors(name)]
        given[index].requires_grad_()
        found, expected = (loop(*given, "hard_sigmoid")[0] for loop in (scan, plain))
        torch.testing.assert_close(gradients(found, given[index]), gradients(expected, given[index]))


@each_loop
def test_a_masked_step_repeats_the_output_and_its_numbers_reach_nothing(name, valid):
    given = tensors(name)
    with torch.no_grad():
        given[0][~valid] = torch.nan
    outputs = LOOPS[name][0](*given, "hard_sigmoid", valid)[0]
    before = torch.cat([given[1].unsqueeze(0), outputs[:-1]])
    assert torch.equal(outputs[~valid], before[~valid])
    found = gradients(outputs, given)
    assert all(gradient.isfinite().all() for gradient in found)
    assert not found[0][~valid].any()


@each_loop
def test_the_gradient_of_a_gradient_is_refused(name):
    given = tensors(name)
    message = (
        "The gradient of a recurrent layer's time loop cannot be differentiated again: create_graph=True was given. "
        "torch.func (grad, jacrev, hessian) can, and with sigmoid gates a layer with unroll=True."
    )
    with pytest.raises(RuntimeError, match=f"^{re.escape(message)}$"):
        torch.autograd.grad(LOOPS[name][0](*given, "sigmoid")[0].sum(), given, create_graph=True)


@each_loop
def test_an_output_changed_in_place_does_not_give_wrong_gradients(name):
    outputs = LOOPS[name][0](*tensors(name), "hard_sigmoid")[0]
    outputs.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        outputs.sum().backward()


@each_loop
def test_the_gradients_can_be_taken_twice_and_are_the_same_bits(name, valid):
    given = tensors(name)
    loss = LOOPS[name][0](*given, "hard_sigmoid", valid)[0].sum()
    first = torch.autograd.grad(loss, given, retain_graph=True)
    assert all(map(torch.equal, first, torch.autograd.grad(loss, given)))


@each_loop
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(name, dtype, valid):
    found = LOOPS[name][0](*tensors(name, dtype), "hard_sigmoid", valid)[0]
    exact = LOOPS[name][0](*tensors(name), "hard_sigmoid", valid)[0]
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=0.1)
    given = tensors(name, dtype)
    for gradient in gradients(LOOPS[name][0](*given, "hard_sigmoid", valid)[0], given):
        assert gradient.dtype == dtype
        assert gradient.isfinite().all()


@each_loop
def test_under_autocast_all_is_computed_in_the_dtype_of_the_projection(name):
    given = tensors(name, torch.float32)
    kernel = torch.zeros(len(given[-1]), 2, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        projected = nn.functional.linear(torch.zeros(STEPS, BATCH, 2), kernel)
        half = LOOPS[name][0](projected, *given[1:], "hard_sigmoid")[0]
        full = LOOPS[name][0](*given, "hard_sigmoid")[0]
    assert (half.dtype, full.dtype) == (torch.bfloat16, torch.float32)
    assert torch.equal(full, LOOPS[name][0](*given, "hard_sigmoid")[0])
    assert {gradient.dtype for gradient in gradients(half, [kernel, *given[1:]])} == {torch.float32}


@each_loop
def test_on_meta_the_shapes_come_out(name, valid):
    given = tensors(name, device="meta")
    outputs, *states = LOOPS[name][0](*given, "hard_sigmoid", valid.to("meta"))
    assert outputs.shape == (STEPS, BATCH, UNITS)
    assert {state.shape for state in states} == {(BATCH, UNITS)}
    assert [gradient.shape for gradient in gradients(outputs, given)] == [tensor.shape for tensor in given]


class Recurrence(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.kernel = nn.Parameter(torch.zeros_like(kernel))

    def forward(self, *given):
        return LOOPS["lstm"][0](*given, self.kernel, "hard_sigmoid")[0]


def test_functional_call_takes_the_kernel_it_is_given():
    *given, kernel = tensors("lstm")
    found = torch.func.functional_call(Recurrence(kernel), {"kernel": kernel}, tuple(given))
    expected = LOOPS["lstm"][1](*given, kernel, "hard_sigmoid")[0]
    torch.testing.assert_close(gradients(found, kernel), gradients(expected, kernel))


def test_compilers_and_transforms_are_told_to_go_another_way():
    def marked(x):
        return -x if traced() else x

    one = torch.ones(())
    assert marked(one) == 1
    assert torch.func.grad(marked)(one) == -1
    assert (torch.func.vmap(marked)(torch.ones(2)) == -1).all()
    torch._dynamo.reset()
    assert torch.compile(marked, fullgraph=True, backend="eager")(one) == -1


@pytest.mark.cuda
@each_loop
@each_gate
@masked
def test_cuda_gives_what_the_processor_gives_without_waiting(name, gate, valid):
    given, there = tensors(name), tensors(name, device="cuda")
    expected = LOOPS[name][0](*given, gate, valid)
    valid = None if valid is None else valid.cuda()
    torch.cuda.set_sync_debug_mode("error")
    try:
        found = LOOPS[name][0](*there, gate, valid)
        found_gradients = gradients(found[0], there)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    # torch's hardsigmoid for CUDA has 1/6 with the digits of float32, in float64 too.
    near = {"rtol": 1e-6, "atol": 1e-6} if gate == "hard_sigmoid" else {}
    torch.testing.assert_close([result.cpu() for result in found], list(expected), **near)
    expected_gradients = list(gradients(expected[0], given))
    torch.testing.assert_close([gradient.cpu() for gradient in found_gradients], expected_gradients, **near)


@pytest.mark.parametrize("records", [True, False])
@pytest.mark.parametrize("gates", ["hard_sigmoid", "sigmoid"])
@pytest.mark.parametrize("kind", [LSTM, GRU])
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")  # nn.LSTM and the loops look at features, not at samples
@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_torch_traces_a_layer_and_saves_what_it_traced(kind: Any, gates: str, records: bool):
    inputs = Input((5, 3))
    model = Model(inputs, kind(4, recurrent_activation=gates)(inputs)).eval()
    with torch.set_grad_enabled(records):
        made: Any = torch.jit.trace(model, torch.randn(2, 5, 3))
    file = io.BytesIO()
    torch.jit.save(made, file)
    file.seek(0)
    x = torch.randn(7, 5, 3)
    torch.testing.assert_close(torch.jit.load(file)(x), model(x))
