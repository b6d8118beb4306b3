"""How many keys does the first of the newest queries see? A prediction before the pictures."""

import streamlit as st

from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.mask_workshop.conventions_notebook import sees_section
from attention_core.dashboard.questions.gate import predict_first
from attention_core.masks import causal, causal_bottom_right, mask_tensor

N_Q, N_K = 3, 5
OVERLOOKED = {
    "1": "So many it sees top-left.",
    "2": "So many keys stand before its own, which it sees as well.",
    "5": "So many does the last query see.",
}
ANSWERS = ("1", "2", "3", "5")


def predict_alignment() -> bool:
    """Ask, and answer the guess; False as long as the two masks must stay hidden."""
    asked = (
        f"Predict first: with {N_Q} queries and {N_K} keys, how many keys does query 0 see "
        "bottom-right?"
    )
    keep_section(sees_section(asked))
    guess = predict_first(asked, ANSWERS, key="work_align_guess")
    if guess is None:
        return False
    sees = int(mask_tensor(causal_bottom_right(N_Q, N_K), N_Q, N_K)[0].sum())
    top_left = int(mask_tensor(causal, N_Q, N_K)[0].sum())
    right = guess == str(sees)
    verdict = (
        f"{'**Right.**' if right else f'**Not quite.** {OVERLOOKED[guess]}'} The last query, query "
        f"{N_Q - 1}, stands at the last key, key {N_K - 1}. So query 0 stands at key {N_K - N_Q}, "
        f"and sees **{sees}** keys: 0 to {N_K - N_Q}. Top-left it stands at key 0, and sees "
        f"**{top_left}**."
    )
    st.markdown(verdict)
    keep_section(sees_section(asked, guess, verdict))
    return True
