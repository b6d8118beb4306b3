"""What a page in AppTest shows, as text."""

from streamlit.testing.v1 import AppTest


def sentences(app: AppTest) -> list[str]:
    """All that stands there in Markdown, then the verdicts and the notices, each by itself."""
    elements = (*app.markdown, *app.success, *app.warning, *app.info)
    return [element.value for element in elements]


def texts(app: AppTest) -> str:
    """The same as one text, one element a line."""
    return "\n".join(sentences(app))
