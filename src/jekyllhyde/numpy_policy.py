"""A policy in NumPy alone: this file, and `policy.npz` beside it.

    policy = Policy(folder)
    policy.action(observation)      the greedy action, or an array of them for a batch
    policy.scores(observation)      [A] or [N, A]: the action with the highest score is taken

The forward pass takes those of these arrays that there are, in this order; leading axes are a
batch:

    table [S, n]                  x is a row: the observation is an index, from first_state on
    mean, scale [m], limit        the first m of x become (x - mean) / scale, cut at +- limit
    kernel_i_j [h, w, in, out]    image i [height, width, channels] over 255 goes through layers j
                                  of convolutions, with strides stride_i[j] and ReLU; what comes
                                  out is flattened and put behind x
    weight_k [in, out], bias_k    x becomes x @ weight + bias; ReLU stands between layers
    normalized                    before ReLU, x - mean(x) is divided by its standard deviation
    first_action                  actions are numbered from here on; or, where they are a product,
    counts, firsts                how many there are along each axis, and the first of each
"""

from pathlib import Path
from typing import Any

import numpy as np


class Policy:
    """The greedy policy that a folder holds, or the arrays of one."""

    def __init__(self, folder: Any = ".") -> None:
        self.arrays: dict[str, Any] = folder
        if not isinstance(folder, dict):
            with np.load(Path(folder) / "policy.npz", allow_pickle=False) as arrays:
                self.arrays = dict(arrays)

    def scores(self, x: Any = (), images: Any = ()) -> Any:
        """Of each action: logits, values or probabilities."""
        arrays = self.arrays
        if "table" in arrays:
            x = arrays["table"][np.asarray(x) - arrays["first_state"]]
        else:
            x = np.asarray(x, np.float32)
        if "mean" in arrays:
            numbers, codes = np.split(x, [len(arrays["mean"])], axis=-1)
            scaled = (numbers - arrays["mean"]) / arrays["scale"]
            x = np.concatenate([np.clip(scaled, -arrays["limit"], arrays["limit"]), codes], -1)
        seen = [self._convolved(np.asarray(image), i) for i, image in enumerate(images)]
        if seen and x.size == 0:
            x = np.zeros((*seen[0].shape[:-1], 0), np.float32)
        x = np.concatenate([x, *seen], -1)
        layer = 0
        while f"weight_{layer}" in arrays:
            if layer:
                x = np.maximum(_standardized(x) if "normalized" in arrays else x, 0.0)
            x = x @ arrays[f"weight_{layer}"] + arrays[f"bias_{layer}"]
            layer += 1
        return x

    def _convolved(self, image: Any, i: int) -> Any:
        x = image.astype(np.float32) / 255.0
        for j, stride in enumerate(self.arrays[f"stride_{i}"]):
            kernel = self.arrays[f"kernel_{i}_{j}"]
            windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[:2], axis=(-3, -2))
            windows = windows[..., ::stride, ::stride, :, :, :]  # [..., channels, height, width]
            x = np.maximum(np.tensordot(windows, np.moveaxis(kernel, 2, 0), 3), 0.0)
        return x.reshape(*x.shape[:-3], -1)

    def action(self, x: Any = (), images: Any = (), mask: Any = None) -> Any:
        """The action with the highest score, among those whose entry in the mask is not 0."""
        scores = self.scores(x, images)
        index = np.argmax(scores if mask is None else np.where(mask, scores, -np.inf), -1)
        if "counts" in self.arrays:
            actions = np.unravel_index(index, self.arrays["counts"])
            return np.stack(actions, -1) + self.arrays["firsts"]
        return index + self.arrays["first_action"]


def _standardized(x: Any) -> Any:
    x = x - np.mean(x, -1, keepdims=True)
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + np.float32(1e-6))
