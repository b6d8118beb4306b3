"""The mask in hand: its rule, the cells painted against it, and the tensors that it masks."""

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from attention_core.dashboard import controls
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.panels.rule_refusal import show_refusal
from attention_core.dashboard.tensors import MAX_N, cached_qkv
from attention_core.mask_rules import MaskRuleError, parse_mask_rule
from attention_core.masks import flip_cells, mask_tensor

DEFAULT_RULE = "j <= i and i - j < 3"
D = 8  # d_k and d_v
RULE, PAINTED = "work_rule", "work_paint"  # the controls: the text, and the cells against it
_LAST = "work_last_rule"  # the last legal one, in the session


@dataclass(frozen=True, eq=False)
class CurrentMask:
    """What the learner holds.

    rule        legal, as typed
    exceptions  cells (i, j), painted by hand, whose answer is the other one than the rule's
    mask        (n_q, n_k), boolean, exceptions applied
    q, k, v     (n_q, d_k), (n_k, d_k), (n_k, d_v): one head, cached, never to be written to
    seed        of q, k, v
    """

    rule: str
    exceptions: tuple[tuple[int, int], ...]
    mask: Tensor
    q: Tensor
    k: Tensor
    v: Tensor
    seed: int


@dataclass(frozen=True, eq=False)
class DrawnRule:
    """A legal rule and its mask (n_q, n_k), before anything is painted."""

    rule: str
    mask: Tensor
    seed: int


def load_rule(rule: str) -> None:
    """Take up a rule from elsewhere, nothing painted: for a button's `on_click`."""
    controls.assign(RULE, rule)
    controls.assign(PAINTED, "")


def write_rule(settings: ComputeSettings) -> DrawnRule:
    """The learner's rule at the learner's sizes.

    Where it is refused, the page says why and goes on with the last rule that was legal.
    """
    typed = controls.text(
        "Rule: may query i attend to key j?",
        DEFAULT_RULE,
        key=RULE,
        help="Press Enter to draw it.",
    ).strip()
    message = st.container()
    for_queries, for_keys, for_seed = st.columns(3)
    with for_queries:
        n_q = controls.slider("Queries, n_q", 1, MAX_N, 8, key="work_nq")
    with for_keys:
        n_k = controls.slider("Keys, n_k", 1, MAX_N, 8, key="work_nk")
    with for_seed:
        seed = controls.slider("Seed of q, k and v", 0, 99, 0, key="work_seed")
    refusal: MaskRuleError | None = None
    for rule in (typed, st.session_state.get(_LAST, DEFAULT_RULE), DEFAULT_RULE):
        try:
            mask = mask_tensor(parse_mask_rule(rule), n_q, n_k, settings.device)
        except MaskRuleError as error:
            refusal = refusal or error
        else:
            break
    if refusal is None:
        st.session_state[_LAST] = rule
    else:
        with message:
            show_refusal(typed, refusal)
            st.markdown("Until then the page goes on with this rule:")
            st.code(rule, language=None)
    return DrawnRule(rule, mask, seed)


def current_mask(
    drawn: DrawnRule, exceptions: Iterable[tuple[int, int]], settings: ComputeSettings
) -> CurrentMask:
    """The mask with the painted cells, and the tensors that it masks."""
    cells = tuple(exceptions)
    n_q, n_k = drawn.mask.shape
    cached = cached_qkv(1, n_q, n_k, D, drawn.seed, settings.dtype, settings.device)
    q, k, v = (tensor[0] for tensor in cached)
    return CurrentMask(drawn.rule, cells, flip_cells(drawn.mask, cells), q, k, v, drawn.seed)
