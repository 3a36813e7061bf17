"""PyTorch networks, read layer by layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._models import Activation, Array, Classifier, Inputs
from .errors import ClassifierError, MissingPackageError

_ACTIVATIONS: dict[str, Activation] = {"Tanh": "tanh", "ReLU": "relu", "Sigmoid": "sigmoid"}
#: Modules that change nothing when the network decides.
_SILENT = {"Identity", "Dropout", "AlphaDropout", "Flatten", "Unflatten"}

#: How many inputs the network is tried on, and how close it must come.
TRIALS = 64
TOLERANCE = 1e-4


def read(model: Any, scaler: Any, inputs: Inputs, threshold: float) -> Classifier:
    """The classifier, held against what the network itself says."""
    try:
        import torch
    except ImportError:
        raise MissingPackageError("from_torch needs PyTorch; pip install torch") from None
    layers, activations, end = _layers(model)
    activation = activations[0] if activations else "tanh"
    if any(other != activation for other in activations):
        raise ClassifierError(f"activations differ ({', '.join(activations)}); all must be the same")
    if len(activations) != len(layers) - 1:
        raise ClassifierError(
            f"{len(layers)} linear layers with {len(activations)} activations between them; there must be one "
            "between each two (those written as functions in `forward` are not seen: use modules)"
        )
    outputs = len(layers[-1][1])
    if outputs == 2:
        weight, bias = layers[-1]
        layers[-1] = (weight[1:] - weight[:1], bias[1:] - bias[:1])
    elif outputs != 1:
        raise ClassifierError(
            f"the network has {outputs} outputs; it must have one, or two of which the second is favourable"
        )
    _compare(torch, model, layers, activation, outputs, end)
    if scaler is not None:
        mean = np.zeros(layers[0][0].shape[1]) if scaler.mean_ is None else np.asarray(scaler.mean_)
        scale = np.ones_like(mean) if scaler.scale_ is None else np.asarray(scaler.scale_)
        weight, bias = layers[0]
        layers[0] = (weight / scale, bias - weight @ (mean / scale))
        inputs = "raw"
    return Classifier.network(layers, activation, threshold=threshold, inputs=inputs)


def _leaves(module: Any) -> Iterator[Any]:
    children = list(module.children())
    if not children:
        yield module
    for child in children:
        yield from _leaves(child)


def _layers(model: Any) -> tuple[list[tuple[Array, Array]], list[Activation], str]:
    """Linear layers, the activations between them, and what stands behind the last."""
    layers: list[tuple[Array, Array]] = []
    activations: list[Activation] = []
    leaves = [leaf for leaf in _leaves(model) if type(leaf).__name__ not in _SILENT]
    end = ""
    if leaves and type(leaves[-1]).__name__ in ("Sigmoid", "Softmax", "LogSoftmax"):
        end = type(leaves.pop()).__name__
    for leaf in leaves:
        kind = type(leaf).__name__
        if kind == "Linear":
            weight = _array(leaf.weight)
            bias = np.zeros(len(weight)) if leaf.bias is None else _array(leaf.bias)
            layers.append((weight, bias))
        elif kind == "BatchNorm1d" and layers and len(activations) < len(layers):
            by = 1.0 / np.sqrt(_array(leaf.running_var) + leaf.eps)
            shift = -_array(leaf.running_mean) * by
            if leaf.affine:
                by, shift = by * _array(leaf.weight), shift * _array(leaf.weight) + _array(leaf.bias)
            weight, bias = layers[-1]
            layers[-1] = (weight * by[:, None], bias * by + shift)
        elif kind in _ACTIVATIONS:
            activations.append(_ACTIVATIONS[kind])
        else:
            known = ["Linear", *_ACTIVATIONS, "BatchNorm1d behind Linear", *sorted(_SILENT)]
            raise ClassifierError(f"the module {kind} is not understood; understood are {', '.join(known)}")
    if not layers:
        raise ClassifierError(f"{type(model).__name__} has no linear layers")
    return layers, activations, end


def _array(tensor: Any) -> Array:
    array: Array = tensor.detach().cpu().double().numpy()
    return array


def _activated(x: Array, activation: Activation) -> Array:
    if activation == "tanh":
        return np.tanh(x)
    return np.maximum(x, 0.0) if activation == "relu" else 1 / (1 + np.exp(-x))


def _compare(
    torch: Any, model: Any, layers: list[tuple[Array, Array]], activation: Activation, outputs: int, end: str
) -> None:
    """Refuses what was not understood rightly: `forward` may do anything."""
    rows = np.random.default_rng(0).normal(size=(TRIALS, layers[0][0].shape[1]))
    ours = rows
    for number, (weight, bias) in enumerate(layers):
        ours = (_activated(ours, activation) if number else ours) @ weight.T + bias
    was_training = model.training
    model.eval()
    parameter = next(model.parameters())
    with torch.no_grad():
        theirs = _array(model(torch.as_tensor(rows, dtype=parameter.dtype, device=parameter.device)))
    model.train(was_training)
    theirs = theirs.reshape(TRIALS, outputs)
    ours = ours[:, 0]
    if end == "Softmax":
        theirs = np.log(theirs)
    theirs = theirs[:, 1] - theirs[:, 0] if outputs == 2 else theirs[:, 0]
    if end == "Sigmoid":
        ours = 1 / (1 + np.exp(-ours))
    if not np.allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE * (1 + np.abs(theirs).max())):
        raise ClassifierError(
            f"{type(model).__name__} does something else than its layers one after the other; make it a Sequential"
        )
