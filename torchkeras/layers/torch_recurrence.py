"""`TorchRecurrent`: recurrent layers that torch's own modules can run.

torch.compile cannot trace these modules. A layer that holds one is an island: a compiled model calls it in eager mode,
and dynamo refuses `fullgraph=True`. The loop of any other layer compiles whole, unrolled.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from torchkeras.base.torch_tables import own_modules
from torchkeras.base.torch_versions import in_eager_mode
from torchkeras.base.tracing import exporting, is_compiling, is_island, traced
from torchkeras.engine.facts import Facts
from torchkeras.engine.graph.layer_calls import has_hooks
from torchkeras.engine.modes import locked_mode, stored_mode
from torchkeras.engine.symbolic.tensor import Shape, as_list, unpacked
from torchkeras.layers.recurrence import Constants, Recurrent, States, Stepped, shapes_of
from torchkeras.layers.scan import Mask

MODULES: dict[str, Any] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
KERNELS: dict[str, Any] = {  # by the modes of torch's modules
    "RNN_TANH": torch.rnn_tanh,
    "RNN_RELU": torch.rnn_relu,
    "GRU": torch.gru,
    "LSTM": torch.lstm,
}

_forward_in_eager_mode = in_eager_mode(Recurrent.forward)


class TorchRecurrent(Recurrent, abstract=True):
    """A recurrent layer that holds torch's own module, where that module computes the same function: see `path`."""

    units: Any
    use_bias: Any = True
    dropout = recurrent_dropout = 0.0
    drop_sets = 1  # how many sets of factors dropout draws
    submodule: ClassVar[str]  # where the weights are, by the names that torch's module gives them
    scan_gate: Any = None  # the gates' activation as `torchkeras.layers.scan` names it; None where the scan cannot run
    scan: Any = None  # (projected, states, valid, drops) -> the outputs of all steps, time first, and the final states
    scan_drops = False  # whether the scan has dropout of the state
    scans_faster = False  # forward and back together, the scan is faster than torch's kernel, unless that is cuDNN's
    drawn: Any  # (input_shape, states, training) -> `project` and the factors for the state, as of `CellStep`
    _made_with: dict[str, Any] | None = None  # `torch_options` of the module that there is; None for one of ours

    def state_shapes(self, input_shape: Shape) -> list[Shape]:
        return [(self.units,)] * self.state_count

    def torch_options(self) -> dict[str, Any] | None:
        """What torch's module takes besides sizes and bias; None where it computes another function."""
        return {}

    def _make_modules(self, input_shape: Any) -> None:
        super()._make_modules(input_shape)
        features, options = self._known_size(shapes_of(input_shape)[0], -1), self.torch_options()
        self.__dict__["_made_with"] = options
        if options is not None:
            module = MODULES[self.submodule](features, self.units, bias=self.use_bias, batch_first=True, **options)
            self.add_module(self.submodule, module)

    @property
    def _fused(self) -> bool:
        """Whether torch's own module computes this layer's function."""
        return self._made_with is not None and self.torch_options() == self._made_with

    def path(self, masked: bool = False, training: bool | None = None) -> str:
        """How a call computes: "torch", by torch's kernel; "scan", with gradients by hand; or "loop", under autograd.

        Torch's kernel is taken where it computes the layer's function, but not in these cases: dropout in training that
        it does not have (`recurrent_dropout`, or `dropout` drawn for each gate); a mask where more than one final state
        is wanted; torch.export, which needs to see the steps.

        The scan needs a `scan_gate`. It does not run with `unroll`, which asks for plain steps, or inside torch.compile
        and torch.func. GRU's does not run with `recurrent_dropout` in training.

        Where both can run, torch's kernel does. With `scans_faster` the scan does instead on the CPU, if gradients are
        recorded and torch's module has no hooks.

        Arguments:
            masked (bool, default False): whether the call has a mask.
            training (bool or None, default None): the mode of the call; None is that of the layer.
        """
        training = self.training if training is None else training
        if self._has_kernel(masked, training) and not (self.scans_faster and self._rather_scans(training)):
            return "torch"
        return "scan" if self._scans(training) else "loop"

    def _has_kernel(self, masked: bool, training: bool) -> bool:
        """Whether torch's kernel can compute a call."""
        if not self._fused or exporting():
            return False
        if training and (self.recurrent_dropout or (self.dropout and self.drop_sets > 1)):
            return False
        return not (masked and self.state_count > 1 and (self.return_state or self.stateful))

    def _scans(self, training: bool) -> bool:
        """Whether the scan can run; torch.jit.trace records plain operations instead."""
        plain = self.unroll or (training and self.recurrent_dropout and not self.scan_drops) or traced()
        return not (plain or torch.jit.is_tracing()) and self.scan_gate is not None  # type: ignore[attr-defined]

    def _rather_scans(self, training: bool) -> bool:
        """Whether the scan can run and is the better choice: gradients are recorded, not by cuDNN, without hooks."""
        if not torch.is_grad_enabled() or not self._is_plain:
            return False
        module = getattr(self, self.submodule)
        return not module.weight_hh_l0.is_cuda and self._scans(training)

    @property
    def _is_plain(self) -> bool:
        """Whether torch's module is as it was made: without hooks, and not parametrized, which changes its class."""
        module = getattr(self, self.submodule)
        return type(module) is MODULES[self.submodule] and not has_hooks(module)

    def forward(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        scans = self.scan_gate is not None and not self.unroll
        island = (self._fused and is_compiling()) or (scans and is_island())
        return (_forward_in_eager_mode if island else Recurrent.forward)(self, inputs, mask, training)

    class _Facts(Facts):
        sets_mode_of = tuple(MODULES)

        def hook_free(self) -> Callable[..., Any]:
            layer, inside, kind = self.layer, own_modules(self.layer), MODULES[self.layer.submodule]
            if not layer._is_one_kernel:
                return layer.forward
            made: Any = inside[layer.submodule]

            def run(inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
                if mask is not None or _is_recorded(inputs):  # torch.compile stops where it sees the module
                    return layer.forward(inputs, mask, training)
                if layer.training or training or inside[layer.submodule] is not made or type(made) is not kind:
                    return layer.forward(inputs, mask, training)
                outputs, final = _by_kernel(made, inputs)
                return outputs if layer.return_sequences else final.squeeze(0)

            return run

    @property
    def _is_one_kernel(self) -> bool:
        """Whether a call without gradients is one of torch's module, from zeros, and no more."""
        own = (TorchRecurrent.walk, TorchRecurrent.path, TorchRecurrent._first_states, Recurrent.get_initial_state)
        found = tuple(getattr(type(self), each.__name__) for each in own)
        more = self.return_state or self.stateful or self.go_backwards
        return self._fused and found == own and not more

    def _first_states(self, sequence: Tensor) -> list[Tensor]:
        """None where they are zeros, which torch's kernel takes for none."""
        zeros = getattr(self.get_initial_state, "__func__", None) is Recurrent.get_initial_state
        return [] if zeros and not self.stateful else super()._first_states(sequence)

    def walk(self, sequence: Tensor, mask: Mask, states: States, constants: Constants, training: bool) -> Stepped:
        path = self.path(mask is not None, training)
        if not states and (path != "torch" or mask is not None):
            states = tuple(self.get_initial_state(sequence))
        if path == "loop":
            return super().walk(sequence, mask, states, constants, training)
        if path == "scan":
            return self._scanned(sequence, mask, states, training)
        if training and self.dropout:
            sequence = sequence * F.dropout(torch.ones_like(sequence[:, :1]), self.dropout)
        if mask is not None:
            return self._masked_kernel(sequence, mask, states)
        return self._whole_kernel(sequence, states)

    def _whole_kernel(self, sequence: Tensor, begin: States) -> Stepped:
        """`walk` by torch's kernel, without a mask."""
        outputs, final = self._kernel(sequence, begin)
        kept = self.return_state or self.stateful
        states = tuple(state.squeeze(0) for state in as_list(final)[: None if kept else 1])
        return outputs if self.return_sequences else states[0], states

    def _scanned(self, sequence: Tensor, mask: Mask, states: States, training: bool) -> Stepped:
        """`walk` by the scan."""
        project, drops = self.drawn((sequence.shape[0], sequence.shape[2]), states, training)
        valid = None if mask is None else mask.t()
        outputs, states = self.scan(project(sequence.transpose(0, 1)), states, valid, drops)
        outputs = outputs.transpose(0, 1) if self.return_sequences else states[0]
        return self._at_masked(outputs, mask), states

    def _kernel(self, sequence: Tensor, begin: States) -> tuple[Tensor, Any]:
        """What torch's module gives: the outputs, and the final states in its own form. It begins with zeros itself."""
        module: Any = self._modules[self.submodule]
        states = unpacked([state.unsqueeze(0) for state in begin]) if begin else None
        # cuDNN gives gradients in training mode only. The module has no dropout that this mode would turn on.
        records = torch.is_grad_enabled() and not torch.jit.is_tracing()  # type: ignore[attr-defined]
        training = self.training or records
        if module.training is training:
            return module(sequence, states)
        with (stored_mode if is_compiling() else locked_mode)([module], training):
            return module(sequence, states)

    def _masked_kernel(self, sequence: Tensor, mask: Tensor, begin: States) -> Stepped:
        """One kernel over the valid steps, moved to the front; only the first of the final states is right.

        The output at step t is that of valid step number `count[t]`. Number 0 is the initial state.
        """
        in_front = _padded_behind(mask)  # then the first step is valid, so no output is an initial state
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
        outputs = outputs if self.return_sequences else outputs[:, -1]
        if in_front and not self.zero_output_for_mask:
            return outputs, states
        return self._at_masked(outputs, mask), states

    def _at_masked(self, outputs: Tensor, mask: Mask) -> Tensor:
        """Outputs as `zero_output_for_mask` wants them, from those that are the first state at masked steps."""
        if mask is None or self.zero_output_for_mask is None:
            return outputs
        kept = mask if self.zero_output_for_mask else mask.cumsum(1) > 0
        return torch.where((kept if self.return_sequences else kept[:, -1]).unsqueeze(-1), outputs, 0.0)


def _by_kernel(module: Any, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """The outputs of a module of torch that begins with zeros, and the first of its final states.

    Its `forward` looks for changed weights and checks all shapes first: a tenth of the time for one sample.
    """
    weights = [module._parameters[name] for name in module._flat_weights_names]
    zeros = inputs.new_zeros(1, inputs.shape[0], module.hidden_size)
    begin = (zeros, zeros) if module.mode == "LSTM" else zeros
    found = KERNELS[module.mode](inputs, begin, weights, module.bias, 1, 0.0, False, False, True)
    return found[0], found[1]


def _padded_behind(mask: Tensor) -> bool:
    """Whether each sample begins with its valid steps, at least one; False where looking would wait for a device."""
    if not (type(mask) is Tensor and mask.is_cpu and not traced()):
        return False
    valid = mask.numpy()
    return bool(valid[:, 0].all() and (valid[:, 1:] <= valid[:, :-1]).all())


def _valid_in_front(sequence: Tensor, mask: Tensor) -> Tensor:
    """The sequences with the valid steps of each sample first, in their order, and then the others."""
    if traced():  # exporters have no stable sort
        count = mask.cumsum(1)
        place = torch.where(mask, count, count[:, -1:] + (~mask).cumsum(1)) - 1
        return torch.zeros_like(sequence).scatter(1, place.unsqueeze(-1).expand_as(sequence), sequence)
    order = (~mask).to(torch.uint8).argsort(dim=1, stable=True)
    batch, time = order.shape
    numbers = order + torch.arange(0, batch * time, time, device=order.device).unsqueeze(1)
    return _Permuted.apply(sequence.flatten(0, 1), numbers.flatten()).unflatten(0, (batch, time))  # type: ignore[attr-defined]


class _Permuted(Function):
    """The rows of a matrix in another order. Each row is there once, so the gradient needs no sum, as torch's would."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return rows.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        (order,) = ctx.saved_tensors
        return torch.empty_like(gradient).index_copy(0, order, gradient), None


def _is_recorded(inputs: Any) -> bool:
    """Whether something watches what is done to these: autograd, torch.compile, or a tensor of a class of its own."""
    return torch.is_grad_enabled() or type(inputs) is not Tensor or traced()
