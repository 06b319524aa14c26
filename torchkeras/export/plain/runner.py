"""Run as a script by a clean process: compute the outputs of a written module where torchkeras cannot be imported.

`python -I runner.py FOLDER CLASS GIVEN FOUND`: loads FOLDER/model.py and its weights, calls the class on each list of
inputs in the file GIVEN, one after the other, and writes the outputs to the file FOUND. More models may follow.
"""

import importlib
import importlib.abc
import runpy
import sys
from pathlib import Path

import torch


class Refused(importlib.abc.MetaPathFinder):
    """Refuses imports of torchkeras."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] == "torchkeras":
            raise ImportError(f"{fullname} is not to be had here.")


def weights_of(folder):
    """The tensors of the file next to model.py."""
    path = folder / "model.safetensors"
    if path.exists():
        return importlib.import_module("safetensors.torch").load_file(path)
    return torch.load(folder / "model.pt", weights_only=True)


def outputs_of(model, state, batches):
    """The outputs in evaluation mode for each list of inputs, one call after the other."""
    model.load_state_dict(state)
    model.eval()
    found = []
    with torch.no_grad():
        for inputs in batches:
            outputs = model(*inputs)
            outputs = list(outputs.values()) if isinstance(outputs, dict) else outputs
            found.append(list(outputs) if isinstance(outputs, (list, tuple)) else [outputs])
    return found


def run(folder, name, given, found):
    """Do what the module's docstring says, for one model."""
    model = runpy.run_path(str(Path(folder) / "model.py"))[name]()
    outputs = outputs_of(model, weights_of(Path(folder)), torch.load(given, weights_only=True))
    torch.save(outputs, found)


if __name__ == "__main__":
    sys.meta_path.insert(0, Refused())
    for place in range(1, len(sys.argv), 4):
        run(*sys.argv[place : place + 4])
