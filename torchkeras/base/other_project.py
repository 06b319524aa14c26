"""The other project that is imported as `torchkeras`: its files must not lie among those of this one."""

from __future__ import annotations

import os

# A file of its versions from 3 on, and of those before; no file here has such a name.
FILES_OF_THE_OTHER = ("kerasmodel.py", "torchkeras.py")


def refuse_other_project() -> None:
    """ImportError where pip has put the other project into the folder of this one.

    pip does so without a word, in either order. Files of the same name are then those of the project that came last,
    `__init__.py` among them; so `config` and `base.annexes` ask, one of which everything here imports.
    """
    folder = os.path.dirname(os.path.dirname(__file__))
    found = [name for name in FILES_OF_THE_OTHER if os.path.exists(os.path.join(folder, name))]
    if found:
        raise ImportError(
            f"torchkeras-graph: {folder} also holds files of another project, `torchkeras` ({', '.join(found)}). Run "
            "`pip uninstall torchkeras torchkeras-graph`, then install the one that you want: "
            "`pip install torchkeras-graph`."
        )
