"""Rules of options: what they keep, what they refuse and in which words, and when defaults are read."""

import math
import re
from typing import Annotated, Any, cast

import numpy as np
import pytest
import torch

from torchkeras.activations import tanh
from torchkeras.base import rules
from torchkeras.config import set_image_data_format
from torchkeras.engine.options import NEWER
from torchkeras.layers import LSTM, Conv2D, Dense, Layer
from torchkeras.optimizers import SGD, Adam
from torchkeras.optimizers.base import RULES
from torchkeras.registry import custom_object_scope

KEPT = [
    (rules.FLAG, np.True_, True),
    (rules.FLAG_OR_DIGIT, 1, True),
    (rules.NUMBER, math.inf, math.inf),
    (rules.NUMBER, torch.tensor(0.5), 0.5),
    (rules.AT_LEAST_0, np.float32(0.5), 0.5),
    (rules.integer(), np.int64(3), 3),
    (rules.optional(rules.integer(1)), None, None),
    (rules.one_of(None, "a"), "a", "a"),
    (rules.word("ROC", "PR"), "roc", "ROC"),
    (rules.several(rules.SHARE), np.array([0, 1]), [0.0, 1.0]),
    (rules.several(rules.SHARE), 1, 1.0),
    (rules.integers("must hold axes"), 2, (2,)),
]
REFUSED = [
    (rules.FLAG, 1, "must be True or False; found 1."),
    (rules.FLAG_OR_DIGIT, 2, "must be True, False, 1 or 0; found 2."),
    (rules.STRING, 1, "must be a string; found 1."),
    (rules.NUMBER, True, "must be a number; found True."),
    (rules.NUMBER, math.nan, "must be a number; found nan."),
    (rules.FINITE, math.inf, "must be a finite number; found inf."),
    (rules.AT_LEAST_0, math.inf, "must be a number of at least 0; found inf."),
    (rules.integer(0), 1.0, "must be an integer of at least 0; found 1.0."),
    (rules.integer(1, 3), 4, "must be an integer from 1 to 3; found 4."),
    (rules.optional(rules.integer()), True, "must be an integer, or None; found True."),
    (rules.one_of("a", None), ["a"], "must be one of 'a', None; found ['a']."),
    (rules.one_of(None), "a", "must be None; found 'a'."),
    (rules.word("ROC", "PR"), 3, "must be one of 'ROC', 'PR'; found 3."),
    (rules.several(rules.SHARE), [0, 2], "must be a number from 0 to 1; found 2."),
]


@pytest.mark.parametrize(("rule", "value", "kept"), KEPT)
def test_what_is_kept(rule, value, kept):
    found = rule.read(value)
    assert (found, type(found)) == (kept, type(kept))


@pytest.mark.parametrize(("rule", "value", "text"), REFUSED)
def test_what_is_refused(rule, value, text):
    with pytest.raises(ValueError, match=f"^Owner: option {re.escape(text)}$"):
        rules.read("Owner", "option", rule, value)


def test_a_layer_has_its_own_initializer():
    first, second = Dense(2), Dense(2)
    assert first.kernel_initializer is not second.kernel_initializer
    assert first.get_config()["kernel_initializer"] == second.get_config()["kernel_initializer"]


def test_a_default_that_follows_the_configuration_is_read_again():
    assert Conv2D(1, 1).data_format == "channels_last"
    set_image_data_format("channels_first")
    try:
        assert Conv2D(1, 1).data_format == "channels_first"
    finally:
        set_image_data_format("channels_last")


def test_a_custom_object_with_the_name_of_a_default_counts_inside_its_scope_only():
    def own(x):
        return x

    assert LSTM(2).activation is tanh
    with custom_object_scope({"tanh": own}):
        assert LSTM(2).activation is own
    assert LSTM(2).activation is tanh


def test_newer_options_come_last_unless_the_order_names_them():
    class Base(Layer):
        newer: Annotated[int, NEWER] = 1
        shared: int = 2

    class Ordered(Base):
        own: int = 3

        _option_order = ("own", "newer")

    assert list(Base._options) == ["shared", "newer"]
    assert list(Ordered._options) == ["shared", "own", "newer"]


def test_the_options_of_an_optimizer_are_read_when_it_is_made_and_when_they_are_set():
    made = SGD(lr=cast(Any, np.float32(0.5)), momentum=0)
    assert (type(made.lr), type(made.momentum)) == (float, float)
    made.lr = 1
    assert type(made.lr) is float
    with pytest.raises(ValueError, match=re.escape("Adam: beta_1 must be a number from 0 to below 1; found 1.")):
        Adam(beta_1=1)


def test_every_option_of_adam_has_a_rule():
    assert {name for name in vars(Adam()) if name in Adam.__dataclass_fields__} <= set(RULES)
