"""Pictures of a model, and the inputs that a tensor is computed from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torchkeras import visualization
from torchkeras.base.annexes import annex
from torchkeras.base.rules import read_path, refuse_unknown

OWN = (".svg", ".txt")  # drawn without Graphviz


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: float = 200,
    subgraph: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    splines: str = "ortho",
    **kwargs: Any,
) -> Any:
    """A model's graph in the DOT language of Graphviz, as text with a method `create(format="svg")`.

    Arguments:
        model (model): the model, built.
        show_shapes (bool, default False): whether a box has the shapes of inputs and outputs.
        show_dtype (bool, default False): whether a box has the types of the outputs.
        show_layer_names (bool, default True): whether a box has the name of the layer next to its class.
        rankdir (text, default "TB"): the direction: "TB" from top to bottom, "BT", "LR" or "RL".
        expand_nested (bool, default False): whether a model inside is drawn as a frame with its own layers.
        dpi (positive number, default 200): dots per inch.
        subgraph (False, default False): True is refused.
        show_layer_activations (bool, default False): whether a box has the activation.
        show_trainable (bool, default False): whether a box says if the layer trains.
        splines (text, default "ortho"): how lines are drawn: "ortho", "curved", "polyline", "spline" or "line".

    Errors:
        TypeError: `model` is no model, or an option is unknown.
        RuntimeError: the model is not built yet.
        ValueError: an option has a bad value.

    Example:
        >>> model_to_dot(Sequential([Dense(1, input_shape=(2,), name="out")])).splitlines()[0]
        'digraph model {'

    Source: https://keras.io/api/utils/model_plotting_utils/
    """
    _check_options("model_to_dot", kwargs)
    if subgraph:
        raise ValueError("model_to_dot: subgraph must be False: models inside are drawn by expand_nested=True.")
    return visualization.model_to_dot(
        model, show_shapes, show_layer_names, rankdir, expand_nested, int(dpi), show_dtype, show_layer_activations,
        show_trainable, splines,
    )  # fmt: skip


def plot_model(
    model: Any,
    to_file: str | os.PathLike[str] = "model.png",
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = False,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: float = 200,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    splines: str = "ortho",
    **kwargs: Any,
) -> Any:
    """Draw the layers, and the tensors between them, into a file; a notebook shows the result.

    `.svg` and `.txt` need no program, and have lines of one form. All else is drawn by Graphviz's program `dot`.

    Arguments:
        model (model): the model, built.
        to_file (path, default "model.png"): the file, whose suffix says what it holds.
        show_shapes (bool, default False): whether a box has the shapes of inputs and outputs.
        show_dtype (bool, default False): whether a box has the types of the outputs.
        show_layer_names (bool, default False): whether a box has the name of the layer next to its class.
        rankdir (text, default "TB"): the direction: "TB" from top to bottom, "BT", "LR" or "RL".
        expand_nested (bool, default False): whether a model inside is drawn as a frame with its own layers.
        dpi (positive number, default 200): dots per inch.
        show_layer_activations (bool, default False): whether a box has the activation.
        show_trainable (bool, default False): whether a box says if the layer trains.
        splines (text, default "ortho"): how lines are drawn: "ortho", "curved", "polyline", "spline" or "line".

    Errors:
        TypeError: `model` is no model, `to_file` no path, or an option is unknown.
        RuntimeError: the model is not built yet, or `dot` fails.
        ImportError: the format is one of Graphviz's, and its program `dot` is not on the PATH.
        ValueError: an option has a bad value.

    Example:
        >>> model = Sequential([Dense(1, input_shape=(2,), name="out")])
        >>> plot_model(model, "model.svg", show_shapes=True).path.name
        'model.svg'

    Source: https://keras.io/api/utils/model_plotting_utils/
    """
    _check_options("plot_model", kwargs)
    suffix = Path(read_path("plot_model", "to_file", to_file)).suffix.lower()
    is_default = suffix == ".txt" and dpi == 200
    return visualization.plot_model(
        model, to_file, show_shapes, show_layer_names, rankdir, expand_nested, 96 if is_default else int(dpi),
        show_dtype, show_layer_activations, show_trainable, None if suffix in OWN and splines == "ortho" else splines,
    )  # fmt: skip


def _check_options(function: str, given: dict[str, Any]) -> None:
    """Raise an error for an option that there is not; `layer_range`, of Keras 2, may be None."""
    if given.pop("layer_range", None) is not None:
        raise ValueError(f"{function}: layer_range is not in Keras 3; draw a Model of those layers.")
    refuse_unknown(function, given, ())


def get_source_inputs(tensor: Any) -> Any:
    """The inputs that a symbolic tensor is computed from, each once; another tensor is returned as it is.

    Arguments:
        tensor (tensor): the tensor.

    Example:
        >>> inputs = Input((2,))
        >>> get_source_inputs(Dense(1)(inputs))[0] is inputs
        True

    Source: https://keras.io/api/utils/
    """
    return annex("sources of tensors").get_source_inputs(tensor)
