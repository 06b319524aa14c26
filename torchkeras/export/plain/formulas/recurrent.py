"""Recurrent cells as Keras has them, and the walk along time."""

# pyright: reportCallIssue=false, reportArgumentType=false
# Attributes of modules may be tensors, for all that pyright knows.

import torch
import torch.nn.functional as F
from torch import nn


class SimpleRNNCell(nn.Module):
    """h' = activation(input(x) + recurrent(h)); the output is h'."""

    def __init__(self, features, units, activation, bias=True):
        super().__init__()
        self.input = nn.Linear(features, units, bias)
        self.recurrent = nn.Linear(units, units, bias=False)
        self.activation = activation

    def zeros(self, x):
        """The state that a sequence begins with, for the input of one step."""
        return (x.new_zeros(len(x), self.recurrent.in_features),)

    def forward(self, x, states):
        h = self.activation(self.input(x) + self.recurrent(states[0]))
        return h, (h,)


class LSTMCell(nn.Module):
    """c' = f * c + i * g; h' = o * activation(c'); the output is h'."""

    def __init__(self, features, units, activation, gate, bias=True):
        super().__init__()
        self.input = nn.Linear(features, 4 * units, bias)
        self.recurrent = nn.Linear(units, 4 * units, bias=False)
        self.activation, self.gate = activation, gate

    def zeros(self, x):
        """The states that a sequence begins with, for the input of one step."""
        h = x.new_zeros(len(x), self.recurrent.in_features)
        return h, h

    def forward(self, x, states):
        h, c = states
        i, f, g, o = (self.input(x) + self.recurrent(h)).chunk(4, -1)
        c = self.gate(f) * c + self.gate(i) * self.activation(g)
        h = self.gate(o) * self.activation(c)
        return h, (h, c)


class GRUCell(nn.Module):
    """h' = z * h + (1 - z) * n, with n = activation(x_n + new(r * h)): the reset gate r comes before the product."""

    def __init__(self, features, units, activation, gate, bias=True):
        super().__init__()
        self.input = nn.Linear(features, 3 * units, bias)
        self.gates = nn.Linear(units, 2 * units, bias=False)
        self.new = nn.Linear(units, units, bias=False)
        self.activation, self.gate = activation, gate

    def zeros(self, x):
        """The state that a sequence begins with, for the input of one step."""
        return (x.new_zeros(len(x), self.new.in_features),)

    def forward(self, x, states):
        (h,) = states
        x_r, x_z, x_n = self.input(x).chunk(3, -1)
        h_r, h_z = self.gates(h).chunk(2, -1)
        r, z = self.gate(x_r + h_r), self.gate(x_z + h_z)
        n = self.activation(x_n + self.new(r * h))
        h = z * h + (1 - z) * n
        return h, (h,)


class ResetAfterGRUCell(nn.Module):
    """h' = z * h + (1 - z) * n, with n = activation(x_n + r * h_n): the reset gate r comes after the product."""

    def __init__(self, features, units, activation, gate, bias=True):
        super().__init__()
        self.input = nn.Linear(features, 3 * units, bias)
        self.recurrent = nn.Linear(units, 3 * units, bias)
        self.activation, self.gate = activation, gate

    def zeros(self, x):
        """The state that a sequence begins with, for the input of one step."""
        return (x.new_zeros(len(x), self.recurrent.in_features),)

    def forward(self, x, states):
        (h,) = states
        x_r, x_z, x_n = self.input(x).chunk(3, -1)
        h_r, h_z, h_n = self.recurrent(h).chunk(3, -1)
        r, z = self.gate(x_r + h_r), self.gate(x_z + h_z)
        n = self.activation(x_n + r * h_n)
        h = z * h + (1 - z) * n
        return h, (h,)


class ConvLSTMCell(nn.Module):
    """An LSTM's step over images, channels first: convolutions of the input and of h give the gates."""

    def __init__(self, input, recurrent, activation, gate):
        super().__init__()
        self.input, self.recurrent = input, recurrent
        self.activation, self.gate = activation, gate

    def zeros(self, x):
        """The states that a sequence begins with, for the input of one step."""
        z = torch.zeros_like(self.input(x))
        h = z[:, : z.shape[1] // 4]
        return h, h

    def forward(self, x, states):
        h, c = states
        i, f, g, o = (self.input(x) + self.recurrent(h)).chunk(4, 1)
        c = self.gate(f) * c + self.gate(i) * self.activation(g)
        h = self.gate(o) * self.activation(c)
        return h, (h, c)


class StackedCells(nn.Module):
    """Cells as one, each taking the output of the one before; the states are those of the first, then the next."""

    def __init__(self, cells, counts, reverse_states=False):
        super().__init__()
        self.cells = nn.ModuleList(cells)
        self.counts, self.reverse_states = counts, reverse_states  # how many states each cell has; their order

    def zeros(self, x):
        """The states that a sequence begins with, for the input of one step."""
        states = []
        for cell in self.cells:
            own = cell.zeros(x)
            states.append(own)
            x = cell(x, own)[0]
        return self.joined(states)

    def joined(self, states):
        """The states of all cells in a row."""
        return tuple(state for own in (states[::-1] if self.reverse_states else states) for state in own)

    def forward(self, x, states):
        counts = self.counts[::-1] if self.reverse_states else self.counts
        parts, found = [], []
        for count in counts:
            parts.append(states[:count])
            states = states[count:]
        for cell, own in zip(self.cells, parts[::-1] if self.reverse_states else parts, strict=True):
            x, new = cell(x, own)
            found.append(new)
        return x, self.joined(found)


def walk(cell, x, states=None):
    """Run a cell along time: (batch, time, ...) -> the outputs (batch, time, ...) and the final states."""
    states = cell.zeros(x[:, 0]) if states is None else states
    outputs = []
    for step in x.unbind(1):
        output, states = cell(step, states)
        outputs.append(output)
    return torch.stack(outputs, 1), states


def walk_masked(cell, x, mask, states=None, held="state"):
    """Run a cell along time; where the mask (batch, time) is False the states stay, and the output is the first one.

    Or, by `held`, the output there is that of the step before ("output"), or zero ("zero").
    """
    states = cell.zeros(x[:, 0]) if states is None else states
    outputs = []
    for step, valid in zip(x.unbind(1), mask.unbind(1), strict=True):
        output, found = cell(step, states)
        keeps = valid.view(-1, *[1] * (output.dim() - 1))
        before = states[0] if held == "state" else torch.zeros_like(output)
        if held == "output" and outputs:
            before = outputs[-1]
        outputs.append(torch.where(keeps, output, before))
        states = tuple(torch.where(keeps, new, old) for new, old in zip(found, states, strict=True))
    return torch.stack(outputs, 1), states


class GateDropout(nn.Linear):
    """The linear map of several gates; in training each drops inputs of its own, the same at all steps of a walk."""

    def __init__(self, features, outputs, bias, rate, gates):
        super().__init__(features, outputs, bias)
        self.rate, self.gates = rate, gates

    def draw(self, batch):
        """Choose what is dropped from now on."""
        ones = self.weight.new_ones(self.gates, batch, self.in_features)
        self.factors = F.dropout(ones, self.rate, self.training).unbind(0)

    def forward(self, x):
        kernels = self.weight.chunk(self.gates)
        parts = [F.linear(x * factor, kernel) for factor, kernel in zip(self.factors, kernels, strict=True)]
        return torch.cat(parts, -1) if self.bias is None else torch.cat(parts, -1) + self.bias


class GateDropoutConv(nn.Module):
    """The convolution of four gates; in training each drops inputs of its own, the same at all steps of a walk."""

    def __init__(self, convolution, rate):
        super().__init__()
        self.convolution, self.rate = convolution, rate

    def draw(self, images):
        """Choose what is dropped from now on, of images like these."""
        self.factors = F.dropout(images.new_ones(4, *images.shape), self.rate, self.training).unbind(0)

    def forward(self, x):
        if not self.training:
            return self.convolution(x)
        return torch.cat([self.convolution(x * f).chunk(4, 1)[k] for k, f in enumerate(self.factors)], 1)


class StateDropout(nn.Module):
    """A cell whose first state, wherever it is used, loses the same features at all steps of a walk, in training."""

    def __init__(self, cell, units, rate):
        super().__init__()
        self.cell, self.units, self.rate = cell, units, rate
        self.zeros = cell.zeros

    def draw(self, batch):
        """Choose what is dropped from now on."""
        like = next(self.parameters())
        self.factor = F.dropout(like.new_ones(batch, self.units), self.rate, self.training)

    def forward(self, x, states):
        return self.cell(x, (states[0] * self.factor, *states[1:]))
