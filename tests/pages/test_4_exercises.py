"""The exercises: nothing is given away, answers are checked against numbers found another way."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises import (
    dense_scale,
    equal_query,
    fixed_weights,
    known_masks,
    one_hot_scale,
    receptive_field,
    softmax_gradient,
    unequal_query,
    window_mask,
)
from attention_core.dashboard.exercises.all_exercises import EXERCISES
from attention_core.dashboard.exercises.digits import percent
from attention_core.dashboard.tensors import cached_qkv
from attention_core.masks import mask_tensor

ROOT = Path(__file__).parents[2]
PAGE = "pages/4_exercises.py"
SETTING = ComputeSettings("cpu", "float32")
THINKING, LOCK_IN, SHOW_ME = "Thinking", "Lock in", "Show me"
QUESTIONS = [question for exercise in EXERCISES for question in exercise.questions]


def open_page(**parameters: str | list[str]) -> AppTest:
    at = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    at.switch_page(PAGE)
    for key, value in parameters.items():
        at.query_params[f"ex_{key}"] = value
    return run(at)


def run(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception
    return at


def put(at: AppTest, **values: Any) -> AppTest:
    """Set the controls one after the other, as a learner does."""
    for key, value in values.items():
        at.get_by_key(f"ex_{key}").set_value(value)
        run(at)
    return at


def sent(at: AppTest) -> str:
    """All that the page has sent to the browser, as one text."""
    return "\n".join(str(element.proto) for element in at.main)


def verdict(at: AppTest) -> str:
    """The last check on the page: its kind and its words."""
    found = [(kind, box.value) for kind in ("success", "warning", "info") for box in at.get(kind)]
    assert len(found) == 1, found
    return ": ".join(found[0])


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+\.\d+", text)]


# Nothing is given away


def test_nothing_is_computed_or_sent_before_the_learner_commits() -> None:
    at = open_page()
    assert not at.get("vega_lite_chart")
    assert not at.metric
    for given_away in ("49.99", "0.4999", "1.2153", "def retrieve", "10.2"):
        assert given_away not in sent(at)
    put(at, exercise="No scale")
    assert not at.get("vega_lite_chart")
    for given_away in ("0.69", "1.00000", "stay 0", "def scaling_study"):
        assert given_away not in sent(at)
    put(at, exercise="Local window")
    assert len(at.get("vega_lite_chart")) == 1  # the learner's own mask
    for given_away in ("16 of 36", "def local", r"|i - j|"):
        assert given_away not in sent(at)


def test_a_result_does_not_give_away_the_next_question() -> None:
    at = put(open_page(exercise="No scale"), scale_onehot_move=SHOW_ME)
    assert "ex_scale_dense_move" in [control.key for control in at.segmented_control]
    assert "0.93" not in sent(at)
    assert "ex_scale_gradient_move" not in [control.key for control in at.segmented_control]


def test_locking_in_needs_a_prediction() -> None:
    at = put(open_page(exercise="No scale"), scale_onehot_move=LOCK_IN)
    assert "no prediction" in verdict(at)
    assert not at.get("vega_lite_chart")
    at = put(open_page(exercise="Local window"), window_mask_move=LOCK_IN)
    assert "no prediction" in verdict(at)
    assert "16 of 36" not in sent(at)


def test_the_verdict_comes_before_all_that_the_result_is_shown_by() -> None:
    moves = {f"{question.key}_move".removeprefix("ex_"): SHOW_ME for question in QUESTIONS}
    at = open_page(**moves)
    for exercise in EXERCISES:
        put(at, exercise=exercise.title)
        shown = [element for element in at.main if element.type not in ("divider", "column")]
        for question in exercise.questions:
            keys = [getattr(element, "key", None) for element in shown]
            below = shown[keys.index(f"{question.key}_move") + 1]
            assert below.type == "info"
            assert "Computed here" in below.value


def test_words_are_said_what_they_mean_before_they_are_used() -> None:
    at = put(open_page(), blend_weight_guess=50)
    assert "where $e_t$ has six entries" in sent(at)
    assert "tokens of length" not in sent(at)
    put(at, exercise="No scale")
    assert "**D** is how many entries a query or a key has" in sent(at)
    put(at, scale_onehot_move=SHOW_ME, scale_dense_move=SHOW_ME)
    assert "a matrix of derivatives, the **Jacobian**" in sent(at)
    assert "nothing spreads" not in sent(at)
    assert "saturat" not in sent(at)
    assert "is **saturated**" in sent(put(at, scale_gradient_move=SHOW_ME))


def test_the_code_is_wrapped_not_cut() -> None:
    moves = {f"{question.key}_move".removeprefix("ex_"): SHOW_ME for question in QUESTIONS}
    at = put(open_page(**moves), exercise="Local window")
    assert len(at.code) == 5
    assert all(block.proto.wrap_lines for block in at.code)


def test_a_locked_prediction_cannot_be_changed() -> None:
    at = put(open_page(), blend_weight_guess=50, blend_weight_move=LOCK_IN)
    assert at.slider(key="ex_blend_weight_guess").value == 50
    assert at.slider(key="ex_blend_weight_guess").disabled
    assert verdict(at).startswith("success")
    assert not put(at, blend_weight_move=THINKING).slider(key="ex_blend_weight_guess").disabled


def test_no_other_way_to_a_mask_is_open_once_one_is_locked_in() -> None:
    at = put(open_page(), exercise="Local window", window_q0=["0"], window_mask_move=LOCK_IN)
    assert at.get_by_key("ex_window_how").disabled


def test_hints_come_in_steps() -> None:
    at = open_page()
    assert [fold.label for fold in at.expander if "Hint" in fold.label] == ["Hint 1 of 3"]
    assert equal_query.WEIGHT.hints[0] not in sent(at)
    at.session_state["ex_blend_weight_hint_1"] = True
    run(at)
    assert [fold.label for fold in at.expander if "Hint" in fold.label][-1] == "Hint 2 of 3"
    assert equal_query.WEIGHT.hints[0] in [line.value for line in at.markdown]
    assert all(len(question.hints) >= 2 for question in QUESTIONS)


# Restored from the URL, whatever stands there


def test_a_link_restores_prediction_and_result() -> None:
    at = open_page(blend_weight_guess="50", blend_weight_move=LOCK_IN)
    assert verdict(at).startswith("success")
    at = open_page(
        exercise="Local window",
        window_mask_move=LOCK_IN,
        **{f"window_q{i}": [str(j) for j in range(6) if abs(i - j) <= 1] for i in range(6)},
    )
    assert verdict(at).startswith("success")


def test_another_exercise_and_back_keeps_the_prediction() -> None:
    at = put(open_page(), blend_weight_guess=50, blend_weight_move=LOCK_IN)
    put(at, exercise="No scale")
    put(at, exercise="Blended query")
    assert at.slider(key="ex_blend_weight_guess").value == 50
    assert verdict(at).startswith("success")


def test_the_way_to_the_next_exercise() -> None:
    at = put(open_page(), blend_weight_move=SHOW_ME)
    put(at, blend_share_move=SHOW_ME)
    at.button(key="ex_next").click()
    assert run(at).segmented_control(key="ex_exercise").value == "No scale"


@pytest.mark.parametrize("value", ["1e9", "-3", "inf", "abc", "", "5" * 5000, "<img src=x>"])
def test_strangers_values_open_every_exercise_with_everything_out(value: str) -> None:
    moves = {f"{question.key}_move".removeprefix("ex_"): SHOW_ME for question in QUESTIONS}
    keys = ["blend_weight_guess", "blend_sharpness", "blend_a", "scale_onehot_to", "scale_d"]
    keys += ("scale_wrong", "window_how", "window_q0", "window_layers", "window_shift")
    at = open_page(**moves, **dict.fromkeys((*keys, "window_seed", "scale_onehot_guess"), value))
    for exercise in EXERCISES:
        put(at, exercise=exercise.title)
        assert all(len(chart.proto.alt) > 10 for chart in at.get("vega_lite_chart"))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_every_exercise_in_every_dtype(dtype: str) -> None:
    moves = {f"{question.key}_move".removeprefix("ex_"): SHOW_ME for question in QUESTIONS}
    at = open_page(**moves)
    at.selectbox(key="dtype").set_value(dtype)
    for exercise in EXERCISES:
        put(at, exercise=exercise.title)
        assert "Does **not** agree" not in sent(at)
        assert "cannot be computed" not in sent(at)


# 1 Blended query


def test_the_weight_on_each_is_pytorchs() -> None:
    at = put(open_page(), blend_weight_move=SHOW_ME)
    tokens = 5 * torch.eye(6, dtype=torch.float64)
    query, keys, values = tokens[[2]] + tokens[[4]], tokens[:5], torch.eye(5, dtype=torch.float64)
    weights = F.scaled_dot_product_attention(query, keys, values)[0]
    assert numbers(verdict(at)) == [round(100 * weights[2].item(), 3)]
    (bars,) = at.get("vega_lite_chart")
    assert bars.proto.alt.count("50.00 % on key") == 2
    assert "Retrieved: **nothing" in sent(at)


def test_a_blend_of_tokens_that_are_all_alike() -> None:
    at = put(open_page(), blend_weight_move=SHOW_ME)
    assert put(at, blend_sharpness=0.0).get("vega_lite_chart")[0].proto.alt.count("20.00 %") == 5
    assert put(at, blend_sharpness=8.0).get("vega_lite_chart")[0].proto.alt.count("50.00 %") == 2


@pytest.mark.parametrize(
    ("percent", "words"),
    [
        (50, "share the whole"),
        (100, "Twice 100 %"),
        (20, "even share"),
        (33, "leave 34 %"),
        (0, "never 0"),
    ],
)
def test_each_misunderstanding_of_the_weight_has_its_answer(percent: int, words: str) -> None:
    at = put(open_page(), blend_weight_guess=percent, blend_weight_move=LOCK_IN)
    assert words in verdict(at)
    assert verdict(at).startswith("success" if percent == 50 else "warning")


def share_oracle() -> float:
    score = 25 / math.sqrt(6)
    return math.log(9 * (math.exp(score) + 3)) / score


def test_the_coefficient_is_that_of_the_closed_form() -> None:
    at = open_page(blend_weight_move=SHOW_ME, blend_share_move=LOCK_IN, blend_share_guess="1.2")
    (said, found, guessed, _) = numbers(at.success[0].value)
    assert (said, guessed) == (1.2, 1.2)
    assert found == pytest.approx(share_oracle(), abs=5e-5) == pytest.approx(1.2153, abs=5e-5)


@pytest.mark.parametrize(
    ("guess", "words"),
    [
        (1.2, "exponential"),
        (9.0, "9 to 1"),
        (2.2, "ln 9"),
        (3.2, "ln 9"),
        (1.0, "Equal"),
        (1.05, "scaled down"),
        (1.3, "Near, but less is enough"),
        (1.5, "Near, but less is enough"),
        (5.0, "Far less"),
    ],
)
def test_each_misunderstanding_of_the_coefficient_has_its_answer(guess: float, words: str) -> None:
    score = 25 / math.sqrt(6)
    weights = torch.tensor([guess * score, score, 0, 0, 0], dtype=torch.float64).softmax(0)
    text = unequal_query.feedback(guess, share_oracle(), weights[0])
    assert words in text
    share = f"{100 * weights[0].item():.2f}"
    assert f"takes {'> 99.99' if share == '100.00' else share} %." in text


def test_a_softmax_never_takes_all_or_nothing() -> None:
    at = put(open_page(), blend_weight_move=SHOW_ME, blend_share_guess=2.0)
    put(at, blend_share_move=LOCK_IN, blend_a=2.0, blend_sharpness=8.0)
    assert "token 2 takes > 99.99 %." in at.warning[0].value
    for text in (sent(at), *(chart.proto.alt for chart in at.get("vega_lite_chart"))):
        assert "100.00" not in text
        assert " 0.00" not in text
    for weight in (1e-9, 0.004, 0.03, 0.5, 0.996, 0.99996, 1 - 1e-12):
        for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
            rounded = torch.tensor(weight, dtype=dtype).item()
            sign, number = re.fullmatch(r"(> |< |)([\d.]+) %", percent(rounded, dtype)).groups()
            assert 0 < float(number) < 100
            if sign:
                assert (100 * weight > float(number)) == (sign == "> ")
            else:
                assert float(number) == pytest.approx(100 * rounded, rel=torch.finfo(dtype).eps * 9)


@pytest.mark.parametrize(
    ("dtype", "on_each", "weight", "coefficient", "score"),
    [
        ("float64", "49.997", "0.49997230", "1.2153", "10.206"),
        ("float32", "49.997", "0.499972", "1.2153", "10.206"),
        ("float16", "50.0", "0.500", "1.21|1.22", "10.2"),
        ("bfloat16", "50", "0.50", "1.2", "10"),
    ],
)
def test_no_more_digits_than_the_dtype_carries(
    dtype: str, on_each: str, weight: str, coefficient: str, score: str
) -> None:
    at = open_page(blend_weight_move=SHOW_ME, blend_share_move=SHOW_ME)
    at.selectbox(key="dtype").set_value(dtype)
    run(at)
    first, second = (box.value for box in at.info)
    assert f"here: {on_each} % on each." in first
    assert re.search(rf"here: a = ({coefficient})\.\*", second)
    formulas = "\n".join(latex.value for latex in at.latex)
    assert re.search(rf"e\^0\}} \\approx {re.escape(weight)}$", formulas, re.MULTILINE)
    assert rf"25/\sqrt6 = {score}$" in "\n".join(line.value for line in at.markdown)


def test_the_curve_of_the_shares_is_pytorchs() -> None:
    first, second = unequal_query.share_curve("float64", "cpu")
    for a, on_first, on_second in zip(unequal_query.COEFFICIENTS, first, second, strict=True):
        scores = torch.tensor([0, 0, a * 25, 0, 25], dtype=torch.float64) / math.sqrt(6)
        weights = scores.softmax(0)
        assert on_first == pytest.approx(weights[2].item(), abs=1e-12)
        assert on_second == pytest.approx(weights[4].item(), abs=1e-12)


# 2 No scale


def test_one_hot_without_the_scale_does_not_change_and_the_scale_flattens_it() -> None:
    at = put(open_page(exercise="No scale"), scale_onehot_guess="It rises")
    put(at, scale_onehot_move=LOCK_IN)
    assert verdict(at).startswith("warning")
    assert "1.00000 at D = 8 and 1.00000 at D = 128" in verdict(at)
    for d in (8, 128, 1024):
        on_match = torch.tensor([25 / math.sqrt(d), 0, 0, 0, 0], dtype=torch.float64).softmax(0)
        assert f"{on_match[0].item():.5f} at D = {d}" in sent(at)
        alts = [chart.proto.alt for chart in put(at, scale_d=d).get("vega_lite_chart")]
        assert f"D = {d}, no scale: 1.00000 on token 2." in alts
        assert f"D = {d}, scaled by 1/√D: {on_match[0].item():.5f} on token 2." in alts
    put(at, scale_onehot_to="1024")
    assert "at D = 1024" in at.get("vega_lite_chart")[0].proto.alt


def draws(d: int) -> torch.Tensor:
    """The dots of a normal query with five normal keys, many times, from another generator."""
    generator = torch.Generator().manual_seed(99)
    q = torch.randn(2000, 1, d, generator=generator, dtype=torch.float64)
    k = torch.randn(2000, 5, d, generator=generator, dtype=torch.float64)
    return torch.einsum("bid,bjd->bj", q, k)


def test_dense_tokens_saturate_without_the_scale() -> None:
    at = open_page(exercise="No scale", scale_onehot_move=SHOW_ME, scale_dense_guess="It rises")
    put(at, scale_dense_move=LOCK_IN)
    assert at.success
    found = numbers(at.success[0].value)
    expected = [draws(d).softmax(-1).amax(-1).mean().item() for d in (8, 128)]
    assert found == pytest.approx(expected, abs=0.03)
    scaled = [(draws(d) / math.sqrt(d)).softmax(-1).amax(-1).mean().item() for d in (8, 128, 1024)]
    (text,) = [line.value for line in at.markdown if "Dense random tokens add" in line.value]
    assert numbers(text)[:3] == pytest.approx(scaled, abs=0.03)


def test_the_gradient_that_is_left() -> None:
    def mean_norm(d: int) -> float:
        scores = draws(d)[:300]
        jacobians = torch.stack([torch.autograd.functional.jacobian(_softmax, s) for s in scores])
        return torch.linalg.matrix_norm(jacobians).mean().item()

    left = 100 * mean_norm(128) / mean_norm(8)
    moves = {"scale_onehot_move": SHOW_ME, "scale_dense_move": SHOW_ME}
    at = open_page(exercise="No scale", scale_gradient_guess="33", **moves)
    put(at, scale_gradient_move=LOCK_IN)
    assert at.success
    (found,) = re.findall(r"here: (\d+) %", at.success[0].value)
    assert float(found) == pytest.approx(left, abs=8)
    put(at, scale_wrong=["1/D", "1/√d_model"])
    assert "1/D divides by too much" in sent(at)
    assert "0.33 instead of 0.46" in sent(at)


def _softmax(scores: torch.Tensor) -> torch.Tensor:
    return scores.softmax(-1)


def test_wrong_choices_about_the_scale_are_told_apart() -> None:
    for answers in (one_hot_scale.FEEDBACK, dense_scale.FEEDBACK, fixed_weights.FEEDBACK):
        assert len(set(answers.values())) == len(answers) >= 3
    guesses = (33, 180, 100, 6, 60)
    assert len({softmax_gradient.feedback(percent, 33.0) for percent in guesses}) == len(guesses)


# 3 Local window


BAND = torch.tensor([[abs(i - j) <= 1 for j in range(6)] for i in range(6)])


def paint(at: AppTest, mask: torch.Tensor) -> AppTest:
    for i, row in enumerate(mask.tolist()):
        at.get_by_key(f"ex_window_q{i}").set_value([str(j) for j, on in enumerate(row) if on])
    return put(run(at), window_mask_move=LOCK_IN)


def test_a_painted_mask_is_compared_cell_by_cell() -> None:
    at = paint(open_page(exercise="Local window"), BAND)
    assert verdict(at).startswith("success")
    assert "largest weight outside the window is **0**" in sent(at)
    wrong = BAND.clone()
    wrong[2, 4] = True
    at = paint(open_page(exercise="Local window"), wrong)
    assert "Query 2 must not attend to key 4. 1 of 36 cells differs." in verdict(at)
    wrong[1, 2] = False
    at = paint(open_page(exercise="Local window"), wrong)
    assert "Query 1 must be allowed to attend to key 2. 2 of 36 cells differ." in verdict(at)


def test_each_wrong_rule_is_recognised_and_the_right_one_accepted() -> None:
    at = put(open_page(exercise="Local window"), window_how="Pick a rule")
    said = {}
    for rule in known_masks.RULES:
        put(at, window_mask_move=THINKING)
        put(at, window_rule=rule, window_mask_move=LOCK_IN)
        said[rule] = verdict(at)
    assert [rule for rule in said if said[rule].startswith("success")] == ["Distance at most 1"]
    assert len(set(said.values())) == len(said)
    assert "look" in said["Its own key and the two before"]
    assert "Upside down" in said["Distance 2 or more"]


def test_a_rule_does_not_name_the_answer() -> None:
    i, j = torch.arange(6)[:, None], torch.arange(6)[None]
    distance = (i - j).abs()
    says = {
        "Its own key and the two before": (j <= i) & (j >= i - 2),
        "Its own key and all before": j <= i,
        "Distance at most 2": distance <= 2,
        "Distance at most 1": distance <= 1,
        "Distance 0 or 2": (distance == 0) | (distance == 2),
        "Distance 2 or more": distance >= 2,
    }
    assert list(says) == list(known_masks.RULES)
    for name, rule in known_masks.RULES.items():
        assert torch.equal(mask_tensor(rule, 6, 6), says[name])
        assert not re.search(r"local|window|width|[()\[\]]", name, re.IGNORECASE)


def test_masks_explain_their_cells_and_have_no_colour_bar() -> None:
    at = open_page(exercise="Local window", window_mask_move=SHOW_ME, window_reach_move=SHOW_ME)
    assert any(line.value.endswith("Grey cells with ✕ are hidden.") for line in at.markdown)
    assert "Grey, hatched cells are out of reach." in [line.value for line in at.caption]
    charts = at.get("vega_lite_chart")
    assert len(charts) == 3  # yours, the target, and what each position sees
    assert not any("gradientLength" in chart.proto.spec for chart in charts)  # a colour bar


def test_usual_mistakes_are_known_by_their_matrix() -> None:
    i, j = torch.arange(6)[:, None], torch.arange(6)[None]
    assert "look" in known_masks.mistake((j <= i) & (i - j < 3))
    assert "seven" in known_masks.mistake((i - j).abs() <= 3)
    assert "round" in known_masks.mistake((i - j).abs() % 5 <= 1)
    assert "own position" in known_masks.mistake((i - j).abs() == 1)
    assert known_masks.mistake(BAND) == ""
    sentences = [sentence for _, sentence in known_masks.MISTAKES]
    assert len(set(sentences)) == len(sentences)
    assert window_mask.feedback(BAND, BAND).startswith("Every cell agrees")


def test_how_far_position_0_sees() -> None:
    seen = {0}
    for layer in (1, 2, 3):
        seen |= {near for position in seen for near in (position - 1, position + 1) if near >= 0}
        for name, mask in receptive_field.layer_masks(SETTING).items():
            right = 11 if name == "full attention" else max(seen)
            assert receptive_field.farthest(mask, layer) == right
    at = open_page(exercise="Local window", window_mask_move=SHOW_ME, window_reach_guess="3")
    put(at, window_reach_move=LOCK_IN)
    assert at.success
    for layers in (1, 11):
        alts = [chart.proto.alt for chart in put(at, window_layers=layers).get("vega_lite_chart")]
        assert any(f"position 0 sees positions 0 to {layers}:" in text for text in alts)
    guesses = (3, 0, 1, 6, 7, 8, 9, 11, 2, 5)
    assert len({receptive_field.feedback(guess, 3) for guess in guesses}) == len(guesses)


def test_attention_moves_with_the_content_and_the_kernel_does_not() -> None:
    shared = cached_qkv(1, 8, 8, 8, 0, "float32", "cpu")
    before = [tensor.clone() for tensor in shared]
    earlier, later = (fixed_weights.kernel_and_attention(SETTING, 0, shift) for shift in (0, 1))
    kernel, still, moved = earlier.kernel, earlier.steps.weights, later.steps.weights
    q, k, _ = (tensor[0].roll(1, dims=0) for tensor in shared)
    assert torch.equal(kernel, later.kernel)
    torch.testing.assert_close(moved[2:7, 2:], still[1:6, 1:7])  # windows that no end cuts off
    assert not torch.allclose(moved, still, atol=0.1)

    band = torch.tensor([[abs(i - j) <= 1 for j in range(8)] for i in range(8)])
    right = F.scaled_dot_product_attention(q, k, torch.eye(8), attn_mask=band)
    torch.testing.assert_close(moved, right)
    assert torch.equal(moved != 0, kernel != 0)  # the same band
    x = torch.randn(8, 1, generator=torch.Generator().manual_seed(1))
    taps = torch.tensor([[fixed_weights.KERNEL]])
    torch.testing.assert_close(kernel @ x, F.conv1d(x.T[None], taps, padding=1)[0].T)
    assert all(torch.equal(a, b) for a, b in zip(shared, before, strict=True))


def test_the_page_says_what_moved() -> None:
    moves = {"window_mask_move": SHOW_ME, "window_reach_move": SHOW_ME}
    guess = "Only attention's"
    at = open_page(exercise="Local window", window_content_guess=guess, **moves)
    put(at, window_content_move=LOCK_IN)
    put(at, window_shift=0)
    assert at.success
    change = "Largest change of a weight by the move"
    assert [metric.value for metric in at.metric if metric.label == change] == ["0", "0"]
    put(at, window_shift=7, window_seed=20)
    kernel, attention = (float(m.value) for m in at.metric if m.label == change)
    assert kernel == 0 < attention
