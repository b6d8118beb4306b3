"""The Overview: what the lesson holds, links to all of it, and what the learner has done."""

import re
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

from attention_core import sample_qkv
from attention_core.dashboard.catalogue import GROUPS
from attention_core.dashboard.catalogue import TITLES as QUESTIONS
from attention_core.dashboard.exercises.all_exercises import EXERCISES
from attention_core.dashboard.lesson import NEXT_LESSON, OVERVIEW, PAGES, PREVIOUS_LESSON
from attention_core.dashboard.progress.entry import Entry
from attention_core.dashboard.progress.file import write_progress
from attention_core.dashboard.progress.progress import Progress

ROOT = Path(__file__).parents[2]
EXERCISES_PAGE = "pages/4_exercises.py"


def open_app() -> AppTest:
    return run(AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60))


def run(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception
    return at


def go(at: AppTest, page: str) -> AppTest:
    return run(at.switch_page(page))


def words(at: AppTest) -> str:
    return "\n".join(line.value for line in at.main.markdown)


def rows(at: AppTest) -> list[tuple[str, ...]]:
    """Each line of the progress, from its verdict on, in the order of reading."""
    found: list[tuple[str, ...]] = []
    for element in at.main:
        if element.type == "markdown" and (badge := re.match(r":\w+-badge\[(.*)\]", element.value)):
            found.append((badge[1].split(": ")[-1].strip(),))
        elif element.type == "text" and not element.value.startswith("Answers in this file"):
            found[-1] += (element.value,)
    return found


def test_it_links_to_every_page_and_names_the_neighbours() -> None:
    at = open_app()
    labels = " ".join(link.proto.label for link in at.main.get("page_link"))
    for page in PAGES:
        if page is not OVERVIEW:
            assert f"**{page.title}** · {page.minutes} min" in labels
            assert page.objective in words(at)
    for group in {page.group for page in PAGES if page is not OVERVIEW}:
        total = sum(page.minutes for page in PAGES if page.group == group)
        assert f"**{group}**, about {total} minutes" in words(at)
    assert PREVIOUS_LESSON in words(at)
    assert NEXT_LESSON in words(at)
    go(at, EXERCISES_PAGE)
    assert PREVIOUS_LESSON in words(at)
    assert NEXT_LESSON in words(at)


def test_the_picture_says_what_pytorch_says() -> None:
    q, k, _ = (tensor[0].double() for tensor in sample_qkv(2, 5, 8))
    weights = F.scaled_dot_product_attention(q, k, torch.eye(5, dtype=torch.float64))
    i, j = divmod(int(weights.argmax()), 5)
    (chart,) = open_app().get("vega_lite_chart")
    says = f"Query {i} puts {100 * weights[i, j].item():.0f} % of its weight on key {j}"
    assert says in chart.proto.alt


def test_nothing_is_done_at_first() -> None:
    at = open_app()
    assert "Nothing is done yet" in words(at)
    assert not rows(at)


def test_progress_survives_page_changes_and_sets_predictions_beside_results() -> None:
    at = go(open_app(), EXERCISES_PAGE)
    at.slider(key="ex_blend_weight_guess").set_value(20)
    run(at)
    at.get_by_key("ex_blend_weight_move").set_value("Lock in")
    run(at)
    at.get_by_key("ex_blend_share_move").set_value("Show me")
    run(at)
    go(at, "pages/2_retrieval.py")
    go(at, "streamlit_app.py")
    assert "**0** of **1** predictions right" in words(at)
    wrong, shown = rows(at)
    titles = [question.title for question in EXERCISES[0].questions]
    said = ("You said: 20 %", "Computed: 49.997 % on each")
    assert wrong == ("not yet right", titles[0], *said)
    assert shown == ("shown", titles[1], "Computed: a = 1.2153")
    for title, questions in GROUPS.items():
        count = 2 if title == EXERCISES[0].title else 0
        says = f"**{title}** · {count} of {len(questions)} done"
        assert says in (words(at) if count == 0 else [fold.label for fold in at.main.expander])
    assert at.get("progress")[0].proto.text == f"2 of {len(QUESTIONS)} questions done"


def test_a_better_prediction_counts_and_being_shown_does_not_erase_it() -> None:
    at = go(open_app(), EXERCISES_PAGE)
    for guess in (20, 50):
        at.slider(key="ex_blend_weight_guess").set_value(guess)
        run(at)
        for move in ("Lock in", "Thinking"):
            at.get_by_key("ex_blend_weight_move").set_value(move)
            run(at)
    at.get_by_key("ex_blend_weight_move").set_value("Show me")
    run(at)
    go(at, "streamlit_app.py")
    assert rows(at)[0][0] == "right"
    assert rows(at)[0][2] == "You said: 50 %"
    assert "**1** of **1** predictions right" in words(at)


def test_what_a_browser_remembers_is_shown_as_text() -> None:
    at = open_app()
    hostile = "![x](http://x.y/z) **b** <img src=x> :red[r]"
    entries = [Entry(key, hostile, hostile, right=False) for key in ("ex_blend_weight", hostile)]
    at.session_state["progress"] = Progress(asked=True)
    at.session_state["progress"].join(entries)
    run(at)
    (line,) = rows(at)  # there is no exercise of the other name
    assert line[2:] == (f"You said: {hostile}", f"Computed: {hostile}")
    assert hostile not in words(at)


def load(at: AppTest, content: bytes) -> AppTest:
    at.file_uploader(key="overview_progress_file").set_value(
        ("p.json", content, "application/json")
    )
    return run(at)


def test_a_progress_file_adds_what_is_not_done_here() -> None:
    here = Entry("ex_blend_weight", "20 %", "49.997 % on each", right=False)
    saved = [
        Entry("ex_blend_weight", "50 %", "49.997 % on each", right=True),
        Entry("ex_blend_share", None, "a = 1.2153", right=None),
        Entry("nothing_known", None, "**1**", right=None),
    ]
    at = open_app()
    at.session_state["progress"] = Progress({here.exercise: here}, asked=True)
    load(at, write_progress(saved))
    assert [row[0] for row in rows(at)] == ["right", "shown"]
    assert "Answers in this file: 2. 1 more could not be read." in [t.value for t in at.text]

    at.get_by_key("progress_forget_button").click()
    run(at)
    assert not rows(at), "the file in the box must not bring back what was forgotten"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"format": 3}', b"x" * 200_000])
def test_a_broken_progress_file_costs_nothing(content: bytes) -> None:
    here = Entry("ex_blend_weight", "20 %", "49.997 % on each", right=False)
    at = open_app()
    at.session_state["progress"] = Progress({here.exercise: here}, asked=True)
    load(at, content)
    assert "**This cannot be computed.**" not in words(at)
    assert any("progress file" in text.value for text in at.text)
    assert [row[0] for row in rows(at)] == ["not yet right"]
