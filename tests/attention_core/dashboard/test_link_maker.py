"""The link for a class: an address and a frame that a browser reads back."""

from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from attention_core.dashboard.link_maker import address, frame

STATE = {"ret_words": ["the cat & $5 [x] #1"], "ret_tokens": ["0 · the", "4 · on"], "x": []}


@pytest.mark.parametrize("embed", [False, True])
def test_an_address_is_read_back_as_it_was(embed: bool) -> None:
    link = address("https://x.y/retrieval", STATE, embed=embed)
    wanted = {name: values for name, values in STATE.items() if values}
    assert parse_qs(urlsplit(link).query) == wanted | ({"embed": ["true"]} if embed else {})
    assert urlsplit(link).path == "/retrieval"
    assert not set(" []#\"'<>") & set(link)


def test_a_page_in_its_first_state_needs_no_query() -> None:
    assert address("https://x.y/retrieval", {}) == "https://x.y/retrieval"


def test_the_frame_shows_that_address() -> None:
    link = address("https://x.y/retrieval", STATE, embed=True)
    found: dict[str, str | None] = {}

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.update({"tag": tag, **dict(attrs)})

    Reader().feed(frame(link, "Retrieval"))
    assert (found["tag"], found["src"], found["title"]) == ("iframe", link, "Retrieval")
