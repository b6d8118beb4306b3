"""The notebook of the Overview: the lesson's five tokens, and the formula."""

from collections.abc import Sequence

from attention_core.dashboard.export.notebook_section import Code, NotebookSection

FIVE_TOKENS = Code("""
q, k, v = (tensor[0] for tensor in sample_qkv(2, 5, 8, device=device, dtype=dtype))
steps = attention_steps(q, k, v)
i, j = divmod(int(steps.weights.argmax()), 5)
print(f"Query {i} puts {100 * steps.weights[i, j].item():.0f} % of its weight on key {j}.")
weights_chart(steps.weights, title="Who attends to whom: the lesson's five tokens")
""")
CHECK = Code("""
agreement = compare_with_torch(q, k, v)
report(agreement, steps.overflow)
""")


def overview_section(words: Sequence[str]) -> NotebookSection:
    """The formula, and the weights of the lesson's tokens."""
    return NotebookSection("One formula", words, cells=(FIVE_TOKENS, CHECK))
