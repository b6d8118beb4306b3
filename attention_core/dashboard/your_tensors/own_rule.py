"""The learner's own mask, by a rule as in the mask workshop."""

import streamlit as st
from torch import Tensor

from attention_core.dashboard import controls
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.panels.rule_refusal import show_refusal
from attention_core.dashboard.your_tensors.computing import rule_tensor
from attention_core.dashboard.your_tensors.session_cache import MASK, remembered
from attention_core.dashboard.your_tensors.tensor_files.loaded import Loaded, Weights
from attention_core.mask_rules import MaskRuleError

RULE = "A condition on query i and key j, as in the mask workshop; it joins the mask of the file."


def choose_mask(tensors: Loaded, settings: ComputeSettings) -> tuple[str, Tensor | None]:
    """The learner's rule and its mask; None for an empty rule, and for one that makes no sense."""
    if isinstance(tensors, Weights):
        st.caption(
            "These weights are finished: no mask can be put on them, as a mask belongs before the "
            "softmax."
        )
        return "", None
    rule = controls.text(
        "Mask by a rule, such as `j <= i` or `abs(i - j) < 3`", "", key="own_rule", help=RULE
    ).strip()
    if not rule:
        return "", None
    key = (rule, tensors.shape[-2:], settings.device)  # all that a rule is asked about
    found = remembered(MASK, key, lambda: _mask_or_refusal(rule, tensors, settings))
    if isinstance(found, MaskRuleError):
        show_refusal(rule, found)
        st.markdown("Until then no rule is used.")
        return "", None
    return rule, found


def _mask_or_refusal(
    rule: str, tensors: Loaded, settings: ComputeSettings
) -> Tensor | MaskRuleError:
    """A refusal is remembered as well: a rule may take seconds to fail at its last cell."""
    try:
        return rule_tensor(rule, tensors, settings)
    except MaskRuleError as error:
        return error.with_traceback(None)  # which would keep the numbers of all its steps
