"""A layer of the user's with a layer inside, which tests of several folders use."""

from typing import Any

from torchkeras.layers import Dense, Layer


class Own(Layer):
    def __init__(self, units: int, **options: Any):
        super().__init__(**options)
        self.units, self.dense = units, Dense(units)

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "units": self.units}
