"""The bug lab: nothing is given away, what is on screen is what was computed, guesses are kept."""

import inspect
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

from attention_core import IMPLEMENTATIONS, faults, indistinguishable, sample_qkv
from attention_core.dashboard.bug_lab.conditions import MASKS, Conditions
from attention_core.dashboard.bug_lab.names import DIAGNOSES, NAMES
from attention_core.dashboard.bug_lab.specimens import LETTERS, SPECIMENS, behind
from attention_core.dashboard.bug_lab.stories import STORIES
from attention_core.dashboard.progress.entry import Entry
from attention_core.dashboard.progress.progress import Progress

ROOT = Path(__file__).parents[2]
PAGE = "pages/6_bug_lab.py"
THINKING, LOCK_IN, SHOW_ME = "Thinking", "Lock in", "Show me"
LETTER = {behind(letter): letter for letter in LETTERS}
APART = "cannot be told apart yet"

every_letter = pytest.mark.parametrize("letter", LETTERS)


def open_page(**parameters: Any) -> AppTest:
    at = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    at.switch_page(PAGE)
    for key, value in parameters.items():
        if key != "dtype":  # that control stands there already
            at.query_params[key if key == "hide" else f"lab_{key}"] = str(value)
    run(at)
    return put(at, dtype=parameters["dtype"]) if "dtype" in parameters else at


def run(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception
    return at


def put(at: AppTest, **values: Any) -> AppTest:
    """Set the controls one after the other, as a learner does."""
    for key, value in values.items():
        at.get_by_key(key if key == "dtype" else f"lab_{key}").set_value(value)
        run(at)
    return at


def commit(at: AppTest, letter: str, guess: str) -> AppTest:
    """Choose a diagnosis and lock it in, from wherever the learner is."""
    if at.get_by_key(f"lab_{letter}_move").value != THINKING:
        put(at, **{f"{letter}_move": THINKING})
    return put(at, **{f"{letter}_guess": guess, f"{letter}_move": LOCK_IN})


def sent(at: AppTest) -> str:
    """All that the page has sent to the browser, as one text."""
    return "\n".join(str(element.proto) for element in at.main)


MEMORY = "bidi_component"  # it hands the learner's own progress to the learner's own browser


def drawn(at: AppTest) -> str:
    """What of it can be on screen: all but what the browser is to remember."""
    return "\n".join(str(element.proto) for element in at.main if element.type != MEMORY)


def remembered(at: AppTest) -> str:
    (memory,) = at.get(MEMORY)
    return re.sub(r"\$\$ID-[0-9a-f]+", "", str(memory.proto))


def said(at: AppTest) -> str:
    """The words of the page: text, messages, captions, the table."""
    kinds = ("markdown", "info", "success", "warning", "caption")
    return "\n".join(element.value for kind in kinds for element in at.get(kind))


def record(at: AppTest, letter: str) -> Any:
    return (
        at.session_state["progress"].of(f"lab_{letter}") if "progress" in at.session_state else None
    )


# Nothing is given away


@every_letter
def test_before_the_diagnosis_nothing_names_the_fault(letter: str) -> None:
    at = open_page(specimen=letter)
    everything = sent(at)
    for implementation in IMPLEMENTATIONS:
        assert "_" not in implementation.__name__ or implementation.__name__ not in everything
        assert STORIES[implementation].why not in everything
        assert NAMES[implementation].meaning not in everything
    assert "masked_fill" not in everything and "softmax(-1)" not in everything
    options = f"lab_{letter}_guess"
    names = [name for name in DIAGNOSES if name in said(at)]
    assert at.radio(options).options == [*DIAGNOSES] and names == []
    assert at.radio(options).value is None
    assert record(at, letter) is None
    files = at.get("download_button")  # made when they are asked for: nothing is in them yet
    assert [file.key for file in files] == ["lab_notebook"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"mask": "No mask"},
        {"mask": "One dead row", "heads": 2},
        {"d": 1},
        {"dtype": "bfloat16"},
    ],
    ids=str,
)
def test_specimens_that_cannot_be_told_apart_get_the_same_page(settings: dict[str, Any]) -> None:
    at, pages, memories = open_page(**settings), {}, set()
    for letter in LETTERS:
        random = r"\$\$ID-[0-9a-f]+|deferred_file_id: \S+"  # of a file that is yet to be made
        text = re.sub(random, "", drawn(put(at, specimen=letter)))
        memories.add(remembered(at))
        pages[letter] = re.sub(rf'(pecimen |lab_|raw_values: "){letter}(?![a-z])', r"\1?", text)
    assert len(memories) == 1
    assert len({*pages.values()}) == len(
        {frozenset(group) for group in groups(**settings).values()}
    )
    for letter, group in groups(**settings).items():
        for other in group:
            assert pages[letter] == pages[other]


def groups(**settings: Any) -> dict[str, set[str]]:
    """Which letters give the same weights and output, found from outside the page."""
    given: dict[str, Any] = {
        "batch": 2,
        "heads": 1,
        "n": 5,
        "d": 8,
        "mask": "Causal",
        "dtype": "float32",
    } | settings
    given["d_k"] = given.pop("d")
    inputs = Conditions(**given, seed=0, device="cpu").inputs()
    alike = {f: indistinguishable(f, IMPLEMENTATIONS, *inputs) for f in IMPLEMENTATIONS}
    return {LETTER[f]: {LETTER[g] for g in group} for f, group in alike.items()}


ROUNDED = {"batch": 1, "heads": 1, "n": 2, "mask": "One dead row", "dtype": "bfloat16"}


@pytest.mark.parametrize(
    "settings",
    [
        *({"mask": mask, "dtype": dtype} for mask in MASKS for dtype in ("float32", "float16")),
        ROUNDED,  # a coarse dtype, in which two faults look the same, and not as the right one
    ],
    ids=str,
)
def test_that_specimens_cannot_be_told_apart_is_said_exactly_where_it_is_so(
    settings: dict[str, Any],
) -> None:
    at = open_page(**settings)
    for letter, group in groups(**settings).items():
        put(at, specimen=letter)
        assert (APART in said(at)) == (len(group) > 1)
        assert (f"{len(group)} of the 13" in said(at)) == (len(group) > 1)
        unseen = LETTER[faults.right] in group
        assert ("no fault shows" in said(at).lower()) == unseen
        assert ("the right one among them" in said(at)) == (unseen and len(group) > 1)


# What is on screen is what was computed


@every_letter
def test_the_symptoms_are_those_of_the_specimen(letter: str) -> None:
    at = open_page(specimen=letter, heads=3, n=7, d=5, batch=2, mask="Causal", seed=4)
    q, k, v = (t.view(2, 3, 7, 5) for t in sample_qkv(6, 7, 5, seed=4))
    mask = torch.ones(7, 7).tril().bool()
    output, weights = behind(letter)(q, k, v, mask, None)
    right = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    later = behind(letter)(q, negated(k), negated(v), mask, None)[0]
    table = at.table[0].value
    assert list(table.columns) == [f"Specimen {letter}", "The right one"]
    found = [
        between(weights.sum(-1)),
        between(weights.sum(-2)),
        short(weights[..., ~mask].max()),
        short(weights.triu(1).max()),
        short(weights.max(-1).values.mean()),
        short((output - right).abs().max()),
        short((later - output)[..., :6, :].abs().max()),
        "0",
    ]
    assert list(table[f"Specimen {letter}"]) == found
    titles = [json.loads(chart.proto.spec)["title"] for chart in at.get("vega_lite_chart")]
    assert titles == [
        f"Specimen {letter}: weights",
        "The right one: weights",
        f"Specimen {letter}: sums of the rows",
        f"Specimen {letter}: sums of the columns",
    ]
    cells = values(at, 0)
    assert cells == pytest.approx(weights[0, 0].flatten().tolist(), abs=1e-6)
    assert values(at, 2) == pytest.approx(weights[0, 0].sum(-1).tolist(), abs=1e-6)
    assert values(at, 3) == pytest.approx(weights[0, 0].sum(-2).tolist(), abs=1e-6)


def test_the_pictures_show_the_sequence_and_the_head_that_are_chosen() -> None:
    letter = LETTER[faults.mask_after_softmax]
    at = open_page(specimen=letter, heads=3, n=5, d=7, batch=2, mask="Causal and padding")
    q, k, v = (t.view(2, 3, 5, 7) for t in sample_qkv(6, 5, 7))
    causal, lengths = torch.ones(5, 5).tril().bool(), torch.tensor([4, 3])
    padding = torch.arange(5) < lengths[:, None]
    _, weights = behind(letter)(q, k, v, causal, padding)
    _, reference = faults.right(q, k, v, causal, padding)
    numbers = at.table[0].value.to_dict()
    for sequence, head in ((0, 0), (1, 0), (1, 2)):
        put(at, sequence=sequence, head=head)
        assert f"The pictures show sequence {sequence}, head {head};" in said(at)
        chosen = weights[sequence, head]
        shown = (chosen, reference[sequence, head], chosen.sum(-1), chosen.sum(-2))
        for number, tensor in enumerate(shown):
            assert values(at, number) == pytest.approx(tensor.flatten().tolist(), abs=1e-6)
        for number in (2, 3):  # the sums
            written = [f"{total:.3f}" if total else "0" for total in shown[number].tolist()]
            assert values(at, number, "number") == written
        forbidden = ~(causal & padding[sequence])
        assert glyphs(at, 1) == ["✕" if hidden else "" for hidden in forbidden.flatten()]
        alt = at.get("vega_lite_chart")[0].proto
        assert f"of sequence {sequence}, head {head}." in str(alt)
    assert at.table[0].value.to_dict() == numbers  # they are over all


def test_of_one_sequence_and_one_head_nothing_is_to_be_chosen() -> None:
    at = open_page(batch=1, heads=1)
    assert not at.main.get("selectbox")
    put(at, batch=3)
    assert [box.label for box in at.main.get("selectbox")] == ["Show sequence"]
    put(at, sequence=2, batch=2, heads=2)
    assert at.selectbox("lab_sequence").value == 1  # the last that there is
    assert [box.label for box in at.main.get("selectbox")] == ["Show sequence", "Show head"]


def negated(tensor: torch.Tensor) -> torch.Tensor:
    return torch.cat([tensor[..., :-1, :], -tensor[..., -1:, :]], -2)


def short(number: torch.Tensor) -> str:
    return f"{number.item():.3g}"


def between(tensor: torch.Tensor) -> str:
    low, high = short(tensor.min()), short(tensor.max())
    return low if low == high else f"{low} to {high}"


def values(at: AppTest, number: int, column: str = "value") -> list[Any]:
    data = at.get("vega_lite_chart")[number].proto.datasets[0].data.data
    return pyarrow.ipc.open_stream(io.BytesIO(data)).read_pandas()[column].tolist()


def glyphs(at: AppTest, number: int) -> list[str]:
    return values(at, number, "glyph")


def test_an_error_is_shown_as_a_symptom() -> None:
    at = open_page(specimen=LETTER[faults.padding_per_query], mask="Padding", batch=3)
    assert "stops with an error" in said(at)
    assert [code.value for code in at.code] == [
        "The size of tensor a (5) must match the size of tensor b (3) at non-singleton dimension 0"
    ]
    assert len(at.get("vega_lite_chart")) == 1
    assert set(at.table[0].value.iloc[:, 0]) == {"–"}
    put(at, batch=5)
    assert "stops with an error" not in said(at) and len(at.get("vega_lite_chart")) == 4


def test_nan_is_shown_as_nan() -> None:
    at = open_page(specimen=LETTER[faults.softmax_over_queries], mask="Padding")
    assert list(at.table[0].value.iloc[:2, 0]) == ["NaN", "NaN"]


# Diagnosing


@every_letter
def test_a_right_diagnosis_is_recorded_and_explained(letter: str) -> None:
    at = open_page(specimen=letter, mask="Causal", heads=2)
    name = NAMES[behind(letter)].short
    commit(at, letter, name)
    assert at.success[0].value.startswith(f"**Right: {name}.**")
    entry = record(at, letter)
    assert (entry.prediction, entry.result, entry.right) == (name, name, True)
    assert "1 of 13 diagnosed" in sent(at)
    assert STORIES[behind(letter)].why in said(at) and STORIES[behind(letter)].notice in said(at)
    fault = behind(letter) is not faults.right
    assert len(at.code) == fault
    if fault:
        plain = at.code[0].proto  # coloured as a diff it is too pale, wrapped it loses its columns
        assert plain.language == "plaintext" and not plain.wrap_lines
        lines = at.code[0].value.splitlines()
        assert any(line.startswith("-") for line in lines)
        for line in lines:
            assert line[1:] in inspect.getsource(
                faults.right if line[:1] == "+" else behind(letter)
            )
    assert ("would look the same" in said(at)) == (len(groups(heads=2)[letter]) > 1)


@every_letter
def test_show_me_names_it_and_counts_as_shown(letter: str) -> None:
    at = put(open_page(specimen=letter), **{f"{letter}_move": SHOW_ME})
    name = NAMES[behind(letter)].short
    assert name in at.info[-1].value
    entry = record(at, letter)
    assert (entry.prediction, entry.result, entry.right) == (None, name, None)
    commit(at, letter, name)  # now that it is known
    assert record(at, letter).right is None
    assert "0 of 13 diagnosed" in sent(at)


def test_wrong_guesses_get_evidence_and_give_nothing_away() -> None:
    letter = LETTER[faults.mask_after_softmax]
    at = open_page(specimen=letter)
    tried = ["Softmax over the queries", "No scale", "Nothing is wrong"]
    for guess in tried:
        commit(at, letter, guess)
        assert at.warning[0].value.startswith("**Not quite.** If ")
        assert NAMES[DIAGNOSES[guess]].clause in at.warning[0].value
        assert not at.success and not at.code
        assert "Mask after the softmax" not in said(at)
    entry = record(at, letter)
    assert entry.prediction == "Softmax over the queries, then No scale, then Nothing is wrong"
    assert entry.right is False and "Mask" not in entry.result
    assert "1. Softmax over the queries\n2. No scale\n3. Nothing is wrong" in said(at)
    commit(at, letter, "Mask after the softmax")
    assert record(at, letter).prediction.endswith("then Mask after the softmax")
    assert record(at, letter).right is True
    commit(at, letter, "No scale")  # to see what it would have said
    assert record(at, letter).right is True and "1 of 13 diagnosed" in sent(at)


def test_shown_after_a_wrong_guess_is_not_right() -> None:
    at = commit(open_page(specimen="A"), "A", "No scale")
    put(at, A_move=SHOW_ME)
    entry = record(at, "A")
    assert (entry.prediction, entry.right) == ("No scale, then shown", False)
    commit(at, "A", "Mask after the softmax")
    assert record(at, "A").right is False


def test_what_cannot_be_decided_is_not_called_wrong() -> None:
    letter = LETTER[faults.scale_by_d_model]
    at = commit(open_page(specimen=letter), letter, "Nothing is wrong")
    assert not at.warning and not at.success
    assert "cannot be decided here" in at.info[-1].value and "Try 2 heads" in at.info[-1].value
    put(at, heads=2)  # the settings stay free, and decide
    assert "**Not quite.** If nothing were wrong" in at.warning[0].value
    commit(at, letter, "Scale by √d_model")
    assert at.success


def test_a_guess_that_hides_is_told_why() -> None:
    at = commit(open_page(specimen=LETTER[faults.right]), "J", "Scale by √d_model")
    assert "With one head, d_model and d_k are the same number." in at.info[-1].value


def test_locking_in_needs_a_diagnosis() -> None:
    at = put(open_page(), A_move=LOCK_IN)
    assert "no prediction" in at.info[-1].value and record(at, "A") is None


def test_the_next_specimen_is_one_that_is_left() -> None:
    at = commit(open_page(specimen="M"), "M", "Masked scores set to 0")
    assert at.button("lab_next").label == "Next specimen: A"  # round
    put(at, specimen="L")
    commit(at, "L", "Weights transposed")
    at.button("lab_next").click()
    assert run(at).segmented_control("lab_specimen").value == "A"  # over the one that is done
    assert "2 of 13 diagnosed" in sent(at)
    assert "Diagnosed: L, M" in said(at)


def test_a_specimen_that_is_left_and_visited_again_keeps_its_diagnosis() -> None:
    at = commit(open_page(), "A", "Mask after the softmax")
    put(at, specimen="B")
    assert not at.success
    assert "tried so far" not in said(at)
    put(at, specimen="A")
    assert "1. Mask after the softmax" in said(at)


def test_a_link_opens_the_specimen_the_settings_and_the_guess() -> None:
    at = open_page(specimen="K", d=64, K_guess="Keys and values swapped", K_move=LOCK_IN)
    assert at.slider("lab_d").value == 64
    assert at.warning[0].value.startswith("**Not quite.** If keys and values were swapped")


def test_a_link_can_hide_the_solution() -> None:
    at = open_page(specimen="K", K_guess="No scale", K_move=LOCK_IN, hide="solutions")
    assert not at.success and not at.code and record(at, "K") is None
    assert "Locked in" in at.info[-1].value


def test_progress_of_a_stranger_is_read_with_care() -> None:
    at = open_page()
    junk = "No scale, then :red[x] <b>, then " + "y" * 900
    at.session_state["progress"] = Progress({"lab_A": Entry("lab_A", junk, "z", False)}, asked=True)
    run(at)
    assert "1. No scale" in said(at) and "red[x]" not in drawn(at)


def test_the_specimens_are_questions_for_the_overview() -> None:
    assert [question.title for question in SPECIMENS] == [f"Specimen {x}" for x in "ABCDEFGHIJKLM"]
    at = open_page()
    guesses = [name for name in DIAGNOSES if name != "Mask after the softmax"]
    for guess in guesses:
        commit(at, "A", guess)
    assert len(record(at, "A").prediction) <= 400
    assert record(at, "A").prediction.endswith(guesses[-1])
