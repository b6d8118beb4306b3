"""The notebook of exercise 2: attention without its scale, and with wrong ones."""

from collections.abc import Sequence

from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection

LESSON_SIZES = (8, 16, 32, 64, 128)
ONE_HOT = Code("""
one_hot = {
    rule: scaling_study(sizes, rule=rule, tokens="one_hot", device=device, dtype=dtype)
    for rule in ("none", "1/sqrt(d_k)")
}
for rule, study in one_hot.items():
    print(f"{rule:12}", *(f"D = {r.d_k}: {r.mean_largest_weight:.5f}" for r in study), sep="  ")
lines_chart(
    {rule: [r.mean_largest_weight for r in study] for rule, study in one_hot.items()},
    sizes,
    title="One-hot tokens: weight on the match",
    x="D",
    y="largest weight",
)
""")
CHECK = Code("""
vocab = vocabulary(8, 5.0, device=device, dtype=dtype)
report(compare_with_torch(blend(vocab, {2: 1.0}), vocab[:5], vocab[:5], scale=1.0))
""")
AT_ONE_D = Code("""
vocab = vocabulary(d, 5.0, device=device, dtype=dtype)
for rule in ("none", "1/sqrt(d_k)"):
    found = retrieve(blend(vocab, {2: 1.0}), vocab, range(5), scale=scale_for(rule, d))
    print(f"{rule:12}", [float(f"{weight:.5g}") for weight in found.weights.tolist()])
""")
DENSE = Code("""
dense = {
    rule: scaling_study(sizes, rule=rule, tokens="normal", device=device, dtype=dtype)
    for rule in ("none", "1/sqrt(d_k)")
}
for rule, study in dense.items():
    print(f"{rule:12}", *(f"D = {r.d_k}: {r.mean_largest_weight:.2f}" for r in study), sep="  ")
print("variance of the dots", *(f"D = {r.d_k}: {r.dots_variance:.1f}" for r in dense["none"]))
lines_chart(
    {rule: [r.mean_largest_weight for r in study] for rule, study in dense.items()},
    sizes,
    title="Dense tokens: mean largest weight",
    x="D",
    y="largest weight",
)
""")
GRADIENT = Code("""
norms = {
    rule: scaling_study(sizes, rule=rule, tokens="normal", device=device, dtype=dtype)
    for rule in ("none", "1/sqrt(d_k)")
}
at_8, at_128 = (r.mean_jacobian_norm for r in norms["none"] if r.d_k in (8, 128))
print(f"{at_8:.3f} at D = 8, {at_128:.3f} at D = 128: {100 * at_128 / at_8:.0f} % is left")
lines_chart(
    {rule: [r.mean_jacobian_norm for r in study] for rule, study in norms.items()},
    sizes,
    title="Size of the softmax Jacobian",
    x="D",
    y="mean norm of J",
)
""")
RULES = Code("""
compared = {
    rule: scaling_study((8, 32, 128, 1024), rule=rule, device=device, dtype=dtype) for rule in rules
}
for rule, study in compared.items():
    print(f"{rule:16}", *(f"D = {r.d_k}: {r.mean_largest_weight:.2f}" for r in study), sep="  ")
""")


def one_hot_section(
    title: str,
    task: str,
    guess: str | None = None,
    verdict: str | None = None,
    sizes: Sequence[int] = LESSON_SIZES,
    d: int | None = None,
) -> NotebookSection:
    """What D does to a look-up among one-hot tokens."""
    one_d = () if verdict is None else (Choice("d", d, "a D to look at more closely"),)
    return question_section(
        title,
        task,
        (ONE_HOT, CHECK),
        prediction=guess,
        verdict=verdict,
        choices=(_sizes(sizes), *one_d),
        explored=(AT_ONE_D,),
    )


def dense_section(
    title: str,
    task: str,
    guess: str | None = None,
    verdict: str | None = None,
    sizes: Sequence[int] = LESSON_SIZES,
) -> NotebookSection:
    """What D does to the weights of random queries and keys."""
    return question_section(
        title, task, (DENSE,), prediction=guess, verdict=verdict, choices=(_sizes(sizes),)
    )


def gradient_section(
    title: str,
    task: str,
    guess: int | None = None,
    verdict: str | None = None,
    sizes: Sequence[int] = LESSON_SIZES,
    rules: Sequence[str] = (),
) -> NotebookSection:
    """How much of the softmax gradient is left, and what other scales do."""
    compared = Choice("rules", list(rules), "scales to compare")
    return question_section(
        title,
        task,
        (GRADIENT,),
        prediction=guess,
        verdict=verdict,
        choices=(_sizes(sizes), *(() if verdict is None else (compared,))),
        explored=(RULES,),
    )


def _sizes(sizes: Sequence[int]) -> Choice:
    return Choice("sizes", list(sizes), "D, the entries of a query or key")
