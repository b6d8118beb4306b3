"""Ten masks that real models use: what each is for, its rule, and how its costs grow."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from attention_core.masks.basic import (
    Mask,
    causal,
    causal_bottom_right,
    dilated,
    document,
    local,
    mask_tensor,
    prefix_lm,
    sliding_window,
)
from attention_core.masks.composed import block_causal, global_local, sink_window
from attention_core.masks.costs import MaskCosts, mask_costs


@dataclass(frozen=True)
class GalleryMask:
    """One mask of the gallery, with parameters that fit about twelve tokens.

    idea    what a query sees, in one sentence
    use     models that use it, with the paper
    rule    the same mask as a rule in i and j, for `parse_mask_rule`
    growth  of n tokens, about how many of the n^2 pairs are visible
    make    (n_q, n_k) -> the mask
    ends_together  whether the last query stands at the last key, not query 0 at key 0
    """

    name: str
    idea: str
    use: str
    rule: str
    growth: str
    make: Callable[[int, int], Mask]
    ends_together: bool = False

    def tensor(self, n_q: int, n_k: int) -> Tensor:
        """The mask at these sizes, a boolean (n_q, n_k) matrix on the CPU."""
        return mask_tensor(self.make(n_q, n_k), n_q, n_k)

    def costs(self, n_q: int, n_k: int) -> MaskCosts:
        """What it costs at these sizes."""
        return mask_costs(self.tensor(n_q, n_k), n_k - n_q if self.ends_together else 0)


GALLERY = (
    GalleryMask(
        "Causal",
        "A query sees its own key and all keys before it.",
        "The decoder of the first transformer (Vaswani et al. 2017, section 3.2.3) and GPT-2 "
        "(Radford et al. 2019).",
        "j <= i",
        "n²/2",
        lambda n_q, n_k: causal,
    ),
    GalleryMask(
        "Causal, bottom-right",
        "The same, but the last query stands at the last key, not the first at the first.",
        "Decoding with a KV cache: the few newest tokens ask, all tokens so far answer. "
        "FlashAttention aligns its causal mask this way from version 2.1 on (Dao 2023).",
        "j <= i + n_k - n_q",
        "n²/2",
        causal_bottom_right,
        ends_together=True,
    ),
    GalleryMask(
        "Local",
        "A query sees its own key and one neighbour on each side: 3 keys.",
        "Longformer (Beltagy et al. 2020, section 3.1), which reads long documents.",
        "abs(i - j) <= 1",
        "3n",
        lambda n_q, n_k: local(3),
    ),
    GalleryMask(
        "Sliding window",
        "A query sees the last 3 keys, its own included.",
        "Mistral 7B (Jiang et al. 2023, section 2), with a window of 4096 keys.",
        "j <= i and i - j < 3",
        "3n",
        lambda n_q, n_k: sliding_window(3),
    ),
    GalleryMask(
        "Dilated",
        "A query sees 3 keys that stand 2 apart, its own in the middle.",
        "Longformer (Beltagy et al. 2020, section 3.1): as many keys as a local window, but from "
        "farther away. For pictures: DiNAT (Hassani and Shi 2022).",
        "abs(i - j) <= 2 and (i - j) % 2 == 0",
        "3n",
        lambda n_q, n_k: dilated(3, 2),
    ),
    GalleryMask(
        "Prefix LM",
        "All queries see the first 3 keys, which are the prompt; after them it is causal.",
        "UniLM (Dong et al. 2019) for writing an answer to a text, and studied for T5 (Raffel et "
        "al. 2020, section 3.2.1).",
        "j < 3 or j <= i",
        "n²/2",
        lambda n_q, n_k: prefix_lm(3),
    ),
    GalleryMask(
        "Documents",
        "Documents of 4 tokens are packed into one sequence: a query sees its own document.",
        "BERT trained on packed sequences (Krell et al. 2021). Llama 3 (Meta 2024, section 3.2) "
        "has it together with the causal mask.",
        "i // 4 == j // 4",
        "4n",
        lambda n_q, n_k: document([4] * (max(n_q, n_k) // 4 + 1)),
    ),
    GalleryMask(
        "Attention sink plus window",
        "A query sees the last 3 keys and, for ever, key 0.",
        "StreamingLLM (Xiao et al. 2023), which keeps the first 4 keys: models put much weight on "
        "them, and fail when they are gone.",
        "j <= i and (j < 1 or i - j < 3)",
        "4n",
        lambda n_q, n_k: sink_window(1, 3),
    ),
    GalleryMask(
        "Global plus local",
        "A local window of 3 keys; only token 0 sees all keys and is seen by all queries.",
        "Longformer (Beltagy et al. 2020, section 3.1) and BigBird (Zaheer et al. 2020), which "
        "adds a few random keys.",
        "i < 1 or j < 1 or abs(i - j) <= 1",
        "5n",
        lambda n_q, n_k: global_local(1, 3),
    ),
    GalleryMask(
        "Block-causal",
        "A query sees its own block of 4 tokens, and all blocks before it.",
        "Models that write block by block: VAR draws a picture from coarse to fine (Tian et al. "
        "2024); block diffusion writes text (Arriola et al. 2025).",
        "j // 4 <= i // 4",
        "n²/2",
        lambda n_q, n_k: block_causal(4),
    ),
)
