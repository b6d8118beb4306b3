"""Every page opens, takes any value of its controls, and leaves shared tensors alone."""

import ast
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from importlib import import_module
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import altair as alt
import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch import Tensor

from attention_core import DTYPES, sample_qkv
from attention_core.dashboard.lesson import PAGES

ROOT = Path(__file__).parents[2]
FILES = [*sorted(ROOT.glob("pages/*.py")), ROOT / "streamlit_app.py"]
SOURCES = [*FILES, *sorted(ROOT.glob("attention_core/**/*.py"))]
SCREEN_MODULES = [
    import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for path in sorted(ROOT.glob("attention_core/dashboard/**/*.py"))
    if path.stem != "__init__"
]
PREFIX = {page.file: page.prefix for page in PAGES}
HOSTILE = ("1e9", "abc", "inf", "nan", "-3", "", "7" * 5000, "<img src=x onerror=alert(1)>")

every_page = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


def open_app(file: Path, query: dict[str, Any] | None = None) -> AppTest:
    """The app at the page `file`, as through the menu, or with a query as through a link."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    if file.name != "streamlit_app.py":
        app.switch_page(f"pages/{file.name}")
    for key, value in (query or {}).items():
        app.query_params[key] = value
    return app.run()


@cache
def validate(spec: str) -> None:
    """Hold a specification against Vega-Lite's schema; the app leaves that out, to be quick."""
    alt.Chart.from_dict(json.loads(spec))


def assert_sound(app: AppTest) -> None:
    """No exception, a description for every chart, and no number that a link could break."""
    assert [error.value for error in app.exception] == []
    for chart in app.get("vega_lite_chart"):
        assert len(chart.proto.alt) > 10
        validate(chart.proto.spec)
    assert not app.number_input  # of integers they crash on ?key=inf (Streamlit 1.67)


def controls(app: AppTest, *kinds: str) -> list[Any]:
    """The controls of these kinds on the page that a learner can use."""
    found = [control for kind in kinds for control in getattr(app.main, kind)]
    return [control for control in found if not control.disabled]


def move_everything(app: AppTest, *, to_end: bool, but: str = "") -> AppTest:
    """Set each control `but` one to its last value, or to its first, all at once, and run."""
    pick = -1 if to_end else 0
    for slider in controls(app, "slider"):
        slider.set_value(at(slider, slider.max if to_end else slider.min))
    for switch in controls(app, "toggle"):
        switch.set_value(to_end)
    for choice in controls(app, "selectbox", "radio", "segmented_control"):
        if choice.key != but:
            choice.set_value(value_of(choice, choice.options[pick]))
    for several in controls(app, "multiselect", "pills"):
        several.set_value([value_of(several, several.options[-1])] if to_end else [])
    for line in controls(app, "text_input"):
        line.set_value(":red[a] $5 <b> a" if to_end else "")
    return app.run()


def every_part(app: AppTest) -> Iterator[AppTest]:
    """The page in all its parts: every option of the first choice there, moved to both ends.

    Of ten options or more, which are alike then, the first and the last.
    Moved to the end three times, as an answer may bring the next question with it.
    """
    switch = controls(app, "segmented_control")[:1]
    options = switch[0].options if switch else [None]
    for option in options if len(options) < 10 else options[:: len(options) - 1]:
        for to_end in (True, True, True, False):
            if option:
                app.segmented_control(switch[0].key).set_value(option).run()
            yield move_everything(app, to_end=to_end, but=switch[0].key if option else "")


@every_page
def test_a_page_opens(file: Path) -> None:
    app = open_app(file)
    assert_sound(app)
    assert len(app.title) == 1
    assert [link.proto.label for link in app.sidebar.get("page_link")] == [p.title for p in PAGES]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, ...]]]:
    """All cached functions are watched, and what they gave out must stay what it was.

    The arguments of each call of `cached_qkv` are handed to the test.
    """
    watched: dict[int, tuple[Tensor, Tensor, int]] = {}  # by id: the tensor, a copy, its version
    samples: list[tuple[tuple[Any, ...], tuple[Tensor, ...]]] = []
    calls: list[tuple[Any, ...]] = []

    def watch(function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            for tensor in tensors(result):
                watched.setdefault(id(tensor), (tensor, tensor.clone(), tensor._version))
            if name == "cached_qkv":
                calls.append(arguments)
                samples.append((arguments, result))
            return result

        return call

    for module in SCREEN_MODULES:
        for name, value in list(vars(module).items()):
            if hasattr(value, "__wrapped__") and hasattr(value, "clear"):
                value.clear()
                monkeypatch.setattr(module, name, watch(value, name))
    yield calls
    for tensor, copy, version in watched.values():
        assert torch.equal(tensor, copy)
        assert tensor._version == version
    for (batch, n_q, n_k, d_k, seed, dtype, _), shared in samples:
        fresh = sample_qkv(batch, n_q, d_k, n_k=n_k, seed=seed, dtype=DTYPES[dtype])
        assert all(map(torch.equal, shared, fresh))


@every_page
def test_a_page_takes_every_value_of_its_controls_and_writes_into_no_shared_tensor(
    file: Path, given: list[tuple[Any, ...]]
) -> None:
    page = open_app(file)
    given.clear()
    # In float64, of which charts need no copy that could hide a write.
    for app in every_part(page.selectbox(key="dtype").set_value("float64").run()):
        assert_sound(app)
        for key in [button.key for button in controls(app, "button")]:
            for button in controls(app, "button"):
                if button.key == key:
                    assert_sound(button.click().run())
    assert {arguments[5] for arguments in given} <= {"float64"}


@every_page
def test_reset_brings_back_the_lesson(file: Path) -> None:
    app = open_app(file)
    before = state(app)
    move_everything(app, to_end=True)
    reset = [button for button in app.sidebar.button if "Reset" in button.label]
    if not reset:
        pytest.skip("this page has nothing to reset")
    assert_sound(reset[0].click().run())
    assert {key: value for key, value in state(app).items() if key in before} == before


@pytest.mark.parametrize(
    ("file", "link"),
    [
        ("pages/3_causal_masking.py", {"mask_n": "1"}),
        ("pages/2_retrieval.py", {"ret_from": "My own words", "ret_words": "one"}),
    ],
)
def test_reset_brings_back_what_was_clamped(file: str, link: dict[str, str]) -> None:
    lesson = state(open_app(ROOT / file))
    app = open_app(ROOT / file, link)
    reset = [button for button in app.sidebar.button if "Reset" in button.label]
    assert_sound(reset[0].click().run())
    assert {key: value for key, value in state(app).items() if key in lesson} == lesson


@every_page
@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: value[:8] or "empty")
def test_strangers_values_open_a_page(file: Path, value: str) -> None:
    prefix = PREFIX[str(file.relative_to(ROOT))]
    keys = [key for key in defaults(open_app(file)) if key.startswith(f"{prefix}_")]
    hostile = open_app(file, dict.fromkeys([*keys, "device", "dtype"], value))
    assert_sound(hostile)
    for slider in hostile.slider:
        assert at(slider, slider.min) <= slider.value <= at(slider, slider.max)


def test_strangers_values_out_of_view_do_no_harm() -> None:
    file, prefix = ROOT / "pages" / "4_exercises.py", "ex"
    keys: set[str] = set()
    for app in every_part(open_app(file)):
        keys |= {key for key in defaults(app) if key.startswith(f"{prefix}_")}
    for shift in range(2):  # two of the values for every control
        values = islice(cycle(HOSTILE), shift, None)
        query = {f"kept.{key}": value for key, value in zip(sorted(keys), values, strict=False)}
        for app in every_part(open_app(file, query)):
            assert_sound(app)


@every_page
def test_where_a_link_hides_solutions_no_prediction_is_judged(file: Path) -> None:
    for app in every_part(open_app(file, {"hide": "solutions"})):
        for asked in controls(app, "radio"):
            for option in asked.options:
                app.radio(asked.key).set_value(option).run()
                said = " ".join(words.value for words in app.markdown)
                assert "Right." not in said and "Not quite." not in said


@every_page
def test_a_link_sets_the_sliders(file: Path) -> None:
    wanted = {str(slider.key): at(slider, slider.max) for slider in open_app(file).main.slider}
    linked = open_app(file, {key: in_a_link(value) for key, value in wanted.items()})
    assert_sound(linked)
    found = {slider.key: slider.value for slider in linked.main.slider}
    assert {key: found.get(key) for key in wanted} == wanted


def test_no_source_draws_html_or_asks_for_integers() -> None:
    for path in SOURCES:
        tree = ast.parse(path.read_text("utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
        assert "unsafe_allow_html" not in keywords, path
        assert not names & {"html", "number_input"}, path


@every_page
def test_a_page_is_short_and_says_what_it_is(file: Path) -> None:
    text = file.read_text("utf-8")
    assert len(text.splitlines()) < 130
    assert ast.get_docstring(ast.parse(text))


def at(slider: Any, value: float) -> Any:
    """This value of a slider; of one with two ends, both of them."""
    return (value, value) if isinstance(slider.value, tuple) else value


def in_a_link(value: Any) -> Any:
    """What stands for this value in an address: two ends are two parameters of one name."""
    return [str(end) for end in value] if isinstance(value, tuple) else str(value)


def value_of(control: Any, option: str) -> Any:
    """What stands behind the label `option` of a list: a position or size, or the label itself."""
    for value in range(1000):
        with suppress(Exception):  # not every label can be made of a number
            if control.format_func(value) == option:
                return value
    return option


def defaults(app: AppTest) -> dict[str, Any]:
    """The controls that the app has drawn so far, by key."""
    noted: dict[str, Any] = app.session_state["url_state"].controls
    return noted


def state(app: AppTest) -> dict[str, Any]:
    """Key and value of each control of the page."""
    kinds = ("slider", "toggle", "selectbox", "radio", "segmented_control", "multiselect")
    return {control.key: control.value for kind in kinds for control in getattr(app.main, kind)}


def tensors(value: Any) -> Iterator[Tensor]:
    """All tensors in a result, however it is put together."""
    if isinstance(value, Tensor):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from tensors(getattr(value, field.name))
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
