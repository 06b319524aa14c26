"""Graphviz's programs, run on a text in the DOT language."""

from __future__ import annotations

import shutil
import subprocess


def drawn(text: str, kind: str, program: str = "dot") -> bytes:
    """The picture of a DOT text, in a format such as "svg".

    Raises ImportError when the program is not on the PATH, and RuntimeError with the program's own words when it fails.
    """
    found = shutil.which(program)
    if found is None:
        raise ImportError(
            f"A picture of a model ({kind}) is drawn by the program `{program}` of Graphviz, which is not on the PATH. "
            "Install Graphviz (`apt install graphviz`, `brew install graphviz`, `conda install graphviz`, or "
            "https://graphviz.org/download). Without it: plot_model(model, to_file='model.svg'), a picture for "
            "browsers; print(text_graph(model)); or to_file='model.dot' for another program to draw."
        )
    done = subprocess.run([found, f"-T{kind}"], input=text.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"{found} -T{kind} failed with status {done.returncode}: {said}")
    return done.stdout
