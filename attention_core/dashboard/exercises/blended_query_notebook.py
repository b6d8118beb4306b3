"""The notebook of exercise 1: a query that is a blend of two tokens."""

from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection

EQUAL = Code("""
vocab = vocabulary(6, 5.0, device=device, dtype=dtype)
keys = vocab[:5]
query = blend(vocab, {2: 1.0, 4: 1.0})
found = retrieve(query, vocab, range(5))
print(f"weight on token 2: {100 * found.weights[2].item():.3f} %")
print(f"weight on token 4: {100 * found.weights[4].item():.3f} %")
report(compare_with_torch(query, keys, keys), found.steps.overflow)
weights_chart(found.weights[None], title="Weights", rows="query", row_labels=["q"])
""")
SHARPER = Code("""
sharp = vocabulary(6, sharpness, device=device, dtype=dtype)
explored = retrieve(blend(sharp, {2: 1.0, 4: 1.0}), sharp, range(5))
weights_chart(explored.weights[None], title="At this sharpness", rows="query", row_labels=["q"])
""")
UNEQUAL = Code("""
needed = coefficient_for_share(vocab, range(5), 2, 4, 0.9)
print(f"token 2 takes 90 % at a = {needed:.4f}")
""")
OTHER_COEFFICIENT = Code("""
blended = retrieve(blend(vocab, {2: a, 4: 1.0}), vocab, range(5))
print("retrieved:", blended.token)
weights_chart(blended.weights[None], title="With this a", rows="query", row_labels=["q"])
""")


def equal_section(
    title: str,
    task: str,
    guess: int | None = None,
    verdict: str | None = None,
    sharpness: float | None = None,
) -> NotebookSection:
    """Two tokens at once: how much weight goes to each?"""
    return question_section(
        title,
        task,
        (EQUAL,),
        prediction=guess,
        verdict=verdict,
        choices=() if verdict is None else (Choice("sharpness", sharpness, "that you tried"),),
        explored=(SHARPER,),
    )


def unequal_section(
    title: str,
    task: str,
    guess: float | None = None,
    verdict: str | None = None,
    a: float | None = None,
) -> NotebookSection:
    """How unequal must they be before one takes 90 %?"""
    return question_section(
        title,
        task,
        (UNEQUAL,),
        prediction=guess,
        verdict=verdict,
        choices=() if verdict is None else (Choice("a", a, "the coefficient that you tried"),),
        explored=(OTHER_COEFFICIENT,),
    )
