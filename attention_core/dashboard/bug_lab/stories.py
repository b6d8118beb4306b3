"""What is told once a specimen is diagnosed, and where a fault cannot be seen."""

from dataclasses import dataclass

from attention_core import faults
from attention_core.faults import Implementation


@dataclass(frozen=True)
class Story:
    """Why people write it, how to notice it in one's own code, and when it does not show ("" if
    it always does)."""

    why: str
    notice: str
    hides: str = ""


_PARTLY_HIDDEN = "Where each row is wholly forbidden or wholly allowed, nothing differs."
_D_K_IS_ONE = "With d_k = 1, √d_k is 1, and dividing by it changes nothing."

STORIES: dict[Implementation, Story] = {
    faults.softmax_over_queries: Story(
        "`dim=1` is the keys as long as the scores are one matrix. With a batch in front it runs "
        "over the queries, with heads in front as well over the heads. A softmax changes no shape, "
        "so nothing complains.",
        "Add up the weights over the keys, `weights.sum(-1)`: every row must give 1. Write "
        "`dim=-1`, counted from the end, and it stays right when dimensions are added.",
    ),
    faults.no_scale: Story(
        "It is one factor in the formula, and a small model learns without it. Other code scales "
        "the queries earlier, and whoever copies only the second half loses the scale.",
        "Draw random q and k with a large d_k: the largest weight of a row must not grow with d_k. "
        "Too sharp a softmax has almost no gradient.",
        _D_K_IS_ONE,
    ),
    faults.scale_by_d_model: Story(
        "d_model is the number at hand where q, k and v are made; the width of one head comes "
        "later. With one head both are the same, and small tests often have one head.",
        "Test with several heads. A dot product of one head has d_k terms, so d_k is what counts.",
        "With one head, d_model and d_k are the same number.",
    ),
    faults.scale_after_softmax: Story(
        "A closing bracket one place too early, or the division put at the end of the line.",
        "The rows must sum to 1, and here they sum to 1/√d_k. After the softmax every factor other "
        "than 1 breaks that; the scale belongs to the scores.",
        _D_K_IS_ONE,
    ),
    faults.mask_after_softmax: Story(
        "To multiply the weights by zeros and ones is the first idea, and the picture looks right: "
        "every forbidden cell is 0.",
        "Add up the rows: a row with a forbidden pair sums to less than 1. And change a future "
        "token: earlier outputs move, because its score is in the sum that divides the row.",
        _PARTLY_HIDDEN,
    ),
    faults.masked_scores_zero: Story(
        "`scores * mask` sounds right: zero is nothing. But exp(0) is 1, a share like any other.",
        "Look at the weights of forbidden pairs. They must be exactly 0, not just small.",
        _PARTLY_HIDDEN,
    ),
    faults.mask_inverted: Story(
        "`nn.MultiheadAttention` takes True for hidden, `F.scaled_dot_product_attention` takes it "
        "for allowed. Both call it a mask.",
        "Put one True into a mask of False, and see which pair gets the weight. A language model "
        "whose loss falls to nearly 0 at once is reading the answers.",
        "Without a mask there is nothing to read the wrong way round.",
    ),
    faults.diagonal_masked: Story(
        "Off by one: `j < i` for `j <= i`, `tril(diagonal=-1)` for `tril()`. Or the thought that a "
        "token need not look at itself.",
        "Under a causal mask the first query has only itself: its row must be 1, 0, 0, … "
        "If it is all 0, or NaN, the diagonal is gone.",
    ),
    faults.finite_fill: Story(
        "A row of nothing but −∞ gives NaN; with −1e9 the NaN is gone, and in float32 all looks "
        "well. Many tutorials have it.",
        "Give one query nothing to attend to: it must get 0, and here all that is forbidden shares "
        "its weight evenly. And run it in float16, whose largest number is 65504.",
        "Unless the dtype is float16, which has no number that large, or a query may attend to "
        "nothing, −1e9 does just what −∞ does.",
    ),
    faults.keys_and_values_swapped: Story(
        "Three tensors of one shape in a row: `q, v, k = qkv.chunk(3)`, or arguments in another "
        "order than the function expects.",
        "Give the values another width than the keys, d_v ≠ d_k: it stops with an error at once. "
        "Call the function with names, `k=k, v=v`.",
    ),
    faults.weights_transposed: Story(
        "An einsum with i and j exchanged, or a transpose left from an experiment. With as many "
        "queries as keys every shape fits.",
        "A picture of the weights looks perfect, so test the *output*: change a future token, and "
        "earlier outputs move. With n_q ≠ n_k it stops with an error at once.",
    ),
    faults.padding_per_query: Story(
        "Broadcasting lines up the last dimensions: a mask (batch, n_k) beside scores "
        "(batch, heads, n_q, n_k) puts its rows where the queries are.",
        "Test with a batch that is neither 1 nor the sequence length. Write "
        "`padding[:, None, None, :]`, so that each dimension stands where it belongs.",
        "Without padding, or with one sequence only, nothing differs.",
    ),
    faults.right: Story(
        "Most suspicious code is right, and to know it takes as long as to find a fault.",
        "It is right because nothing else is left: several heads, padding in several sequences, a "
        "query with nothing to attend to and float16 have all been tried. Make them tests.",
    ),
}
