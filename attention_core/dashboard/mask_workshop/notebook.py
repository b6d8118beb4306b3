"""The notebook of the mask workshop: the mask in hand, the gallery, and the challenges."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection, Words

MASK = Code("""
mask = flip_cells(mask_tensor(parse_mask_rule(rule), n_q, n_k, device), painted)
q, k, v = (
    tensor[0] for tensor in sample_qkv(1, n_q, 8, n_k=n_k, seed=seed, device=device, dtype=dtype)
)
steps = attention_steps(q, k, v, mask)
dead_rows = (~mask.any(-1)).nonzero().flatten().tolist()
print(f"visible pairs          {int(mask.sum())} of {mask.numel()}")
print(f"share of all pairs     {100 * float(mask.double().mean()):.1f} %")
print(f"queries without a key  {len(dead_rows)}", dead_rows or "")
weights_chart(mask.float(), title="May query i attend to key j?", mask=mask) | weights_chart(
    steps.weights, title="Weights under the mask", mask=mask
)
""")
RIGHT = Words("**Is it right?**")
CHECK = Code("""
agreement = compare_with_torch(q, k, v, mask)
report(agreement, steps.overflow)
""")
COSTS = Code("""
entry = mask_tensor(parse_mask_rule(gallery_rule), n_q, n_k)
costs = mask_costs(entry, first)
print(f"dot products needed      {costs.pairs} of {costs.all_pairs}, {100 * costs.share:.1f} %")
print(f"most keys one query sees {costs.most_keys}")
if costs.generates:
    print(f"to generate, in steps of {costs.step}, hold {costs.cached} of {costs.tokens} keys")
else:
    print(f"not for generation: all {costs.tokens} tokens must be there at once")
weights_chart(entry.float(), title="May query i attend to key j?", mask=entry)
""")
GROWTH = Code("""
growth = {}
for name, growing_rule in growing.items():
    few, twice = (
        mask_costs(mask_tensor(parse_mask_rule(growing_rule), n, n)).pairs for n in (64, 128)
    )
    growth[name] = few, twice
    print(f"{name:28} from {few:,} to {twice:,}, times {twice / few:.2f}")
""")
CHALLENGE = Code("""
wanted = torch.tensor(target).bool()
if my_rule is not None:
    drawn = mask_tensor(parse_mask_rule(my_rule), *wanted.shape)
    wrong = (drawn != wanted).nonzero().tolist()
    print(f"{len(wrong)} of {wanted.numel()} cells differ", wrong and f"first (i, j): {wrong[0]}")
weights_chart(wanted.float(), title="Target", mask=wanted)
""")
TRY = (
    "Write your rule below in place of `None`, in quotation marks, as in `my_rule = 'j <= i'`. "
    "Then run the code to see which cells differ."
)


def rule_section(
    words: Sequence[str],
    *,
    rule: str,
    exceptions: Sequence[tuple[int, int]],
    sizes: tuple[int, int],
    seed: int,
) -> NotebookSection:
    """The learner's mask, at their sizes, and the weights under it. The rule enters as data."""
    n_q, n_k = sizes
    return NotebookSection(
        "Write the rule",
        words,
        (
            Choice("rule", rule, "may query i attend to key j?"),
            Choice("n_q", n_q, "queries"),
            Choice("n_k", n_k, "keys, and as many values"),
            Choice("seed", seed, "of q, k and v"),
            Choice("painted", list(exceptions), "cells (i, j) that answer the other way round"),
        ),
        (MASK, RIGHT, CHECK),
    )


def gallery_section(name: str, words: str, rule: str, first: int) -> NotebookSection:
    """One mask of the gallery and its costs; query 0 stands at the position of key `first`."""
    return NotebookSection(
        f"From the gallery: {name}",
        (words,),
        (
            Choice("gallery_rule", rule, "the same mask as a rule"),
            Choice("first", first, "the position of query 0, counted in keys"),
        ),
        (COSTS,),
    )


def growth_section(
    task: str, growing: Mapping[str, str], guess: str | None = None, verdict: str | None = None
) -> NotebookSection:
    """Which of these masks, given as rules by name, costs about twice as much for twice the n?"""
    return question_section(
        "What happens when the text gets longer?",
        task,
        (GROWTH,),
        prediction=guess,
        verdict=verdict,
        choices=(Choice("growing", dict(growing), "masks by name, each as a rule"),),
    )


def challenge_section(
    title: str, task: str, target: Tensor, rule: str | None = None, verdict: str | None = None
) -> NotebookSection:
    """The target as a table of cells, never as a rule; the learner's rule once it is judged."""
    choices = (
        Choice("target", target.int().tolist(), "1 = query i (row) may attend to key j"),
        Choice("my_rule", rule, "the rule that you wrote for it"),
    )
    cells = (CHALLENGE,) if verdict is None else (CHALLENGE, Words(verdict))
    return NotebookSection(
        f"Challenge: {title}", (task, TRY) if rule is None else (task,), choices, cells
    )
