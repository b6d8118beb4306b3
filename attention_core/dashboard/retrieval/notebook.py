"""The notebook of the retrieval page: the tokens, the query, what it finds, and the question."""

from collections.abc import Mapping, Sequence

from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection, Words
from attention_core.dashboard.words import Tokens

ASK = Code("""
vocab = vocabulary(len(names), sharpness, device=device, dtype=dtype)
query, keys = blend(vocab, asked), vocab[list(sequence)]
found = retrieve(query, vocab, sequence)
positions = [f"{j} · {names[token]}" for j, token in enumerate(sequence)]
weights_chart(
    found.weights[None],
    title="Weights: one query, one row",
    rows="query",
    row_labels=["q"],
    # Charts are shown by way of HTML, which would take a "<" in a word for its own.
    column_labels=None if "<" in "".join(names) else positions,
)
""")
ANSWER = Code("""
if found.token is None:
    print("Nothing: the largest entry of the output is shared, or there is none.", found.tied)
else:
    print(f"Token {found.token}, {names[found.token]!r}: the largest entry of the output.")
print("output:", [float(f"{entry:.5g}") for entry in found.output.tolist()])
""")
REASONS = Code("""
pd.set_option("display.html.use_mathjax", False)  # a word with $ in it is no formula
pd.DataFrame(
    {
        "position": range(len(sequence)),
        "token": [names[token] for token in sequence],
        "dot": found.steps.dots[0].tolist(),
        "score": found.steps.scores[0].tolist(),
        "weight": found.weights.tolist(),
    }
)
""")
CHECK = Code("""
agreement = compare_with_torch(query, keys, keys)
report(agreement, found.steps.overflow)
""")
ABSENT = Code("""
not_there = retrieve(blend(vocab, {absent: 1.0}), vocab, sequence)
print("weights:", [float(f"{weight:.5g}") for weight in not_there.weights.tolist()])
print("retrieved:", not_there.token)
""")
BACK, WHY, RIGHT = (
    Words(f"**{question}**")
    for question in ("What comes back?", "Why these weights?", "Is it right?")
)


def retrieval_section(
    words: Sequence[str], tokens: Tokens, asked: Mapping[int, float], sharpness: float
) -> NotebookSection:
    """What a query of these tokens finds. The learner's words enter as data only."""
    return NotebookSection(
        "Ask, and see what answers",
        words,
        (
            Choice("names", named(tokens), "the tokens of the vocabulary"),
            Choice("sequence", list(tokens.sequence), "a token's number for each position"),
            Choice("sharpness", sharpness, "the entry of a token at its own place"),
            Choice("asked", dict(asked), "coefficients by token: what the query asks for"),
        ),
        (ASK, BACK, ANSWER, WHY, REASONS, RIGHT, CHECK),
    )


def absent_section(
    absent: int, guess: str | None = None, verdict: str | None = None
) -> NotebookSection:
    """What answers to a token that is not in the sequence?"""
    return question_section(
        "A question: who answers if nothing fits?",
        "The token `absent` is in the vocabulary, but nowhere in the sequence. You ask for it. "
        "Where does the weight go?",
        (ABSENT,),
        prediction=guess,
        verdict=verdict,
        choices=(Choice("absent", absent, "the token that is not there"),),
    )


def named(tokens: Tokens) -> list[str]:
    """A name for every token of the vocabulary: its word, or else its number."""
    return [name or f"token {number}" for number, name in enumerate(tokens.names)]


def key_labels(tokens: Tokens) -> list[str]:
    """A label for every key of the sequence, as a file shows it."""
    names = named(tokens)
    return [f"key {j} · {names[token]}" for j, token in enumerate(tokens.sequence)]
