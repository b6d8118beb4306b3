"""The notebook of the mask workshop: three answers to a query that may attend to nothing."""

from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection

ANSWERS = Code("""
with_dead_row = mask.clone()
if silenced is not None:
    with_dead_row[silenced] = False
dead_row = int((~with_dead_row.any(-1)).nonzero()[0])
answers = {a.name: a for a in masked_row_answers(q, k, v, with_dead_row)}
rows = torch.stack([answers[name].weights[dead_row] for name in ("NaN", "uniform", "zero")])
for name, row in zip(("NaN", "uniform", "zero"), rows.tolist()):
    print(f"{name:8} each weight of query {dead_row}, a dead row, is {row[0]:.3g}")
hidden = float(answers["uniform"].weights[dead_row][~with_dead_row[dead_row]].sum())
print(f"the uniform answer puts {100 * hidden:.0f} % on keys that the mask hides")
difference_to_zero = compare_with_torch(q, k, v, with_dead_row).torch_difference
print(f"the zero answer and PyTorch's differ by {difference_to_zero:.1e} at most")
weights_chart(
    rows, title="Three answers", rows="answer", row_labels=["NaN", "uniform", "zero"]
)
""")
GRADIENTS = Code("""
for answer in answers.values():
    print(f"{answer.name:8} gradients with NaN: {', '.join(answer.spoiled) or 'none'}")
""")


def masked_rows_section(words: str, silenced: int | None) -> NotebookSection:
    """Three answers to the first dead row; `silenced` is a query that was made one, if any."""
    meaning = "the query that may attend to nothing; None where the mask has such a query itself"
    return NotebookSection(
        "Dead rows", (words,), (Choice("silenced", silenced, meaning),), (ANSWERS,)
    )


def training_section(
    task: str, guess: str | None = None, verdict: str | None = None
) -> NotebookSection:
    """Which of the answers give gradients without NaN?"""
    return question_section(
        "Which of them can be trained?", task, (GRADIENTS,), prediction=guess, verdict=verdict
    )
