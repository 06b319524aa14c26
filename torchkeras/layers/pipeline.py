"""Pipeline: several layers as one.

Source: https://keras.io/api/layers/preprocessing_layers/
"""

from collections.abc import Mapping
from typing import Annotated, Any

from torch import nn

from torchkeras import registry
from torchkeras.base.rules import Rule
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers.wrappers import INNER_LAYER


def _read_layers(value: Any) -> list[Layer]:
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(f"must be a list of layers; found {value!r}.")
    return list(map(INNER_LAYER.read, value))


LAYERS = Rule(_read_layers, lambda kept: list(map(INNER_LAYER.write, kept)), takes="Sequence[Module]")


class Pipeline(Layer):
    """`layers[-1](...(layers[0](x)))`: the layers one after the other, as one layer that is no model.

    Masks pass from layer to layer, and not out of the pipeline.

    Options:
        layers (list of layers): in the order of the computation.

    Shapes:
        that of the first layer's input -> that of the last layer's output

    Errors:
        ValueError: when the last output has a mask, which would be lost; a Sequential passes it on.

    Example:
        >>> Pipeline([Rescaling(1 / 255), CenterCrop(4, 4)])(torch.zeros(2, 8, 8, 3)).shape
        torch.Size([2, 4, 4, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/
    """

    layers: Annotated[Any, LAYERS]

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self._inside = nn.ModuleList(self.layers)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        if not isinstance(config.get("layers"), (list, tuple)):
            raise ValueError(f"{cls.__name__}: layers must be a list in the config; found {config.get('layers')!r}.")
        layers = [registry.layers.from_config(layer, custom_objects) for layer in config["layers"]]
        return cls(**{**config, "layers": layers})

    def build(self, input_shape: Any) -> None:
        for layer in self.layers:
            layer._build([input_shape])
            input_shape = layer.compute_output_shape(input_shape)
        self.built = True

    def forward(self, inputs: Any, mask: Any = None) -> Any:
        for layer in self.layers:
            given = {} if mask is None or "mask" not in layer._call_parameters else {"mask": mask}
            outputs = layer(inputs, **given)
            inputs, mask = outputs, layer.compute_mask(inputs, mask)
        if mask is not None:
            raise ValueError(
                f"Pipeline {self.name!r}: its last output has a mask, which a Pipeline does not pass on; use a "
                "Sequential."
            )
        return inputs
