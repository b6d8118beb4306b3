"""What a learner set stays set: after a refresh, another page, elsewhere, a lost connection."""

import pytest
from playwright.sync_api import expect

from attention_core.dashboard.lesson import PAGES, Page
from benchmarks.browser import serve
from tests.support.learner import Learner

# Keep hold of the connections to the server, so that a test can cut them.
SOCKETS = """
window.sockets = [];
window.WebSocket = class extends WebSocket {
    constructor(...where) { super(...where); window.sockets.push(this); }
};
"""


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.path)
def test_the_settings_of_a_page_survive(new_learner, page: Page) -> None:
    teacher: Learner = new_learner()
    teacher.open(page.path)
    value = teacher.press(teacher.first_slider(), "ArrowRight")

    # A link opens the same page for somebody else.
    teacher.page.wait_for_url("**?*")
    learner: Learner = new_learner()
    learner.open(teacher.page.url.removeprefix(f"{teacher.url}/"))
    expect(learner.first_slider()).to_have_value(value)
    text = learner.text()
    teacher.expect_text(text)

    # A refresh, and another page and back, keep it.
    teacher.page.reload()
    teacher.arrive(page.title)
    teacher.expect_text(text)
    teacher.follow(next(other.title for other in PAGES[1:] if other is not page))
    teacher.follow(page.title)
    teacher.expect_text(text)


def test_reset_returns_to_the_lesson(learner: Learner) -> None:
    page = learner.open("qkv_formula")
    lesson = learner.text()
    learner.press(learner.slider("Seed"), "ArrowRight")
    page.get_by_role("button", name="Reset this page").click()
    expect(learner.slider("Seed")).to_have_value("0")
    learner.expect_text(lesson)


def test_two_learners_do_not_disturb_each_other(new_learner) -> None:
    texts: list[str] = []
    for seed in range(3):
        reference: Learner = new_learner()
        reference.open(f"qkv_formula?qkv_seed={seed}")
        texts.append(reference.text())
    assert len(set(texts)) == 3

    one, other = new_learner(), new_learner()
    for learner in (one, other):
        learner.open("qkv_formula")
    one.press(one.slider("Seed"), "ArrowRight")
    one.expect_text(texts[1])
    other.expect_text(texts[0])
    for learner in (one, other):  # both at once: neither waits for its answer
        learner.press(learner.slider("Seed"), "ArrowRight")
    one.expect_text(texts[2])
    other.expect_text(texts[1])


def test_a_refresh_keeps_the_answers_out_of_view(learner: Learner) -> None:
    page = learner.open("exercises?ex_blend_weight_guess=20&ex_blend_weight_move=Lock in")
    verdict = page.get_by_test_id("stAlert").filter(has_text="You said 20 %")
    expect(verdict).to_be_visible()
    for _ in range(2):
        page.get_by_role("radio", name="Local window").click()
        page.wait_for_url("**kept.ex_blend_weight_guess=20*")
        page.reload()
        learner.arrive("Exercises")
        expect(verdict).to_have_count(0)
        page.get_by_role("radio", name="Blended query").click()
        expect(verdict).to_be_visible()


@pytest.mark.parametrize(
    ("address", "other", "back", "kept", "seen"),
    [
        (
            "retrieval?ret_from=My+own+words&ret_words=one+two+two",
            "The lesson's",
            "My own words",
            "kept.ret_words=one",
            "one two two",
        ),
        (
            "mask_workshop?work_part=Alignment&work_align_guess=5",
            "Gallery",
            "Alignment",
            "kept.work_align_guess=5",
            "So many does the last query see",
        ),
        (
            "bug_lab?lab_specimen=A&lab_A_guess=No+scale&lab_A_move=Lock+in",
            "B",
            "A",
            "kept.lab_A_move=Lock",
            "tried so far",
        ),
    ],
    ids=["retrieval", "mask_workshop", "bug_lab"],
)
def test_a_refresh_keeps_what_is_out_of_view_on_every_page(
    learner: Learner, address: str, other: str, back: str, kept: str, seen: str
) -> None:
    page = learner.open(address)
    page.get_by_role("radio", name=other, exact=True).click()
    page.wait_for_url(f"**{kept}*")
    page.reload()
    learner.settle()
    page.get_by_role("radio", name=back, exact=True).click()
    learner.settle()
    found = page.get_by_text(seen).or_(page.locator(f"input[value='{seen}']"))
    expect(found.first).to_be_visible()
    page.wait_for_function("kept => !location.href.includes(kept)", arg=kept)


def test_a_lost_connection_comes_back_with_the_settings(learner: Learner) -> None:
    learner.page.add_init_script(SOCKETS)
    page = learner.open("qkv_formula")
    lesson = learner.text()
    learner.press(learner.slider("Seed"), "ArrowRight")
    learner.expect_text(lesson, other=True)  # the server has it: a message cut short is an error
    learner.settle()
    page.evaluate("sockets.at(-1).close()")
    page.wait_for_function("sockets.length > 1 && sockets.at(-1).readyState === WebSocket.OPEN")
    learner.settle()
    expect(learner.slider("Seed")).to_have_value("1")
    learner.press(learner.slider("Seed"), "ArrowLeft")
    learner.expect_text(lesson)


def test_a_fresh_server_visited_first_at_a_deep_link_shows_the_same_frame(new_learner) -> None:
    link = "causal_masking?mask_n=7"
    with serve() as fresh:
        first: Learner = new_learner(url=fresh.url)
        through_the_menu: Learner = new_learner(url=fresh.url)
        first.page.goto(f"{fresh.url}/{link}", wait_until="commit")
        through_the_menu.page.goto(fresh.url, wait_until="commit")  # while the first one waits
        expect(first.page.get_by_text("PyTorch is starting")).to_be_visible()
        first.arrive("Causal masking")
        through_the_menu.arrive("Overview")
        for learner in (first, through_the_menu):
            expect(learner.page.get_by_text("PyTorch is starting")).to_have_count(0)
        through_the_menu.follow("Causal masking")
        for learner in (first, through_the_menu):
            expect(learner.page.get_by_test_id("stSidebar").get_by_text("Device")).to_have_count(1)
        sidebars = [
            learner.page.get_by_test_id("stSidebarUserContent").inner_text()
            for learner in (first, through_the_menu)
        ]
        assert sidebars[0] == sidebars[1]
        expect(first.slider("Sequence length")).to_have_value("7")
        expect(through_the_menu.slider("Sequence length")).to_have_value("5")
        for learner in (first, through_the_menu):  # before their server ends
            learner.context.close()
