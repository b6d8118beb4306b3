"""How many keys does the first of the newest queries see? A prediction before the pictures."""

from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.mask_workshop.conventions_notebook import sees_section
from attention_core.dashboard.questions.ask import check, choose
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import judged
from attention_core.masks import causal, causal_bottom_right, mask_tensor

N_Q, N_K = 3, 5
OVERLOOKED = {
    "1": "So many it sees top-left.",
    "2": "So many keys stand before its own, which it sees as well.",
    "5": "So many does the last query see.",
}
ALIGNMENT = Question("work_align_guess", at_once=True)
ANSWERS = ("1", "2", "3", "5")


def predict_alignment() -> bool:
    """Ask, and answer the guess; False as long as the two masks must stay hidden."""
    asked = (
        f"Predict first: with {N_Q} queries and {N_K} keys, how many keys does query 0 see "
        "bottom-right?"
    )
    keep_section(sees_section(asked))
    answer = choose(ALIGNMENT, asked, ANSWERS)
    if answer is None:
        return False
    sees = int(mask_tensor(causal_bottom_right(N_Q, N_K), N_Q, N_K)[0].sum())
    top_left = int(mask_tensor(causal, N_Q, N_K)[0].sum())
    guess = str(answer.guess)
    verdict = check(
        ALIGNMENT,
        answer,
        judged(guess == str(sees), f"{OVERLOOKED.get(guess, '')} {_why(sees, top_left)}".strip()),
        said=guess,
        result=f"{sees} keys bottom-right, {top_left} top-left",
    )
    keep_section(sees_section(asked, guess, verdict))
    return True


def _why(sees: int, top_left: int) -> str:
    """Where query 0 stands, if the two ends of the sequences do stand side by side."""
    if sees != N_K - N_Q + 1:
        return f"Query 0 sees **{sees}** keys bottom-right, and **{top_left}** top-left."
    return (
        f"The last query, query {N_Q - 1}, stands at the last key, key {N_K - 1}. So query 0 "
        f"stands at key {N_K - N_Q}, and sees **{sees}** keys: 0 to {N_K - N_Q}. Top-left it "
        f"stands at key 0, and sees **{top_left}**."
    )
