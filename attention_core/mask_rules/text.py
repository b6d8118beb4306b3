"""The text of a mask rule: what may stand in it, and how a slip of the pen is answered.

Everything outside the allow-list is refused here, before Python's parser sees the text. So the
parser gets short, plain ASCII only: it can neither warn nor run out of stack, and a position in
its tree is a position in the text as it was typed.
"""

import re
import unicodedata

LONGEST = 200  # characters
DEEPEST = 20  # parentheses inside each other

ALLOWED = (
    "A rule is made of whole numbers, i, j, n_q, n_k, + - * // %, comparisons, and, or, not, "
    "in with (a, b) or range(a, b), abs(x), min(a, b), max(a, b) and parentheses."
)
WORDS = {"i", "j", "n_q", "n_k", "and", "or", "not", "in", "range", "abs", "min", "max"}

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\n\r\f\v]+)
    |(?P<slip>===|!==|<>|=>|=<|:=|&&|\|\||\*\*|<<|>>)
    |(?P<number>(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+
        |0(?:_?0)*|[1-9](?:_?[0-9])*)(?![\w.]))
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>//|==|!=|<=|>=|[-+*%<>(),])
    |(?P<fraction>[0-9]+\.[\w.]*|\.[0-9]\w*)
    |(?P<odd>\d\w*|"[^"]*"?|'[^']*'?|\#.*|.)""",
    re.VERBOSE | re.DOTALL,
)
_CURES = {
    **dict.fromkeys(("&", "&&", "∧", "AND", "And"), "Write and."),
    **dict.fromkeys(("|", "||", "∨", "OR", "Or"), "Write or; for a distance, abs(i - j)."),
    **dict.fromkeys(("~", "!", "¬", "NOT", "Not"), "Write not."),
    **dict.fromkeys(("=", "===", ":=", "is"), "Two values are compared with ==."),
    **dict.fromkeys(("<>", "≠", "!==", "xor", "^"), "Write != where two values must differ."),
    **dict.fromkeys(("≤", "=<"), "Write <=."),
    **dict.fromkeys(("≥", "=>"), "Write >=."),
    **dict.fromkeys(("/", "÷"), "Write // to divide: it rounds down to a whole number."),
    **dict.fromkeys(("×", "·"), "Write * to multiply."),
    **dict.fromkeys(("−", "–"), "Write the minus sign of the keyboard, -."),
    **dict.fromkeys(("**", "²"), "Write a product, such as i * i."),
    **dict.fromkeys(("mod", "remainder"), "Write %."),
    **dict.fromkeys(("True", "true"), "For a mask that is True everywhere, write 0 == 0."),
    **dict.fromkeys(("False", "false", "None"), "For a mask that is False everywhere: 0 == 1."),
    **dict.fromkeys(("q", "q_idx", "query", "row", "I", "Q"), "The query's position is i."),
    **dict.fromkeys(("k", "k_idx", "key", "col", "column", "J", "K"), "The key's position is j."),
    **dict.fromkeys(("n", "N", "T", "L"), "n_q is the number of queries, n_k that of keys."),
    **dict.fromkeys(("if", "else"), "A rule is one condition: join its parts with and, or, not."),
    **dict.fromkeys(("[", "]", "{", "}"), "Use round parentheses."),
    **dict.fromkeys(("∈", "element"), "Write in, as in j in (0, 3)."),
    "x": "The query's position is i, the key's is j.",
    "<<": "Write a product, such as 2 * i.",
    ">>": "Write i // 2.",
}


class MaskRuleError(ValueError):
    """A rule that is refused, and where.

    start, end  the offending part is text[start:end], positions in the text as typed
    part        that part, on one line, with unprintable characters spelled out
    """

    def __init__(self, problem: str, text: str, start: int, end: int, advice: str = ALLOWED):
        self.start, self.end = start, end
        self.part = printable(text[start:end])
        quoted = f" At character {start + 1}: {self.part}" if self.part.strip() else ""
        super().__init__(f"{problem}{quoted}\n{advice}")


def printable(text: str, limit: int = 40) -> str:
    """The text with unprintable characters spelled out, and cut off where it gets long."""
    spelled = [c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:limit]]
    return "".join(spelled) + "…" * (len(text) > limit)


def require_legal_text(text: str) -> None:
    """Refuse what no rule may hold: odd characters, unknown words, too much of anything."""
    if not isinstance(text, str):
        raise MaskRuleError(f"A rule is a text, not {type(text).__name__}.", "", 0, 0)
    if len(text) > LONGEST:
        longer = f"A rule has {LONGEST} characters at most, this one {len(text)}."
        raise MaskRuleError(longer, text, LONGEST, len(text), "Say it in fewer words.")
    depth = 0
    for token in _TOKEN.finditer(text):
        kind, part, (start, end) = token.lastgroup, token[0], token.span()
        depth += (part == "(") - (part == ")")
        if depth > DEEPEST:
            deeper = f"At most {DEEPEST} parentheses may stand inside each other."
            raise MaskRuleError(deeper, text, start, end, "Leave some of them out.")
        if kind in ("slip", "fraction", "odd") or (kind == "word" and part not in WORDS):
            problem, advice = _refusal(kind, part)
            raise MaskRuleError(problem, text, start, end, advice)


def _refusal(kind: str, part: str) -> tuple[str, str]:
    plain = unicodedata.normalize("NFKC", part)
    if part in _CURES:
        return "This cannot stand in a rule.", f"{_CURES[part]}\n{ALLOWED}"
    if plain.isspace() or (plain != part and plain.isascii()):
        cure = "Type an ordinary space." if plain.isspace() else f"Type {plain} in plain letters."
        return "This character only looks like one that is allowed.", f"{cure}\n{ALLOWED}"
    if kind == "fraction":
        return "Only whole numbers may stand in a rule.", ALLOWED
    if kind == "odd" and part[0].isdecimal():
        return "This is not a whole number: write it in digits, with no 0 in front.", ALLOWED
    if kind == "word":
        return "A rule does not know this word.", ALLOWED
    return "This cannot stand in a rule.", ALLOWED
