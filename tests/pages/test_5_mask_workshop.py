"""The mask workshop: its numbers against masks drawn by hand, and what must not happen."""

from pathlib import Path
from urllib.parse import quote

import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
PAGE = "pages/5_mask_workshop.py"
DEFAULT = "j <= i and i - j < 3"


def open_page(**parameters: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    at.switch_page(PAGE)
    for name, value in parameters.items():
        at.query_params[name] = value
    return checked(at.run())


def checked(at: AppTest) -> AppTest:
    assert not at.exception
    assert all(chart.proto.alt for chart in at.get("vega_lite_chart"))
    return at


def metric(at: AppTest, label: str) -> str:
    """Of the mask in hand: the parts below may use the same words for other masks."""
    return str(next(m.value for m in at.metric if m.label == label))


def alts(at: AppTest) -> list[str]:
    return [chart.proto.alt for chart in at.get("vega_lite_chart")]


def said(at: AppTest, words: str) -> list[str]:
    return [m.value for m in at.markdown if words in m.value]


def codes(at: AppTest) -> list[str]:
    return [code.value for code in at.code]


def type_rule(at: AppTest, rule: str) -> AppTest:
    return checked(at.text_input("work_rule").set_value(rule).run())


def test_the_rule_on_arrival() -> None:
    at = open_page()
    ones = torch.ones(8, 8, dtype=torch.bool)
    window = ones.tril() & ones.triu(-2)
    assert at.text_input("work_rule").value == DEFAULT
    assert metric(at, "Visible pairs") == f"{int(window.sum())} of 64"
    assert metric(at, "Share of all pairs") == f"{100 * window.float().mean():.1f} %"
    assert metric(at, "Queries without a key") == "0"
    assert "Query 5: keys 3, 4 and 5." in alts(at)[0]
    generator = torch.Generator().manual_seed(0)
    q, k, _ = (torch.randn(1, 8, 8, generator=generator) for _ in range(3))
    weights = F.scaled_dot_product_attention(q, k, torch.eye(8)[None], attn_mask=window)[0]
    at_most = weights.max().item()
    assert f"largest is {at_most:.3f}" in alts(at)[1]
    assert said(at, "Agrees with")


def test_another_rule_draws_another_mask() -> None:
    at = type_rule(open_page(work_nq="3", work_nk="5"), "  i + j == n_k - 1  ")
    assert metric(at, "Visible pairs") == "3 of 15"
    assert "Query 0: key 4. Query 1: key 3. Query 2: key 2." in alts(at)[0]
    at = type_rule(at, "i == 1 and j > 2")
    assert metric(at, "Queries without a key") == "2"
    assert said(at, "**Queries 0 and 2** may attend to nothing")
    assert metric(at, "output.shape") == "(3, 8)"


@pytest.mark.parametrize(
    ("rule", "mark", "cure"),
    [
        ("j <= i & i < 3", "       ^", "Write and."),
        ("  i // j == 0", "^^^^^^", "for i = 0, j = 0"),
        ("i - j", "^^^^^", "gives 0 for i = 0, j = 0"),
        ("__import__('os')", "^^^^^^^^^^", "does not know this word"),
        ("((((", "   ^", "not closed"),
    ],
)
def test_a_rule_that_is_refused_is_marked_and_nothing_is_lost(
    rule: str, mark: str, cure: str
) -> None:
    at = type_rule(open_page(), "i == j")
    before = alts(at)
    at = type_rule(at, rule)
    assert codes(at)[0] == f"{rule.strip()}\n{mark}"
    assert cure in at.text[0].value
    assert alts(at) == before
    assert "i == j" in codes(at)[1]
    at = type_rule(at, "i != j")
    assert alts(at) != before
    assert not said(at, "cannot be used")


def test_an_empty_rule_asks_for_one() -> None:
    at = type_rule(open_page(), "  ")
    assert "The rule is empty" in at.text[0].value
    assert codes(at)[0] == DEFAULT


HOSTILE = [
    "(" * 200,
    "9**9**9",
    "1<<99999",
    "i" * 5000,
    "7" * 5000,
    "\x00",
    "<img src=x onerror=alert(1)>",
    ":red[a] $5 to $6 **b**",
    "i in range(10**18)",
    "ｉ < ｊ",
    "שלום < j",
    "👩‍👩‍👧‍👦",
    "i < j\\\n",
    "lambda: 0",
]


@pytest.mark.parametrize("rule", HOSTILE, ids=lambda rule: quote(rule[:8]))
def test_a_strangers_rule_opens_the_page_with_the_message_and_the_default_mask(rule: str) -> None:
    at = open_page(work_rule=rule)
    assert alts(at) == alts(open_page())
    assert said(at, "cannot be used") or at.text_input("work_rule").value == DEFAULT
    for block in at.markdown:  # typed text is shown as text only
        assert "onerror" not in block.value and "$5" not in block.value


def test_a_rule_legal_at_one_size_and_not_at_another() -> None:
    at = type_rule(open_page(), "1 // (i - 9) < 1")
    assert metric(at, "Visible pairs") == "64 of 64"
    at.slider("work_nq").set_value(10).run()
    assert "for i = 9, j = 0" in checked(at).text[0].value
    assert DEFAULT in codes(at)
    assert metric(at, "Visible pairs") == f"{1 + 2 + 6 * 3 + 2 + 1} of 80"  # the default's
    at.slider("work_nq").set_value(9).run()
    assert not said(checked(at), "cannot be used")


def test_painted_cells_are_exceptions_to_the_rule() -> None:
    at = open_page(work_paint="0-3 2-2 2-2 99-1 x")
    assert metric(at, "Visible pairs") == "21 of 64"  # one more, one fewer
    assert "Query 0: keys 0 and 3." in alts(at)[0]
    assert "Query 2: keys 0 and 1." in alts(at)[0]
    assert said(at, "2 painted exceptions to the rule: query 0, key 3; query 2, key 2.")
    at = type_rule(at, "j == i")
    assert "Query 0: keys 0 and 3." in alts(at)[0]
    assert "Query 2: no key." in alts(at)[0]
    assert said(at, "**Query 2** may attend to nothing")
    at.button("work_paint_clear").click().run()
    assert metric(checked(at), "Visible pairs") == "8 of 64"
    assert at.text_input("work_paint").value == ""
    assert not said(at, "painted exception")


def test_a_link_may_fix_the_exceptions() -> None:
    at = open_page(work_paint="0-3", hide="work_paint")
    assert metric(at, "Visible pairs") == "22 of 64"
    assert not [button for button in at.button if button.key == "work_paint_clear"]
    assert not [line for line in at.text_input if line.key == "work_paint"]


def test_a_link_may_hide_solutions() -> None:
    def folds(at: AppTest) -> list[str]:
        return [fold.label for fold in at.expander]

    assert {"Hint 1 of 3", "A solution"} <= set(folds(open_page(work_part="Challenges")))
    hidden = open_page(work_part="Challenges", hide="solutions")
    assert not {"Hint 1 of 3", "A solution"} & set(folds(hidden))


def test_sizes_from_the_smallest_to_the_largest() -> None:
    at = open_page(work_nq="128", work_nk="128", work_paint="127-0")
    assert metric(at, "Visible pairs") == f"{3 * 128 - 3 + 1} of {128 * 128}"
    assert said(at, "check boxes are there for up to 12")
    at = open_page(work_nq="1", work_nk="1", work_paint="0-0")
    assert metric(at, "Visible pairs") == "0 of 1"
    assert said(at, "**Query 0** may attend to nothing")


def challenge(at: AppTest, number: int, rule: str) -> AppTest:
    at.segmented_control("work_part").set_value("Challenges").run()
    at.selectbox("work_ch_number").set_value(number - 1).run()
    return checked(at.text_input(f"work_ch_{number}").set_value(rule).run())


def test_a_challenge_is_checked_cell_by_cell() -> None:
    at = challenge(open_page(), 1, "j == i - 1 or i == 2 and j == 4")
    (verdict,) = (warning.value for warning in at.warning)
    assert "Query 2 must not attend to key 4. 1 of 36 cells differs." in verdict
    assert "Query 2 must not" in alts(at)[-1]
    assert not at.success
    entry = at.session_state["progress"].of("work_ch_1")
    assert entry.right is False
    at = challenge(at, 1, "j == i - 1 and i < 6")
    assert "Right at 6 × 6, but not at 13 × 13" in at.warning[0].value
    at = challenge(at, 1, "i - j == 1")
    assert at.success and not at.warning
    entry = at.session_state["progress"].of("work_ch_1")
    assert (entry.prediction, entry.right) == ("i - j == 1", True)
    at = challenge(at, 1, "i - j == 2")
    assert at.session_state["progress"].of("work_ch_1").right is True  # what is solved stays solved


def test_a_challenge_with_fewer_queries_than_keys() -> None:
    at = challenge(open_page(), 4, "0 <= i + 5 - j < 3")
    assert "Right at 4 × 9, but not at 5 × 13" in at.warning[0].value
    assert challenge(at, 4, "0 <= i + n_k - n_q - j < 3").success


def test_a_long_solution_is_not_cut_off() -> None:
    at = open_page(work_part="Challenges")
    at.selectbox("work_ch_number").set_value(4).run()
    at.session_state["work_ch_5_solution"] = True
    (solution,) = (code for code in checked(at.run()).code if "j % 3 == 2" in code.value)
    assert solution.proto.wrap_lines


def test_the_parts_and_the_marks_are_explained() -> None:
    at = open_page()
    (asked,) = said(at, "**Gallery**: which")
    parts = at.segmented_control("work_part").options
    assert [f"**{part}**" in asked for part in parts] == [True] * 6
    assert said(at, "1 means *may attend*")


@pytest.mark.parametrize(
    ("part", "key", "guess", "weights"),
    [
        ("Alignment", "work_align_guess", "1", "Weights, top-left"),
        ("Bias", "work_bias_guess", "Yes", "Weights with the bias"),
    ],
)
def test_nothing_can_be_taken_away_before_the_prediction(
    part: str, key: str, guess: str, weights: str
) -> None:
    at = open_page(work_part=part)
    export = at.session_state["take_away"]["latest"]
    assert weights not in export.weights and part not in export.sections
    export = open_page(work_part=part, **{key: guess}).session_state["take_away"]["latest"]
    assert weights in export.weights and part in export.sections
    hidden = open_page(work_part=part, hide="solutions", **{key: guess})
    export = hidden.session_state["take_away"]["latest"]
    assert weights not in export.weights and part not in export.sections


def test_an_unreadable_answer_is_no_answer() -> None:
    at = challenge(open_page(), 2, "j <= i & j")
    assert not at.warning and not at.success
    assert "j <= i & j\n       ^" in codes(at)
    assert at.session_state["progress"].of("work_ch_2") is None


def test_the_solution_is_not_sent_before_it_is_asked_for() -> None:
    at = open_page(work_part="Challenges")
    assert "j == i - 1" not in str([block.value for block in (*at.code, *at.markdown, *at.text)])
