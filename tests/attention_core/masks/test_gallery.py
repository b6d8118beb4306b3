"""The gallery: every rule is its mask, and every growth is what counting gives."""

import math
import re

import pytest
import torch

from attention_core.mask_rules import parse_mask_rule
from attention_core.masks import mask_tensor
from attention_core.masks.gallery import GALLERY

SIZES = ((1, 1), (1, 7), (7, 1), (5, 11), (11, 5), (12, 12), (13, 13), (31, 37))
every_mask = pytest.mark.parametrize("entry", GALLERY, ids=lambda entry: entry.name)

# What a query at i may see among n keys, said once more, without the rule and without the factory.
SEEN = {
    "Causal": lambda i, n_q, n_k: range(i + 1),
    "Causal, bottom-right": lambda i, n_q, n_k: range(n_k - n_q + i + 1),
    "Local": lambda i, n_q, n_k: (i - 1, i, i + 1),
    "Sliding window": lambda i, n_q, n_k: (i - 2, i - 1, i),
    "Dilated": lambda i, n_q, n_k: (i - 2, i, i + 2),
    "Prefix LM": lambda i, n_q, n_k: range(max(3, i + 1)),
    "Documents": lambda i, n_q, n_k: range(i - i % 4, i - i % 4 + 4),
    "Attention sink plus window": lambda i, n_q, n_k: (0, i - 2, i - 1, i),
    "Global plus local": lambda i, n_q, n_k: range(n_k) if i == 0 else (0, i - 1, i, i + 1),
    "Block-causal": lambda i, n_q, n_k: range(i - i % 4 + 4),
}
# Visible pairs of n queries and n keys, n a multiple of 4, n >= 4.
PAIRS = {
    "Causal": lambda n: n * (n + 1) // 2,
    "Causal, bottom-right": lambda n: n * (n + 1) // 2,
    "Local": lambda n: 3 * n - 2,
    "Sliding window": lambda n: 3 * n - 3,
    "Dilated": lambda n: 3 * n - 4,
    "Prefix LM": lambda n: n * (n + 1) // 2 + 3,
    "Documents": lambda n: 4 * n,
    "Attention sink plus window": lambda n: 4 * n - 6,
    "Global plus local": lambda n: 3 * n - 2 + 2 * (n - 2),
    "Block-causal": lambda n: n * (n + 4) // 2,
}
# Tokens that come at once, and keys that are kept, for n tokens, n >= 4.
GENERATING = {
    "Causal": lambda n: (1, n),
    "Causal, bottom-right": lambda n: (1, n),
    "Local": lambda n: (n, n),
    "Sliding window": lambda n: (1, 3),
    "Dilated": lambda n: (n, n),
    "Prefix LM": lambda n: (3, n),
    "Documents": lambda n: (4, 4),
    "Attention sink plus window": lambda n: (1, 4),
    "Global plus local": lambda n: (n, n),
    "Block-causal": lambda n: (4, n),
}


@every_mask
@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_the_mask_is_what_its_sentence_says(entry, n_q, n_k):
    seen = [SEEN[entry.name](i, n_q, n_k) for i in range(n_q)]
    expected = [[j in keys for j in range(n_k)] for keys in seen]
    assert entry.tensor(n_q, n_k).tolist() == expected


@every_mask
@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_the_rule_is_the_mask(entry, n_q, n_k):
    mask = entry.tensor(n_q, n_k)
    assert torch.equal(mask_tensor(parse_mask_rule(entry.rule), n_q, n_k), mask)
    in_python = [
        [eval(entry.rule, dict(i=i, j=j, n_q=n_q, n_k=n_k)) for j in range(n_k)] for i in range(n_q)
    ]
    assert in_python == mask.tolist()


@every_mask
@pytest.mark.parametrize("n", [4, 12, 64, 128])
def test_pairs_are_counted_and_grow_as_it_says(entry, n):
    costs = entry.costs(n, n)
    assert costs.pairs == PAIRS[entry.name](n)
    power, factor = growth(entry)
    assert abs(costs.pairs - factor * n**power) <= 6 * n ** (power - 1)


@every_mask
@pytest.mark.parametrize("n", [4, 12, 64])
def test_what_a_generating_model_keeps(entry, n):
    costs = entry.costs(n, n)
    assert (costs.step, costs.cached) == GENERATING[entry.name](n)


def growth(entry):
    """(power, factor) of a text such as 3n or n²/2."""
    if linear := re.fullmatch(r"(\d+)n", entry.growth):
        return 1, int(linear[1])
    square = re.fullmatch(r"n²/(\d+)", entry.growth)
    assert square
    return 2, 1 / int(square[1])


def test_a_cache_needs_the_bottom_right_mask():
    entry = next(entry for entry in GALLERY if entry.ends_together)
    costs = entry.costs(2, 11)  # two new tokens, nine in the cache
    assert (costs.step, costs.most_keys, costs.cached) == (1, 11, 11)
    assert entry.costs(7, 5).step == 1


def test_ten_masks_with_names_of_their_own():
    assert len({entry.name for entry in GALLERY}) == len({entry.rule for entry in GALLERY}) == 10
    masks = {entry.name: entry.tensor(11, 13).flatten().tolist() for entry in GALLERY}
    assert len({tuple(mask) for mask in masks.values()}) == 10
    for entry in GALLERY:
        assert not set("()[]{}") & set(entry.name)  # names stand in the URL
        assert entry.idea.endswith(".") and entry.use.endswith(".")
        assert math.isfinite(entry.costs(1, 1).share)
        assert "19" in entry.use or "20" in entry.use  # a year: there is a paper
