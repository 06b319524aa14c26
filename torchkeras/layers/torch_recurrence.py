"""`TorchRecurrent`: recurrent layers that torch's own modules can run, and the kernel of these under a mask.

Torch's modules are no code for torch.compile: a layer that holds one is an island that a compiled model calls in eager
mode (so `fullgraph=True` is refused there, by dynamo itself). The loop of any other layer compiles whole, unrolled.
"""

from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from torchkeras.engine.graph.hook_free_calls import has_hooks
from torchkeras.engine.layer.symbolic import Shape, as_list, unpacked
from torchkeras.engine.layer.tracing import exporting, is_island, traced
from torchkeras.layers.recurrence import Constants, Recurrent, States, Stepped, shapes_of
from torchkeras.layers.scan import Mask

MODULES: dict[str, Any] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}

# torch.compiler.disable, but for importing the compiler now: that takes five times as long as importing this.
_forward_in_eager_mode: Any = torch._disable_dynamo(Recurrent.forward)  # type: ignore[attr-defined]


class TorchRecurrent(Recurrent, abstract=True):
    """A recurrent layer that holds torch's own module where that computes its function: see `path`."""

    units: Any
    use_bias: Any = True
    dropout = recurrent_dropout = 0.0
    drop_sets = 1  # how many sets of factors dropout draws
    submodule: ClassVar[str]  # where the weights are, by the names that torch's module gives them
    scan_gate: Any = None  # the gates' activation as `torchkeras.layers.scan` names it, where that has this function
    scan: Any = None  # (projected, states, valid) -> the outputs of all steps, time first, and the final states
    scans_faster = False  # forward and back, than torch's kernel where that is not cuDNN's
    _fused = False  # torch's own module computes this layer's function

    def state_shapes(self, input_shape: Shape) -> list[Shape]:
        return [(self.units,)] * self.state_count

    def torch_options(self) -> dict[str, Any] | None:
        """What torch's module takes beside sizes and bias; None when it computes another function."""
        return {}

    def _make_modules(self, input_shape: Any) -> None:
        super()._make_modules(input_shape)
        features, options = self._known_size(shapes_of(input_shape)[0], -1), self.torch_options()
        self._fused = options is not None
        if options is not None:
            module = MODULES[self.submodule](features, self.units, bias=self.use_bias, batch_first=True, **options)
            self.add_module(self.submodule, module)

    def path(self, masked: bool = False, training: bool | None = None) -> str:
        """How a call computes: "torch" by torch's kernel, "scan" or "loop" step by step, with gradients by hand or not.

        Torch's kernel is for its own function, without dropout inside of it (in training, `recurrent_dropout`, and
        `dropout` drawn for each gate), for one final state under a mask, and not for torch.export, which is to see the
        steps. The scan is for a `scan_gate` and without `recurrent_dropout`; not with `unroll`, which asks for plain
        steps, nor inside torch.compile or torch.func. Where both can, it is torch's kernel; with `scans_faster` the
        scan on the CPU, where gradients are recorded and no hook is on torch's module.
        """
        training = self.training if training is None else training
        drops = training and (self.recurrent_dropout or (self.dropout and self.drop_sets > 1))
        final_states = self.state_count > 1 and (self.return_state or self.stateful)
        kernel = self._fused and not drops and not (masked and final_states) and not exporting()
        if kernel and not (self.scans_faster and self._rather_scans() and self._scans(training)):
            return "torch"
        return "scan" if self._scans(training) else "loop"

    def _scans(self, training: bool) -> bool:
        """Whether the scan can compute this."""
        plain = self.unroll or (training and self.recurrent_dropout) or traced()
        return not plain and self.scan_gate is not None

    def _rather_scans(self) -> bool:
        """Whether nothing but its function is wanted of torch's module, and that with gradients, not from cuDNN."""
        if not torch.is_grad_enabled() or not self._is_plain:
            return False
        module = getattr(self, self.submodule)
        return not (module.weight_hh_l0.is_cuda or torch.jit.is_tracing())  # type: ignore[attr-defined]

    @property
    def _is_plain(self) -> bool:
        """Whether torch's module is as it was made: no other kind, as by a parametrization, and without hooks."""
        module = getattr(self, self.submodule)
        return type(module) is MODULES[self.submodule] and not has_hooks(module)

    def forward(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        scans = self.scan_gate is not None and not self.unroll
        island = (self._fused and torch.compiler.is_compiling()) or (scans and is_island())
        return (_forward_in_eager_mode if island else Recurrent.forward)(self, inputs, mask, training)

    def walk(self, sequence: Tensor, mask: Mask, states: States, constants: Constants, training: bool) -> Stepped:
        path = self.path(mask is not None, training)
        if path == "loop":
            return super().walk(sequence, mask, states, constants, training)
        if path == "scan":
            project, _ = self.begin((sequence.shape[0], sequence.shape[2]), states, constants, training)
            outputs, states = self.scan(project(sequence.transpose(0, 1)), states, None if mask is None else mask.t())
            outputs = outputs.transpose(0, 1) if self.return_sequences else states[0]
            return self._at_masked(outputs, mask), states
        if training and self.dropout:
            sequence = sequence * F.dropout(torch.ones_like(sequence[:, :1]), self.dropout)
        if mask is not None:
            return self._masked_kernel(sequence, mask, states)
        outputs, final = self._kernel(sequence, states)
        states = tuple(state.squeeze(0) for state in as_list(final))
        return outputs if self.return_sequences else states[0], states

    def _kernel(self, sequence: Tensor, begin: States) -> tuple[Tensor, Any]:
        """Torch's module: the outputs, and the final states as it has them."""
        module = getattr(self, self.submodule)
        states = unpacked([state.unsqueeze(0) for state in begin])
        training = module.training
        # cuDNN gives gradients in training mode only; there is no dropout inside that the mode could turn on.
        module.training = training or torch.is_grad_enabled()
        try:
            return module(sequence, states)
        finally:
            module.training = training

    def _masked_kernel(self, sequence: Tensor, mask: Tensor, begin: States) -> Stepped:
        """The valid steps, moved to the front, in one kernel; only the first of the final states is right.

        The output at step t is that of valid step number `count[t]`; number 0 is the initial state.
        """
        in_front = _padded_behind(mask)  # and then no output comes before the first valid step
        if not in_front:
            sequence = _valid_in_front(sequence, mask)
        known, _ = self._kernel(sequence, begin)
        count = (mask.cumsum(1) if self.return_sequences else mask.sum(1, keepdim=True)).unsqueeze(-1)
        last = count - 1 if in_front else (count - 1).clamp_min(0)
        outputs = known.gather(1, last.expand(-1, -1, known.shape[-1]))
        if not in_front:
            outputs = torch.where(count > 0, outputs, begin[0].unsqueeze(1))
        states = (outputs[:, -1], *begin[1:])
        if not in_front and self.unroll and self.zero_output_for_mask is None:
            outputs = torch.where(count > 0, outputs, 0.0)
        return self._at_masked(outputs if self.return_sequences else outputs[:, -1], mask), states

    def _at_masked(self, outputs: Tensor, mask: Mask) -> Tensor:
        """Outputs that are the first state at masked steps, made what `zero_output_for_mask` says."""
        if mask is None or self.zero_output_for_mask is None:
            return outputs
        kept = mask if self.zero_output_for_mask else mask.cumsum(1) > 0
        return torch.where((kept if self.return_sequences else kept[:, -1]).unsqueeze(-1), outputs, 0.0)


def _padded_behind(mask: Tensor) -> bool:
    """Whether the valid steps of each sample come first, and there are some; False where to look would mean to wait."""
    if not (type(mask) is Tensor and mask.is_cpu and not traced()):
        return False
    valid = mask.numpy()
    return bool(valid[:, 0].all() and (valid[:, 1:] <= valid[:, :-1]).all())


def _valid_in_front(sequence: Tensor, mask: Tensor) -> Tensor:
    """The steps of each sample of a sequence, those that are valid first, in their order, then the others."""
    if traced():  # by arithmetic: exporters have no stable sort
        count = mask.cumsum(1)
        place = torch.where(mask, count, count[:, -1:] + (~mask).cumsum(1)) - 1
        return torch.zeros_like(sequence).scatter(1, place.unsqueeze(-1).expand_as(sequence), sequence)
    order = (~mask).to(torch.uint8).argsort(dim=1, stable=True)
    batch, time = order.shape
    numbers = order + torch.arange(0, batch * time, time, device=order.device).unsqueeze(1)
    return _Permuted.apply(sequence.flatten(0, 1), numbers.flatten()).unflatten(0, (batch, time))  # type: ignore[attr-defined]


class _Permuted(Function):
    """The rows of a matrix in another order. Torch's own gradient would be a sum, though each row is there once."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return rows.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        (order,) = ctx.saved_tensors
        return torch.empty_like(gradient).index_copy(0, order, gradient), None
