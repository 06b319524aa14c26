"""The modules of files and pictures, which models import when they first use them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchkeras.saving import extra_keys, graph_config, load, save, ties
    from torchkeras.saving.containers import yaml_text
    from torchkeras.visualization import notebook, summary
else:
    from torchkeras.base.annexes import later

    extra_keys = later("torchkeras.saving.extra_keys")
    graph_config = later("torchkeras.saving.graph_config")
    load = later("torchkeras.saving.load")
    notebook = later("torchkeras.visualization.notebook")
    save = later("torchkeras.saving.save")
    summary = later("torchkeras.visualization.summary")
    ties = later("torchkeras.saving.ties")
    yaml_text = later("torchkeras.saving.containers.yaml_text")

__all__ = ["extra_keys", "graph_config", "load", "notebook", "save", "summary", "ties", "yaml_text"]
