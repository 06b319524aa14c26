"""`plot_model`: a model's graph as a file, drawn by Graphviz's program `dot` or, as text, by torchkeras itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchkeras.atomic_file import replacing
from torchkeras.visualization.dot import check_options, model_to_dot
from torchkeras.visualization.text import text_graph

# By the suffix of the file, what `dot` is asked for; Keras writes a PNG to a name without one.
PICTURES = {"": "png", **{f".{kind}": kind for kind in ("png", "svg", "pdf", "jpg", "jpeg", "gif", "eps", "ps")}}
SOURCES = (".dot", ".gv")
TEXTS = (".txt",)


@dataclass(frozen=True)
class Picture:
    """A file that `plot_model` wrote. As the last value of a notebook's cell it shows itself."""

    path: Path

    def _repr_png_(self) -> bytes | None:
        return self.path.read_bytes() if PICTURES.get(self.path.suffix.lower()) == "png" else None

    def _repr_svg_(self) -> str | None:
        return self.path.read_text("utf-8") if self.path.suffix.lower() == ".svg" else None


def plot_model(
    model: Any,
    to_file: str | os.PathLike[str] = "model.png",
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    show_dtype: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Picture:
    """Draw the layers and what flows between them into a file; its suffix says how.

    `.png` (also without a suffix), `.svg`, `.pdf`, `.jpg`, `.gif`, `.eps`, `.ps`: by the program `dot` of Graphviz
    (https://graphviz.org), which must be installed. `.dot`, `.gv`: the text of `model_to_dot`. `.txt`: the drawing of
    `text_graph`.

    `show_shapes`, `show_dtype`, `show_layer_activations`, `show_trainable`: what stands beside type and name of a layer
    (`show_layer_names`). `rankdir`: from top to bottom (TB), BT, LR or RL. `expand_nested`: models inside are drawn in
    a frame, layer by layer. `dpi`: dots an inch. Raises TypeError for what is no model; RuntimeError for a model that
    is not built yet, or when `dot` fails; ImportError without `dot`; ValueError for a bad option.
    """
    path = Path(to_file)
    suffix = path.suffix.lower()
    if suffix not in (*PICTURES, *SOURCES, *TEXTS):
        known = ", ".join(sorted({*PICTURES, *SOURCES, *TEXTS} - {""}))
        raise ValueError(f"plot_model: to_file must end in one of {known}; found {str(path)!r}.")
    check_options("plot_model", rankdir, dpi)
    if suffix in TEXTS:
        if rankdir != "TB" or dpi != 96:
            raise ValueError(
                f"plot_model: rankdir and dpi are of pictures; a {suffix} file goes from top to bottom (rankdir 'TB', "
                f"dpi 96); found rankdir {rankdir!r}, dpi {dpi!r}."
            )
        content = text_graph(
            model,
            show_shapes,
            show_layer_names,
            expand_nested,
            show_dtype,
            show_layer_activations,
            show_trainable,
        ).encode()
    else:
        text = model_to_dot(
            model,
            show_shapes,
            show_layer_names,
            rankdir,
            expand_nested,
            dpi,
            show_dtype,
            show_layer_activations,
            show_trainable,
        )
        content = text.encode() if suffix in SOURCES else text.create(format=PICTURES[suffix])
    with replacing(path) as part:
        part.write_bytes(content)
    return Picture(path)
