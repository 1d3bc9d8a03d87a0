"""A model, walked through once in a step: its layers, and the parameters that training changes.

torch finds both by generators within generators; to ask it again at every question would take a tenth of a small step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Parts:
    """The layers of a model by name, itself the first, and the parameters that training changes, each once."""

    model: nn.Module
    layers: list[tuple[str, nn.Module]]
    parameters: dict[str, nn.Parameter]

    @property
    def made_of(self) -> tuple[object, ...]:
        """The very layers, not only their names: one may have been put in another's place."""
        return tuple((type(layer), id(layer)) for _, layer in self.layers)

    def buffers(self) -> Iterator[Tensor]:
        """What the layers hold besides parameters, at this moment."""
        for _, layer in self.layers:
            for buffer in layer._buffers.values():
                if buffer is not None:
                    yield buffer


def parts_of(model: nn.Module) -> Parts:
    """The parts of a model; an error if it is none, or if training could change none of it, or none exactly."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch module, got {model!r}")
    layers = list(model.named_modules())
    found: dict[str, nn.Parameter] = {}
    seen: set[int] = set()
    for where, layer in layers:
        for own, parameter in layer._parameters.items():
            if parameter is None or not parameter.requires_grad or id(parameter) in seen:
                continue
            name = f"{where}.{own}" if where else own
            if parameter.dtype not in (torch.float32, torch.float64):
                raise ValueError(f"{name!r} has {parameter.dtype}, which is too coarse to clip exactly: use float32")
            seen.add(id(parameter))
            found[name] = parameter
    if not found:
        raise ValueError("the model has no parameter to train")
    return Parts(model, layers, found)


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that training changes, by name."""
    return parts_of(model).parameters


def learning(layer: nn.Module) -> bool:
    """Whether training changes a parameter of the layer's own."""
    return any(p is not None and p.requires_grad for p in layer._parameters.values())
