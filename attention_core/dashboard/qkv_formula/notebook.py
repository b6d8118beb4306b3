"""The notebook of the QKV page: every step of the formula, one weight of it, and the question."""

from collections.abc import Sequence

from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection, Words

STEPS = Code("""
q, k, v = sample_qkv(batch, n_q, d_k, n_k=n_k, seed=seed, device=device, dtype=dtype)
steps = attention_steps(q, k, v)
print("output.shape:", tuple(steps.output.shape))
weights_chart(steps.weights[shown], title="Weights = softmax of each row")
""")
ONE_WEIGHT = Code("""
trace = trace_cell(q[shown], k[shown], v[shown], i, j)
print(f"query {i} · key {j}  {trace.dot:.6g}")
print(f"score          {trace.score:.6g}  times the scale {trace.scale:.6g}")
print(f"weight         {trace.weight:.6g}  of an even share {1 / n_k:.6g}")
""")
CHECK = Code("""
agreement = compare_with_torch(q, k, v)
report(agreement, steps.overflow)
""")
SYMMETRY = Code("""
own_q, _, own_v = (tensor[0] for tensor in sample_qkv(2, 5, 8, device=device, dtype=dtype))
own = attention_steps(own_q, own_q, own_v)
print(f"largest |s_ij - s_ji|  {asymmetry(own.scores):.2g}")
print(f"largest |w_ij - w_ji|  {asymmetry(own.weights):.2g}")
weights_chart(own.weights, title="Weights, K = Q")
""")
ONE = Words("**One weight.** Where does it come from?")
RIGHT = Words("**Is it right?**")


def formula_section(
    words: Sequence[str],
    *,
    batch: int,
    shown: int,
    n_q: int,
    n_k: int,
    d_k: int,
    seed: int,
    chosen: tuple[int, int],
) -> NotebookSection:
    """Q, K and V of these sizes, all steps, and the weight of the chosen query and key."""
    return NotebookSection(
        "The formula",
        words,
        (
            Choice("batch", batch, "sequences computed at once"),
            Choice("shown", shown, "the one in the pictures"),
            Choice("n_q", n_q, "queries"),
            Choice("n_k", n_k, "keys, and as many values"),
            Choice("d_k", d_k, "dimensions of each query, key and value"),
            Choice("seed", seed, "of the random numbers"),
            Choice("i", chosen[0], "the query that you looked at"),
            Choice("j", chosen[1], "and the key"),
        ),
        (STEPS, ONE, ONE_WEIGHT, RIGHT, CHECK),
    )


def symmetry_section(
    task: str, guess: str | None = None, verdict: str | None = None
) -> NotebookSection:
    """If the keys are the queries, what is symmetric?"""
    return question_section(
        "A question: what is symmetric?", task, (SYMMETRY,), prediction=guess, verdict=verdict
    )
