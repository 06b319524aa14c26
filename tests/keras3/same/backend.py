"""Cases of `keras.backend` and `keras.config`."""

import itertools

import numpy as np
import torch

NAMES = """
bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128
""".split()  # noqa: SIM905
FLOATX = ("float32", "float16", "bfloat16", "float64")


def refused(function, *args):
    """The result, or the kind of error."""
    try:
        return function(*args)
    except (TypeError, ValueError) as error:
        return type(error).__name__


def with_floatx(keras, function):
    found = {}
    try:
        for each in FLOATX:
            keras.config.set_floatx(each)
            found[each] = function()
    finally:
        keras.config.set_floatx("float32")
    return found


def case_standardize_dtype(keras):
    given = [*NAMES, "string", "float8_e4m3fn", "float8_e5m2", "int", bool, int, float, str, complex]
    given += [getattr(torch, name) for name in NAMES]
    given += [np.dtype(name) for name in NAMES if name != "bfloat16"]
    given += [np.float32, np.int64, np.uint8, np.bool_, "float", "half", "no", "torch.float32", 3]
    return [
        [refused(keras.backend.standardize_dtype, each) for each in given],
        with_floatx(keras, lambda: keras.backend.standardize_dtype(None)),
    ]


def case_kinds_of_types(keras):
    given = [*NAMES, "float8_e5m2", "string", bool, int, float, torch.bfloat16, np.uint8]
    return [[keras.backend.is_float_dtype(each), keras.backend.is_int_dtype(each)] for each in given]


def case_result_type(keras):
    given = [*NAMES, int, float, bool, None]

    def found():
        pairs = itertools.product(given, given)
        return [refused(keras.backend.result_type), [refused(keras.backend.result_type, *pair) for pair in pairs]]

    return with_floatx(keras, found)


def case_result_type_of_three(keras):
    given = ["bool", "uint8", "uint64", "int8", "int64", "float16", "bfloat16", "complex64", int, float]
    return [refused(keras.backend.result_type, *three) for three in itertools.product(given, repeat=3)]


def case_result_type_refuses(keras):
    return [
        refused(keras.backend.result_type, *each)
        for each in (("string", "int32"), ("float8_e5m2", "float32"), ("string", "string"), ("no",), ("string",))
    ]


def case_settings(keras):
    config, backend = keras.config, keras.backend
    found = [config.backend(), backend.backend(), config.floatx(), config.epsilon(), config.image_data_format()]
    config.set_epsilon(1e-5)
    config.set_image_data_format("Channels_First")
    backend.set_floatx(value="float64")
    found += [backend.epsilon(), backend.image_data_format(), backend.floatx(), config.is_nnx_enabled()]
    backend.set_epsilon(value=1e-7)
    backend.set_image_data_format(data_format="channels_last")
    config.set_floatx("float32")
    found += [refused(config.set_floatx, "int32"), refused(config.set_image_data_format, "no")]
    return [*found, config.is_interactive_logging_enabled(), config.max_epochs(), config.max_steps_per_epoch()]


def case_switches(keras):
    config, found = keras.config, []
    config.disable_interactive_logging()
    found.append(config.is_interactive_logging_enabled())
    config.enable_interactive_logging()
    found.append(config.is_interactive_logging_enabled())
    config.disable_flash_attention()
    found.append(config.is_flash_attention_enabled())
    config.enable_flash_attention()
    config.set_max_epochs(3)
    config.set_max_steps_per_epoch(4)
    found += [config.max_epochs(), config.max_steps_per_epoch()]
    config.set_max_epochs(None)
    config.set_max_steps_per_epoch(None)
    return [*found, config.max_epochs(), config.max_steps_per_epoch()]


def case_clear_session(keras):
    keras.config.set_dtype_policy("mixed_bfloat16")
    keras.config.disable_interactive_logging()
    keras.backend.get_uid("thing")
    keras.backend.clear_session(free_memory=False)
    return [
        keras.config.dtype_policy().name,
        keras.config.is_interactive_logging_enabled(),
        keras.backend.get_uid("thing"),
        keras.backend.get_uid("thing"),
        keras.backend.get_uid(prefix="other"),
        keras.backend.get_uid(),
        keras.backend.is_keras_tensor(keras.ops.ones((2,))),
        keras.backend.is_keras_tensor(1),
    ]
