"""What a page in AppTest shows, as text."""

from streamlit.testing.v1 import AppTest


def texts(app: AppTest) -> str:
    """All that stands there in Markdown, verdicts included, one element a line."""
    return "\n".join(
        element.value for element in (*app.markdown, *app.success, *app.warning, *app.info)
    )
