"""`model.forward` has the inputs of the graph as its parameters, as torch.export and others read them."""

import copy
import inspect
import pickle

import pytest
import torch
from torch.export import Dim, export

from torchkeras.layers import Concatenate, Conv2D, Dense, Flatten, Input
from torchkeras.models import Model, Sequential


def two_inputs():
    query, key = Input((4,), name="query"), Input((4,), name="key 2")
    return Model([query, key], Dense(3)(Concatenate()([query, key])))


def of_a_dict():
    inputs = {"words": Input((4,), name="w"), "image": Input((4,), name="i")}
    return Model(inputs, {"score": Dense(3)(Concatenate()([inputs["image"], inputs["words"]]))})


def parameters(model):
    return list(inspect.signature(model.forward).parameters)


def test_the_parameters_are_the_inputs():
    model = two_inputs()
    assert parameters(model) == ["query", "key_2"]
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  # our own
    assert parameters(again) == parameters(copy.deepcopy(model)) == parameters(model)
    assert parameters(Sequential([Dense(2, input_shape=(3,), name="first")])) == ["first_input"]
    assert parameters(of_a_dict()) == ["image", "words"]  # its keys, in Keras's order


def test_names_that_python_does_not_allow_are_distinct_parameters():
    first, second = Input((4,), name="x-1"), Input((4,), name="x+1")
    assert parameters(Model([first, second, third := Input((4,), name="class")], [first, second, third])) == [
        "x_1",
        "x_1_",
        "input_class",
    ]


def test_forward_takes_inputs_by_position_by_name_and_in_a_list():
    model, x, y = two_inputs(), torch.rand(2, 4), torch.rand(2, 4)
    expected = model([x, y])
    for found in (model.forward(x, y), model.forward([x, y]), model.forward(key_2=y, query=x), model(x, y)):
        assert torch.equal(found, expected)
    for found in (model(x, key_2=y), model(key_2=y, query=x), model(x, **{"key 2": y})):
        assert torch.equal(found, expected)


def test_each_input_comes_once():
    model, x = two_inputs(), torch.rand(2, 4)
    for args, found in (((x,), "Tensor"), ((x, x), "Tensor, Tensor"), (([x],), "list")):
        with pytest.raises(ValueError, match="by position or by name") as caught:
            model(*args, query=x)
        assert str(caught.value) == (
            f"Model {model.name!r}: each input comes once, by position or by name; found {found} by position, query by "
            "name."
        )


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_torch_exports_and_compiles_a_call_by_position_and_name():
    model, x, y = two_inputs().eval(), torch.rand(2, 4), torch.rand(2, 4)
    batch = {0: Dim("n")}
    program = export(model, (x,), {"key_2": y}, dynamic_shapes={"query": batch, "key_2": batch}).module()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    for found in (program(x, key_2=y), compiled(x, key_2=y)):
        torch.testing.assert_close(found, model(x, y))


@pytest.mark.parametrize("count", [1, 3])
def test_another_number_of_inputs_is_refused(count):
    with pytest.raises(ValueError, match=rf"has 2 inputs \(query, key 2\); it was called with {count}\.$"):
        two_inputs().forward(*[torch.rand(2, 4)] * count)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("axes", ["names", "tuple"])
def test_torch_exports_with_dynamic_axes(axes):
    model, x, y = two_inputs().eval(), torch.rand(2, 4), torch.rand(2, 4)
    batch = {0: Dim("n")}
    dynamic = {"query": batch, "key_2": batch} if axes == "names" else (batch, batch)
    program = export(model, (x, y), dynamic_shapes=dynamic).module()
    more = torch.rand(5, 4)
    torch.testing.assert_close(program(more, more), model([more, more]))


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_torch_exports_an_image_model_by_name():
    image = Input((8, 8, 3), name="image")
    model = Model(image, Dense(3)(Flatten()(Conv2D(4, 3)(image)))).eval()
    x = torch.rand(2, 8, 8, 3)
    program = export(model, (), {"image": x}, dynamic_shapes={"image": {0: Dim("n")}}).module()
    more = torch.rand(5, 8, 8, 3)
    torch.testing.assert_close(program(image=more), model(more))


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_torch_exports_a_model_of_a_dict():
    model, x, y = of_a_dict().eval(), torch.rand(2, 4), torch.rand(2, 4)
    by_dict = export(model, ({"words": x, "image": y},)).module()
    by_name = export(model, (), {"words": x, "image": y}).module()
    expected = model({"words": x, "image": y})["score"]
    torch.testing.assert_close(by_dict({"words": x, "image": y})["score"], expected)
    torch.testing.assert_close(by_name(words=x, image=y)["score"], expected)
    torch.testing.assert_close(model(w=x, i=y)["score"], expected)  # the names of the inputs themselves


class OwnCall(Model):
    def __init__(self):
        super().__init__()
        self.dense = Dense(3)

    def call(self, image, scale=None):
        return self.dense(image) if scale is None else self.dense(image) * scale


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_code_of_ones_own_has_its_own_parameters():
    model = OwnCall()
    model(torch.rand(2, 4))
    assert parameters(model) == ["image", "scale"]
    model.eval()
    dynamic = {"image": {0: Dim("n")}, "scale": None}
    program = export(model, (torch.rand(2, 4), 2.0), dynamic_shapes=dynamic).module()
    more = torch.rand(5, 4)
    torch.testing.assert_close(program(more, 2.0), model(more, 2.0))


def test_output_shapes_of_shapes_in_a_dict():
    by_key, listed = of_a_dict(), two_inputs()
    assert by_key.compute_output_shape({"words": (5, 4), "image": (5, 4)}) == {"score": (5, 3)}
    assert listed.compute_output_shape({"query": (5, 4), "key 2": (5, 4)}) == (5, 3)
    assert listed.compute_output_shape([(5, 4), (5, 4)]) == (5, 3)
    with pytest.raises(ValueError, match=r"has the inputs query, key 2; it was called with query\.$"):
        listed.compute_output_shape({"query": (5, 4)})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # of torch's own code, as the next
@pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")
def test_aot_inductor_compiles_what_torch_exports(tmp_path):
    model, x, y = two_inputs().eval(), torch.rand(2, 4), torch.rand(2, 4)
    batch = {0: Dim("n", max=64)}
    program = export(model, (x, y), dynamic_shapes={"query": batch, "key_2": batch})
    path = torch._inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "model.pt2"))
    compiled, more = torch._inductor.aoti_load_package(path), torch.rand(5, 4)
    torch.testing.assert_close(compiled(more, more), model([more, more]))
