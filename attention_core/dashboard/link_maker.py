"""For teachers: a link to the page as it is, what it shall hide, and how to embed it."""

from urllib.parse import urlencode

import streamlit as st

from attention_core.dashboard.controls.shared_link import HIDE, SOLUTIONS
from attention_core.dashboard.controls.url_state import UrlState
from attention_core.dashboard.lesson import EXERCISE, EXERCISE_TITLES, EXERCISES, Page

AS_IT_IS = "This page, as it is"


def offer_link(page: Page) -> None:
    """A button in the menu. Who came by a link that hides something does not see it."""
    if UrlState.here().link.names:
        return
    if st.sidebar.button("Link for a class", icon=":material/link:", key=f"{page.prefix}_link"):
        _make_link(page)


@st.dialog("A link for your class", width="large", icon=":material/link:")
def _make_link(page: Page) -> None:
    st.markdown(
        "The link opens the page in the state that you see now, for everybody who follows it. What "
        "it hides can be brought back by somebody who edits the address: it keeps a class on "
        "track, it is not a lock."
    )
    titles = [AS_IT_IS, *(f"Exercise: {title}" for title in EXERCISE_TITLES)]
    start = st.selectbox("Start with", titles, key="link_start")
    unchecked = (
        "Predictions can still be locked in. They are not checked, nor part of the progress."
    )
    solutions = st.toggle("Hide solutions and hints", key="link_solutions", help=unchecked)
    hidden = [SOLUTIONS] if solutions else []
    embed = st.toggle("For embedding: without Streamlit's toolbar", key="link_embed")
    labels = UrlState.here().drawn(page.prefix) if start == AS_IT_IS else {}
    if labels:
        hidden += st.multiselect(
            "Hide these controls, at the values they have now",
            list(labels),
            format_func=labels.__getitem__,
            key="link_controls",
        )

    state = {name: st.query_params.get_all(name) for name in st.query_params}
    url = str(st.context.url)
    if start != AS_IT_IS:
        url = f"{url.removesuffix('/').removesuffix(page.path).removesuffix('/')}/{EXERCISES.path}"
        state = {name: state[name] for name in ("device", "dtype") if name in state}
        state[EXERCISE] = [start.removeprefix("Exercise: ")]
    link = address(url, state | {HIDE: hidden}, embed=embed)
    st.caption("The link")
    st.code(link, language=None, wrap_lines=True)
    if embed:
        st.caption("For the HTML of a course page")
        title = page.title if start == AS_IT_IS else start
        st.code(frame(link, title), language="html", wrap_lines=True)


def address(url: str, parameters: dict[str, list[str]], *, embed: bool = False) -> str:
    """The page at `url` with these parameters; each may have several values, or none at all."""
    pairs = [(name, value) for name, values in parameters.items() for value in values]
    query = urlencode([*pairs, *([("embed", "true")] if embed else [])])
    return f"{url}?{query}" if query else url


def frame(link: str, title: str) -> str:
    """HTML that shows the page inside another one."""
    source = link.replace("&", "&amp;")
    return (
        f'<iframe title="{title}" src="{source}"\n'
        '        width="100%" height="900" style="border: 0"></iframe>'
    )
