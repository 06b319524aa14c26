"""`plot_model`: a model's graph as a file, drawn by torchkeras itself or by Graphviz's program `dot`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchkeras.base.atomic_file import replacing
from torchkeras.base.rules import known_options, one_of, optional, read, read_path
from torchkeras.visualization.dot import SPLINES, check_options, model_to_dot
from torchkeras.visualization.labels import Shown, checked_graph
from torchkeras.visualization.svg import model_to_svg
from torchkeras.visualization.text import text_graph

if TYPE_CHECKING:
    from torchkeras.models.model import Model

# What `dot` is asked for, by the suffix of the file. Keras writes a PNG to a name without a suffix.
PICTURES = {"": "png", **{f".{kind}": kind for kind in ("png", "pdf", "jpg", "jpeg", "gif", "eps", "ps")}}
SOURCES = (".dot", ".gv")
TEXTS = (".txt",)
DRAWN = (".svg",)
KNOWN = sorted({*PICTURES, *SOURCES, *TEXTS, *DRAWN} - {""})


@dataclass(frozen=True)
class Picture:
    """A file that `plot_model` wrote. It shows itself as the last value of a notebook's cell."""

    path: Path

    def _repr_png_(self) -> bytes | None:
        return self.path.read_bytes() if PICTURES.get(self.path.suffix.lower()) == "png" else None

    def _repr_svg_(self) -> str | None:
        return self.path.read_text("utf-8") if self.path.suffix.lower() == ".svg" else None


@known_options
def plot_model(
    model: Model,
    to_file: str | os.PathLike[str] | None = None,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    show_dtype: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    splines: str | None = None,
) -> Picture:
    """Draw the layers, and the tensors between them, into a file.

    The suffix of the file says how. `.svg` is the picture of `model_to_svg`, which needs no program. `.png` (also
    without a suffix), `.pdf`, `.jpg`, `.gif`, `.eps` and `.ps` are drawn by the program `dot` of Graphviz
    (https://graphviz.org), which must be installed. `.dot` and `.gv` are the text of `model_to_dot`, and `.txt` is the
    drawing of `text_graph`. Graphviz's own SVG is `model_to_dot(model).create(format="svg")`.

    Arguments:
        model (model): the model, built.
        to_file (path or None, default None): the file; None is "model.png" where `dot` is installed, and "model.svg"
            elsewhere.
        show_shapes (bool, default False): whether a box has the shapes of inputs and outputs; in SVG, a line that of
            its tensor.
        show_layer_names (bool, default True): whether a box has the name of the layer next to its class.
        rankdir (text, default "TB"): the direction: "TB" from top to bottom, "BT", "LR" or "RL".
        expand_nested (bool, default False): whether a model inside is drawn as a frame with its own layers.
        dpi (positive number, default 96): dots per inch.
        show_dtype (bool, default False): whether a box has the types of the outputs; in SVG, a line that of its
            tensor.
        show_layer_activations (bool, default False): whether a box has the activation.
        show_trainable (bool, default False): whether a box says if the layer trains.
        splines (text or None, default None): how Graphviz draws lines: "ortho", "curved", "polyline", "spline" or
            "line"; None is its own choice. Lines in SVG and text have one form.

    Returns:
        A `Picture`, whose `path` is the file and which a notebook shows.

    Errors:
        TypeError: `model` is no model, or `to_file` no path.
        RuntimeError: the model is not built yet, or `dot` fails.
        ImportError: the format is one of Graphviz's, and its program `dot` is not on the PATH.
        ValueError: an option has a bad value.

    Example:
        >>> model = Sequential([Dense(1, input_shape=(2,), name="out")])
        >>> plot_model(model, "model.svg", show_shapes=True).path.name
        'model.svg'

    Source: https://keras.io/api/utils/model_plotting_utils/
    """
    if to_file is None:
        to_file = "model.png" if shutil.which("dot") else "model.svg"
    path = Path(read_path("plot_model", "to_file", to_file))
    checked_graph("plot_model", model)
    shown = {
        "show_shapes": show_shapes,
        "show_layer_names": show_layer_names,
        "expand_nested": expand_nested,
        "show_dtype": show_dtype,
        "show_layer_activations": show_layer_activations,
        "show_trainable": show_trainable,
    }
    Shown("plot_model", **shown)
    suffix = path.suffix.lower()
    if suffix not in (*KNOWN, ""):
        raise ValueError(f"plot_model: to_file must end in one of {', '.join(KNOWN)}; found {str(path)!r}.")
    check_options("plot_model", rankdir, dpi)
    if suffix in TEXTS and (rankdir != "TB" or dpi != 96):
        raise ValueError(
            f"plot_model: rankdir and dpi are of pictures; a {suffix} file goes from top to bottom (rankdir 'TB', "
            f"dpi 96); found rankdir {rankdir!r}, dpi {dpi!r}."
        )
    read("plot_model", "splines", optional(one_of(*SPLINES)), splines)
    if splines is not None and suffix in (*TEXTS, *DRAWN):
        raise ValueError(f"plot_model: splines is of Graphviz's pictures; found {splines!r} for a {suffix} file.")
    content = _content(model, suffix, shown, {"rankdir": rankdir, "dpi": dpi}, splines)
    with replacing(path) as part:
        part.write_bytes(content)
    return Picture(path)


def _content(
    model: Model, suffix: str, shown: Mapping[str, Any], form: Mapping[str, Any], splines: str | None
) -> bytes:
    """What a file of that suffix holds."""
    if suffix in TEXTS:
        return text_graph(model, **shown).encode()
    if suffix in DRAWN:
        return model_to_svg(model, **shown, **form).encode()
    text = model_to_dot(model, **shown, **form, splines=splines)
    return text.encode() if suffix in SOURCES else text.create(format=PICTURES[suffix])
