"""Every verdict is computed: change the computation under a question, and its verdict follows."""

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core import AttentionSteps, MixUp
from attention_core.attention import attention_steps
from attention_core.convolution import toeplitz
from attention_core.dashboard.bug_lab import case
from attention_core.dashboard.catalogue import GROUPS, LETTERS, TITLES
from attention_core.dashboard.causal_masking import future
from attention_core.dashboard.causal_masking.token_edit import moved
from attention_core.dashboard.exercises import (
    fixed_weights,
    receptive_field,
    scaling_lines,
    two_tokens,
    unequal_query,
    window_mask,
)
from attention_core.dashboard.mask_workshop import (
    alignment_question,
    bias,
    gallery,
    judging,
    polarity,
)
from attention_core.dashboard.qkv_formula import symmetry
from attention_core.dashboard.retrieval import absent_token
from attention_core.faults import right as right_implementation
from attention_core.masked_rows import MaskedRowAnswer
from attention_core.masks import bidirectional, local, mask_tensor
from attention_core.retrieval import retrieve
from attention_core.scaling import scaling_study

ROOT = Path(__file__).parents[2]
Patch = Callable[[pytest.MonkeyPatch], Any]


def open_page(name: str, **parameters: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    app.switch_page(f"pages/{name}.py")
    for key, value in parameters.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def is_right(app: AppTest, key: str) -> bool:
    """What the page has noted of its question; the box on the page says the same."""
    entry = app.session_state["progress"].of(key)
    said = [box.value for box in (*app.success, *app.warning, *app.info)]
    assert any(words.startswith("**Right") for words in said) == entry.right
    return bool(entry.right)


def locked(key: str, guess: str, **others: str) -> dict[str, str]:
    """An exercise's question with its guess locked in."""
    return {f"{key}_guess": guess, f"{key}_move": "Lock in", **others}


def shown(*keys: str) -> dict[str, str]:
    return {f"{key}_move": "Show me" for key in keys}


def even(steps: AttentionSteps) -> AttentionSteps:
    return replace(steps, weights=torch.full_like(steps.weights, 1 / steps.weights.shape[-1]))


def all_on_key_0(found: Any) -> Any:
    weights = torch.zeros_like(found.weights)
    weights[0] = 1
    return replace(found, weights=weights)


def other_scale(*arguments: Any, **options: Any) -> Any:
    """Without a scale where there should be one, and the other way round."""
    rule = {"none": "1/d_k", "1/sqrt(d_k)": "none"}.get(options["rule"], "none")
    return scaling_study(*arguments, **{**options, "rule": rule})


def set_study(patch: pytest.MonkeyPatch) -> None:
    scaling_lines.cached_study.clear()
    patch.setattr(scaling_lines, "scaling_study", other_scale)


def blind(*arguments: Any, **options: Any) -> AttentionSteps:
    return even(attention_steps(*arguments, **options))


def no_window(q_idx: Any, k_idx: Any) -> Any:
    return bidirectional(q_idx, k_idx)


def spoil_all(q: Any, k: Any, v: Any, mask: Any) -> tuple[MaskedRowAnswer, ...]:
    from attention_core.masked_rows import masked_row_answers

    return tuple(
        replace(answer, dq=answer.dq * torch.nan) for answer in masked_row_answers(q, k, v, mask)
    )


SCALE, WINDOW = {"ex_exercise": "No scale"}, {"ex_exercise": "Local window"}
QUESTIONS: list[tuple[str, str, dict[str, str], Patch]] = [
    (
        "qkv_symmetry",
        "1_qkv_formula",
        {"qkv_symmetry": "Only the scores"},
        lambda patch: patch.setattr(symmetry, "attention_steps", blind),
    ),
    (
        "ret_absent",
        "2_retrieval",
        {"ret_absent": "Evenly, to all keys"},
        lambda patch: patch.setattr(
            absent_token,
            "retrieve",
            lambda *given, _real=retrieve, **options: all_on_key_0(_real(*given, **options)),
        ),
    ),
    (
        "mask_guess",
        "3_causal_masking",
        {"mask_guess": "The edited row and rows after it"},
        lambda patch: patch.setattr(
            future,
            "moved",
            lambda qkv, edited, mask=None, _real=moved: _real(qkv, edited),
        ),
    ),
    (
        "ex_blend_weight",
        "4_exercises",
        locked("ex_blend_weight", "50"),
        lambda patch: (
            patch.setattr(two_tokens, "SHARPNESS", 0.0)
            or patch.setattr(
                two_tokens,
                "retrieve",
                lambda *given, _real=retrieve, **options: _real(*given, **options, scale=0.0),
            )
        ),
    ),
    (
        "ex_blend_share",
        "4_exercises",
        {**shown("ex_blend_weight"), **locked("ex_blend_share", "1.2")},
        lambda patch: patch.setattr(unequal_query, "SHARE", 0.6),
    ),
    (
        "ex_scale_onehot",
        "4_exercises",
        locked("ex_scale_onehot", "It stays the same", **SCALE),
        set_study,
    ),
    (
        "ex_scale_dense",
        "4_exercises",
        {**SCALE, **shown("ex_scale_onehot"), **locked("ex_scale_dense", "It rises")},
        set_study,
    ),
    (
        "ex_scale_gradient",
        "4_exercises",
        {
            **SCALE,
            **shown("ex_scale_onehot", "ex_scale_dense"),
            **locked("ex_scale_gradient", "33"),
        },
        set_study,
    ),
    (
        "ex_window_mask",
        "4_exercises",
        locked("ex_window_mask", "", **WINDOW)
        | {"ex_window_how": "Pick a rule", "ex_window_rule": "Distance at most 1"},
        lambda patch: patch.setattr(window_mask, "TARGET", local(5)),
    ),
    (
        "ex_window_reach",
        "4_exercises",
        {**WINDOW, **shown("ex_window_mask"), **locked("ex_window_reach", "3")},
        lambda patch: patch.setattr(receptive_field, "local", lambda width: local(width + 2)),
    ),
    (
        "ex_window_content",
        "4_exercises",
        {
            **WINDOW,
            **shown("ex_window_mask", "ex_window_reach"),
            **locked("ex_window_content", "Only attention's"),
        },
        lambda patch: patch.setattr(
            fixed_weights,
            "toeplitz",
            lambda kernel, n: toeplitz(kernel, n) * torch.rand(()),
        ),
    ),
    (
        "work_gal_guess",
        "5_mask_workshop",
        {"work_gal_guess": "Attention sink plus window"},
        lambda patch: patch.setattr(gallery, "TWICE", gallery.FEW),
    ),
    (
        "work_conv_guess",
        "5_mask_workshop",
        {
            "work_part": "Conventions",
            "work_conv_guess": "Each query attends to just what was hidden from it",
        },
        lambda patch: patch.setattr(polarity, "mix_up", lambda *_: MixUp(0.0, 0.9, 0)),
    ),
    (
        "work_dead_guess",
        "5_mask_workshop",
        {"work_part": "Dead rows", "work_dead_guess": "Uniform and zero"},
        lambda patch: patch.setattr(
            "attention_core.dashboard.mask_workshop.masked_rows.masked_row_answers", spoil_all
        ),
    ),
    (
        "work_align_guess",
        "5_mask_workshop",
        {"work_part": "Alignment", "work_align_guess": "3"},
        lambda patch: patch.setattr(
            alignment_question, "causal_bottom_right", lambda n_q, n_k: bidirectional
        ),
    ),
    (
        "work_bias_guess",
        "5_mask_workshop",
        {"work_part": "Bias", "work_bias_guess": "No"},
        lambda patch: patch.setattr(
            bias,
            "attention_steps",
            lambda *given, _real=attention_steps, **options: replace(
                steps := _real(*given, **options),
                masked_scores=steps.masked_scores.fill_diagonal_(-torch.inf),
            ),
        ),
    ),
    (
        "work_ch_1",
        "5_mask_workshop",
        {"work_part": "Challenges", "work_ch_1": "j == i - 1"},
        lambda patch: patch.setattr(
            judging,
            "mask_tensor",
            lambda *given, _real=mask_tensor: ~_real(*given),
        ),
    ),
]


@pytest.mark.parametrize(
    ("key", "page", "query", "change"), QUESTIONS, ids=[asked[0] for asked in QUESTIONS]
)
def test_a_verdict_follows_the_computation(
    monkeypatch: pytest.MonkeyPatch, key: str, page: str, query: dict[str, str], change: Patch
) -> None:
    assert is_right(open_page(page, **query), key)
    change(monkeypatch)
    assert not is_right(open_page(page, **query), key)
    scaling_lines.cached_study.clear()  # which other tests must not find
    unequal_query.share_curve.clear()


def test_a_diagnosis_follows_what_stands_behind_the_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    from attention_core.dashboard.bug_lab.names import NAMES
    from attention_core.dashboard.bug_lab.specimens import behind

    name = NAMES[behind("D")].short
    query = {"lab_specimen": "D", "lab_D_guess": name, "lab_D_move": "Lock in"}
    assert is_right(open_page("6_bug_lab", **query), "lab_D")
    monkeypatch.setattr(case, "behind", lambda letter: right_implementation)
    assert not is_right(open_page("6_bug_lab", **query), "lab_D")


def test_each_question_of_the_catalogue_is_asked_in_one_place() -> None:
    assert len(TITLES) == sum(map(len, GROUPS.values()))
    asked: list[str] = []
    for path in ROOT.glob("attention_core/dashboard/*/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Question":
                key = node.args[0]
                asked += (
                    [f"lab_{letter}" for letter in LETTERS]
                    if isinstance(key, ast.JoinedStr)
                    else [key.value]  # type: ignore[attr-defined]
                )
    assert sorted(asked) == sorted(TITLES)
