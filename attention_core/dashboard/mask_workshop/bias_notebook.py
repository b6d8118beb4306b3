"""The notebook of the mask workshop: a bias in place of a mask."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection

SLOPE = Code("""
bias = bias_tensor(alibi(slope), n_q, n_k, device, dtype)
""")
BUCKETS = Code("""
bias = bias_tensor(relative_bias(torch.tensor(table), furthest), n_q, n_k, device, dtype)
""")
CAP = Code("""
bias = soft_cap_bias(attention_steps(q, k, v).scores, cap)
""")
BIASED = Code("""
kept = mask if keep_mask else torch.ones_like(mask)
plain = attention_steps(q, k, v, kept)
biased = attention_steps(q, k, v, kept, bias=bias)
print(f"largest weight without the bias  {float(plain.weights.max()):.3f}")
print(f"largest weight with the bias     {float(biased.weights.max()):.3f}")
bias_agreement = compare_with_torch(q, k, v, kept, bias=bias)
report(bias_agreement, biased.overflow)
weights_chart(plain.weights, title="Weights without the bias", mask=kept) | weights_chart(
    biased.weights, title="Weights with the bias", mask=kept
)
""")
FAR = Code("""
forbid = bias_tensor(forbid_beyond(far), n_q, n_k, device, dtype)
forbidden = attention_steps(q, k, v, kept, bias=forbid)
found = {"without a bias": plain, "with this bias": biased, "with −∞ instead": forbidden}
for name, each in found.items():
    print(f"weight beyond {far}, {name}: {100 * far_weight(each.weights, far):.3g} %")
""")
FINITE = Code("""
q64, k64, v64 = (tensor.cpu().double() for tensor in (q, k, v))
for step in (0.5, 2.0, 8.0):
    falling = bias_tensor(alibi(step), n_q, n_k, dtype=torch.float64)
    smallest = float(attention(q64, k64, v64, bias=falling)[1].min())
    print(f"with -{step:g} for each position of distance, the smallest weight is {smallest:.1e}")
""")


class BiasRecipe(NamedTuple):
    """How one kind of bias is made: its parameters, and the code that takes them."""

    choices: Sequence[Choice]
    cell: Code


def slope_recipe(slope: float) -> BiasRecipe:
    """ALiBi: a slope times the distance."""
    return BiasRecipe((Choice("slope", slope, "what each step of distance costs"),), SLOPE)


def buckets_recipe(table: Sequence[float], furthest: int) -> BiasRecipe:
    """T5: a number for each bucket of distances."""
    return BiasRecipe(
        (
            Choice("table", list(table), "the number of each bucket"),
            Choice("furthest", furthest, "from this distance on, all are in one bucket"),
        ),
        BUCKETS,
    )


def cap_recipe(cap: float) -> BiasRecipe:
    """The soft cap: what it takes away from each score."""
    return BiasRecipe((Choice("cap", cap, "no score goes beyond it"),), CAP)


def bias_section(
    words: Sequence[str],
    recipe: BiasRecipe,
    *,
    far: int | None,
    keep_mask: bool,
    uses: Sequence[Callable[..., Any]],
) -> NotebookSection:
    """One bias on the tensors in hand, beside −∞ for all that is further than `far`, if given."""
    distance = () if far is None else (Choice("far", far, "from further than this distance on"),)
    return NotebookSection(
        "Bias",
        words,
        (
            *recipe.choices,
            *distance,
            Choice("keep_mask", keep_mask, "whether the mask in hand holds as well"),
        ),
        (recipe.cell, BIASED, *((FAR,) if distance else ())),
        uses,
    )


def finite_section(
    task: str, guess: str | None = None, verdict: str | None = None
) -> NotebookSection:
    """Can a finite bias make a weight exactly 0?"""
    return question_section(
        "A question: bias or mask?", task, (FINITE,), prediction=guess, verdict=verdict
    )
