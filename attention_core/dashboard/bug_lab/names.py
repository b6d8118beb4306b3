"""What each implementation is called on screen, and what its name means."""

from dataclasses import dataclass

from attention_core import faults
from attention_core.faults import IMPLEMENTATIONS, Implementation


@dataclass(frozen=True)
class Name:
    """short: as a diagnosis; meaning: in a sentence; clause: as in "If the scale were missing"."""

    short: str
    meaning: str
    clause: str


NAMES: dict[Implementation, Name] = {
    faults.softmax_over_queries: Name(
        "Softmax over the queries",
        "The softmax runs down each column of scores instead of along each row: the queries share "
        "out each key.",
        "the softmax ran over the queries",
    ),
    faults.no_scale: Name(
        "No scale",
        "The dot products go into the softmax as they are, not divided by √d_k.",
        "the scale were missing",
    ),
    faults.scale_by_d_model: Name(
        "Scale by √d_model",
        "The dot products are divided by √d_model, the width of all heads together, instead of "
        "√d_k, the width of one.",
        "the scale were 1/√d_model",
    ),
    faults.scale_after_softmax: Name(
        "Scale after the softmax",
        "The softmax sees the bare dot products; its result is divided by √d_k.",
        "the scale came after the softmax",
    ),
    faults.mask_after_softmax: Name(
        "Mask after the softmax",
        "All pairs go into the softmax; the weights of forbidden pairs are set to 0 afterwards.",
        "the mask came after the softmax",
    ),
    faults.masked_scores_zero: Name(
        "Masked scores set to 0",
        "The score of a forbidden pair is set to 0 instead of −∞.",
        "masked scores were set to 0",
    ),
    faults.mask_inverted: Name(
        "Mask the wrong way round",
        "True is taken for “hidden” where it means “may attend”, in both masks.",
        "the mask were read the wrong way round",
    ),
    faults.diagonal_masked: Name(
        "Diagonal masked out",
        "No query may attend to the key at its own position.",
        "the diagonal were masked out",
    ),
    faults.finite_fill: Name(
        "−1e9 instead of −∞",
        "The score of a forbidden pair is set to −1e9, a large but finite number, and nothing is "
        "done for a query that may attend to nothing.",
        "forbidden scores were set to −1e9",
    ),
    faults.keys_and_values_swapped: Name(
        "Keys and values swapped",
        "The scores are made with the values, and the keys are handed out.",
        "keys and values were swapped",
    ),
    faults.weights_transposed: Name(
        "Weights transposed",
        "The values are mixed by the weights with rows and columns exchanged.",
        "the weights were transposed",
    ),
    faults.padding_per_query: Name(
        "Padding mask taken per query",
        "The padding mask has one row for each sequence; its rows are taken for queries.",
        "the padding mask were taken per query",
    ),
    faults.right: Name(
        "Nothing is wrong",
        "The implementation computes attention as in the formula, under every setting.",
        "nothing were wrong",
    ),
}
DIAGNOSES = {NAMES[implementation].short: implementation for implementation in IMPLEMENTATIONS}
