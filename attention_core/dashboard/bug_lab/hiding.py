"""Why a fault does not show under the conditions: only what is so there."""

from attention_core import faults
from attention_core.dashboard.bug_lab.conditions import Conditions
from attention_core.dashboard.bug_lab.stories import STORIES
from attention_core.faults import Implementation
from attention_core.faults.symptoms import allowed_by_both

_ONE_KEY = "No query has more than one key, and one key has the weight 1 whatever its score is."
_NO_PADDING = "Without padding, there is no padding mask to take wrongly."
_ONE_SEQUENCE = "Of one sequence, the padding is the same however it is taken."


def why_hidden(fault: Implementation, now: Conditions) -> str:
    """Why `fault` looks like the right implementation there; "" if the reason is not known."""
    q, k, _, mask, padding = now.inputs()
    pairs = allowed_by_both(q, k, mask, padding)
    keys = pairs.sum(-1)  # of each query
    if fault is faults.padding_per_query and (padding is None) != (now.batch == 1):
        return _NO_PADDING if padding is None else _ONE_SEQUENCE
    partly = bool(((keys > 0) & (keys < now.n)).any())  # some forbidden, others not
    holds: dict[Implementation, bool] = {
        faults.no_scale: now.d_k == 1,
        faults.scale_after_softmax: now.d_k == 1,
        faults.scale_by_d_model: now.heads == 1,
        faults.mask_after_softmax: not partly,
        faults.masked_scores_zero: not partly,
        faults.mask_inverted: mask is None and padding is None,
        faults.finite_fill: now.dtype != "float16" and bool((keys > 0).all()),
        faults.padding_per_query: padding is None,  # and of one sequence: see above
    }
    if holds.get(fault):
        return STORIES[fault].hides
    of_scale = fault in (faults.no_scale, faults.scale_by_d_model)
    return _ONE_KEY if of_scale and bool((keys <= 1).all()) else ""
