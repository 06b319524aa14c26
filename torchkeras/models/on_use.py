"""The modules of files and pictures, which models import when they first use them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchkeras.saving import extra_keys, graph_config, load, save, ties
    from torchkeras.saving.containers import yaml_text
    from torchkeras.visualization import notebook, summary
else:
    from torchkeras.base.annexes import later

    extra_keys, graph_config, load, save, ties, yaml_text, notebook, summary = later(
        "torchkeras.saving.extra_keys",
        "torchkeras.saving.graph_config",
        "torchkeras.saving.load",
        "torchkeras.saving.save",
        "torchkeras.saving.ties",
        "torchkeras.saving.containers.yaml_text",
        "torchkeras.visualization.notebook",
        "torchkeras.visualization.summary",
    )

__all__ = ["extra_keys", "graph_config", "load", "notebook", "save", "summary", "ties", "yaml_text"]
