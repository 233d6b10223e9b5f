"""The forward pass of `numpy_policy` as an ONNX graph; needs the extra `onnx`.

Inputs have a first axis for a batch: `observation` (indices, or vectors of 32-bit numbers), and
`image_0` and so on (8 bits, [height, width, channels]). Outputs are `scores` [N, A] and `action`
[N], the index of the highest score, counted from 0.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jekyllhyde.errors import need

OPSET, IR_VERSION = 17, 9
Arrays = dict[str, Any]


class Graph:
    """Nodes, inputs and constants in the making; `add` and `constant` return names."""

    def __init__(self) -> None:
        need("onnx")
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.constants: list[Any] = []

    def take(self, name: str, kind: str, shape: Sequence[int]) -> str:
        """An input of this type, with a first axis for the batch."""
        from onnx import TensorProto, helper

        number = getattr(TensorProto, kind)
        self.inputs.append(helper.make_tensor_value_info(name, number, ["batch", *shape]))
        return name

    def constant(self, array: Any) -> str:
        """An array that the model holds."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, operator: str, *inputs: str, named: str = "", **attributes: Any) -> str:
        """What an operator makes of its inputs."""
        from onnx import helper

        name = named or f"value_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def stored(self, last: Any) -> bytes:
        """The model, checked, with its two outputs; scores are of the type and number of `last`."""
        from onnx import TensorProto, checker, helper

        kind = helper.np_dtype_to_tensor_dtype(last.dtype)
        outputs = [
            helper.make_tensor_value_info("scores", kind, ["batch", last.shape[-1]]),
            helper.make_tensor_value_info("action", TensorProto.INT64, ["batch"]),
        ]
        graph = helper.make_graph(self.nodes, "policy", self.inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString())


def onnx_policy(arrays: Arrays, width: int, images: Sequence[tuple[int, int, int]]) -> bytes:
    """The graph of a policy's arrays as it is stored: of indices, or of vectors of this width, and
    of images of these sizes.
    """
    graph, seen = Graph(), []
    if "table" in arrays:
        index = graph.take("observation", "INT64", ())
        place = graph.add("Sub", index, graph.constant(np.int64(arrays["first_state"])))
        seen.append(graph.add("Gather", graph.constant(arrays["table"]), place))
    elif width:
        seen.append(_scaled(graph, arrays, graph.take("observation", "FLOAT", (width,)), width))
    for i, image in enumerate(images):
        seen.append(_convolved(graph, arrays, i, graph.take(f"image_{i}", "UINT8", image)))
    x = graph.add("Concat", *seen, axis=-1)
    layer, last = 0, arrays.get("table")
    while f"weight_{layer}" in arrays:
        if layer:
            x = graph.add("Relu", _standardized(graph, x) if "normalized" in arrays else x)
        product = graph.add("MatMul", x, graph.constant(arrays[f"weight_{layer}"]))
        x = graph.add("Add", product, graph.constant(arrays[f"bias_{layer}"]))
        last, layer = arrays[f"bias_{layer}"], layer + 1
    scores = graph.add("Identity", x, named="scores")
    graph.add("ArgMax", scores, named="action", axis=-1, keepdims=0)
    return graph.stored(last)


def _standardized(graph: Graph, x: str) -> str:
    x = graph.add("Sub", x, graph.add("ReduceMean", x, axes=[-1], keepdims=1))
    variance = graph.add("ReduceMean", graph.add("Mul", x, x), axes=[-1], keepdims=1)
    variance = graph.add("Add", variance, graph.constant(np.float32(1e-6)))
    return graph.add("Div", x, graph.add("Sqrt", variance))


def _scaled(graph: Graph, arrays: Arrays, x: str, width: int) -> str:
    # numbers are scaled and cut; codes, which come after them, are left as they are
    if "mean" not in arrays:
        return x
    n_codes = width - len(arrays["mean"])
    behind = {"mean": 0.0, "scale": 1.0, "limit": np.finfo(np.float32).max}
    mean, scale, limit = (
        np.append(np.broadcast_to(arrays[name], len(arrays["mean"])), [value] * n_codes)
        for name, value in behind.items()
    )
    centred = graph.add("Sub", x, graph.constant(mean.astype(np.float32)))
    scaled = graph.add("Div", centred, graph.constant(scale.astype(np.float32)))
    cut = graph.add("Min", scaled, graph.constant(limit.astype(np.float32)))
    return graph.add("Max", cut, graph.constant(-limit.astype(np.float32)))


def _convolved(graph: Graph, arrays: Arrays, i: int, image: str) -> str:
    # ONNX has the channels first; they come last again before the result is flattened
    from onnx import TensorProto

    x = graph.add("Cast", image, to=TensorProto.FLOAT)
    x = graph.add("Div", x, graph.constant(np.float32(255.0)))
    x = graph.add("Transpose", x, perm=[0, 3, 1, 2])
    for j, stride in enumerate(arrays[f"stride_{i}"]):
        kernel = graph.constant(
            np.ascontiguousarray(arrays[f"kernel_{i}_{j}"].transpose(3, 2, 0, 1))
        )
        x = graph.add("Relu", graph.add("Conv", x, kernel, strides=[int(stride)] * 2))
    return graph.add("Flatten", graph.add("Transpose", x, perm=[0, 2, 3, 1]))
