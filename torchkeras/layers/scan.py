"""The time loops of LSTM and GRU with their gradients written out, for gates that torch's own kernels do not have.

Even where torch has the same function, GRU's loop takes half the time of torch's kernel on the CPU, forward and back.

The way forward works in place in one buffer of all gates. The way back first computes, for all steps at once, whatever
does not depend on later steps. It writes this into the buffer of the deltas: the gradients of the gates before their
activation. One step is then a matrix product and a few multiplications. The gradient of a recurrent kernel is one
product over all steps. For LSTM(64) this takes 0.4 of the time of the same loop under autograd
(benchmarks/recurrence.py).

All is computed in the dtype of `projected`. Differentiating a gradient again raises RuntimeError.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

aten = torch.ops.aten
Tensors = tuple[Tensor, ...]
Mask = Tensor | None


def lstm_scan(
    projected: Tensor, h: Tensor, c: Tensor, kernel: Tensor, gate: str, valid: Mask = None, drops: Tensor | None = None
) -> Tensors:
    """`c' = f * c + i * tanh(g); h' = o * tanh(c')` with `i, f, g, o = projected[t] + h @ kernel.T`.

    i, f and o go through `gate` first.

    Arguments:
        projected (tensor): (time, batch, 4 * units), the input's part of all gates.
        h, c (tensors): (batch, units), the initial states.
        kernel (tensor): (4 * units, units).
        gate ("hard_sigmoid" or "sigmoid"): the activation of the gates.
        valid (tensor or None, default None): (time, batch); where it is False the states stay as they are.
        drops (tensor or None, default None): (sets, batch, units), factors that h is multiplied by before the product;
            of several sets, each is for its part of the gates.

    Shapes:
        -> outputs (time, batch, units), the last h, the last c
    """
    factors = () if drops is None else (drops,)
    return _scan(_lstm_forward, _lstm_backward, gate, valid, projected, h, c, kernel, *factors)


def gru_scan(projected: Tensor, h: Tensor, kernel: Tensor, gate: str, valid: Mask = None) -> Tensors:
    """`h' = z * h + (1 - z) * tanh(x_n + (r * h) @ U_n.T)` with `r, z = x_rz + h @ U_rz.T`, where x is projected[t].

    U is `kernel`, and r and z go through `gate`. Otherwise as `lstm_scan`, with 3 gates r, z, n and one state.
    """
    return _scan(_gru_forward, _gru_backward, gate, valid, projected, h, kernel)


def gru_scan_reset_after(
    projected: Tensor, h: Tensor, kernel: Tensor, bias: Tensor, gate: str, valid: Mask = None
) -> Tensors:
    """`h' = z * h + (1 - z) * tanh(x_n + r * u_n)` with `r, z = x_rz + u_rz` and `u = h @ kernel.T + bias`.

    Otherwise as `gru_scan`. `bias` is (3 * units,).
    """
    both = 2 * h.shape[-1]
    projected = projected + F.pad(bias[:both], (0, h.shape[-1])).to(projected.dtype)
    return _scan(_gru_forward, _gru_backward_reset_after, gate, valid, projected, h, kernel, bias[both:])


@dataclass(frozen=True)
class Gate:
    """The activation `apply_(scale * x)` of a gate. Its derivative is `slope * backward(1, result, *bounds)`."""

    scale: float
    apply_: Callable[[Tensor], Any]
    slope: float
    backward: Callable[..., Tensor]
    bounds: tuple[float, ...] = ()

    def through(self, result: Tensor, gradient: Tensor, out: Tensor) -> None:
        """Write into `out` the gradient of the gate's input, from `gradient`, that of its output."""
        self.backward(torch.mul(gradient, self.slope, out=out), result, *self.bounds, grad_input=out)

    def scaled(self, projected: Tensor, kernel: Tensor) -> Tensors:
        """A new projection and the transposed kernel, times `scale` except for the third part, the candidate's."""
        scale = kernel.new_full((len(kernel) // kernel.shape[1], kernel.shape[1]), self.scale)
        scale[2] = 1.0
        return projected * scale.flatten(), (kernel * scale.view(-1, 1)).t()


GATES = {
    # torch's hardsigmoid has the slope 1/6, hence the scale 1.2. The derivative is 0 at both ends, as in torch.
    "hard_sigmoid": Gate(1.2, partial(F.hardsigmoid, inplace=True), 0.2, aten.hardtanh_backward.grad_input, (0.0, 1.0)),
    "sigmoid": Gate(1.0, torch.sigmoid_, 1.0, aten.sigmoid_backward.grad_input),
}


def _scan(forward: Callable[..., Any], backward: Callable[..., Any], gate: str, valid: Mask, *given: Tensor) -> Any:
    """The loop `forward`, with the loop `backward` for its gradients where they are recorded."""
    tensors = [tensor.to(given[0].dtype) for tensor in given]
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return _Scan.apply(forward, backward, GATES[gate], valid, *tensors)
    return forward(GATES[gate], valid, False, *tensors)[0]


class _Scan(Function):
    @staticmethod
    def forward(ctx: Any, forward: Any, backward: Any, gate: Gate, valid: Mask, *tensors: Tensor) -> Tensors:
        results, stored = forward(gate, valid, True, *tensors)
        ctx.loop_back, ctx.gate = backward, gate
        ctx.save_for_backward(valid, results[0], *tensors[1:], *stored)
        ctx.set_materialize_grads(False)
        return results

    @staticmethod
    def backward(ctx: Any, grad_outputs: Any, grad_h: Any, *grad_c: Any) -> Any:
        if torch.is_grad_enabled():  # with create_graph=True
            raise RuntimeError(
                "The gradient of a recurrent layer's time loop cannot be differentiated again: create_graph=True was "
                "given. torch.func (grad, jacrev, hessian) can, and with sigmoid gates a layer with unroll=True."
            )
        valid, outputs, *saved = ctx.saved_tensors
        stays = None if valid is None else ~valid.unsqueeze(-1)
        grads = [torch.zeros_like(outputs[0])] * len(outputs) if grad_outputs is None else grad_outputs.unbind(0)
        dh = grads[-1].clone() if grad_h is None else grads[-1] + grad_h
        earlier = (torch.zeros_like(dh), *grads[:-1])  # for each step the gradient of the output before it
        return None, None, None, None, *ctx.loop_back(ctx.gate, stays, earlier, dh, *grad_c, outputs, *saved)


def _lstm_forward(
    gate: Gate, valid: Mask, store: bool, projected: Tensor, h: Tensor, c: Tensor, kernel: Tensor, *drops: Tensor
) -> Any:
    gates, kernel = gate.scaled(projected, kernel)
    add_product = _adds_product(kernel, *drops)
    outputs = projected.new_empty(len(projected), *h.shape)
    stored = tuple(_buffer(outputs, store or valid is not None) for _ in range(3))
    each = _steps(valid, gates, *gates.chunk(4, -1), *stored, outputs)
    for is_valid, all_gates, i, f, g, o, candidate, cell, tanh_cell, output in each:
        add_product(all_gates, h)
        torch.tanh(g, out=candidate)
        gate.apply_(all_gates)  # on g too, which is not read again: one call is faster than two
        torch.mul(f, c, out=cell).addcmul_(i, candidate)
        torch.tanh(cell, out=tanh_cell)
        torch.mul(o, tanh_cell, out=output)
        if is_valid is not None:
            torch.where(is_valid, cell, c, out=cell)
            torch.where(is_valid, output, h, out=output)
        h, c = output, cell
    return (outputs, h.clone(), c.clone()), (gates, *stored)


def _lstm_backward(gate, stays, earlier, dh, grad_c, outputs, h, c, kernel, *stored):
    *drops, gates, candidates, cells, tanh_cells = stored
    to_state = _product_back(kernel, *drops)
    i, f, _, o = gates.chunk(4, -1)
    deltas = torch.empty_like(gates)
    d_i, d_f, d_g, d_o = deltas.chunk(4, -1)
    gate.through(i, candidates, out=d_i)
    gate.through(f, _before(c, cells), out=d_f)
    gate.through(o, tanh_cells, out=d_o)
    aten.tanh_backward.grad_input(i, candidates, grad_input=d_g)
    to_cell = aten.tanh_backward(o, tanh_cells)
    if stays is not None:
        deltas.masked_fill_(stays, 0.0)
        to_cell.masked_fill_(stays, 0.0)
        f = f.masked_fill(stays, 1.0)
        stays = stays.squeeze(-1).to(f.dtype)
    dc = torch.zeros_like(c) if grad_c is None else grad_c.clone()
    dc_of_gates, by_cell = dc.unsqueeze(1), deltas.unflatten(-1, (4, -1))[:, :, :3]
    each = _steps(stays, earlier, deltas, by_cell, d_o, to_cell, f)
    for stay, grad, delta, delta_ifg, delta_o, dh_to_dc, forget in reversed([*each]):
        dc.addcmul_(dh, dh_to_dc)
        delta_ifg.mul_(dc_of_gates)
        delta_o.mul_(dh)
        dc.mul_(forget)
        to_state(grad if stay is None else torch.addcmul(grad, dh, stay), delta, dh)
    return deltas, dh, dc, _kernel_gradient(deltas, _before(h, outputs), *drops), *[None] * len(drops)


def _adds_product(kernel: Tensor, drops: Tensor | None = None) -> Callable[[Tensor, Tensor], Any]:
    """`z += h @ kernel`; with `drops`, each set of factors of h is for its part of the kernel."""
    if drops is None:
        return lambda z, h: z.addmm_(h, kernel)
    kernels = torch.stack(kernel.chunk(len(drops), -1))
    return lambda z, h: z.unflatten(-1, (len(drops), -1)).transpose(0, 1).baddbmm_(h * drops, kernels)


def _product_back(kernel: Tensor, drops: Tensor | None = None) -> Callable[[Tensor, Tensor, Tensor], Any]:
    """`dh = rest + delta @ kernel`, written into `dh`: the gradient of the state that `_adds_product` takes."""
    if drops is None:
        return lambda rest, delta, dh: torch.addmm(rest, delta, kernel, out=dh)
    kernels = torch.stack(kernel.chunk(len(drops)))

    def write(rest: Tensor, delta: Tensor, dh: Tensor) -> None:
        by_set = torch.bmm(delta.unflatten(-1, (len(drops), -1)).transpose(0, 1), kernels)
        torch.add(rest, by_set.mul_(drops).sum(0), out=dh)

    return write


def _gru_forward(
    gate: Gate, valid: Mask, store: bool, projected: Tensor, h: Tensor, kernel: Tensor, bias: Tensor | None = None
) -> Any:
    """With a `bias`, that of u_n, the reset gate comes after the product with h, and u_n is stored, not r * h."""
    (gates, kernel), units = gate.scaled(projected, kernel), h.shape[-1]
    kernel_rz, kernel_n = kernel.split([2 * units, units], -1)
    outputs = projected.new_empty(len(projected), *h.shape)
    inners = _buffer(outputs, store)
    each = _steps(valid, gates[..., : 2 * units], *gates.chunk(3, -1), inners, outputs)
    for is_valid, rz, r, z, candidate, inner, output in each:
        gate.apply_(rz.addmm_(h, kernel_rz))
        if bias is None:
            candidate.addmm_(torch.mul(r, h, out=inner), kernel_n).tanh_()
        else:
            candidate.addcmul_(r, torch.addmm(bias, h, kernel_n, out=inner)).tanh_()
        torch.lerp(candidate, h, z, out=output)
        if is_valid is not None:
            torch.where(is_valid, output, h, out=output)
        h = output
    return (outputs, h.clone()), (gates, inners)


def _gru_backward(gate, stays, earlier, dh, outputs, h, kernel, gates, resets):
    r, z, candidates = gates.chunk(3, -1)
    before, deltas = _before(h, outputs), torch.empty_like(gates)
    d_r, d_z, d_candidate = deltas.chunk(3, -1)
    gate.through(r, before, out=d_r)
    gate.through(z, before - candidates, out=d_z)
    aten.tanh_backward.grad_input(1.0 - z, candidates, grad_input=d_candidate)
    if stays is not None:
        deltas.masked_fill_(stays, 0.0)
        r, z, resets = (stored.masked_fill(stays, 1.0) for stored in (r, z, resets))
    units, d_reset = h.shape[-1], torch.empty_like(dh)
    kernel_rz, kernel_n = kernel.split([2 * units, units])
    d_rz, by_h = deltas[..., : 2 * units], deltas.unflatten(-1, (3, -1))[:, :, 1:]
    each = _steps(None, earlier, by_h, d_candidate, d_r, d_rz, z, r)
    for _, grad, delta_zn, delta_candidate, delta_r, delta_rz, keep, reset in reversed([*each]):
        delta_zn.mul_(dh.unsqueeze(1))
        torch.mm(delta_candidate, kernel_n, out=d_reset)
        delta_r.mul_(d_reset)
        torch.addcmul(grad, dh, keep, out=dh).addcmul_(d_reset, reset).addmm_(delta_rz, kernel_rz)
    return deltas, dh, torch.cat([_kernel_gradient(d_rz, before), _kernel_gradient(d_candidate, resets)])


def _gru_backward_reset_after(gate, stays, earlier, dh, outputs, h, kernel, bias, gates, inners):
    r, z, candidates = gates.chunk(3, -1)
    before, deltas, to_candidate = _before(h, outputs), torch.empty_like(gates), torch.empty_like(outputs)
    d_r, d_z, d_inner = deltas.chunk(3, -1)  # of u; those of x are the same except for the candidate
    gate.through(r, inners, out=d_r)
    gate.through(z, before - candidates, out=d_z)
    aten.tanh_backward.grad_input(1.0 - z, candidates, grad_input=to_candidate)
    if stays is not None:
        for factors in (deltas, to_candidate):
            factors.masked_fill_(stays, 0.0)
        r, z = (stored.masked_fill(stays, 1.0) for stored in (r, z))
    each = _steps(None, earlier, deltas, d_r, d_z, d_inner, to_candidate, r, z)
    for _, grad, delta, delta_r, delta_z, delta_inner, delta_candidate, reset, keep in reversed([*each]):
        delta_z.mul_(dh)
        delta_candidate.mul_(dh)
        delta_r.mul_(delta_candidate)
        torch.mul(delta_candidate, reset, out=delta_inner)
        torch.addcmul(grad, dh, keep, out=dh).addmm_(delta, kernel)
    of_kernel, of_bias = _kernel_gradient(deltas, before), d_inner.sum((0, 1))
    d_inner.copy_(to_candidate)
    return deltas, dh, of_kernel, of_bias


def _buffer(outputs: Tensor, store: bool) -> Tensor:
    """A buffer with a place for every step, or one place for all of them."""
    return torch.empty_like(outputs) if store else torch.empty_like(outputs[0]).expand_as(outputs)


def _steps(column: Mask, *each: Tensor | Tensors) -> Iterable[Any]:
    """For each step its part of `column` (time, batch) as (batch, 1), or None, and its part of each buffer."""
    parts = [part.unbind(0) if isinstance(part, Tensor) else part for part in each]
    return zip([None] * len(parts[0]) if column is None else column.unsqueeze(-1).unbind(0), *parts, strict=True)


def _before(first: Tensor, each: Tensor) -> Tensor:
    """The state that each step began with, from the first one and those that the steps ended with."""
    return torch.cat([first.unsqueeze(0), each[:-1]])


def _kernel_gradient(deltas: Tensor, states: Tensor, drops: Tensor | None = None) -> Tensor:
    """The sum over steps and samples of `outer(delta, state)`, of states as they were dropped."""
    if drops is None:
        return deltas.flatten(0, 1).t() @ states.flatten(0, 1)
    parts = deltas.chunk(len(drops), -1)
    return torch.cat([_kernel_gradient(part, states * drop) for part, drop in zip(parts, drops, strict=True)])
