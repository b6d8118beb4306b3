"""Which implementation hides behind which letter, and the hints for it."""

from attention_core import faults
from attention_core.dashboard.questions.question import Question
from attention_core.faults import Implementation

Hints = tuple[str, str]

# The order of the letters tells nothing: it is neither that of the faults nor that of their names.
_BEHIND: dict[str, tuple[Implementation, Hints]] = {
    "A": (
        faults.mask_after_softmax,
        (
            "No forbidden pair gets any weight. What do the rows sum to?",
            "Earlier outputs move when the last token changes, although it has no weight there. "
            "In which sum is its score still present?",
        ),
    ),
    "B": (
        faults.keys_and_values_swapped,
        (
            "Rows sum to 1, every mask holds, and the sharpness is right; yet weights and output "
            "are wrong under every setting.",
            "These are proper weights, but for other vectors than the keys. Which other vectors "
            "are there?",
        ),
    ),
    "C": (
        faults.scale_after_softmax,
        (
            "What do the rows sum to?",
            "Change d_k and look at the row sums. For 1, 4 and 16 they are 1, 1/2 and 1/4.",
        ),
    ),
    "D": (
        faults.finite_fill,
        (
            "Most settings hide it. Try the rarer masks, and the other dtypes.",
            "What does a query get here that may attend to nothing? And what in the right one?",
        ),
    ),
    "E": (
        faults.mask_inverted,
        (
            "Choose a mask, and compare the two pictures of weights cell by cell.",
            "Where one picture has weight, the other has none. Without a mask they are the same.",
        ),
    ),
    "F": (
        faults.softmax_over_queries,
        (
            "What do the rows sum to, and what the columns?",
            "A softmax makes the numbers that it runs over sum to 1.",
        ),
    ),
    "G": (
        faults.padding_per_query,
        (
            "Choose a mask with padding, and change the number of sequences.",
            "It stops with an error unless there is one sequence, or as many sequences as tokens. "
            "Which two sizes must have been mixed up?",
        ),
    ),
    "H": (
        faults.scale_by_d_model,
        (
            "Compare one head with several heads.",
            "The weights are too even, and the more so the more heads there are.",
        ),
    ),
    "I": (
        faults.diagonal_masked,
        (
            "Which pairs have no weight here, and have some in the right one?",
            "Choose no mask, and look along the diagonal.",
        ),
    ),
    "J": (
        faults.right,
        (
            "What have you not tried yet: several heads, padding, a dead row, float16?",
            "If no setting shows a difference to the right one, what does that mean?",
        ),
    ),
    "K": (
        faults.no_scale,
        (
            "Make d_k larger. Do the weights become more even or more extreme, compared with the "
            "right ones?",
            "Rows sum to 1 and every mask holds. At d_k = 1 nothing is wrong, at d_k = 64 a lot.",
        ),
    ),
    "L": (
        faults.weights_transposed,
        (
            "Compare the weights with the right ones, then look at the difference to PyTorch.",
            "The weights are right, and the output is not. What happens between the two?",
        ),
    ),
    "M": (
        faults.masked_scores_zero,
        (
            "Choose a mask. How much weight do forbidden pairs get?",
            "All forbidden pairs of a row get the same weight, so they have the same score. Which?",
        ),
    ),
}
SPECIMEN = "lab_specimen"  # the control that chooses one
LETTERS = tuple(_BEHIND)
SPECIMENS = tuple(Question(f"lab_{letter}", hints) for letter, (_, hints) in _BEHIND.items())
_QUESTIONS = dict(zip(LETTERS, SPECIMENS, strict=True))


def behind(letter: str) -> Implementation:
    """The implementation that the specimen with this letter is."""
    return _BEHIND[letter][0]


def question(letter: str) -> Question:
    """What the specimen with this letter is known by in the URL and in the progress."""
    return _QUESTIONS[letter]
