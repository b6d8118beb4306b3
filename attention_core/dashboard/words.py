"""The learner's own words as tokens: a vocabulary with names, and the sequence to search."""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_WORDS = 12  # as many bars are easy to read
MAX_LETTERS = 20  # of a word in a label; the word itself is compared whole
# Round a word that may run from right to left, so that it does not turn what stands beside it.
ISOLATE, POP = "\u2068", "\u2069"


@dataclass(frozen=True)
class Tokens:
    """What a query can ask for, and where it looks.

    names     one for each token of the vocabulary; empty names leave the numbers alone
    sequence  token ids, one for each position
    note      what the learner should know about the words as they were read
    """

    names: tuple[str, ...]
    sequence: tuple[int, ...]
    note: str | None = None

    @property
    def absent(self) -> int | None:
        """The first token that is in the vocabulary, but not in the sequence."""
        return next((t for t in range(len(self.names)) if t not in self.sequence), None)

    def token(self, token: int) -> str:
        """A token of the vocabulary, its word or else its number; different for every token.

        The number stands behind a word that does not tell itself apart: one that is cut to the
        letters of another, or that nobody sees. Plain text, to be shown as data only.
        """
        names = [_short(name) for name in self.names]
        short = names[token]
        if not short:
            return str(token)
        clear = names.count(short) == 1 and any(map(str.isprintable, short))
        return _isolated(short) if clear else f"{_isolated(short)} ({token})"

    def quoted(self, token: int) -> str:
        """A token inside a sentence: 2, or “sat”."""
        return f"“{self.token(token)}”" if self.names[token] else str(token)

    def position(self, position: int) -> str:
        """A position of the sequence, as in `4 · the`: different for every position."""
        short = _short(self.names[self.sequence[position]])
        return f"{position} · {_isolated(short)}" if short else str(position)


LESSON = Tokens(("",) * 6, (0, 1, 2, 3, 4))  # token 5 can be asked for, but is not there


def read_words(text: str, further: str = "") -> Tokens:
    """The sequence is `text`, word by word; the vocabulary its different words, then `further`.

    Words are what white space separates: "The" and "the" differ. A text without words gives the
    lesson's tokens, a long one is cut after MAX_WORDS; the note says so.
    """
    words = text.split()
    if not words:
        note = "Type a word or more; until then, these are the lesson's tokens."
        return Tokens(LESSON.names, LESSON.sequence, note)
    kept = words[:MAX_WORDS]
    names = tuple(dict.fromkeys([*kept, *further.split()]))
    note = f"Only the first {MAX_WORDS} of your {len(words)} words are used."
    sequence = tuple(names.index(word) for word in kept)
    return Tokens(names, sequence, note if len(words) > MAX_WORDS else None)


def listed(labels: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(labels[:-1]), labels[-1]]))


def _short(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else f"{name[: MAX_LETTERS - 1]}…"


def _isolated(name: str) -> str:
    return name if name.isascii() else f"{ISOLATE}{name}{POP}"
