"""The retrieval page: its numbers against PyTorch, its words against what is to be seen."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
PAGE = "pages/2_retrieval.py"
OWN_WORDS = "My own words"
EVENLY = "Evenly, to all keys"


def open_page(**parameters: str | list[str]) -> AppTest:
    at = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    at.switch_page(PAGE)
    for key, value in parameters.items():
        at.query_params[f"ret_{key}"] = value
    return run(at)


def run(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception
    return at


def ask(at: AppTest, coefficients: Mapping[int, float], sharpness: float = 5.0) -> AppTest:
    at.slider(key="ret_sharpness").set_value(sharpness)
    at.multiselect(key="ret_tokens").set_value(list(coefficients))
    run(at)
    for token, coefficient in coefficients.items():
        at.slider(key=f"ret_c{token}").set_value(coefficient)
    return run(at)


def table(at: AppTest) -> Any:
    return at.dataframe[0].value


def weights(at: AppTest) -> torch.Tensor:
    return torch.tensor([float(weight) for weight in table(at)["weight"]], dtype=torch.float64)


def oracle(
    coefficients: Mapping[int, float], sharpness: float, size: int, sequence: Sequence[int]
) -> torch.Tensor:
    """PyTorch's weights, in float64: the output for values that are one-hot in the position."""
    tokens = sharpness * torch.eye(size, dtype=torch.float64)
    query = sum((c * tokens[[t]] for t, c in coefficients.items()), 0 * tokens[:1])
    positions = torch.eye(len(sequence), dtype=torch.float64)
    return F.scaled_dot_product_attention(query, tokens[list(sequence)], positions)[0]


def verdict(at: AppTest) -> str:
    return next(text.value for text in at.text if text.value.startswith(("Token ", "Nothing")))


def alts(at: AppTest) -> list[str]:
    return [chart.proto.alt for chart in at.get("vega_lite_chart")]


def markdown(at: AppTest) -> str:
    """Everything on the page that is read as Markdown."""
    labels = [widget.label for kind in (at.slider, at.multiselect, at.radio) for widget in kind]
    return "\n".join(
        [
            *(m.value for m in (*at.markdown, *at.success, *at.warning, *at.caption, *at.info)),
            *labels,
        ]
    )


def test_it_opens_with_the_lesson() -> None:
    at = open_page()
    expected = torch.tensor([3.69e-05, 3.69e-05, 0.99985218, 3.69e-05, 3.69e-05]).double()
    torch.testing.assert_close(weights(at), expected, atol=5e-8, rtol=0)
    assert table(at)["dot"].tolist() == [0, 0, 25, 0, 0]
    assert table(at)["score"][2] == pytest.approx(25 / math.sqrt(6), rel=1e-6)
    assert verdict(at) == "Token 2: its entry 4.9993 is the largest of the output."
    assert alts(at)[:2] == ["The largest weight is 0.99985, on key 2."] * 2
    assert len(alts(at)) == 3 and all(alts(at))
    assert any("Agrees with" in text.value for text in at.markdown)
    assert "torch.eye(6) * 5\n" in at.code[0].value


def test_weights_agree_with_pytorch_and_the_words_with_the_weights() -> None:
    at = open_page()
    cases = [
        ({2: 1.0, 4: 1.0}, 5.0, "Nothing: a tie between the tokens 2 and 4. Each has the entry 2."),
        ({5: 1.0}, 5.0, "Nothing: all 5 weights are equal"),
        ({}, 5.0, "Nothing: all 5 weights are equal"),
        ({2: 0.0}, 5.0, "Nothing: all 5 weights are equal"),
        ({2: -1.0}, 5.0, "Nothing: a tie between the tokens 0, 1, 3 and 4."),
        ({2: 1.0, 4: 0.7}, 5.0, "Token 2: "),
        ({2: 1.0, 4: 1.0, 0: 2.0, 1: -2.0}, 1.3, "Token 0: "),
        ({2: 1.0}, 10.0, "Token 2: its entry 10 is"),
        ({2: 2.0}, 0.0, "Nothing: the tokens are zero vectors"),
    ]
    for coefficients, sharpness, words in cases:
        ask(at, coefficients, sharpness)
        expected = oracle(coefficients, sharpness, 6, range(5))
        torch.testing.assert_close(weights(at), expected, atol=1e-6, rtol=1e-4)
        assert verdict(at).startswith(words)
        assert ("zero vector:" in markdown(at)) == (not any(coefficients.values()) or not sharpness)
        scope: dict[str, Any] = {}
        exec(at.code[0].value, scope)  # the lines to copy compute the same
        torch.testing.assert_close(scope["weights"][0].double(), expected, atol=1e-6, rtol=1e-4)


def test_own_words_share_the_weight_of_a_repeated_word() -> None:
    at = open_page(**{"from": OWN_WORDS})
    assert "share" not in markdown(at) + "".join(text.value for text in at.text)
    ask(at, {0: 1.0})
    sequence = [0, 1, 2, 3, 0, 4]  # the cat sat on the mat, and a dog in the vocabulary
    torch.testing.assert_close(weights(at), oracle({0: 1.0}, 5.0, 6, sequence), atol=1e-6, rtol=0)
    assert weights(at)[0] == weights(at)[4] == pytest.approx(0.5, abs=1e-4)
    assert alts(at)[0].endswith("on keys 0 · the and 4 · the.")
    assert verdict(at).startswith("Token “the”: its entry 4.999")

    ask(at, {5: 1.0})  # no key is like the dog, and yet the output has a largest entry
    assert weights(at).tolist() == pytest.approx([1 / 6] * 6)
    assert verdict(at).endswith("it comes back because it stands in the most positions.")

    at.text_input(key="ret_words").set_value("a a a b")
    ask(at, {1: 0.1}, 1.0)
    assert verdict(at).startswith("Token “a”") and "stands in more of them" in verdict(at)
    ask(at, {0: -2.0})
    assert verdict(at).startswith("Token “b”") and "You did not ask for it" in verdict(at)
    ask(at, {0: -2.0, 1: -0.5})
    assert verdict(at).startswith("Token “b”") and "coefficient is not above 0" in verdict(at)


def test_one_word_is_enough() -> None:
    at = open_page(**{"from": OWN_WORDS, "words": "alone", "further": ""})
    assert alts(at)[0] == "The only key has the weight 1."
    assert weights(at).tolist() == [1.0]
    assert "whatever you ask" in verdict(at)
    assert not at.radio
    at.text_input(key="ret_words").set_value("two words")
    assert "Every word of the vocabulary is in the sequence" in markdown(run(at))


def test_words_are_shown_as_they_are() -> None:
    words = ["<img", "src=x", "$5", "$6", ":red[x]", "**b**", "שלום.", "👨‍👩‍👧", "x" * 50, "x" * 51]
    at = open_page(**{"from": OWN_WORDS, "words": " ".join(words), "absent": EVENLY})
    assert not at.info
    labels = table(at)["token"].tolist()
    for position, word in enumerate(words[:8]):
        shown = word if word.isascii() else f"\u2068{word}\u2069"
        assert labels[position] == shown
        assert word not in markdown(at)
        ask(at, {position: 1.0})
        assert verdict(at).startswith(f"Token “{shown}”: ")
        assert at.slider(key=f"ret_c{position}").label == f"Coefficient of token {position}"
        assert shown in [text.value for text in at.text]  # above the slider
    cut = f"\u2068{'x' * 19}…\u2069"  # of different words, told apart by their number
    assert labels[8:] == [f"{cut} (8)", f"{cut} (9)"]


def test_a_box_that_is_empty_or_too_full_says_so() -> None:
    at = open_page(**{"from": OWN_WORDS, "words": ""})
    assert "these are the lesson's tokens" in at.info[0].value
    assert len(table(at)) == 5
    at.text_input(key="ret_words").set_value(" ".join("abcdefghijklmnop"))
    assert at.run().info[0].value == "Only the first 12 of your 16 words are used."
    assert len(table(at)) == 12


def test_the_query_keeps_its_tokens_when_the_words_change() -> None:
    at = open_page(tokens=["cat", "on"], c3="-0.5", **{"from": OWN_WORDS})
    assert at.multiselect(key="ret_tokens").value == [1, 3]
    at.text_input(key="ret_words").set_value("a b c d e")
    run(at)
    assert at.multiselect(key="ret_tokens").value == [1, 3]
    sent = at.multiselect(key="ret_tokens").proto.raw_values  # a browser knows only the labels
    assert list(sent) == ["b", "d"]
    assert at.slider(key="ret_c3").value == -0.5
    at.text_input(key="ret_words").set_value("a b")  # there is no token 3 any more
    run(at)
    assert at.multiselect(key="ret_tokens").value == [2]


def test_the_answer_waits_for_a_prediction() -> None:
    at = open_page()
    assert "Token 5 is in the vocabulary" in at.text[-1].value
    assert len(alts(at)) == 3 and "0.2" not in markdown(at)
    for answer in at.radio(key="ret_absent").options:
        at.radio(key="ret_absent").set_value(answer)
        run(at)
        assert ("**Right.**" in markdown(at)) == (answer == EVENLY)
        assert ("**Not quite.**" in markdown(at)) == (answer != EVENLY)
        assert "1/5 = 0.2 for each" in markdown(at)
        assert alts(at)[3] == "Each of the 5 keys has the weight 0.2."
        assert "Nothing: all 5 weights are equal" in at.text[-1].value


def test_what_is_rounded_is_not_called_equal() -> None:
    at = open_page(absent=EVENLY, **{"from": OWN_WORDS})
    assert "1/6 ≈ 0.16667 for each" in markdown(at)
    at = open_page(sharpness="0.2")
    at.selectbox(key="dtype").set_value("bfloat16")
    run(at)
    assert weights(at)[2] > weights(at)[0]
    assert verdict(at).startswith("Token 2:")
    assert alts(at)[0] == "The largest weight is 0.20215, on key 2."


def test_words_of_the_trade_are_introduced() -> None:
    text = markdown(open_page())
    before_the_formula = text[: text.index("*Predict first:*")]
    for word in ("*tokens*", "*one-hot*", "*softmax*", "$d_k$"):
        assert word in before_the_formula


@pytest.mark.parametrize(
    "parameters",
    [
        {"sharpness": "1e9", "c2": "inf", "tokens": "77", "absent": "me", "from": "there"},
        {"sharpness": "-3", "c2": "nan", "tokens": ["abc", "-1"], "words": "x" * 5000},
        {"sharpness": "", "c2": "9" * 5000, "tokens": ["0", "1", "2", "3", "4", "5"]},
        {"from": OWN_WORDS, "words": "w " * 3000, "further": "y" * 3000, "tokens": ["2", "2"]},
    ],
)
def test_any_link_opens_a_legal_page(parameters: dict[str, str | list[str]]) -> None:
    at = open_page(**parameters)
    assert table(at)["dot"].abs().max() <= 2 * 10**2
    assert len(at.multiselect(key="ret_tokens").value) <= 4
    assert weights(at).sum().item() == pytest.approx(1, abs=1e-5)


def test_a_link_opens_one_state_and_reset_returns_to_the_lesson() -> None:
    at = open_page(tokens=["2", "4"], c4="0.7", sharpness="3.0")
    torch.testing.assert_close(
        weights(at), oracle({2: 1.0, 4: 0.7}, 3.0, 6, range(5)), atol=1e-6, rtol=0
    )
    at.button(key="ret_reset").click()
    run(at)
    assert weights(at)[2].item() == pytest.approx(0.99985218, abs=5e-8)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
def test_every_dtype_agrees_with_itself(dtype: str) -> None:
    at = open_page()
    at.selectbox(key="dtype").set_value(dtype)
    ask(at, {2: 1.0, 4: 1.0})
    assert verdict(at).startswith("Nothing: a tie between the tokens 2 and 4.")
    assert "Agrees with" in markdown(at)
    ask(at, {2: 2.0, 4: 2.0, 0: 2.0, 5: -2.0}, 10.0)
    assert verdict(at).startswith("Nothing: a tie between the tokens 0, 2 and 4.")
