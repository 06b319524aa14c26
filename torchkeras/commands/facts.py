"""What a file shows that is worth knowing, though nothing is wrong."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torchkeras import registry
from torchkeras.base.naming import snake_case
from torchkeras.commands.advice import NOTHING, Told
from torchkeras.commands.contents import Contents, entries
from torchkeras.commands.output import counted
from torchkeras.commands.reading_hdf5 import NUMBERED
from torchkeras.commands.treatment import Treatment
from torchkeras.saving.weights.later_defaults import changed
from torchkeras.saving.weights.origin import FLIPPED

Facts = Iterator[Told]


def facts(contents: Contents, treatment: Treatment, path: str) -> list[Told]:
    """All of them."""
    return [fact for each in EACH for fact in each(contents, treatment, path)]


def _weights_alone(contents: Contents, treatment: Treatment, path: str) -> Facts:
    if not contents.whole and contents.arrays and not treatment.loads:
        yield Told(
            "weights alone",
            "",
            "the file has no architecture",
            "build the model by code, as shown below; if you have its to_json() as a file: "
            f"torchkeras doctor {shlex.quote(path)} --architecture FILE.json",
        )


def _backend(contents: Contents, treatment: Treatment, path: str) -> Facts:
    if needs_backend(contents) and not treatment.loads:
        yield Told(
            "backend",
            "",
            "Keras 0 did not write on which backend its kernels were made, and Theano turned them by 180 degrees",
            "say which, as shown below: Keras 0.3 ran on Theano unless its keras.json said 'tensorflow'",
        )


def needs_backend(contents: Contents) -> bool:
    """Whether a file of Keras 0 has kernels of convolutions, which depend on the backend."""
    return contents.layout == NUMBERED and any(len(array.shape) > 2 for array in contents.arrays)


def _theano(contents: Contents, treatment: Treatment, path: str) -> Facts:
    flipped = [row for row in treatment.certain if FLIPPED.deed in row.conversions]
    if flipped:
        text = f"{counted(len(flipped), 'kernel')} of Theano, which turned kernels by 180 degrees to compute"
        yield Told("theano", "", text, f"{NOTHING}: loading turns them back")


def _converted(contents: Contents, treatment: Treatment, path: str) -> Facts:
    found = [row for row in treatment.certain if set(row.conversions) - {FLIPPED.deed}]
    if found:
        text = f"{counted(len(found), 'weight')} in another form than today's, such as {found[0].weight} "
        text += f"({'; '.join(found[0].conversions)})"
        yield Told("converted", "", text, f"{NOTHING}; torchkeras inspect {shlex.quote(path)} lists them all")


def _channels(contents: Contents, treatment: Treatment, path: str) -> Facts:
    if contents.data_format == "channels_first":
        yield Told(
            "channels first",
            "",
            "images have their channels before rows and columns",
            "give x as (batch, channels, rows, columns); if yours are the other way: x.transpose(0, 3, 1, 2)",
        )


def _not_compiled(contents: Contents, treatment: Treatment, path: str) -> Facts:
    if treatment.loads and contents.whole and contents.training is None:
        yield Told(
            "not compiled",
            "",
            "the file does not say how the model was trained",
            f"{NOTHING} for predict; before fit or evaluate call model.compile(optimizer, loss)",
        )


def _no_state(contents: Contents, treatment: Treatment, path: str) -> Facts:
    if treatment.loads and treatment.loads[0].compiled and not contents.state:
        yield Told(
            "optimizer",
            "",
            "its state is not in the file",
            f"{NOTHING} for predict; fit goes on with an optimizer that begins anew",
        )


def _defaults(contents: Contents, treatment: Treatment, path: str) -> Facts:
    """Weights alone of a later Keras, whose recurrent layers had other defaults."""
    if contents.whole or treatment.loads:
        return
    names = {name for layer in contents.layers for name in layer.name.split("/")}
    for kind, made_by in registry.layers.classes().items():
        options = changed(made_by, contents.keras_version or contents.least_version)
        word = snake_case(kind)
        if options and any(name == word or name.startswith(f"{word}_") for name in names):
            given = ", ".join(f"{option}={value!r}" for option, value in options.items())
            yield Told(
                "defaults",
                kind,
                "the Keras that wrote the weights had other defaults than 2.2.4, which torchkeras follows",
                f"unless your code gave these options, write {kind}(..., {given})",
            )


def _formulas(contents: Contents, treatment: Treatment, path: str) -> Facts:
    for place, text in contents.formulas.items():
        yield Told(
            "lambda",
            place,
            f"its function is kept as bytecode, which was read, not run: {text}",
            f"{NOTHING} if your script computes this; else pass your own: custom_objects={{{place!r}: function}}",
        )


def _gates(contents: Contents, treatment: Treatment, path: str) -> Facts:
    if any(
        found["config"].get("recurrent_activation", found["config"].get("inner_activation")) == "hard_sigmoid"
        for found in entries(contents.config)
        if isinstance(found["config"], Mapping)
    ):
        yield Told(
            "hard_sigmoid",
            "",
            "gates are clip(0.2 x + 0.5, 0, 1), as Keras 1 and 2 had them; Keras 3 and torch mean another function",
            f"{NOTHING}: they are computed so, and every format keeps it",
        )


def _mixed(contents: Contents, treatment: Treatment, path: str) -> Facts:
    found = sorted({each for each in _texts(contents.config) if each in ("mixed_float16", "mixed_bfloat16")})
    if found:
        yield Told(
            "precision",
            "",
            f"the policy {found[0]}: layers compute in 16 bits",
            f"{NOTHING}: the model keeps it; its outputs have some 3 digits",
        )


def _texts(config: Any) -> Iterator[str]:
    pending = [config]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (Mapping, list)):
            pending += value.values() if isinstance(value, Mapping) else value


def _warned(contents: Contents, treatment: Treatment, path: str) -> Facts:
    for text in treatment.loads[0].warned if treatment.loads else ():
        yield Told(
            "warning",
            "",
            text,
            f"{NOTHING} if that is right; else build the model by your code, and call model.load_weights({path!r})",
        )


EACH: tuple[Callable[[Contents, Treatment, str], Facts], ...] = (
    _weights_alone,
    _backend,
    _defaults,
    _theano,
    _converted,
    _channels,
    _gates,
    _formulas,
    _mixed,
    _warned,
    _not_compiled,
    _no_state,
)
