"""The five targets of the challenges, from easy to hard, each with a rule that draws it."""

from dataclasses import dataclass

from torch import Tensor

from attention_core.dashboard.questions.question import Question
from attention_core.mask_rules import parse_mask_rule
from attention_core.masks import mask_tensor


@dataclass(frozen=True)
class Target:
    """A mask to reproduce.

    task       what to look at in its picture
    rule       one of the rules that draw it
    why        how to find that rule, and who uses such a mask
    sizes      (n_q, n_k) of the picture
    elsewhere  other sizes, at which a rule has to be right as well
    """

    question: Question
    task: str
    rule: str
    why: str
    sizes: tuple[int, int]
    elsewhere: tuple[int, int] = (13, 13)

    def mask(self, sizes: tuple[int, int]) -> Tensor:
        """The target at these sizes, a boolean (n_q, n_k) matrix on the CPU."""
        return mask_tensor(parse_mask_rule(self.rule), *sizes)


TARGETS = (
    Target(
        Question(
            "work_ch_1",
            (
                "Which key does query 3 see? And query 4?",
                "How far is that key from the query, whatever the query?",
                "The rule is a single comparison with ==, of j and something with i.",
            ),
        ),
        "One key per query, and a row without any. Which row is that, and why that one?",
        "j == i - 1",
        "Each query sees the key just before it, so j is i − 1. Query 0 has none before it: a dead "
        "row. Trained language models grow heads that attend this way by themselves, the *previous "
        "token heads*, one half of an induction head (Olsson et al. 2022).",
        (6, 6),
    ),
    Target(
        Question(
            "work_ch_2",
            (
                "Look at one row only. How far from the query is each of its keys?",
                "The distances are 0, 2, 4 and so on, and never below 0. What have they in common?",
                "x % 2 is 0 for even x. Join two conditions by and.",
            ),
        ),
        "A query skips its neighbour, sees the next, and so on, back to the beginning.",
        "j <= i and (i - j) % 2 == 0",
        "Not later than the query, and at an even distance from it. The *strided* pattern of the "
        "Sparse Transformer is made this way, with longer strides (Child et al. 2019, section 4).",
        (8, 8),
    ),
    Target(
        Question(
            "work_ch_3",
            (
                "Which queries start anew, with a single key? How far apart are they?",
                "Two positions are in the same block of 4 if a division by 4 gives the same.",
                "Same block, and not later than the query: two conditions.",
            ),
        ),
        "Causal, but each block of queries starts anew. The last block may be cut off.",
        "j <= i and i // 4 == j // 4",
        "i // 4 is the number of the block that a query is in. A block needs nothing from outside, "
        "so all blocks can be computed side by side.",
        (10, 10),
    ),
    Target(
        Question(
            "work_ch_4",
            (
                "The last query stands at the last key. At which key does query 0 stand?",
                "n_k - n_q keys came before the first of these queries: query i stands at key "
                "i + n_k - n_q.",
                "From there, count the distance back to j: it is 0, 1 or 2.",
            ),
        ),
        "Nine keys are in the cache, and only the four newest tokens ask. Each sees three keys, "
        "its own among them. It has to work for other numbers of queries and keys as well.",
        "0 <= i + n_k - n_q - j < 3",
        "Query i is token i + n_k − n_q of the whole text. A window of three keys ends there. This "
        "is how a model with a sliding window goes on from a cache (Jiang et al. 2023, section 2).",
        (4, 9),
        (5, 13),
    ),
    Target(
        Question(
            "work_ch_5",
            (
                "Nothing is later than the query. So what remains to be said about the past?",
                "Inside its own block of 3 a query sees all of the past. Of the blocks before, it "
                "sees one key each: which one?",
                "That key is the last of its block: its position divided by 3 leaves 2.",
            ),
        ),
        "Each query sees the past of its own block, and one key of every earlier block.",
        "j <= i and (i // 3 == j // 3 or j % 3 == 2)",
        "The last key of a block stands for the whole block, and later queries read only that. It "
        "is the *fixed* pattern of the Sparse Transformer (Child et al. 2019, section 4): two "
        "layers of it connect every query to all of its past.",
        (9, 9),
    ),
)
