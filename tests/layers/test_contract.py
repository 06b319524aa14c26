"""What holds for every layer: one table of layers and inputs, one contract.

Symbolic shapes are real shapes, configs make the layer again, gradients are right, channels first equals channels last,
half precision runs, masks pass or are refused as Keras has it, copies and pickles compute the same, options may be set
again, and a layer compiles whole but for the recurrent ones that run torch's own kernels.
"""

import copy
import json
import pickle
from typing import Any

import pytest
import torch
from table import ROWS, Row

from torchkeras import config, layers, registry
from torchkeras.engine.layer.changed_options import by_hand
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.layers import Input
from torchkeras.models import Model


def every(part: str) -> Any:
    found = [row for row in ROWS if part not in row.differs]
    return pytest.mark.parametrize("row", found, ids=[f"{row.call}-{row.inputs}" for row in found])


def symbolic(row: Row, unknown: tuple[int, ...]) -> Any:
    """Symbolic inputs; the first one has these unknown axes."""
    tensors = as_list(row.tensors())
    found = []
    for number, tensor in enumerate(tensors):
        shape = [None if number == 0 and axis in unknown else size for axis, size in enumerate(tensor.shape)]
        found.append(Input(batch_shape=(None, *shape[1:]), dtype=str(tensor.dtype).removeprefix("torch.")))
    return found if len(found) > 1 else found[0]


def values(outputs: Any) -> list[torch.Tensor]:
    return [output.detach() for output in as_list(outputs)]


def called(row: Row) -> tuple[Layer, Any, list[torch.Tensor]]:
    """The layer in evaluation mode, called on its inputs: layer, inputs and outputs."""
    layer, tensors = row.make().eval(), row.tensors()
    return layer, tensors, values(layer(tensors))


def assert_same(found: Any, expected: list[torch.Tensor], **tolerance: Any) -> None:
    for mine, other in zip(values(found), expected, strict=True):
        torch.testing.assert_close(mine, other, **tolerance)


def test_every_layer_is_in_the_table():
    others = {"Model", "Sequential", "InputLayer", "Merge"}  # Merge makes one of the others
    lacking = set(registry.layers.names()) - others - {row.name for row in ROWS}
    assert not lacking, "add a row for each of them to ROWS in tests/layers/table.py"


@every("shapes")
def test_symbolic_shapes_are_the_real_ones(row: Row):
    layer, _, outputs = called(row)
    for unknown in ((), row.unknown):
        tensors = symbolic(row, unknown)
        found = as_list(layer(tensors))
        assert len(found) == len(outputs)
        for tensor, output in zip(found, outputs, strict=True):
            assert len(tensor.shape) == output.dim()
            assert tensor.dtype == output.dtype
            assert tensor.shape[0] is None
            pairs = list(zip(tensor.shape[1:], output.shape[1:], strict=True))
            assert all(size in (None, real) for size, real in pairs)
            if not unknown:
                assert tensor.shape[1:] == tuple(output.shape[1:])
        told = layer.compute_output_shape([t.shape for t in tensors] if isinstance(tensors, list) else tensors.shape)
        assert (told if isinstance(told, list) else [told]) == [tensor.shape for tensor in found]


@every("shapes")
def test_parameters_are_contiguous(row: Row):
    """As safetensors and FSDP2's `fully_shard` want them."""
    layer, _, _ = called(row)
    assert all(parameter.is_contiguous() for parameter in layer.parameters())


@every("config")
def test_config_makes_the_layer_again(row: Row):
    layer, tensors, outputs = called(row)
    written = json.loads(json.dumps(layer.get_config()))
    again = type(layer).from_config(written).eval()
    assert json.loads(json.dumps(again.get_config())) == written
    again(tensors)
    again.set_weights(layer.get_weights())
    assert_same(again(tensors), outputs)


@every("config")
def test_a_config_may_have_the_shape_of_the_input(row: Row):
    """As that of the first layer of a Sequential has it in files."""
    layer, shape = row.make(), (None, *as_list(row.tensors())[0].shape[1:])
    again = type(layer).from_config({**layer.get_config(), "batch_input_shape": shape})
    assert again.batch_input_shape == shape


def test_the_number_of_axes_may_follow_from_an_option():
    assert layers.Permute((2, 1), input_dim=4).batch_input_shape == (None, None, 4)


@every("gradients")
def test_gradients(row: Row):
    layer, tensors = row.make().eval(), row.tensors(torch.float64)
    layer(row.tensors())
    layer.double()
    weights = dict(layer.named_parameters())
    names, several = list(weights), isinstance(tensors, list)
    trained = [weight.detach().requires_grad_() for weight in weights.values()]
    inputs = [tensor.requires_grad_(tensor.is_floating_point()) for tensor in as_list(tensors)]

    def compute(*given: torch.Tensor) -> Any:
        state = dict(zip(names, given[len(inputs) :], strict=True))
        taken = list(given[: len(inputs)]) if several else given[0]
        found = torch.func.functional_call(layer, state, (taken,))
        return tuple(found) if isinstance(found, list) else found

    assert torch.autograd.gradcheck(compute, (*inputs, *trained))


CHANNELS = [
    row for row in ROWS if "data_format" in getattr(layers, row.name)._options and "channels" not in row.differs
]


@pytest.mark.parametrize("row", CHANNELS, ids=[row.call for row in CHANNELS])
def test_channels_first_equals_channels_last(row: Row):
    last, tensors, outputs = called(row)
    assert last.data_format == "channels_last"
    before = config.image_data_format()
    config.set_image_data_format("channels_first")
    try:
        first = type(last).from_config({**last.get_config(), "data_format": "channels_first"}).eval()
    finally:
        config.set_image_data_format(before)
    lead = 2 if "LSTM" in row.name or "RNN" in row.name else 1  # the batch axis, and that of time
    turned = tensors.movedim(-1, lead)
    first(turned)
    first.set_weights(last.get_weights())
    for mine, other in zip(values(first(turned)), outputs, strict=True):
        axis = other.dim() - (tensors.dim() - lead)
        torch.testing.assert_close(mine, other.movedim(-1, axis) if other.dim() > 2 and axis > 0 else other)


@pytest.mark.torch("2.6", "kernels of half types on the CPU")
@every("half")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(row: Row, dtype: torch.dtype):
    layer, tensors, outputs = called(row)
    layer.to(dtype)
    given = [tensor.to(dtype) if tensor.is_floating_point() else tensor for tensor in as_list(tensors)]
    found = values(layer(given if len(given) > 1 else given[0]))
    assert all(output.dtype == dtype for output in found)
    assert_same([output.float() for output in found], outputs, atol=0.1, rtol=0.1)


@every("masks")
def test_masks_pass_end_or_are_refused(row: Row):
    layer, tensors, outputs = called(row)
    masks = [torch.ones(tensor.shape[:2], dtype=torch.bool) for tensor in as_list(tensors)]
    mask = masks if len(masks) > 1 else masks[0]
    if row.masks == "refuse":
        with pytest.raises(
            (TypeError, ValueError), match=r"^Layer \S+ does not support masking|Masking is not supported"
        ):
            layer.compute_mask(tensors, mask)
        return
    found = layer.compute_mask(tensors, mask)
    assert (as_list(found)[:1] == [None] or found is None) == (row.masks == "end")
    if row.masks == "pass":
        assert len(as_list(found)) == len(as_list(outputs))  # a graph has a mask for each output


@every("copies")
def test_copies_and_pickles_compute_the_same(row: Row):
    layer, tensors, outputs = called(row)
    for again in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301  # our own bytes
        assert_same(again(tensors), outputs)
        assert again is not layer


@every("shapes")
def test_an_option_that_is_set_to_what_it_is_changes_nothing(row: Row):
    layer, tensors, outputs = called(row)
    for name in layer._changeable:
        setattr(layer, name, getattr(layer, name))
    assert not list(by_hand(layer))
    if "copies" not in row.differs:
        assert_same(layer(tensors), outputs)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@every("compiles")
def test_compiles_whole(row: Row):
    torch._dynamo.reset()
    inputs = symbolic(row, ())
    layer = row.make()
    model = Model(inputs, layer(inputs)).eval()
    tensors = row.tensors()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    assert_same(compiled(tensors), values(model(tensors)))
