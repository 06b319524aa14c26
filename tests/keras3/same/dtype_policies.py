"""Cases of `keras.dtype_policies` and `keras.mixed_precision`."""

import numpy as np
import torch


def refused(function, *args):
    """The kind of error, or None."""
    try:
        function(*args)
    except (TypeError, ValueError) as error:
        return type(error).__name__
    return None


def facts(policy):
    return [policy.name, policy.compute_dtype, policy.variable_dtype, policy.quantization_mode, repr(policy)]


def case_policies(keras):
    names = ("float32", "float64", "bfloat16", "float16", "int32", "bool", "mixed_float16", "mixed_bfloat16")
    policies = keras.dtype_policies
    return [
        [facts(policies.DTypePolicy(name)) for name in names],
        facts(policies.FloatDTypePolicy("float32")),
        facts(policies.DTypePolicy()),
        policies.DTypePolicy("float32") == policies.FloatDTypePolicy("float32"),
        policies.DTypePolicy("float32") == policies.DTypePolicy("float64"),
        policies.DTypePolicy("float32").get_config(),
        facts(policies.DTypePolicy.from_config({"name": "mixed_float16"})),
        refused(policies.DTypePolicy, "no"),
        refused(policies.DTypePolicy, "mixed_no"),
    ]


def case_get(keras):
    get = keras.dtype_policies.get
    given = ["float16", "mixed_bfloat16", torch.float64, np.float32, np.dtype("float16"), float, None]
    given += [{"class_name": "DTypePolicy", "config": {"name": "bfloat16"}}, keras.dtype_policies.DTypePolicy("int8")]
    return [*[facts(get(each)) for each in given], refused(get, "no"), refused(get, 3), refused(get, object())]


def case_serialize(keras):
    policies = keras.dtype_policies
    written = policies.serialize(policies.DTypePolicy("mixed_bfloat16"))
    return [written, facts(policies.deserialize(written))]


def case_the_policy_of_all_layers(keras):
    mixed, found = keras.mixed_precision, [facts(keras.config.dtype_policy())]
    mixed.set_global_policy("mixed_bfloat16")
    found += [facts(mixed.global_policy()), facts(keras.dtype_policies.DTypePolicy())]
    keras.config.set_dtype_policy(mixed.Policy("float16"))
    found += [facts(mixed.dtype_policy()), facts(keras.dtype_policies.get(None))]
    mixed.set_dtype_policy("float32")
    found += [refused(keras.config.set_dtype_policy, None), refused(keras.config.set_dtype_policy, 3)]
    return [*found, refused(keras.config.set_dtype_policy, "no"), facts(keras.config.dtype_policy())]


def case_convert_input(keras):
    policy = keras.dtype_policies.DTypePolicy("mixed_float16")
    given = [np.ones(2, "float32"), np.ones(2, "int32"), torch.ones(2), torch.ones(2, dtype=torch.int32)]
    found = []
    for x in given:
        for autocast in (True, False):
            tensor = policy.convert_input(x, autocast, "float16")
            found.append(keras.backend.standardize_dtype(tensor.dtype))
    return [*found, policy.convert_input("text", True, "float16"), policy.convert_input(1.5, True, "float16")]


def case_maps(keras):
    policies = keras.dtype_policies
    bfloat16, float16 = policies.DTypePolicy("bfloat16"), policies.DTypePolicy("float16")
    made = policies.DTypePolicyMap(default_policy="float64")
    made["encoder/layer_0/dense"] = bfloat16
    made["encoder/.*"] = "float16"
    made["decoder"] = bfloat16
    found = [
        made.name,
        made.compute_dtype,
        made.variable_dtype,
        made.quantization_mode,
        len(made),
        list(made),
        made["encoder/layer_0/dense"].name,
        made["encoder/attention/query"].name,
        made["decoder/attention"].name,
        made["decoder"].name,
        "decoder" in made,
        "encoder/a" in made,
        {key: value.name for key, value in made.items()},
    ]
    made["encoder/attention/.*"] = float16
    found += [refused(made.__getitem__, "encoder/attention/query"), refused(made.__setitem__, "decoder", float16)]
    found += [refused(made.__setitem__, "new", 3), refused(policies.DTypePolicyMap, made)]
    found += [refused(policies.DTypePolicyMap, None, [1]), made.pop("decoder").name, len(made)]
    written = made.get_config()
    again = policies.DTypePolicyMap.from_config(written)
    other = policies.deserialize(policies.serialize(made))
    return [*found, written, {key: each.name for key, each in again.items()}, again.default_policy.name, len(other)]
