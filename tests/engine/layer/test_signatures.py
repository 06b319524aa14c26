"""What `inspect.signature` and `help` say of a public class is how it is made."""

import inspect
import pydoc
import re
from typing import Any

import pytest

from torchkeras import callbacks, layers, losses, metrics, models, optimizers
from torchkeras.layers import Dense, Layer
from torchkeras.models import Model

CLASSES: dict[str, Any] = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in (layers, losses, metrics, optimizers, optimizers.schedules, callbacks, models)
    for name, value in vars(module).items()
    if inspect.isclass(value) and value.__module__.startswith("torchkeras") and value.__name__ == name
    if name in getattr(module, "__all__", [name]) and not name.startswith("_")
}
BY_POSITION = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY
BY_NAME = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


class Nothing:
    """What no option can use."""


def said(cls: Any, *args: Any, **given: Any) -> str:
    """The error of making an object; empty if there is none."""
    try:
        cls(*args, **given)
    except Exception as error:  # noqa: BLE001  (of any kind: the values are wrong)
        return str(error)
    return ""


def parameters(cls: Any, kinds: tuple[Any, ...]) -> list[str]:
    return [name for name, each in inspect.signature(cls).parameters.items() if each.kind in kinds]


def in_one_line(text: str) -> str:
    """A text without spaces and margins: from Python 3.14 on, `help` breaks long signatures."""
    return re.sub(r"[\s|]+", "", text)


@pytest.mark.parametrize("name", CLASSES)
def test_every_argument_of_the_signature_is_one(name):
    cls = CLASSES[name]
    errors = [said(cls, **{argument: Nothing()}) for argument in parameters(cls, BY_NAME)]
    assert [error for error in errors if "unexpected keyword" in error or "unknown option" in error] == []


@pytest.mark.parametrize("name", CLASSES)
def test_no_more_arguments_go_by_position_than_the_signature_shows(name):
    cls = CLASSES[name]
    if any(each.kind is each.VAR_POSITIONAL for each in inspect.signature(cls).parameters.values()):
        assert name in ("losses.FunctionLoss", "callbacks.TorchScheduler")
        return
    places = parameters(cls, BY_POSITION)
    error = said(cls, *[Nothing() for _ in (*places, "one more")])
    assert any(text in error for text in ("positional argument", "takes no arguments"))


@pytest.mark.parametrize("name", CLASSES)
def test_help_shows_the_signature(name):
    cls = CLASSES[name]
    text = pydoc.plain(pydoc.render_doc(cls))
    shown = inspect.signature(cls)
    assert not shown.parameters or in_one_line(f"{cls.__name__}{shown}") in in_one_line(text)


class Twice(Dense):
    """Two units for each that is asked for.

    Shapes:
        (batch, features) -> (batch, 2 * half)
    """

    def __init__(self, half: int, **options: Any):
        super().__init__(2 * half, use_bias=False, **options)


class TwiceAgain(Twice):
    extra: int = 3  # no option: the `__init__` that is run does not take it


class Wider(Dense):
    more: int = 1


class ByHand(Layer):
    def __init__(self, size: int = 3):
        super().__init__()
        self.size = size


class Named(Model):
    def __init__(self, size: int):
        super().__init__(name="named")
        self.dense = Dense(size)

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


@pytest.mark.parametrize(
    ("cls", "signature"),
    [
        (Twice, "(half: int, **options: Any)"),
        (TwiceAgain, "(half: int, **options: Any)"),
        (ByHand, "(size: int = 3)"),
        (Named, "(size: int)"),
        (Model, "(inputs: 'Any' = None, outputs: 'Any' = None, name: 'str | None' = None, dtype: 'Any' = None)"),
        (models.Sequential, "(layers: 'Any' = None, name: 'str | None' = None, dtype: 'Any' = None)"),
    ],
)
def test_a_class_with_a_constructor_of_its_own_shows_it(cls, signature):
    assert str(inspect.signature(cls)).replace("typing.", "") == signature


def test_a_field_more_is_an_option_more_behind_those_that_must_be_given():
    assert list(inspect.signature(Wider).parameters)[:4] == ["units", "more", "activation", "use_bias"]
    layer = Wider(4, 2)
    assert (layer.units, layer.more) == (4, 2)


@pytest.mark.parametrize("cls", [Twice, TwiceAgain])
def test_a_constructor_of_ones_own_hands_options_to_the_layer_that_declares_them(cls):
    layer = cls(4, activation="relu", name="twice")
    assert (layer.units, layer.use_bias, layer.name) == (8, False, "twice")
    assert layer.get_config()["units"] == 8
    assert TwiceAgain.extra == 3


def test_the_options_of_the_layer_are_not_said_of_a_constructor_that_hides_them():
    assert "kernel_initializer (" in (inspect.getdoc(Wider) or "")
    assert "kernel_initializer (" not in (inspect.getdoc(Twice) or "")
