"""What is shown is what is judged: steps that were tampered with turn the badge red."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attention_core import AttentionSteps
from attention_core.attention import attention_steps
from attention_core.dashboard.causal_masking import explore as causal_masking
from attention_core.dashboard.exercises import fixed_weights, window_mask
from attention_core.dashboard.mask_workshop import bias, mask_view
from attention_core.dashboard.qkv_formula import explore as qkv_formula

ROOT = Path(__file__).parents[2]
DISAGREES = "Does **not** agree"
THIRD = {"ex_exercise": "Local window", "ex_window_mask_move": "Show me"}
PAGES = [
    ("1_qkv_formula", qkv_formula, {}),
    ("3_causal_masking", causal_masking, {}),
    ("4_exercises", window_mask, THIRD),
    (
        "4_exercises",
        fixed_weights,
        {**THIRD, "ex_window_reach_move": "Show me", "ex_window_content_move": "Show me"},
    ),
    ("5_mask_workshop", mask_view, {}),
    ("5_mask_workshop", bias, {"work_part": "Bias", "work_bias_guess": "No"}),
]


def open_page(name: str, **parameters: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    app.switch_page(f"pages/{name}.py")
    for key, value in parameters.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def says(app: AppTest) -> str:
    return "\n".join(text.value for text in app.markdown)


def one_output_more(steps: AttentionSteps) -> AttentionSteps:
    output = steps.output.clone()
    output[..., -1, 0] += 0.5
    return replace(steps, output=output)


def keys_mixed_up(steps: AttentionSteps) -> AttentionSteps:
    return replace(steps, weights=steps.weights.flip(-1))


@pytest.mark.parametrize("tamper", [one_output_more, keys_mixed_up])
@pytest.mark.parametrize(("page", "room", "query"), PAGES, ids=lambda case: str(case)[-40:])
def test_the_badge_judges_the_steps_that_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    room: Any,
    query: dict[str, str],
    tamper: Callable[[AttentionSteps], AttentionSteps],
) -> None:
    assert DISAGREES not in says(open_page(page, **query))

    def tampered(*arguments: Any, **options: Any) -> AttentionSteps:
        return tamper(attention_steps(*arguments, **options))

    monkeypatch.setattr(room, "attention_steps", tampered)
    assert DISAGREES in says(open_page(page, **query))


def test_retrieval_judges_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from attention_core import retrieval

    assert DISAGREES not in says(open_page("2_retrieval"))
    monkeypatch.setattr(
        retrieval,
        "attention_steps",
        lambda *arguments, **options: one_output_more(attention_steps(*arguments, **options)),
    )
    assert DISAGREES in says(open_page("2_retrieval"))


@pytest.mark.parametrize("page", ["1_qkv_formula", "3_causal_masking"])
def test_no_attention_is_computed_twice_in_a_run(
    monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    """A page run with `compare` and `trace_steps` computes each attention once."""
    from attention_core import agreement, attention, decoding, patches, trace
    from attention_core.dashboard.causal_masking import token_edit

    calls: Counter[tuple[Any, ...]] = Counter()

    def counted(*tensors: Any, **options: Any) -> AttentionSteps:
        given = (*tensors, *options.values())
        calls[tuple((t.shape, float(t.sum())) for t in given if hasattr(t, "sum"))] += 1
        return attention_steps(*tensors, **options)

    opened = open_page(page)  # what is cached is computed here, and the Overview is past
    for module in (agreement, attention, decoding, patches, trace, token_edit):
        if hasattr(module, "attention_steps"):
            monkeypatch.setattr(module, "attention_steps", counted)
    for room in (qkv_formula, causal_masking):
        monkeypatch.setattr(room, "attention_steps", counted)
    opened.run()
    assert calls and max(calls.values()) == 1, calls
