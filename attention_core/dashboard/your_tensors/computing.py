"""One head after the other: weights, small pictures and measures, from either kind of file."""

from dataclasses import dataclass
from threading import Lock

import torch
from torch import Tensor

from attention_core.checks import require
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.your_tensors.tensor_files.loaded import Loaded, Projections
from attention_core.devices import DTYPES
from attention_core.heads.blockwise import pool_largest, weights_blockwise
from attention_core.heads.measures import HeadMeasures, measure_head
from attention_core.mask_rules import rule_matrix

SMALL = 32  # cells on each side of a small picture, at most
_ONE_AT_A_TIME = Lock()  # all learners share the memory of one process


@dataclass(frozen=True, eq=False)
class Overview:
    """All heads at a glance.

    thumbnails  (batch, heads, up to SMALL, up to SMALL), the largest weight of each block of cells
    measures  one for each batch element and head
    """

    thumbnails: Tensor
    measures: list[list[HeadMeasures]]


def overview(tensors: Loaded, rule: Tensor | None, settings: ComputeSettings) -> Overview:
    """The weights of every head, computed one at a time. Raises ValueError as `weights_of`."""
    batch, heads, n_q, n_k = tensors.shape
    thumbnails: list[Tensor] = []
    measures: list[list[HeadMeasures]] = [[] for _ in range(batch)]
    for b in range(batch):
        for h in range(heads):
            with _ONE_AT_A_TIME:  # then it is another learner's turn
                weights = weights_of(tensors, b, h, rule, settings)
                thumbnails.append(pool_largest(weights, -(-n_q // SMALL), -(-n_k // SMALL)).cpu())
                measures[b].append(measure_head(weights))
    return Overview(torch.stack(thumbnails).reshape(batch, heads, *thumbnails[0].shape), measures)


def weights_of(
    tensors: Loaded,
    b: int,
    h: int,
    rule: Tensor | None,
    settings: ComputeSettings,
    rows: slice = slice(None),
) -> Tensor:
    """The weights of head h of batch element b, of some queries (rows, n_k).

    Raises ValueError if the dtype of the setting cannot hold q, k or v.
    """
    if not isinstance(tensors, Projections):
        return tensors.weights[b, h, rows]
    q, k, v = head_of(tensors, b, h, settings)
    mask = mask_of(tensors, b, h, rule, settings)
    return weights_blockwise(q[rows], k, v, None if mask is None else mask[rows])


def head_of(tensors: Projections, b: int, h: int, settings: ComputeSettings) -> tuple[Tensor, ...]:
    """q, k, v of one head, on the device and in the dtype of the setting.

    Raises ValueError if the dtype cannot hold a number: converted, it would be infinite.
    """
    dtype = DTYPES[settings.dtype]
    found = []
    for name in ("q", "k", "v"):
        tensor: Tensor = getattr(tensors, name)[b, h].to(settings.device, dtype)
        fits = bool(tensor.isfinite().all())
        require(
            fits,
            f"{name} holds numbers that are too large for {settings.dtype}: choose a wider dtype "
            "under Computation",
        )
        found.append(tensor)
    return tuple(found)


def mask_of(
    tensors: Projections, b: int, h: int, rule: Tensor | None, settings: ComputeSettings
) -> Tensor | None:
    """What both the file's own mask and the rule allow, (n_q, n_k); None if all is allowed."""
    own = None if tensors.allowed is None else tensors.allowed[b, h].to(settings.device)
    if own is None or rule is None:
        return rule if own is None else own
    return own & rule


def rule_tensor(rule: str, tensors: Loaded, settings: ComputeSettings) -> Tensor:
    """The mask of a rule for these tensors, (n_q, n_k). Raises MaskRuleError."""
    _, _, n_q, n_k = tensors.shape
    with _ONE_AT_A_TIME:  # a long rule on 2,048 by 2,048 positions takes seconds
        return rule_matrix(rule, n_q, n_k, settings.device)
