"""The page on causal masking: its numbers, and what must not happen."""

import io
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
PAGE = "pages/3_causal_masking.py"
CONTROLS = (
    *("mask_n", "mask_seed", "mask_edit", "mask_content", "mask_size", "mask_guess", "mask_t"),
    *("mask_picture", "mask_patch", "mask_sharpness", "mask_row", "mask_column"),
)
ONWARD = "The edited row and rows after it"


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
    (found,) = (m.value for m in at.metric if m.label == label)
    return str(found)


def alts(at: AppTest) -> list[str]:
    return [chart.proto.alt for chart in at.get("vega_lite_chart")]


def said(at: AppTest, words: str) -> list[str]:
    return [m.value for m in (*at.markdown, *at.success, *at.warning) if words in m.value]


def lesson() -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 5, 8, generator=generator) for _ in range(3))
    return q, k, v


def test_the_numbers_of_the_lesson() -> None:
    at = open_page()
    q, k, _ = lesson()
    free = (q @ k.mT / 8**0.5).softmax(-1).triu(1).max()
    assert metric(at, "Largest weight on a future key, unmasked") == f"{free:.4f}"
    assert metric(at, "Largest weight on a future key, masked") == "0"
    assert float(metric(at, "Max abs diff to is_causal=True")) < 5e-7  # 1.19e-07 on most CPUs
    assert metric(at, "output.shape") == "(2, 5, 8)"
    assert said(at, "Agrees with") and not said(at, "not** agree")
    assert said(at, "gives it the weight 1, whatever")
    assert alts(at)[0].startswith("The causal mask: 15 of 25 pairs are 1")
    assert "= 0" in at.latex[-1].value
    assert said(at, "Grey cells with ✕ are hidden: the weight there is exactly 0.")
    for part in ("mask", "mask_step", "mask_image"):
        at.session_state[f"{part}_source"] = True
    at.run()
    assert not at.exception
    assert len(at.code) == 4 + 2 + 3
    assert all(code.proto.wrap_lines for code in at.code)


def test_an_edit_shows_nothing_before_the_prediction() -> None:
    at = open_page()
    assert not any("was replaced" in text for text in alts(at))
    assert not said(at, "bit-identical")


def test_an_edited_future_does_not_reach_the_past() -> None:
    at = open_page(mask_guess=ONWARD)
    assert said(at, "**Right.**")
    for position in range(5):
        at.selectbox(key="mask_edit").set_value(position)
        for strength in (0.0, 10.0):
            checked(at.slider(key="mask_size").set_value(strength).run())
            (text,) = (text for text in alts(at) if "was replaced" in text)
            assert f"{position} rows before it, {position} are bit-identical with the mask" in text
            assert text.endswith("and 0 without it.")
            if position:
                assert said(at, f"**{position} of {position}** with the mask, 0 of {position}")
            else:
                assert said(at, "Position 0 has no past")


@pytest.mark.parametrize(
    ("guess", "position", "right"),
    [
        ("None", 3, False),
        ("Only the edited row", 3, False),
        ("Only the edited row", 4, True),
        (ONWARD, 4, True),
        ("All rows", 3, False),
        ("All rows", 0, True),
    ],
)
def test_predictions_are_judged_by_what_moved(guess: str, position: int, right: bool) -> None:
    at = open_page(mask_guess=guess, mask_edit=str(position))
    assert bool(said(at, "**Right.**")) == right
    assert bool(said(at, "**Not quite.**")) != right


def test_every_step_equals_its_row() -> None:
    at = open_page(mask_t="0")
    q, k, _ = lesson()
    for t in range(5):
        assert metric(at, "Keys in the cache") == f"{t + 1} of 5"
        assert float(metric(at, f"Max abs diff of step {t} to row {t}")) < 1e-6
        seen = F.softmax(q[0, t] @ k[0, : t + 1].mT / 8**0.5, dim=-1)
        step = f"Step {t} puts the most, {seen.max():.2f}, on key {seen.argmax()}"
        assert any(step in text for text in alts(at))
        assert at.button(key="mask_t_previous").disabled == (t == 0)
        assert at.button(key="mask_t_next").disabled == (t == 4)
        if t < 4:
            checked(at.button(key="mask_t_next").click().run())
    assert checked(at.button(key="mask_t_previous").click().run()).slider(key="mask_t").value == 3
    checked(at.slider(key="mask_n").set_value(2).run())  # shorter than the position
    assert metric(at, "Keys in the cache") in ("1 of 2", "2 of 2")


def outside(at: AppTest) -> float:
    (text,) = said(at, "of its weight outside")
    return float(text.partition("puts **")[2].partition("%")[0])


def test_patches_look_across_the_picture() -> None:
    at = open_page()
    assert 50 < outside(at) < 51  # the other disc looks the same, and all else differs
    assert said(at, "such as (4, 4)")
    checked(at.slider(key="mask_sharpness").set_value(0.0).run())
    assert outside(at) == 75.0  # 27 of 36 patches
    checked(at.selectbox(key="mask_row").set_value(0).run())
    checked(at.selectbox(key="mask_column").set_value(0).run())
    assert outside(at) == pytest.approx(100 * 32 / 36, abs=0.05)  # 4 are near a corner
    checked(at.selectbox(key="mask_patch").set_value(12).run())
    assert outside(at) == 75.0  # 12 of 16


def test_the_patch_that_is_named_lies_outside_the_neighbourhood() -> None:
    at = open_page(
        mask_picture="My own",
        **{"mask_sharpness": "30", "mask_patch": "12", "mask_row": "0", "mask_column": "0"},
    )
    at.selectbox(key="dtype").set_value("float16")  # its weights outside are exactly 0
    buffer = io.BytesIO()
    image = Image.new("RGB", (48, 48), "blue")
    image.paste("red", (0, 0, 12, 12))  # one patch that looks like no other
    image.save(buffer, "PNG")
    checked(at.file_uploader[0].upload("me.png", buffer.getvalue()).run())
    (text,) = said(at, "of its weight outside")
    assert "puts **0.0 %** of its" in text and "up to 0.0 % on a single patch" in text
    assert "such as (0, 2)" in text  # the first of them


def test_a_link_opens_one_patch() -> None:
    at = open_page(mask_row="4", mask_column="4")
    assert said(at, "such as (1, 1)")
    assert any("row 4, column 4 is framed; 2 patches" in text for text in alts(at))


def image_file(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (60, 50), "red").save(buffer, kind)
    return buffer.getvalue()


def test_an_own_picture_and_files_that_are_none() -> None:
    at = open_page(mask_picture="My own")
    sample = outside(at)
    own = checked(at.file_uploader[0].upload("me.png", image_file("PNG")).run())
    assert outside(own) == 75.0  # one colour: every patch looks like every other
    assert not at.warning
    for name, data in {"<b>x</b>.png": image_file("GIF"), "x.jpg": b"text"}.items():
        at = open_page(mask_picture="My own")
        checked(at.file_uploader[0].upload(name, data).run())
        assert "cannot be read" in at.warning[0].value
        assert outside(at) == sample
        assert not said(at, "<b>")


def test_an_own_picture_survives_a_change_of_the_page() -> None:
    at = open_page(mask_picture="My own")
    at.file_uploader[0].upload("me.jpg", image_file("JPEG")).run()
    at.switch_page("pages/2_retrieval.py").run()
    checked(at.switch_page(PAGE).run())
    checked(at.get_by_key("mask_picture").set_value("My own").run())
    assert outside(at) == 75.0


@pytest.mark.parametrize("value", ["1e9", "abc", "inf", "-3", "", "9" * 5000])
def test_any_address_opens_the_page(value: str) -> None:
    at = open_page(**dict.fromkeys(CONTROLS, value))
    assert metric(at, "Largest weight on a future key, masked") == "0"


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
def test_every_dtype_agrees(dtype: str) -> None:
    at = open_page(mask_guess=ONWARD, mask_n="17")
    at.selectbox(key="dtype").set_value(dtype)
    checked(at.run())
    assert said(at, f"for {dtype} and values")
    assert metric(at, "Largest weight on a future key, masked") == "0"
    assert said(at, "Agrees with") and said(at, "Every step equals")
    assert said(at, "**3 of 3** with the mask")


@pytest.mark.parametrize("n", [1, 2, 128])
def test_shortest_and_longest(n: int) -> None:
    at = open_page(mask_n=str(n), mask_guess=ONWARD)
    assert metric(at, "output.shape") == f"(2, {n}, 8)"
    assert metric(at, "Largest weight on a future key, masked") == "0"
    assert said(at, "Agrees with") and said(at, "Every step equals")
    assert said(at, "**Right.**")
    assert bool(said(at, "Hatched cells are hidden")) == (n == 128)
    assert bool(said(at, "Grey cells with ✕ are hidden")) == (n == 2)  # 1: none is hidden


def test_nothing_is_written_to_the_tensors_that_all_share() -> None:
    from attention_core.dashboard.tensors import cached_qkv

    open_page(mask_guess="None", mask_size="10.0", mask_t="4")
    shared = cached_qkv(2, 5, 5, 8, 0, "float32", "cpu")
    assert all(torch.equal(a, b) for a, b in zip(shared, lesson(), strict=True))


def test_the_sample_is_not_taken_for_the_learners_own_picture() -> None:
    says = "Until you choose a picture, the sample is shown."
    assert says in [line.value for line in open_page(mask_picture="My own").caption]
    assert says not in [line.value for line in open_page().caption]
