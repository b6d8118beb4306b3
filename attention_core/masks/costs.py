"""What a mask saves: pairs to compute, and keys to hold while a model generates."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.checks import as_boolean, require


@dataclass(frozen=True)
class MaskCosts:
    """Counted in one mask (n_q, n_k).

    pairs      visible pairs of query and key: dot products, if no others are computed
    all_pairs  n_q * n_k: dot products without a mask
    most_keys  the most keys that any one query sees
    tokens     positions at which a query or a key stands
    step       as many tokens at most have to come at once: 1 if no query sees the future
    cached     as many keys at most have to be held at a time, those of the current step included,
               if the tokens come in such steps
    """

    pairs: int
    all_pairs: int
    most_keys: int
    tokens: int
    step: int
    cached: int

    @property
    def share(self) -> float:
        """pairs / all_pairs: the share of pairs that are visible."""
        return self.pairs / self.all_pairs

    @property
    def generates(self) -> bool:
        """Can a model write with this mask, by steps, or must all tokens be there at once?"""
        return self.step < self.tokens or self.tokens == 1


def mask_costs(mask: Tensor, first: int = 0) -> MaskCosts:
    """Count the costs of a mask (n_q, n_k), where query i stands at the position of key first + i.

    A model that generates can stop before position b if no query before b sees a key from b on.
    The stretches between such positions are its steps; tokens of one step come all at once. At
    the end of a step it must hold every key so far that a query of this step or a later one sees.

    Raises ValueError unless the mask is (n_q, n_k), not empty, and of booleans or 0 and 1.
    """
    shape = tuple(mask.shape)
    fits = mask.ndim == 2 and mask.numel() > 0
    require(fits, f"mask must be (n_q, n_k), both sizes 1 or more: {shape}")
    allowed = as_boolean(mask).cpu()
    n_q, n_k = shape
    position = first + torch.arange(n_q)  # of each query
    key = torch.arange(n_k)
    tokens = max(n_k, first + n_q)

    farthest = key.where(allowed, -1).amax(-1)  # (n_q,), the last key that each query sees
    last_asked = position.unsqueeze(1).where(allowed, -1).amax(0)  # (n_k,), by a query there
    starts = torch.arange(tokens)
    crossed = (position < starts.unsqueeze(1)) & (farthest >= starts.unsqueeze(1))  # (tokens, n_q)
    starts = starts[~crossed.any(-1)].unsqueeze(1)  # (steps, 1)
    ends = torch.cat([starts[1:], torch.tensor([[tokens]])])
    kept = (key < ends) & (last_asked >= starts)  # (steps, n_k)
    return MaskCosts(
        pairs=int(allowed.sum()),
        all_pairs=n_q * n_k,
        most_keys=int(allowed.sum(-1).max()),
        tokens=tokens,
        step=int((ends - starts).max()),
        cached=int(kept.sum(-1).max()),
    )
