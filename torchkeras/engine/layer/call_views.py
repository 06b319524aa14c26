"""What a layer shows of its calls: inputs, outputs, shapes and masks, by node or, where calls agree, as attributes."""

from __future__ import annotations

from typing import Any

from torchkeras.engine.symbolic.tensor import Node, unpacked


class Calls:
    """The part of `Layer` that looks at its nodes."""

    name: str
    _call_nodes: list[Node]

    @property
    def _inbound_nodes(self) -> list[Node]:
        """The calls of the layer, under Keras's name."""
        return self._call_nodes

    @_inbound_nodes.setter
    def _inbound_nodes(self, given: list[Node]) -> None:
        self._call_nodes = given

    def _at(self, node_index: int, what: str) -> Node:
        if not self._inbound_nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not -len(self._inbound_nodes) <= node_index < len(self._inbound_nodes):
            raise ValueError(
                f"Asked to get {what} at node {node_index}, but the layer has only "
                f"{len(self._inbound_nodes)} inbound nodes."
            )
        return self._inbound_nodes[node_index]

    def _only(self, what: str) -> Node:
        if not self._inbound_nodes:
            raise AttributeError(f"The layer has never been called and thus has no defined {what}.")
        return self._inbound_nodes[0]

    def _single_node(self, what: str) -> Node:
        if len(self._inbound_nodes) > 1:
            raise AttributeError(
                f"Layer {self.name} has multiple inbound nodes, hence the notion of 'layer {what}' is ill-defined. "
                f"Use `get_{what.replace(' ', '_')}_at(node_index)` instead."
            )
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no {what} to return.")
        return self._inbound_nodes[0]

    def _agreed_shape(self, what: str, shapes_of: Any) -> Any:
        found = {tuple(shapes_of(node)) for node in (self._only(what), *self._inbound_nodes)}
        if len(found) > 1:
            raise AttributeError(
                f"The layer {self.name!r} has multiple inbound nodes with different {what.partition(' ')[0]} shapes. "
                f"Hence the notion of {what!r} is ill-defined for the layer. "
                f"Use `get_{what.replace(' ', '_')}_at(node_index)` instead."
            )
        return unpacked(list(found.pop()))

    def get_input_at(self, node_index: int) -> Any:
        """The symbolic input(s) of one call.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return unpacked(self._at(node_index, "input").input_tensors)

    def get_output_at(self, node_index: int) -> Any:
        """The symbolic output(s) of one call.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return unpacked(self._at(node_index, "output").output_tensors)

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shape(s) of the input of one call.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return unpacked(self._at(node_index, "input shape").input_shapes)

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shape(s) of the output of one call.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return unpacked(self._at(node_index, "output shape").output_shapes)

    def get_input_mask_at(self, node_index: int) -> Any:
        """The symbolic mask(s) of the input of one call, None for none.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return unpacked([t._keras_mask for t in self._at(node_index, "input mask").input_tensors])

    def get_output_mask_at(self, node_index: int) -> Any:
        """The symbolic mask(s) of the output of one call, None for none.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return unpacked([t._keras_mask for t in self._at(node_index, "output mask").output_tensors])

    @property
    def input(self) -> Any:
        """The symbolic input(s) of the only call. Raises AttributeError when there is none or more than one."""
        return unpacked(self._single_node("input").input_tensors)

    @property
    def output(self) -> Any:
        """The symbolic output(s) of the only call. Raises AttributeError when there is none or more than one."""
        return unpacked(self._single_node("output").output_tensors)

    @property
    def input_mask(self) -> Any:
        """The mask(s) of the input(s) of the only call. Raises as `input`."""
        return unpacked([tensor._keras_mask for tensor in self._single_node("input mask").input_tensors])

    @property
    def output_mask(self) -> Any:
        """The mask(s) of the output(s) of the only call. Raises as `output`."""
        return unpacked([tensor._keras_mask for tensor in self._single_node("output mask").output_tensors])

    @property
    def input_shape(self) -> Any:
        """The input shape(s), when all calls agree. Raises AttributeError when there was no call or they differ."""
        return self._agreed_shape("input shape", lambda node: node.input_shapes)

    @property
    def output_shape(self) -> Any:
        """The output shape(s), when all calls agree. Raises as `input_shape`."""
        return self._agreed_shape("output shape", lambda node: node.output_shapes)
