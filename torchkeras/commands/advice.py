"""What to do about each finding: one line for each kind."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torchkeras import errors
from torchkeras.commands.contents import Finding
from torchkeras.commands.exits import CommandError
from torchkeras.commands.treatment import Treatment

AGAIN = "get the file again from where it came, or save it again with the Keras that wrote it"
BY_CODE = "build the model by your code, as it was, and call model.load_weights({path!r})"
AS_BELOW = "load it as shown below"
NOTHING = "nothing to do"

# By kind of finding. `{path!r}` is the file as Python, `{file}` as a shell takes it.
ADVICE: Mapping[str, str] = {
    "not finite": "training had diverged, or the file is damaged: take an earlier file; this one may predict NaN",
    "zeros": f"{NOTHING} if it was never trained; else compare: torchkeras verify {{file}} --against io.npz",
    "empty": f"{NOTHING}: it is loaded as it is",
    "large": f"{NOTHING}: it is loaded; it takes as much memory",
    "dtype": f"{NOTHING}: loading casts it to the type that its layer says",
    "unlisted": f"{NOTHING}: no Keras reads it; if you miss a weight, {AGAIN}",
    "list": f"the file was edited or is damaged: {AGAIN}",
    "layout": "no Keras wrote it: read it with h5py, and give its arrays to your model: layer.set_weights([...])",
    "version": f"{NOTHING} if the outputs are right: torchkeras verify {{file}} --against io.npz",
    "backend": f"{NOTHING} unless it was trained on Theano: then give original_backend='theano' as well",
    "text": f"the file was edited or is damaged: {AGAIN}",
    "bytecode": "write the function again, and pass it in custom_objects, as shown below",
    "class": "pass the class in custom_objects, as shown below",
    "trailing": f"{NOTHING}: they are not read; if you do not trust the file, load it with isolated=True",
    "before": f"{NOTHING}: they are not read; if you do not trust the file, load it with isolated=True",
    "training": "load it as shown below; without what it names, call model.compile(...) before fit or evaluate",
    "doubt": f"if you know that somebody edited the file, take it with strict=False; else {AGAIN}",
    "loading": AS_BELOW,
}

OF_OPTIONS: Mapping[str, str] = {
    "original_backend": "say on what it was trained: the 'backend' in the keras.json of that time",
    "original_data_format": "say where its images had their channels: 'channels_last' is image_dim_ordering 'tf', "
    "'channels_first' is 'th'",
    "custom_objects": "pass your own {names} in custom_objects",
    "compile": "load it without how it was compiled",
    "strict": "take it as it is",
}

# By class of error, for what no option helps against. The most exact class comes first.
OF_ERRORS: Mapping[type[Exception], str] = {
    errors.UnreadableFileError: f"it is damaged, cut short, or not what its name says: {AGAIN}",
    errors.UnknownFormatError: "open it with the program that wrote it, and there save the model as .h5",
    errors.ForbiddenContentError: "no Keras writes this, and an attack may: open it with no other program, and ask its "
    "author for a file that model.save_weights wrote",
    errors.FileLimitError: "no Keras writes so much: do not trust the file, and ask its author for one that model.save "
    "wrote",
    errors.ArchitectureError: BY_CODE,
    errors.WeightMismatchError: f"its architecture and its weights are not of one model: {BY_CODE}",
    CommandError: BY_CODE,
    errors.ModelFileError: BY_CODE,
}
# A limit that the command line sets, which a user may raise.
OF_LIMITS = "if you trust the file, give it more: torchkeras doctor {file} --seconds 600 --memory 8G"


@dataclass(frozen=True)
class Told:
    """A finding with what to do about it."""

    kind: str
    where: str
    text: str
    advice: str


def of_finding(finding: Finding, treatment: Treatment, path: str) -> Told:
    """What to do about a finding of `inspect`."""
    advice = of_loading(treatment, path) if finding.kind == "loading" else filled(ADVICE[finding.kind], path)
    return Told(finding.kind, finding.where, without_name(finding.text, path), advice)


def without_name(text: str, path: str) -> str:
    """An error's text without the name of the file, which stands above it."""
    return text.removeprefix(f"{path}: ")


def of_loading(treatment: Treatment, path: str) -> str:
    """What to do about a file that does not load by itself."""
    if treatment.loads:
        parts = [OF_OPTIONS[name] for name in treatment.loads[0].options if name in OF_OPTIONS]
    elif treatment.asked:
        parts = [OF_OPTIONS["custom_objects"]]
    else:
        return of_error(treatment.last, path)
    names = ", ".join(each.name for each in treatment.asked)
    return f"{'; '.join(parts).replace('{names}', names)}; {AS_BELOW}"


def of_error(error: Any, path: str) -> str:
    """What to do about an error that no option helps against."""
    limit = isinstance(error, errors.FileLimitError) and any(
        each in str(error) for each in ("reading it takes", "unpacked, it has")
    )
    return filled(OF_LIMITS if limit else next(OF_ERRORS[kind] for kind in OF_ERRORS if isinstance(error, kind)), path)


def filled(advice: str, path: str) -> str:
    """An advice with the name of the file."""
    return advice.replace("{path!r}", repr(path)).replace("{file}", shlex.quote(path))
