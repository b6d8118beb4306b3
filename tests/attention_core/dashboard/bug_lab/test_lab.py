"""What the bug lab says: evidence against numbers found another way, and no specimen left out."""

import difflib
import inspect
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import torch

from attention_core import FAULTS, IMPLEMENTATIONS, faults, indistinguishable
from attention_core.dashboard.bug_lab.case import examine
from attention_core.dashboard.bug_lab.conditions import (
    BOTH,
    CAUSAL,
    MASKED_ROW,
    MASKS,
    NO_MASK,
    PADDING,
    Conditions,
)
from attention_core.dashboard.bug_lab.difference import repair
from attention_core.dashboard.bug_lab.evidence import evidence
from attention_core.dashboard.bug_lab.exposing import _changes, exposing_change
from attention_core.dashboard.bug_lab.feedback import mismatch, undecided
from attention_core.dashboard.bug_lab.figures import apart, figure, span
from attention_core.dashboard.bug_lab.hiding import why_hidden
from attention_core.dashboard.bug_lab.names import DIAGNOSES, NAMES
from attention_core.dashboard.bug_lab.specimens import LETTERS, SPECIMENS, behind
from attention_core.dashboard.bug_lab.stories import STORIES
from attention_core.faults import right
from attention_core.faults.symptoms import Symptoms, symptoms
from attention_core.faults.telling_apart import rounding

LETTER = {behind(letter): letter for letter in LETTERS}
NAN, INFINITY = float("nan"), float("inf")


def conditions(mask: str = CAUSAL, **changes: Any) -> Conditions:
    plain: dict[str, Any] = {
        "batch": 2,
        "heads": 1,
        "n": 5,
        "d_k": 7,
        "seed": 0,
        "dtype": "float32",
    }
    return Conditions(mask=mask, device="cpu", **{**plain, **changes})


SETTINGS = [
    *(conditions(mask) for mask in MASKS),
    conditions(heads=3),
    conditions(PADDING, batch=5, heads=2),
    conditions(PADDING, batch=1),
    conditions(d_k=1),
    conditions(n=2, batch=3),
    conditions(BOTH, dtype="float16"),
    conditions(MASKED_ROW, dtype="bfloat16", heads=2),
]


def test_every_implementation_has_a_letter_a_name_and_a_story() -> None:
    assert {*map(behind, LETTERS)} == {*NAMES} == {*STORIES} == {*IMPLEMENTATIONS}
    assert tuple("ABCDEFGHIJKLM") == LETTERS and list(DIAGNOSES.values()) == [*IMPLEMENTATIONS]
    for name in NAMES.values():
        assert len(name.short) <= 30 and not re.search(r"[][()]|, then |^shown$", name.short)
    for fault in FAULTS:
        assert STORIES[fault].why and STORIES[fault].notice


def test_the_order_of_the_letters_gives_nothing_away() -> None:
    for letters in (LETTERS, LETTERS[::-1]):
        assert all(behind(a) is not b for a, b in zip(letters, IMPLEMENTATIONS, strict=True))
    order = [IMPLEMENTATIONS.index(behind(letter)) for letter in LETTERS]
    neighbours = [b - a for a, b in pairwise(order)]
    assert neighbours.count(1) + neighbours.count(-1) <= 2


def test_hints_do_not_name_the_fault() -> None:
    for letter, question in zip(LETTERS, SPECIMENS, strict=True):
        assert question.key == f"lab_{letter}" and question.title == f"Specimen {letter}"
        said = " ".join(question.hints).lower()
        assert NAMES[behind(letter)].short.lower() not in said
        assert "_" not in said.replace("d_k", "")  # the name of a function
        assert NAMES[behind(letter)].clause not in said


# The conditions


def test_masks_by_hand() -> None:
    *_, mask, padding = conditions(BOTH, batch=6).inputs()
    assert mask is not None and padding is not None
    assert mask.tolist() == [[j <= i for j in range(5)] for i in range(5)]
    assert padding.sum(-1).tolist() == [4, 3, 2, 1, 1, 1]
    assert padding[1].tolist() == [True, True, True, False, False]
    *_, mask, padding = conditions(MASKED_ROW).inputs()
    assert mask is not None and padding is None
    assert mask.any(-1).tolist() == [True, True, False, True, True]
    assert mask[[0, 1, 3, 4]].all()
    assert conditions(NO_MASK).inputs()[3:] == (None, None)
    *_, mask, padding = conditions(PADDING).inputs()
    assert mask is None and padding is not None


def test_tensors_have_the_sizes_and_every_head_is_another() -> None:
    q, k, v, *_ = conditions(batch=3, heads=2).inputs()
    assert q.shape == k.shape == v.shape == (3, 2, 5, 7)
    flat = q.flatten(0, 1)
    assert len({tuple(head.flatten().tolist()) for head in flat}) == 6
    assert not torch.equal(q, conditions(batch=3, heads=2, seed=1).inputs()[0])


def test_the_lesson_hides_some_faults_and_shows_others() -> None:
    unseen = set(examine(LETTER[right], conditions()).alike)
    assert unseen == {right, faults.scale_by_d_model, faults.finite_fill, faults.padding_per_query}


# The evidence


@pytest.fixture
def kept_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look up the tensors of each setting only once: most of the time is spent on that."""
    monkeypatch.setattr(Conditions, "inputs", cache(Conditions.inputs))


@pytest.mark.usefixtures("kept_inputs")
@pytest.mark.parametrize("now", SETTINGS, ids=lambda now: f"{now.mask}-{now.dtype}")
def test_every_wrong_guess_meets_evidence_or_the_setting_that_would_decide(now) -> None:
    """Every specimen with every third guess; with all guesses in any three settings in a row."""
    alikes = {f: indistinguishable(f, IMPLEMENTATIONS, *now.inputs()) for f in IMPLEMENTATIONS}
    for number, truth in enumerate(IMPLEMENTATIONS, start=SETTINGS.index(now)):
        case = examine(LETTER[truth], now)
        for guess in IMPLEMENTATIONS[number % 3 :: 3]:
            alike = truth in alikes[guess]
            assert (guess in case.alike) == alike
            if guess is truth:
                continue
            said = undecided(guess, case) if alike else mismatch(guess, case)
            if alike:
                assert "cannot be decided here" in said and "there they differ" in said
            else:
                assert said.startswith(f"If {NAMES[guess].clause}, ")
                would, seen = numbers(said)
                assert would != seen
            others = {*NAMES} - {guess}
            assert not [name for name in others if f"“{NAMES[name].short}”" in said]


FIGURE_SETTINGS = [
    *SETTINGS,
    conditions(d_k=8),
    conditions(MASKED_ROW, batch=1, n=2),
    conditions(CAUSAL, d_k=64, heads=4, n=8, seed=3),
    conditions(PADDING, d_k=1, dtype="bfloat16", seed=17),
    conditions(NO_MASK, d_k=64, dtype="float16"),
    conditions(BOTH, n=7, dtype="float64", seed=5),
]


@pytest.mark.usefixtures("kept_inputs")
@pytest.mark.parametrize("now", FIGURE_SETTINGS, ids=str)
def test_the_two_figures_of_the_evidence_differ_by_more_than_rounding(now) -> None:
    """All specimens with all guesses."""
    inputs = now.inputs()
    of_weights, of_outputs = rounding(*inputs[:3])
    every = {f: symptoms(f, *inputs) for f in IMPLEMENTATIONS}
    for truth, seen in every.items():
        alike = indistinguishable(truth, IMPLEMENTATIONS, *inputs)
        for guess in {*IMPLEMENTATIONS} - {*alike}:
            said = evidence(guess, every[guess], seen, (of_weights, of_outputs))
            assert said.startswith(f"If {NAMES[guess].clause}, ")
            if "error" in said:
                continue
            would, here = (figures_in(part) for part in said_of(guess, said))
            allowed = of_outputs if "of its output" in said else of_weights
            ends = [(would[0], here[0]), (would[-1], here[-1])]
            assert any(is_far(*pair, allowed) for pair in ends), said
            assert would != here and len(said) < 190


def said_of(guess, said: str) -> tuple[str, str]:
    plain = said.removeprefix(f"If {NAMES[guess].clause}, ").replace("NaN or infinite", "")
    before, _, after = re.sub(r"(sequence|head|query|key|entry) \d+", "", plain).partition(": here")
    return before, after


def figures_in(part: str) -> list[float]:
    found = re.findall(r"−?(?:\d[\d.]*(?:e[-+]\d+)?|NaN|∞)", part.rstrip("."))
    assert len(found) in (1, 2), part
    return [float(text.replace("−", "-").replace("∞", "inf")) for text in found]


def is_far(one: float, other: float, allowed: float) -> bool:
    if one != one or other != other:
        return (one != one) != (other != other)
    return one != other and abs(one - other) > allowed


def numbers(sentence: str) -> tuple[str, str]:
    before, _, after = sentence.partition(": ")
    return before, after


@pytest.mark.parametrize(
    ("guess", "truth", "says"),
    [
        (faults.softmax_over_queries, faults.no_scale, "the sums of the columns would be 1: here"),
        (faults.scale_after_softmax, faults.right, "rows would be 0.378: here they are 1."),
        (faults.scale_after_softmax, faults.mask_after_softmax, "rows would be 0.378: here they"),
        (faults.mask_inverted, faults.right, "rows would be 0 to 1: here they are 1."),
        (faults.masked_scores_zero, faults.right, "of a forbidden pair would be"),
        (faults.diagonal_masked, faults.right, "at its own position would be 0: here it is 1."),
        (faults.weights_transposed, faults.right, "when the last token changes: here by 0."),
        (faults.right, faults.masked_scores_zero, "the difference to PyTorch would be"),
        (faults.keys_and_values_swapped, faults.right, "in sequence 0, head 0, query "),
    ],
)
def test_the_reason_fits_the_guess(guess, truth, says) -> None:
    assert says in mismatch(guess, examine(LETTER[truth], conditions()))


def test_the_numbers_of_the_evidence_are_those_of_both() -> None:
    now = conditions()
    q, k, v, mask, _ = now.inputs()
    assert mask is not None
    scores = torch.einsum("bhid,bhjd->bhij", q, k).masked_fill(~mask, -torch.inf)
    unscaled, scaled = (s.softmax(-1).amax(-1).mean().item() for s in (scores, scores / 7**0.5))
    said = mismatch(faults.no_scale, examine(LETTER[right], now))
    assert f"would be {unscaled:.3g} on average: here it is {scaled:.3g}." in said

    said = mismatch(faults.keys_and_values_swapped, examine(LETTER[right], now))
    i, would, j, here = re.search(
        r"query (\d) would put (\S+) on key (\d): here (\S+)\.$", said
    ).groups()
    swapped = torch.einsum("bhid,bhjd->bhij", q, v).masked_fill(~mask, -torch.inf) / 7**0.5
    wrong, good = (s.softmax(-1)[0, 0] for s in (swapped, scores / 7**0.5))
    assert (would, here) == (f"{wrong[int(i), int(j)]:.3g}", f"{good[int(i), int(j)]:.3g}")
    assert (wrong - good).abs().argmax() == 5 * int(i) + int(j)


def test_where_the_spans_are_the_same_one_query_is_named() -> None:
    said = mismatch(faults.diagonal_masked, examine(LETTER[faults.mask_inverted], conditions()))
    assert said == (  # the causal mask leaves nothing to query 0, the inverted one to the last
        "If the diagonal were masked out, in sequence 0, head 0, the row of query 0 would sum to "
        "0: here it sums to 1."
    )


def test_a_cell_is_named_from_the_pictures_where_it_can_be() -> None:
    now = conditions(heads=3)
    for place in ((0, 0), (1, 0), (1, 2)):
        said = mismatch(faults.keys_and_values_swapped, examine(LETTER[right], now, place))
        assert f"in sequence {place[0]}, head {place[1]}, query" in said
    seen = symptoms(right, *now.inputs())
    assert isinstance(seen, Symptoms)
    elsewhere = seen.output.clone()
    elsewhere[1, 2, 3, 4] += 1.0
    would = replace(seen, output=elsewhere)
    for place in ((0, 0), (1, 0), (1, 2)):
        said = evidence(faults.weights_transposed, would, seen, (1e-6, 1e-6), place)
        assert "in sequence 1, head 2, query 3 would have" in said and "as entry 4" in said


def test_what_is_allowed_is_that_of_the_sequence_in_the_pictures() -> None:
    now = conditions(BOTH, batch=3, heads=2)
    for place, length in (((0, 0), 4), ((1, 1), 3), ((2, 0), 2)):
        allowed = examine("A", now, place).allowed
        assert allowed.tolist() == [[j <= i and j < length for j in range(5)] for i in range(5)]
    assert examine("A", conditions(NO_MASK), (1, 0)).allowed.all()


def test_errors_and_nan_are_evidence() -> None:
    half = conditions(dtype="float16")
    fill, other = faults.finite_fill, faults.no_scale
    assert "stop with an error here: it does not" in mismatch(fill, examine(LETTER[other], half))
    assert "instead it stops" in mismatch(other, examine(LETTER[fill], half))
    both = conditions(PADDING, dtype="float16")
    assert "with another error" in mismatch(fill, examine(LETTER[faults.padding_per_query], both))
    padded = examine(LETTER[faults.softmax_over_queries], conditions(PADDING))
    assert f": here {padded.seen.not_numbers} are" in mismatch(right, padded)
    assert "would be NaN" in mismatch(
        faults.softmax_over_queries, examine(LETTER[right], conditions(PADDING))
    )


def test_what_is_the_same_gives_no_evidence() -> None:
    now = conditions().inputs()
    seen = symptoms(right, *now)
    assert isinstance(seen, Symptoms)
    assert evidence(right, seen, seen, (1e-6, 1e-6)) == ""
    assert evidence(right, "an error", "an error", (1e-6, 1e-6)) == ""


# What would decide


@pytest.mark.parametrize(
    ("one", "now", "change"),
    [
        (faults.scale_by_d_model, conditions(), "2 heads"),
        (faults.finite_fill, conditions(), "the mask *One dead row*"),
        (faults.padding_per_query, conditions(), "the mask *Padding*"),
        (faults.padding_per_query, conditions(batch=1), "the mask *Padding* and 2 sequences"),
        (faults.padding_per_query, conditions(PADDING, batch=1), "2 sequences"),
        (faults.no_scale, conditions(d_k=1), "d_k = 8"),
        (faults.mask_inverted, conditions(NO_MASK), "the mask *Causal*"),
        (faults.padding_per_query, conditions(PADDING, n=2, d_k=64, seed=17), "3 sequences"),
        (
            faults.padding_per_query,
            conditions(NO_MASK, n=2, batch=1),
            "the mask *Padding* and 3 sequences",
        ),
    ],
)
def test_the_change_that_tells_from_the_right_one(one, now, change) -> None:
    assert exposing_change(one, right, now) == change


def test_more_tokens_are_tried_where_there_are_few() -> None:
    tried = [change["n"] for change in _changes(conditions(n=2)) if [*change] == ["n"]]
    assert tried == [5, 8]
    assert not [change for change in _changes(conditions(n=8)) if "n" in change]


@pytest.mark.parametrize(
    ("fault", "now", "why"),
    [
        (faults.no_scale, conditions(d_k=1), "With d_k = 1"),
        (faults.no_scale, conditions(PADDING, n=2, batch=1), "No query has more than one key"),
        (faults.scale_by_d_model, conditions(), "With one head"),
        (
            faults.scale_by_d_model,
            conditions(PADDING, n=2, batch=1, heads=4),
            "No query has more than one key",
        ),
        (faults.scale_after_softmax, conditions(d_k=1), "With d_k = 1"),
        (faults.mask_after_softmax, conditions(MASKED_ROW), "Where each row is wholly"),
        (faults.masked_scores_zero, conditions(NO_MASK), "Where each row is wholly"),
        (faults.mask_inverted, conditions(NO_MASK), "Without a mask"),
        (faults.finite_fill, conditions(), "Unless the dtype is float16"),
        (faults.padding_per_query, conditions(batch=1), "Without padding, or with one"),
        (faults.padding_per_query, conditions(), "Without padding"),
        (faults.padding_per_query, conditions(PADDING, batch=1), "Of one sequence"),
        (faults.padding_per_query, conditions(PADDING, n=2), ""),
    ],
)
def test_the_reason_why_a_fault_is_hidden_holds_here(fault, now, why) -> None:
    assert right in indistinguishable(fault, [right], *now.inputs())
    said = why_hidden(fault, now)
    assert said.startswith(why) and bool(said) == bool(why)
    assert said in undecided(fault, examine(LETTER[right], now))


def test_a_reason_that_does_not_hold_is_not_given() -> None:
    many = conditions(BOTH, heads=2, n=5)
    for fault in FAULTS:
        reason = why_hidden(fault, many)
        assert not reason or fault is faults.finite_fill
    assert not why_hidden(faults.finite_fill, conditions(MASKED_ROW))
    assert not why_hidden(faults.finite_fill, conditions(dtype="float16"))


def test_without_a_change_that_tells_them_apart_none_is_named() -> None:
    assert exposing_change(right, right, conditions()) == ""


# Differences and figures


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_repair_turns_the_fault_into_the_right_one(fault) -> None:
    lines = repair(fault).splitlines()
    old, new = ([line[1:] for line in lines if line[:1] != sign] for sign in "+-")
    assert "\n".join(old) in inspect.getsource(fault)
    assert "\n".join(new) in inspect.getsource(right)
    removed, added = ([line for line in lines if line[:1] == sign] for sign in "-+")
    assert 1 <= len(removed) <= 2 and 1 <= len(added) <= 3
    assert fault.__name__ not in repair(fault)
    unlike = difflib.ndiff(old, new)
    assert len([line for line in unlike if line[0] in "+-"]) == len(removed) + len(added)


def test_the_right_one_needs_no_repair() -> None:
    assert repair(right) == ""


def test_figures() -> None:
    assert [*map(figure, (0.0, 1.0, 0.35355, 1.19e-7, -0.25))] == [
        "0",
        "1",
        "0.354",
        "1.19e-07",
        "−0.25",
    ]
    assert [*map(figure, (NAN, INFINITY, -INFINITY))] == ["NaN", "∞", "−∞"]
    assert span(torch.tensor([1.0, 0.25])) == "0.25 to 1" and span(torch.ones(3)) == "1"
    assert span(torch.tensor([1.0, NAN])) == "NaN"


def test_figures_that_show_no_difference_are_none() -> None:
    def of(one: object, other: object, digits: int = 3, allowed: float = 1e-6) -> object:
        double = torch.float64
        one, other = torch.tensor(one, dtype=double), torch.tensor(other, dtype=double)
        return apart(one, other, digits, allowed)

    assert of(0.25, 0.5) == ("0.25", "0.5") and of(0.25, 0.5, allowed=0.3) is None
    assert of(0.12344, 0.12341) is None and of(0.12344, 0.12341, 5) == ("0.12344", "0.12341")
    assert of(0.12349, 0.12351, allowed=1e-4) is None  # 0.123 and 0.124, but by rounding only
    assert of([0.0, 1.0, 1.0], [1.0, 0.0, 1.0000001], 17) is None  # not as spans
    assert of([0.0, 1.0], [0.5, 1.0000001]) == ("0 to 1", "0.5 to 1")
    assert of(NAN, NAN) is None and of(INFINITY, INFINITY) is None
    assert of(NAN, 1.0) == ("NaN", "1") and of(1.0, INFINITY) == ("1", "∞")
