"""Where masks end. In later versions a layer without support for masks drops them; Keras 2 and this package raise.

`settle` walks through a translated model and puts an operation that drops the mask before each such layer. It also
checks that the masks that Keras 3 wrote for its calls are those that arrive, and has layers join masks as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import registry
from torchkeras.engine.layer.layer import Layer
from torchkeras.errors import ArchitectureError
from torchkeras.saving.dialects.translation import Config
from torchkeras.saving.layer_facts import STACKS, facts

EXPECTED = "mask"  # a key of an input's arguments during translation: whether it has a mask, as the file says


def settle(entry: Config, given: list[bool], dropping: tuple[str, ...], joint: bool) -> list[bool]:
    """Whether each output of a model has a mask, if its inputs have those in `given`; changes the model's config.

    `dropping`: more layers that drop masks. `joint`: merging layers join masks by their `any_mask`, as in Keras 3.
    Raises ArchitectureError for a mask of a caller's own, and for layers that set zeros at the wrong steps.
    """
    walk = _Walk(dropping, joint)
    return walk.model(entry, given)


class _Walk:
    def __init__(self, dropping: tuple[str, ...], joint: bool):
        self.dropping, self.joint = dropping, joint

    def model(self, entry: Config, given: list[bool]) -> list[bool]:
        config = entry["config"]
        return self.graph(config, given) if "input_layers" in config else self.chain(config, given)

    def chain(self, config: Config, given: list[bool]) -> list[bool]:
        layers: list[Config] = []
        for found in config["layers"]:
            if any(given) and self.drops(found):
                layers.append(stop(f"{found['config'].get('name')}_unmasked"))
                given = [False]
            if found["class_name"] != "InputLayer":
                given = self.after(found, given)[:1]
            layers.append(found)
        config["layers"] = layers
        return given

    def graph(self, config: Config, given: list[bool]) -> list[bool]:
        entries = {found["name"]: found for found in config["layers"]}
        masks: dict[tuple[str, int], list[bool]] = {}
        for (name, _, _), has in zip(config["input_layers"], given, strict=False):
            masks[name, 0] = [has]
        stops: dict[tuple[str, int, int], str] = {}
        waiting = [(name, index) for name, found in entries.items() for index, _ in enumerate(found["inbound_nodes"])]
        while waiting:
            left = []
            for name, index in waiting:
                found, call = entries[name], entries[name]["inbound_nodes"][index]
                if not all((item[0], item[1]) in masks or _begins(entries.get(item[0])) for item in call):
                    left.append((name, index))
                    continue
                has = [_at(masks.get((item[0], item[1]), []), item[2]) for item in call]
                wanted = self.wanted(found, call, has)
                _put_stops(call, has, wanted, stops)
                masks[name, index + int(is_model(found))] = self.after(found, wanted)
            if len(left) == len(waiting):
                break  # a call of something that does not exist: building the model will raise
            waiting = left
        for place, name in stops.items():
            config["layers"].append({"name": name, **stop(name), "inbound_nodes": [[[*place, {}]]]})
        return [_at(masks.get((name, call), []), output) for name, call, output in config["output_layers"]]

    def wanted(self, found: Config, call: list[list[Any]], has: list[bool]) -> list[bool]:
        """Which inputs of a call keep their masks. Raises ArchitectureError for a mask from elsewhere."""
        if self.drops(found):
            return [False] * len(has)
        if self.joint and self.joins(found):
            found["config"]["any_mask"] = True
        result = []
        for item, arrives in zip(call, has, strict=True):
            said = item[3].pop(EXPECTED, arrives) if len(item) > 3 else arrives
            if said and not arrives:
                raise ArchitectureError(
                    f"{found['class_name']} {found['name']!r} is called with a mask of its own, which is not "
                    "supported: a mask comes from layers such as Masking and Embedding."
                )
            result.append(said)
        return result

    def joins(self, found: Config) -> bool:
        """Whether a layer joins masks: of each value, or by Keras 3's Concatenate, which asks whether any is True."""
        along_time = found["class_name"] == "Concatenate" and found["config"].get("axis") in (1, -2)
        return facts(found["class_name"]).joins or (found["class_name"] == "Concatenate" and not along_time)

    def drops(self, found: Config) -> bool:
        name = found["class_name"]
        if is_model(found) or name == "InputLayer":
            return False
        cls = registry.layers.find(name) if name in registry.layers else None
        knows_none = cls is not None and not cls.supports_masking and cls.compute_mask is Layer.compute_mask
        return knows_none or name in self.dropping

    def after(self, found: Config, has: list[bool]) -> list[bool]:
        """Whether each output has a mask (missing ones have none)."""
        if any(has):
            _check_backwards(found)
        return self.model(found, has) if is_model(found) else facts(found["class_name"]).mask(has, found["config"])


def _put_stops(
    call: list[list[Any]], has: list[bool], wanted: list[bool], stops: dict[tuple[str, int, int], str]
) -> None:
    """Put a layer that drops the mask before each input that has one and must not. `stops`: the names of these."""
    for item, arrives, stays in zip(call, has, wanted, strict=True):
        if arrives and not stays:
            place = (item[0], item[1], item[2])
            item[:3] = [stops.setdefault(place, f"{item[0]}_{len(stops)}_unmasked"), 0, 0]


def _check_backwards(found: Config) -> None:
    """Raise ArchitectureError for an unrolled layer that goes backwards over masked steps and gives zeros there.

    tf.keras and Keras 3 (on TensorFlow and JAX; on torch it cannot run one) set zeros by the mask in its order, among
    outputs that are in the reversed one.
    """
    config = found["config"]
    both = found["class_name"] == "Bidirectional"
    layers = [config.get("layer"), config.get("backward_layer")] if both else [found]
    for options in (layer["config"] for layer in layers if isinstance(layer, Mapping)):
        zeros = all(options.get(key) for key in ("unroll", "return_sequences", "zero_output_for_mask"))
        if zeros and (both or options.get("go_backwards")):
            raise ArchitectureError(
                f"{found['class_name']} {config.get('name')!r}: with unroll=True, return_sequences=True and a mask, "
                "tf.keras and Keras 3 set the outputs of the wrong steps to zero where a layer goes backwards; it is "
                "not read. Build the model by code with unroll=False and load the weights: its outputs are those that "
                "unroll=False gives there."
            )


def is_model(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is a model, with layers of its own."""
    config = entry.get("config")
    is_of_layers = isinstance(config, Mapping) and "layers" in config and not isinstance(config, registry.Kept)
    return is_of_layers and entry.get("class_name") not in STACKS


def _begins(entry: Config | None) -> bool:
    """Whether a layer is not called on anything: an input, or an unknown name."""
    return entry is None or not entry["inbound_nodes"]


def _at(values: list[bool], index: int) -> bool:
    return index < len(values) and values[index]


def stop(name: str) -> Config:
    """A layer that returns its input without the mask."""
    config = {"name": name, "function": "without_mask", "arguments": [{"input": 0}], "keeps_mask": False}
    return {"class_name": "Operation", "config": config}
