"""The notebook of the mask workshop: PyTorch's conventions, and two ways to align."""

from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection, Words

SAME = Code("""
difference = float((output.cpu().double() - steps.output.cpu().double()).abs().max())
print(f"max abs diff of this call to attention  {difference:.2e}")
print(f"rounding explains up to                 {agreement.tolerance:.1e}")
""")
MIX_UP = Code("""
mixed_up = mix_up(*(tensor.cpu() for tensor in (q, k, v, mask)))
print(f"to the output that was meant                 {mixed_up.from_meant:.2g}")
print(f"to attention with the opposite mask          {mixed_up.from_opposite:.1e}")
print(f"queries that saw every key and now see none  {mixed_up.fully_masked}")
""")
SEES = Code("""
for name, rule_of_causal in (("top-left", causal), ("bottom-right", causal_bottom_right(3, 5))):
    print(f"{name}: query 0 sees {int(mask_tensor(rule_of_causal, 3, 5)[0].sum())} of 5 keys")
""")
ALIGNMENT = Code("""
n = max(queries, keys)
whole_q, whole_k, whole_v = (
    tensor[0] for tensor in sample_qkv(1, n, 8, seed=seed, device=device, dtype=dtype)
)
last_q, last_k, last_v = whole_q[-queries:], whole_k[-keys:], whole_v[-keys:]
masks = {
    "Top-left": mask_tensor(causal, queries, keys, device),
    "Bottom-right": mask_tensor(causal_bottom_right(queries, keys), queries, keys, device),
}
aligned = {name: attention_steps(last_q, last_k, last_v, m) for name, m in masks.items()}
for name, m in masks.items():
    print(f"{name}: the last query sees {int(m[-1].sum())} of {keys} keys")
is_causal = compare_with_is_causal(last_q, last_k, last_v)
print(f"Top-left to is_causal=True  {is_causal:.1e}")
left, right = (
    weights_chart(aligned[name].weights, title=f"{name}: weights", mask=masks[name])
    for name in masks
)
left | right
""")
CACHE = Code("""
whole_mask = mask_tensor(causal, n, n, device)
whole = attention_steps(whole_q, whole_k, whole_v, whole_mask).output[-queries:]
decoded = torch.cat([step.output for step in decode(whole_q, whole_k, whole_v)])[-queries:]
to_whole = {name: float((found.output - whole).abs().max()) for name, found in aligned.items()}
for name, largest in to_whole.items():
    print(f"{name}: max abs diff to the whole  {largest:.2e}")
one_by_one = float((aligned["Bottom-right"].output - decoded).abs().max())
print(f"Bottom-right to one token at a time  {one_by_one:.2e}")
report(compare_with_torch(last_q, last_k, last_v, masks["Bottom-right"]))
""")


def convention_section(
    name: str, words: str, program: str | None, refusal: str = ""
) -> NotebookSection:
    """The program as the page shows it, or why there is none.

    It holds the learner's rule as code, which it may: `parse_mask_rule` has accepted the rule.
    """
    if program is None:
        return NotebookSection(
            f"Conventions: {name}", (words, f"{refusal} So here it has no program.")
        )
    return NotebookSection(f"Conventions: {name}", (words,), cells=(Code(program), SAME))


def mix_up_section(
    task: str, guess: str | None = None, verdict: str | None = None
) -> NotebookSection:
    """What comes of a mask that is read the other way round?"""
    return question_section(
        "Mix two of them up", task, (MIX_UP,), prediction=guess, verdict=verdict
    )


def sees_section(
    task: str, guess: str | None = None, verdict: str | None = None
) -> NotebookSection:
    """How many of 5 keys does the first of 3 queries see, if both end together?"""
    return question_section(
        "A question: what does query 0 see?", task, (SEES,), prediction=guess, verdict=verdict
    )


def alignment_section(words: str, n_q: int, n_k: int) -> NotebookSection:
    """The two causal masks of n_q queries and n_k keys; which of them a cache needs."""
    cache = (Words("**Which of the two gives the rows of the whole?**"), CACHE)
    return NotebookSection(
        "Alignment",
        (words,),
        (
            Choice("queries", n_q, "the last ones of the sequence"),
            Choice("keys", n_k, "the last ones of the sequence"),
        ),
        (ALIGNMENT, *(cache if n_q <= n_k else ())),
    )
