"""Ten masks that models use, what they cost at the learner's sizes, and how the costs grow."""

import pandas as pd
import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.controls.url_state import hides
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.mask_workshop.current_mask import RULE, CurrentMask, load_rule
from attention_core.dashboard.mask_workshop.mask_view import mask_chart
from attention_core.dashboard.mask_workshop.notebook import gallery_section, growth_section
from attention_core.dashboard.panels.source import show_source
from attention_core.dashboard.questions.ask import check, choose
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import judged
from attention_core.masks.costs import MaskCosts, mask_costs
from attention_core.masks.gallery import GALLERY, GalleryMask

BY_NAME = {entry.name: entry for entry in GALLERY}
GROWING = ("Prefix LM", "Attention sink plus window", "Block-causal", "Causal, bottom-right")
GROWTH = Question("work_gal_guess", at_once=True)
LAW = (
    "A fixed number of keys for each query grows with *n*; a fixed share of all pairs grows with "
    "*n*²."
)
FEW, TWICE = 64, 128  # tokens, so many that the ends of the sequence matter little


def show_gallery(current: CurrentMask, settings: ComputeSettings) -> None:
    """One mask with its picture, use and costs; then a question, and all ten side by side."""
    n_q, n_k = current.mask.shape
    st.markdown(
        "Ten masks that real models use, drawn at your sizes. The windows and blocks are small "
        "here, so that the picture shows them. *Predict* before you choose the next one: what "
        "will its picture look like?"
    )
    entry = BY_NAME[controls.select("Mask", list(BY_NAME), key="work_gal_mask")]
    chart = mask_chart(
        entry.tensor(n_q, n_k).to(settings.device), f"{entry.name}: may query i attend to key j?"
    )
    see, read = st.columns(2, gap="large")
    with see:
        show(chart, key="work_gal_picture")
    with read:
        st.markdown(f"**{entry.name}.** {entry.idea}\n\n**In real models:** {entry.use}")
        st.code(entry.rule, language=None)
        _offer(entry, current)
    _show_costs(entry, entry.costs(n_q, n_k))
    words = f"{entry.idea}\n\n**In real models:** {entry.use}"
    first = n_k - n_q if entry.ends_together else 0
    keep_section(gallery_section(entry.name, words, entry.rule, first))
    show_tables({entry.name: chart}, key="work_gal_tables")
    st.subheader("What happens when the text gets longer?")
    _compare(n_q, n_k)
    show_source(mask_costs, key="work_gal_source")


def _offer(entry: GalleryMask, current: CurrentMask) -> None:
    if hides(RULE):
        return
    held = current.rule == entry.rule and not current.exceptions
    st.button(
        "Put this rule in the text box",
        icon=":material/edit:",
        key="work_gal_load",
        on_click=load_rule,
        args=(entry.rule,),
        disabled=held,
    )
    if held:
        st.caption("It is the rule in the text box at the top of the page.")


def _show_costs(entry: GalleryMask, costs: MaskCosts) -> None:
    needed, share, most = st.columns(3)
    needed.metric("Dot products needed", f"{costs.pairs} of {costs.all_pairs}")
    share.metric("Share of all pairs", f"{100 * costs.share:.1f} %")
    most.metric("Most keys one query sees", costs.most_keys)
    between = " Between documents nothing is kept." if entry.name == "Documents" else ""
    st.markdown(generating_in_words(costs) + between * costs.generates)


def generating_in_words(costs: MaskCosts) -> str:
    """Can a model write token by token with this mask, and how many keys must it keep?"""
    if not costs.generates:
        return (
            "**Not for generation.** Queries see ahead, and there is no place where a model could "
            f"stop and write the next token: all {costs.tokens} tokens must be there at once."
        )
    steps = "a model goes one token after the other."
    if costs.step > 1:
        together = f"up to {costs.step} tokens see each other, and must be there at once."
        steps = f"a model goes in steps: {together}"
    return (
        f"**To generate**, {steps} At each step the model must hold the keys that this step or a "
        f"later one asks for, its *cache*: at most {costs.cached} of {costs.tokens}."
    )


def _compare(n_q: int, n_k: int) -> None:
    task = (
        "A mask saves work only if the hidden dot products are really left out, as fast GPU "
        f"programs do. Let a text grow from {FEW} to {TWICE} tokens, twice as many."
    )
    st.markdown(task)
    asked = "Predict first: which of these needs about **2** times as many dot products, not 4?"
    growing = {name: BY_NAME[name].rule for name in GROWING}
    answer = choose(GROWTH, asked, growing)
    keep_section(growth_section(f"{task}\n\n{asked}", growing))
    if answer is None:
        return
    guess = str(answer.guess)
    twice = [name for name in GROWING if round(_times(name)) == 2]
    told = [_growth(name) for name in dict.fromkeys((guess, *twice))]
    verdict = check(
        GROWTH,
        answer,
        judged(guess in twice, f"{' '.join(told)} {LAW}"),
        said=guess,
        result=" ".join(_growth(name) for name in twice) or "none of them",
    )
    st.markdown("All ten, at your sizes:")
    keep_section(growth_section(f"{task}\n\n{asked}", growing, guess, verdict))
    st.dataframe(
        comparison(n_q, n_k),
        hide_index=True,
        key="work_gal_table",
        column_config={
            "Visible": st.column_config.ProgressColumn(format="%.1f %%", min_value=0, max_value=100)
        },
    )
    st.caption(
        "*Visible*: the share of all pairs. *For n tokens*: about how many dot products. *Cache*: "
        "the most keys to hold while generating; – where all tokens must be there at once."
    )


def _growth(name: str) -> str:
    few, twice = _pairs(name)
    return f"{name}: from {few:,} to {twice:,}, times {twice / few:.2f}."


def _times(name: str) -> float:
    few, twice = _pairs(name)
    return twice / few


def _pairs(name: str) -> tuple[int, int]:
    few, twice = (BY_NAME[name].costs(n, n).pairs for n in (FEW, TWICE))
    return few, twice


def comparison(n_q: int, n_k: int) -> pd.DataFrame:
    """The costs of the whole gallery at these sizes, one row for each mask."""
    costs = {entry: entry.costs(n_q, n_k) for entry in GALLERY}
    return pd.DataFrame(
        {
            "Mask": [entry.name for entry in costs],
            "Visible": [100 * cost.share for cost in costs.values()],
            "Dot products": [cost.pairs for cost in costs.values()],
            "For n tokens": [entry.growth for entry in costs],
            "Most keys": [cost.most_keys for cost in costs.values()],
            "Cache": [str(cost.cached) if cost.generates else "–" for cost in costs.values()],
        }
    )
