"""What `import keras` has beside its modules; importing it lets scripts write in the old way."""

import numpy as np

from torchkeras.keras2 import (
    backend as K,  # not as `backend`, which in Keras is a module with modules inside
    old_arguments,
    old_backend,
    old_batch_norms,
    old_calls,
    old_class_weights,
    old_ends,
    old_functions,
    old_generators,
    old_graphs,
    old_initializers,
    old_lambdas,
    old_layers,
    old_lists,
    old_made,
    old_nodes,
    old_numpy,
    old_optimizers,
    old_phase,
    old_scores,
    old_seeds,
    old_tensors,
    old_totals,
    old_training,
    old_variables,
)
from torchkeras.keras2.backend import settings
from torchkeras.keras2.layers import Input
from torchkeras.keras2.session import get_session, set_session
from torchkeras.keras2.tf.arrays import constant
from torchkeras.keras2.tf.modules import made
from torchkeras.models import Model, Sequential

__all__ = ["Input", "Model", "Sequential"]

old_backend.extend()
old_batch_norms.extend()
old_tensors.extend()
old_layers.extend()
old_arguments.extend()
old_calls.extend()
old_functions.extend()
old_initializers.extend()
old_lambdas.extend()
old_numpy.extend()
old_optimizers.extend()
old_phase.extend()
old_class_weights.extend()
old_scores.extend()
old_graphs.extend()
old_ends.extend()
old_lists.extend()
old_made.extend()
old_training.extend()
old_totals.extend()
old_nodes.extend()
old_generators.extend()
old_seeds.extend()
old_variables.extend()  # after all that replaces functions
settings.answer("tensorflow")  # whose order of axes, padding and formulas these are
K.__dict__.update(_BACKEND=settings.backend(), _get_available_gpus=settings.gpu_names)
K.__dict__.update(get_session=get_session, set_session=set_session, _to_tensor=constant, _EPSILON=1e-7)
K.__dict__.update(py_all=all, py_any=any, py_sum=sum, np=np)
# What Keras's backend has imported itself.
K.__dict__.update(dict.fromkeys(("tf", "control_flow_ops", "tensor_array_ops", "functional_ops"), made("tensorflow")))
