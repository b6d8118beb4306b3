"""The costs of masks, counted by hand and by a model that generates."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.masks.costs import MaskCosts, mask_costs


def mask_of(chart):
    return torch.tensor([[cell == "x" for cell in row] for row in chart.split()])


@pytest.mark.parametrize(
    ("chart", "first", "costs"),
    [
        ("x.. xx. xxx", 0, MaskCosts(6, 9, 3, tokens=3, step=1, cached=3)),
        ("xxx xxx xxx", 0, MaskCosts(9, 9, 3, tokens=3, step=3, cached=3)),
        ("x.... xx... .xx.. ..xx. ...xx", 0, MaskCosts(9, 25, 2, tokens=5, step=1, cached=2)),
        ("x.... xx... x.x.. x..x. x...x", 0, MaskCosts(9, 25, 2, tokens=5, step=1, cached=2)),
        ("xx.. xx.. ..xx ..xx", 0, MaskCosts(8, 16, 2, tokens=4, step=2, cached=2)),
        ("xx.. xx.. xxxx xxxx", 0, MaskCosts(12, 16, 4, tokens=4, step=2, cached=4)),
        ("xxx.. xxx.. xxx.. xxxx. xxxxx", 0, MaskCosts(18, 25, 5, tokens=5, step=3, cached=5)),
        (
            "xxxx. xxxxx",
            3,
            MaskCosts(9, 10, 5, tokens=5, step=1, cached=5),
        ),  # a cache of 3, then two steps
        (
            "xxxx. xxxxx",
            0,
            MaskCosts(9, 10, 5, tokens=5, step=5, cached=5),
        ),  # the same read from the left
        (".. .. x. xx", -2, MaskCosts(3, 8, 2, tokens=2, step=1, cached=2)),
        ("... ... ...", 0, MaskCosts(0, 9, 0, tokens=3, step=1, cached=0)),
        ("x.. x.. x..", 0, MaskCosts(3, 9, 1, tokens=3, step=1, cached=1)),
        (
            "x.. .x. xx.",
            0,
            MaskCosts(4, 9, 2, tokens=3, step=1, cached=2),
        ),  # key 0 waits for query 2
        ("x", 0, MaskCosts(1, 1, 1, tokens=1, step=1, cached=1)),
        (".", 0, MaskCosts(0, 1, 0, tokens=1, step=1, cached=0)),
    ],
)
def test_counted_by_hand(chart, first, costs):
    assert mask_costs(mask_of(chart), first) == costs


def test_the_share():
    assert mask_costs(mask_of("x.. xx. ...")).share == 1 / 3


def test_who_can_generate():
    for chart, generates in (
        ("x", True),
        ("x. xx", True),
        ("xx xx", False),
        ("xx. xx. xxx", True),
    ):
        assert mask_costs(mask_of(chart)).generates is generates


masks = st.integers(1, 7).flatmap(
    lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=7)
)


@given(masks)
def test_a_model_that_sees_no_future_can_drop_keys(rows):
    """The oracle of the definition: token by token, count keys that are asked for from now on."""
    past = torch.tensor(rows).tril()
    n_q, n_k = past.shape
    most = 0
    for t in range(max(n_q, n_k)):
        held = {j for i in range(t, n_q) for j in range(n_k) if j <= t and past[i, j]}
        most = max(most, len(held))
    costs = mask_costs(past)
    assert (costs.step, costs.cached) == (1, most)


@given(masks)
def test_no_query_sees_past_the_end_of_its_step(rows):
    mask = torch.tensor(rows)
    n = max(mask.shape)
    apart = [
        b for b in range(1, n) if all(j < b for i, j in mask.nonzero().tolist() if i < b)
    ]  # where nothing on the left sees anything on the right
    ends = [0, *apart, n]
    assert mask_costs(mask).step == max(b - a for a, b in pairwise(ends))


@given(masks)
def test_counts(rows):
    costs = mask_costs(torch.tensor(rows))
    assert costs.pairs == sum(map(sum, rows))
    assert costs.most_keys == max(map(sum, rows))
    assert costs.all_pairs == sum(map(len, rows))


def test_numbers_0_and_1_are_a_mask_too():
    assert mask_costs(torch.ones(2, 3).tril()) == mask_costs(torch.ones(2, 3).tril().bool())


@pytest.mark.parametrize("mask", [torch.ones(3), torch.ones(0, 3), torch.ones(1, 3, 3)])
def test_what_is_no_mask_is_refused(mask):
    with pytest.raises(ValueError, match=r"mask must be \(n_q, n_k\), both sizes 1 or more"):
        mask_costs(mask)
