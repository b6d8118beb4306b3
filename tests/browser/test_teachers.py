"""A link for a class opens the teacher's state, and hides what the teacher chose to hide."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.support.learner import Learner


def make_link(learner: Learner) -> Locator:
    page = learner.page
    page.get_by_role("button", name="Link for a class").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("A link for your class")
    return dialog


def choose(page: Page, dialog: Locator, label: str, option: str) -> None:
    """Choose by keyboard, as a list that opens may cover what is below it."""
    box = dialog.get_by_role("combobox", name=label)
    box.focus()
    page.keyboard.type(option)
    page.keyboard.press("Enter")


def link_in(dialog: Locator) -> Locator:
    return dialog.locator("code").first


def test_a_class_gets_the_state_without_the_hidden_control(new_learner) -> None:
    teacher: Learner = new_learner()
    teacher.open("qkv_formula?qkv_seed=7")
    slider = teacher.slider("Sequence length")
    teacher.press(slider, "ArrowLeft")
    teacher.settle()
    dialog = make_link(teacher)
    expect(link_in(dialog)).to_contain_text("qkv_n=4")
    dialog.get_by_text("For embedding").click()
    choose(teacher.page, dialog, "Hide these controls", "Seed")
    expect(link_in(dialog)).to_contain_text("hide=qkv_seed")
    expect(dialog.locator("code").nth(1)).to_contain_text("<iframe")
    expect(link_in(dialog)).to_contain_text("embed=true")
    link = link_in(dialog).inner_text()
    teacher.page.keyboard.press("Tab")  # out of the list
    teacher.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    chart = teacher.page.get_by_test_id("stVegaLiteChart").nth(3).inner_text()

    pupil: Learner = new_learner()
    page = pupil.open(link.removeprefix(f"{pupil.url}/"))
    expect(pupil.slider("Sequence length")).to_have_value("4")
    expect(pupil.slider("Seed")).to_have_count(0)
    expect(page.get_by_test_id("stMainMenu")).to_have_count(0)
    expect(page.get_by_role("button", name="Link for a class")).to_have_count(0)
    assert page.get_by_test_id("stVegaLiteChart").nth(3).inner_text() == chart
    pupil.follow("Retrieval")
    page.reload()  # the address still says what is hidden
    pupil.arrive("Retrieval")
    pupil.follow("QKV formula")
    expect(pupil.slider("Seed")).to_have_count(0)


def test_a_link_to_an_exercise_without_its_solution(new_learner) -> None:
    teacher: Learner = new_learner()
    teacher.open("retrieval?ret_sharpness=0.5")
    dialog = make_link(teacher)
    choose(teacher.page, dialog, "Start with", "Exercise: Local window")
    expect(link_in(dialog)).to_contain_text("ex_exercise=Local+window")
    dialog.get_by_text("Hide solutions and hints").click()
    expect(link_in(dialog)).to_contain_text("hide=solutions")
    link = link_in(dialog).inner_text()
    assert "ret_sharpness" not in link

    pupil: Learner = new_learner()
    page = pupil.open(link.removeprefix(f"{pupil.url}/"))
    expect(page.get_by_role("heading", name="Local window")).to_be_visible()
    expect(page.get_by_role("radio", name="Show me")).to_have_count(0)
    expect(page.get_by_text("Hint 1")).to_have_count(0)
    slider = pupil.slider("The farthest position that position 0 sees")
    pupil.press(slider, "ArrowRight")
    page.get_by_role("radio", name="Lock in").nth(1).click()
    expect(page.get_by_text("hides the solution")).to_be_visible()
    expect(slider).to_be_disabled()
    expect(page.get_by_text("computed here")).to_have_count(0)


def test_progress_travels_as_a_file(new_learner, tmp_path: Path) -> None:
    first: Learner = new_learner()
    page = first.open("exercises")
    page.get_by_role("radio", name="Show me").click()
    expect(page.get_by_text("Computed here")).to_be_visible()
    first.settle()
    first.follow("Overview")
    page.get_by_text("Take your progress to another browser").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save my progress").click()

    second: Learner = new_learner()
    page = second.open("")
    page.get_by_text("Take your progress to another browser").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    page.locator("input[type=file]").set_input_files(saved)
    expect(page.get_by_text("Answers in this file: 1.")).to_be_visible()
    expect(page.get_by_text("1 of")).to_have_count(2)  # of all questions, and of its group
