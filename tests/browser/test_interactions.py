"""A key press, and the numbers that change on screen, against values computed another way."""

import math
import re

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import Locator, expect
from torch import Tensor

from tests.support.learner import Learner

WEIGHTS = ".st-key-qkv_weights_box"


def lesson_scores(seed: int) -> Tensor:
    """The scaled scores of the lesson's tensors, element 0 of the batch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        q, k = torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    return (q @ k.mT / math.sqrt(8))[0]


def expect_numbers(chart: Locator, numbers: list[str]) -> None:
    """Wait until a heatmap has these numbers in its cells."""
    expect(chart.locator("svg.marks .mark-text.role-mark text")).to_have_text(numbers)


def test_another_seed_gives_other_weights(learner: Learner) -> None:
    page = learner.open("qkv_formula")
    for seed in (0, 1):
        weights = lesson_scores(seed).softmax(dim=-1)
        expect_numbers(page.locator(WEIGHTS), [f"{weight:.2f}" for weight in weights.flatten()])
        learner.press(learner.slider("Seed"), "ArrowRight")


def test_a_longer_sequence_gives_more_weights(learner: Learner) -> None:
    page = learner.open("qkv_formula")
    length = learner.slider("Sequence length")
    learner.press(length, "ArrowRight")
    expect(page.locator(f"{WEIGHTS} .mark-text.role-mark text")).to_have_count(36)
    learner.press(length, "End")  # 128 by 128 are one image
    expect(page.locator(f"{WEIGHTS} .mark-image image")).to_have_count(1)


@pytest.mark.parametrize(
    ("path", "result"),
    [
        ("qkv_formula?qkv_n=12&qkv_i=11&qkv_j=10", "(2, 6, 8)"),
        ("causal_masking?mask_n=12&mask_t=11&mask_edit=10", " of 6"),
    ],
)
def test_a_key_may_be_held_down(learner: Learner, path: str, result: str) -> None:
    """Each press cuts the run of the one before short: chosen positions are gone half-way."""
    page = learner.open(path)
    learner.slider("Sequence length").focus()
    for key, times in (("ArrowLeft", 13), ("ArrowRight", 5)):  # to 1, and on to 6
        for _ in range(times):
            page.keyboard.press(key, delay=20)
    expect(page.get_by_test_id("stMetric").filter(has_text=result).first).to_be_visible()
    learner.settle()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_without_sharpness_all_keys_get_the_same_weight(learner: Learner) -> None:
    page = learner.open("retrieval")
    row = page.get_by_test_id("stVegaLiteChart").first
    expect(row).to_have_attribute("aria-label", "The largest weight is 0.99985, on key 2.")
    slider = page.locator('input[type=range][aria-label^="Sharpness"]')
    learner.press(slider, "Home")
    expect_numbers(row, ["0.20"] * 5)
    learner.press(slider, "End")
    expect(row).to_have_attribute("aria-label", re.compile("on key 2"))


def test_another_seed_moves_the_weight_on_the_future(learner: Learner) -> None:
    page = learner.open("causal_masking")
    metrics = page.get_by_test_id("stMetric")
    unmasked = metrics.filter(has_text=re.compile("on a future key, (unmasked|without the mask)"))
    masked = metrics.filter(has_text=re.compile("on a future key, (masked|with the mask)"))
    for seed in (0, 1):
        expect(unmasked.get_by_test_id("stMetricValue")).to_have_text(future_weight(seed))
        expect(masked.get_by_test_id("stMetricValue")).to_have_text("0")
        learner.press(learner.slider("Seed"), "ArrowRight")


def future_weight(seed: int) -> str:
    """The largest weight on a later key without a mask, in the whole batch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        q, k = torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    identity = torch.eye(5).expand(2, 5, 5)  # with these values the output is the weights
    weights = F.scaled_dot_product_attention(q, k, identity)
    return f"{weights.triu(1).max():.4f}"


def test_a_prediction_is_held_against_the_result(learner: Learner) -> None:
    page = learner.open("exercises")
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    guess = page.locator('input[type=range][aria-label^="The weight on each of the two"]')
    guess.focus()
    page.keyboard.press("ArrowRight")
    expect(guess).to_have_value("1")
    page.get_by_role("radio", name="Lock in").click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("You said 1 %; computed here: 49.997 %")
    learner.settle()
    learner.follow("Overview")
    expect(page.get_by_test_id("stMain")).to_contain_text("1 of ")
    expect(page.get_by_test_id("stMain")).to_contain_text("not yet right")
