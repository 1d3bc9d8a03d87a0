"""``nn.MultiheadAttention`` written out, so that the fast path of clipping sees its projections.

torch computes the whole layer in one call, from parameters that no sub-layer owns. Here self-attention is the same four
lines as in the paper (Vaswani et al. 2017): project, compare, mix, project back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Projection:
    """The part of an attention layer that makes queries, keys and values: a linear layer in all but name."""

    weight: Tensor
    bias: Tensor | None


def unknown_attention(layer: nn.MultiheadAttention) -> str | None:
    """Why this attention cannot be written out, or None if it can."""
    if not layer.batch_first:
        return "MultiheadAttention with batch_first=False has no examples in front"
    if not layer._qkv_same_embed_dim or layer.bias_k is not None or layer.add_zero_attn:
        return "MultiheadAttention with kdim, vdim, add_bias_kv or add_zero_attn has no rule"
    return None


def written_out(layer: nn.MultiheadAttention, show: Callable[[Any, tuple[Tensor], Tensor], Tensor | None]) -> Any:
    """A ``forward`` that shows the layer's projection: ``show(projection, (input,), output)`` may replace the output.

    Queries from one text and keys from another (cross-attention) are refused with NotImplementedError.
    """

    def forward(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        if query is not key or key is not value or query.dim() != 3:
            raise NotImplementedError("attention between two texts has no rule")
        batch, time, width = query.shape
        own = Projection(layer.in_proj_weight, layer.in_proj_bias)
        output = F.linear(query, own.weight, own.bias)
        instead = show(own, (query,), output)
        output = output if instead is None else instead
        q, k, v = output.view(batch, time, 3, layer.num_heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if attn_mask is not None:  # (time, time), or one for each example and head
            mask = _as_numbers(attn_mask, scores)
            scores = scores + (mask if mask.dim() == 2 else mask.view_as(scores))
        if key_padding_mask is not None:
            scores = scores + _as_numbers(key_padding_mask, scores)[:, None, None, :]
        weights = scores.softmax(-1)
        mixed = F.dropout(weights, layer.dropout, layer.training) @ v
        out = layer.out_proj(mixed.transpose(1, 2).reshape(batch, time, width))
        if not need_weights:
            return out, None
        return out, weights.mean(1) if average_attn_weights else weights

    return forward


def _as_numbers(mask: Tensor, scores: Tensor) -> Tensor:
    """A mask as numbers to add: True means "do not look"."""
    if mask.dtype != torch.bool:
        return mask.to(scores.dtype)
    return torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(mask, -math.inf)
