from attention_core.dashboard.words import LESSON, read_words


def labels(text: str) -> list[str]:
    tokens = read_words(text)
    return [tokens.token(token) for token in range(len(tokens.names))]


def test_the_lesson_has_numbers_and_words_have_none() -> None:
    assert [LESSON.token(2), LESSON.quoted(2), LESSON.position(2)] == ["2"] * 3
    tokens = read_words("the cat the", "dog")
    assert [tokens.token(token) for token in range(3)] == ["the", "cat", "dog"]
    assert tokens.quoted(2) == "“dog”"
    assert [tokens.position(j) for j in range(3)] == ["0 · the", "1 · cat", "2 · the"]


def test_every_token_has_a_label_of_its_own() -> None:
    cut = f"\u2068{'x' * 19}…\u2069"
    assert labels(f"{'x' * 21} {'x' * 22} {'x' * 20}") == [f"{cut} (0)", f"{cut} (1)", "x" * 20]
    assert labels(f"{'x' * 19}… {'x' * 30}") == [f"{cut} (0)", f"{cut} (1)"]
    assert labels("a \u200b")[1] == "\u2068\u200b\u2069 (1)"  # nobody sees this word
    assert labels("1 0 שלום.") == ["1", "0", "\u2068שלום.\u2069"]
