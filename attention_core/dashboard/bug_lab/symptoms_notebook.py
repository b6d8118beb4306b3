"""The notebook of the bug lab, what a specimen does: numbers that were observed, as data.

Beside them the right one, which is run. No line of code depends on which fault it is.
"""

from torch import Tensor

from attention_core.dashboard.bug_lab.case import Case
from attention_core.dashboard.bug_lab.conditions import BOTH, CAUSAL, MASKED_ROW, PADDING
from attention_core.dashboard.bug_lab.symptoms_panel import SYMPTOMS, in_numbers
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection
from attention_core.faults import right
from attention_core.faults.symptoms import allowed_by_both

INPUTS = """
drawn = sample_qkv(batch * heads, n, d_k, seed=seed, device=device, dtype=dtype)
q, k, v = (tensor.view(batch, heads, n, d_k) for tensor in drawn)
mask = padding = None
"""
CAUSAL_MASK = """
mask = mask_tensor(causal, n, n, device)
"""
DEAD_ROW_MASK = """
mask = torch.ones(n, n, dtype=torch.bool, device=device)
mask[n // 2] = False  # one query may attend to nothing
"""
PADDING_MASK = """
lengths = (n - 1 - torch.arange(batch)).clamp(min=1)  # sequence b ends 1 + b tokens early
padding = (torch.arange(n) < lengths.unsqueeze(-1)).to(device)
"""
MASKS = {
    CAUSAL: CAUSAL_MASK,
    PADDING: PADDING_MASK,
    BOTH: CAUSAL_MASK.rstrip() + PADDING_MASK,
    MASKED_ROW: DEAD_ROW_MASK,
}
COMPARED = Code("""
reference = symptoms(right, q, k, v, mask, padding)
pd.DataFrame({"The specimen": seen, "The right one": dict(zip(seen, in_numbers(reference)))})
""")
PICTURES = Code("""
allowed = allowed_by_both(q, k, mask, padding).expand(batch, heads, n, n)
observed = torch.tensor([[float("nan") if w is None else w for w in row] for row in seen_weights])
weights_chart(observed, title="The specimen: weights") | weights_chart(
    reference.weights[sequence, head],
    title="The right one: weights",
    mask=allowed[sequence, head],
)
""")
STOPS = Code("""
allowed = allowed_by_both(q, k, mask, padding).expand(batch, heads, n, n)
print("The specimen stops with an error:", seen_error)
weights_chart(
    reference.weights[sequence, head],
    title="The right one: weights",
    mask=allowed[sequence, head],
)
""")
CHECK = Code("""
report(compare_with_torch(q, k, v, allowed))
""")


def symptoms_section(words: str, case: Case) -> NotebookSection:
    """The settings, what was seen of the specimen, as data, and what the right one does."""
    c = case.conditions
    sequence, head = case.place
    choices = [
        Choice("batch", c.batch, "sequences"),
        Choice("heads", c.heads, "heads"),
        Choice("n", c.n, "tokens in a sequence"),
        Choice("d_k", c.d_k, "the width of a head"),
        Choice("seed", c.seed, "of q, k and v"),
        Choice("sequence", sequence, "in the pictures"),
        Choice("head", head, "in the pictures"),
        Choice("seen", dict(zip(SYMPTOMS, in_numbers(case.seen), strict=True)), "what was seen"),
    ]
    if isinstance(case.seen, str):
        choices.append(Choice("seen_error", case.seen, "that it stops with"))
    else:
        choices.append(Choice("seen_error", None, "it stops with none"))
        weights = _plain(case.seen.weights[case.place])
        choices.append(Choice("seen_weights", weights, "of this sequence and head"))
    inputs = Code(INPUTS.rstrip() + MASKS.get(c.mask, ""))
    return NotebookSection(
        f"Symptoms of specimen {case.letter}",
        (words, f"The mask: *{c.mask}*."),
        choices,
        (inputs, COMPARED, STOPS if isinstance(case.seen, str) else PICTURES, CHECK),
        (right, allowed_by_both, in_numbers),
    )


def _plain(weights: Tensor) -> list[list[float | None]]:
    """The numbers of a matrix, None for what is none."""
    finite = weights.isfinite().tolist()
    return [
        [weight if is_number else None for weight, is_number in zip(*rows, strict=True)]
        for rows in zip(weights.double().tolist(), finite, strict=True)
    ]
