"""A dialect: the form in which one version of Keras writes how a model is built and compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torchkeras.saving.model_file import ModelFile


@dataclass(frozen=True)
class Known:
    """What is known besides a config: its open file, if there is one, and what the caller says."""

    source: ModelFile | None = None
    backend: str | None = None
    data_format: str | None = None
    custom_objects: Mapping[str, Any] | None = None

    def version(self, config: Any) -> str | None:
        """The version of Keras that wrote a config, by its file or by itself."""
        if self.source is not None:
            return self.source.version
        return config.get("keras_version") if isinstance(config, Mapping) else None


@dataclass(frozen=True)
class LossRules:
    """How a version of Keras computed losses on TensorFlow.

    `numerics`: as `compile` takes it. `named`: options of the class that a name stands for, except for the names in
    `exempt`; None where names stood for functions under the weighted mean of Keras 2.2.4. `rising_cosine`: whether the
    cosine of the angle counted with a plus; None where the file does not show it.
    """

    numerics: str | None = None
    named: Mapping[str, Any] | None = field(default_factory=dict)
    exempt: tuple[str, ...] = ()
    rising_cosine: bool | None = False


NO_RULES = LossRules()


@dataclass(frozen=True, eq=False)
class Dialect:
    """The form in which one version of Keras writes configs.

    `version(major, minor, tf)`: whether that version writes it; `tf` if it calls itself tf.keras. `marks`: whether a
    dictionary is one that this dialect has and others have not, except those whose forms it writes `besides`.
    `modern_config(config, known)`: today's config of a model. `doubts(config, known)`: what a config leaves open, as
    sentences for a warning; None where it leaves nothing open. `classes`: whether names of losses and metrics mean
    classes; then `metrics_by_output`, whether a list of metrics has one for each of several outputs, and
    `names_outputs`, whether each of several outputs of a layer has a name of its own, with which that of a metric
    begins. `rules(source)`: how the writer of a compiled model computed losses.
    """

    name: str
    version: Callable[[int, int, bool], bool]
    marks: Callable[[Mapping[str, Any]], bool]
    modern_config: Callable[[Any, Known], Any]
    doubts: Callable[[Any, Known], list[str]] | None = None
    besides: tuple[str, ...] = ()
    classes: bool = False
    metrics_by_output: bool = False
    names_outputs: bool = False
    rules: Callable[[ModelFile], LossRules] = lambda source: NO_RULES
