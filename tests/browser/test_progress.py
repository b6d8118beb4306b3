"""Progress survives a refresh, another tab and a forgetful server; and is forgotten on request."""

from playwright.sync_api import expect

from attention_core.dashboard.catalogue import TITLES as QUESTIONS
from tests.support.learner import Learner

KEPT = "localStorage.getItem('attention-lesson-progress')?.includes('\"right\":true')"


def done(count: int) -> str:
    return f"{count} of {len(QUESTIONS)} questions done"


def test_progress_stays_in_the_learners_browser(new_learner) -> None:
    learner: Learner = new_learner()
    page = learner.open("exercises")
    page.get_by_role("radio", name="Show me").click()
    expect(page.get_by_text("Computed here")).to_be_visible()
    page.wait_for_function("localStorage.getItem('attention-lesson-progress').includes('result')")
    learner.open("")  # a new visit of the same browser
    expect(page.get_by_text(done(1))).to_be_visible()
    page.reload()
    expect(page.get_by_text(done(1))).to_be_visible()
    stranger: Learner = new_learner()
    stranger.open("")
    expect(stranger.page.get_by_text(done(0))).to_be_visible()

    page.get_by_role("button", name="Forget my progress").click()
    expect(page.get_by_text(done(0))).to_be_visible()
    page.reload()
    learner.settle()
    expect(page.get_by_text(done(0))).to_be_visible()


def test_what_was_forgotten_does_not_come_back_with_the_page(learner: Learner) -> None:
    page = learner.open("exercises")
    page.get_by_role("radio", name="Show me").click()
    expect(page.get_by_text("Computed here")).to_be_visible()
    learner.settle()
    learner.follow("Overview")
    expect(page.get_by_text(done(1))).to_be_visible()
    page.get_by_role("button", name="Forget my progress").click()
    expect(page.get_by_text(done(0))).to_be_visible()
    learner.follow("Exercises")
    expect(page.get_by_role("radio", name="Thinking")).to_be_checked()
    learner.follow("Overview")
    expect(page.get_by_text(done(0))).to_be_visible()


def test_junk_beside_the_progress_does_not_hide_it(learner: Learner) -> None:
    page = learner.open("exercises")
    page.get_by_role("radio", name="Show me").click()
    page.wait_for_function("localStorage.getItem('attention-lesson-progress').includes('result')")
    page.evaluate(
        """() => {
            const name = 'attention-lesson-progress';
            const stored = JSON.parse(localStorage.getItem(name));
            localStorage.setItem(name, JSON.stringify({...stored, junk: 'x'.repeat(50000)}));
        }"""
    )
    learner.open("")
    expect(page.get_by_text(done(1))).to_be_visible()


def test_a_broken_memory_is_no_obstacle(learner: Learner) -> None:
    page = learner.open("")
    for broken in (
        "{",
        "[1, 2]",
        '{"ex_blend_weight": {"right": "<b>"}}',
        '"' + "x" * 50_000 + '"',
    ):
        page.evaluate("text => localStorage.setItem('attention-lesson-progress', text)", broken)
        page.reload()
        learner.settle()
        expect(page.get_by_text(done(0))).to_be_visible()


def test_a_link_of_somebody_else_does_not_take_a_right_answer_away(learner: Learner) -> None:
    right = "exercises?ex_blend_weight_guess=50&ex_blend_weight_move=Lock+in"
    for address in (right, "exercises?ex_blend_weight_move=Show+me", right.replace("50", "20")):
        page = learner.open(address)
        expect(page.get_by_text("omputed here")).to_be_visible()
        page.wait_for_function(KEPT)
    learner.open("")
    expect(page.get_by_text("You said: 50 %")).to_be_visible()


def test_a_refresh_keeps_the_right_answer_to_a_challenge(learner: Learner) -> None:
    page = learner.open("mask_workshop?work_part=Challenges&work_ch_1=j+%3D%3D+i+-+1")
    expect(page.get_by_text("Right.")).to_be_visible()
    page.wait_for_function(KEPT)
    learner.open("mask_workshop?work_part=Challenges&work_ch_1=j+%3D%3D+i")
    expect(page.get_by_text("Not quite.")).to_be_visible()
    page.wait_for_function(KEPT)
    learner.open("")
    expect(page.get_by_text("You said: j == i - 1")).to_be_visible()


RIGHT = "exercises?ex_blend_weight_guess=50&ex_blend_weight_move=Lock+in"
WRONG = RIGHT.replace("50", "20")


def test_a_wrong_answer_in_another_tab_does_not_replace_a_right_one(learner: Learner) -> None:
    learner.open("exercises")
    other = Learner(learner.url, learner.context)
    other.open("exercises")  # its session knows of no answer
    page = learner.open(RIGHT)
    expect(page.get_by_text("Right.")).to_be_visible()
    page.wait_for_function(KEPT)
    other.page.goto(f"{learner.url}/{WRONG}")
    expect(other.page.get_by_text("Not quite.")).to_be_visible()
    other.settle()
    assert other.page.evaluate(KEPT)
    other.follow("Overview")
    expect(other.page.get_by_text("You said: 50 %")).to_be_visible()


def test_what_one_tab_has_forgotten_another_does_not_bring_back(learner: Learner) -> None:
    page = learner.open(RIGHT)
    page.wait_for_function(KEPT)
    other = Learner(learner.url, learner.context)
    other.open("")
    expect(other.page.get_by_text(done(1))).to_be_visible()
    other.page.get_by_role("button", name="Forget my progress").click()
    expect(other.page.get_by_text(done(0))).to_be_visible()
    learner.follow("Retrieval")  # a run of the first tab, whose session still holds the answer
    learner.follow("Overview")
    expect(page.get_by_text(done(0))).to_be_visible()
    assert not page.evaluate(KEPT)


def test_what_another_version_has_stored_is_kept(learner: Learner) -> None:
    page = learner.open("")
    newer = '{"a_new_question": {"answer": [1, 2]}, "ex_blend_share": {"version": 2}}'
    page.evaluate("text => localStorage.setItem('attention-lesson-progress', text)", newer)
    learner.open(RIGHT)
    page.wait_for_function(KEPT)
    stored = page.evaluate("JSON.parse(localStorage.getItem('attention-lesson-progress'))")
    assert stored["a_new_question"] == {"answer": [1, 2]}
    assert stored["ex_blend_share"] == {"version": 2}
    assert stored["ex_blend_weight"]["right"] is True


def test_answers_in_a_part_that_runs_by_itself_are_kept(learner: Learner) -> None:
    page = learner.open("causal_masking")
    page.get_by_text("The edited row and rows after it").click()
    expect(page.get_by_text("Right.")).to_be_visible()
    page.wait_for_function(KEPT)
    learner.open("")
    expect(page.get_by_text(done(1))).to_be_visible()
