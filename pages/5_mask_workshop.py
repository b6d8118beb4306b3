"""Beyond the lesson: write a mask, paint it, and say it in every convention."""

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core import attention_steps, parse_mask_rule
    from attention_core.dashboard.lesson import MASK_WORKSHOP as PAGE
    from attention_core.dashboard.mask_workshop.current_mask import current_mask, write_rule
    from attention_core.dashboard.mask_workshop.mask_view import show_mask
    from attention_core.dashboard.mask_workshop.notebook import rule_section
    from attention_core.dashboard.mask_workshop.paint import paint
    from attention_core.dashboard.mask_workshop.parts import PARTS
    from attention_core.dashboard.page import (
        Matrix,
        close_page,
        controls,
        displayed,
        formula,
        keep_section,
        open_page,
        show_source,
    )

settings = open_page(PAGE)
intro = (
    "A mask answers one question for every pair: **may query *i* attend to key *j*?** So any mask "
    "is a rule in *i* and *j*, True or False for each cell. Where it says False, the score becomes "
    "−∞ and the weight exactly 0:"
)
masked_tex = r"\text{weights} = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + M\right)"
mask_tex = (
    r"M_{ij} = \begin{cases} 0 & \text{if the rule holds for } i, j \\"
    r" -\infty & \text{otherwise} \end{cases}"
)
st.markdown(intro)
formula(masked_tex)
formula(mask_tex)

st.header("Write the rule")
st.markdown(
    "*Predict first:* `j <= i and i - j < 3` is a window that looks back. How many keys does query "
    "0 see, and how many does query 5? How must the rule change, so that the window looks as far "
    "ahead as back? Then write it below, and change the sizes: with more keys than queries, which "
    "keys does nobody see?"
)
drawn = write_rule(settings)
with st.expander("What a rule may hold", icon=":material/menu_book:"):
    st.markdown(
        "| you write | it means |\n|---|---|\n"
        "| `i`, `j` | the position of the query, of the key, from 0 |\n"
        "| `n_q`, `n_k` | how many queries and keys there are |\n"
        "| `0`, `1`, `25` | whole numbers |\n"
        "| `+` `-` `*` `//` `%` | plus, minus, times, division rounded down, its remainder |\n"
        "| `<` `<=` `==` `!=` `>=` `>` | comparisons, also chained: `0 <= i - j < 3` |\n"
        "| `and` `or` `not` | both, at least one, the opposite |\n"
        "| `j in (0, 3)`, `j not in range(2, 5)` | one of these; from 2 up to, not including, 5 |\n"
        "| `abs(i - j)`, `min(i, j)`, `max(i, j)` | distance, the smaller, the larger |\n\n"
        "It is a part of Python, and means what it means there. Try `abs(i - j) <= 1`, "
        "`i // 4 == j // 4`, or `j == 0 or i - j in (0, 1)`."
    )
current = current_mask(drawn, paint(drawn.mask), settings)
st.markdown(
    "*What to look for:* rows are queries, columns are keys, and 1 means *may attend*. A row of "
    "the mask says what its query sees, and the weights of that row sum to 1 over just these "
    "cells: hide one more key, and every weight left in its row grows."
)
weights = show_mask(current, settings)
n_q, n_k = current.mask.shape
keep_section(
    rule_section(
        (intro, displayed(masked_tex), displayed(mask_tex)),
        rule=current.rule,
        exceptions=current.exceptions,
        sizes=(n_q, n_k),
        seed=current.seed,
    ),
    {"Weights": Matrix(weights), "Mask": Matrix(current.mask)},
)
show_source(parse_mask_rule, attention_steps, key="work_source")

st.header("Go further")
st.markdown(
    "**Gallery**: which masks do models use? **Conventions**: how do I say mine in PyTorch? "
    "**Dead rows**: what if a query sees nothing? **Alignment**: what if n_q ≠ n_k? **Bias**: can "
    "a mask say *less*? **Challenges**: find the rule."
)
part = controls.segments("Part", list(PARTS), key="work_part")
PARTS[part](current, settings)
close_page(PAGE)
