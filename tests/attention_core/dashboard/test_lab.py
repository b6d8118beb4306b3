"""What the bug lab says: evidence against numbers found another way, and no specimen left out."""

import difflib
import inspect
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
import torch

from attention_core import FAULTS, IMPLEMENTATIONS, faults, indistinguishable
from attention_core.dashboard.lab.case import examine
from attention_core.dashboard.lab.conditions import (
    BOTH,
    CAUSAL,
    DEAD_ROW,
    MASKS,
    NO_MASK,
    PADDING,
    Conditions,
)
from attention_core.dashboard.lab.difference import repair
from attention_core.dashboard.lab.evidence import evidence
from attention_core.dashboard.lab.exposing import exposing_change
from attention_core.dashboard.lab.feedback import mismatch, undecided
from attention_core.dashboard.lab.figures import apart, figure, span
from attention_core.dashboard.lab.names import DIAGNOSES, NAMES
from attention_core.dashboard.lab.specimens import LETTERS, SPECIMENS, behind
from attention_core.dashboard.lab.stories import STORIES
from attention_core.diagnosis import Symptoms, symptoms
from attention_core.faults import right

LETTER = {behind(letter): letter for letter in LETTERS}
NAN, INFINITY = float("nan"), float("inf")


def conditions(mask: str = CAUSAL, **changes: object) -> Conditions:
    plain = {"batch": 2, "heads": 1, "n": 5, "d_k": 7, "seed": 0, "dtype": "float32"}
    return Conditions(mask=mask, device="cpu", **{**plain, **changes})


SETTINGS = [
    *(conditions(mask) for mask in MASKS),
    conditions(heads=3),
    conditions(PADDING, batch=5, heads=2),
    conditions(PADDING, batch=1),
    conditions(d_k=1),
    conditions(n=2, batch=3),
    conditions(BOTH, dtype="float16"),
    conditions(DEAD_ROW, dtype="bfloat16", heads=2),
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
    assert mask.tolist() == [[j <= i for j in range(5)] for i in range(5)]
    assert padding.sum(-1).tolist() == [4, 3, 2, 1, 1, 1]
    assert padding[1].tolist() == [True, True, True, False, False]
    *_, mask, padding = conditions(DEAD_ROW).inputs()
    assert mask.any(-1).tolist() == [True, True, False, True, True] and padding is None
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
    ],
)
def test_the_change_that_tells_from_the_right_one(one, now, change) -> None:
    assert exposing_change(one, right, now) == change


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
    assert apart(torch.tensor(0.25), torch.tensor(0.5)) == ("0.25", "0.5")
    assert apart(torch.tensor(0.12344), torch.tensor(0.12341)) == ("0.12344", "0.12341")
