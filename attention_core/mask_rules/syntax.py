"""The syntax of a mask rule: an allow-list over Python's own tree, with every size bounded."""

import ast

from attention_core.mask_rules.text import ALLOWED, MaskRuleError, require_legal_text

MAX_NODES, MAX_DEPTH, MAX_ITEMS = 150, 30, 40
MAX_POSITION = 2**20  # of a query or key, and most of them
MAX_NUMBER = 2**62 - 1  # the difference of two such numbers still fits into 64 bits

SIGNS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
MEMBERSHIPS = (ast.In, ast.NotIn)
NAMES = ("i", "j", "n_q", "n_k")
FUNCTIONS = {"abs": (1, 1), "min": (2, MAX_ITEMS), "max": (2, MAX_ITEMS)}  # how many arguments


def parse_rule(text: str) -> ast.expr:
    """The tree of a legal rule, positions as in `text`; MaskRuleError for anything else."""
    require_legal_text(text)
    plain = "".join(" " if character.isspace() else character for character in text)
    shift = len(plain) - len(plain.lstrip())
    if shift == len(plain):
        raise MaskRuleError("The rule is empty.", text, 0, len(text), "Write one: j <= i")
    try:
        tree = ast.parse(plain[shift:], mode="eval").body
    except SyntaxError as error:
        raise _unreadable(error, text, shift) from None
    except (ValueError, RecursionError, MemoryError):  # of the parser: too deep for it
        raise MaskRuleError("The rule is too deeply nested.", text, 0, len(text)) from None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    for node in nodes:
        node.col_offset += shift
        node.end_col_offset = (node.end_col_offset or 0) + shift
    if len(nodes) > MAX_NODES:
        many = f"A rule has {MAX_NODES} numbers, names and operations at most."
        raise error_at(nodes[MAX_NODES], text, many, "Say it in fewer words.")
    _Checker(text).magnitude(tree, MAX_DEPTH)
    return tree


def error_at(node: ast.expr, text: str, problem: str, advice: str = ALLOWED) -> MaskRuleError:
    """A MaskRuleError that points at a part of the tree."""
    return MaskRuleError(problem, text, node.col_offset, node.end_col_offset or 0, advice)


class _Checker:
    """Refuses what is not on the list, and finds how large each number can get.

    The bounds hold for all positions up to MAX_POSITION, so that a legal rule cannot overflow in
    any mask: 64 bits would wrap round in silence.
    """

    def __init__(self, text: str):
        self.text = text

    def magnitude(self, node: ast.expr, depth: int) -> int:
        """The largest |value| that this part of the rule can have."""
        if depth == 0:
            raise error_at(node, self.text, "The rule is too deeply nested.", "Make it simpler.")
        largest = self._largest(node, depth - 1)
        if largest > MAX_NUMBER:
            large = f"Numbers get too large here, for positions up to {MAX_POSITION}."
            raise error_at(node, self.text, large, f"They may reach {MAX_NUMBER}.")
        return largest

    def _largest(self, node: ast.expr, depth: int) -> int:
        match node:
            case ast.Constant(value=int(number)) if type(number) is int:
                return number
            case ast.Name(id=name) if name in NAMES:
                return MAX_POSITION
            case ast.Name(id=name):
                raise error_at(node, self.text, f"{name} needs its arguments in parentheses.")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.magnitude(operand, depth)
            case ast.UnaryOp(op=ast.UAdd()):
                raise error_at(node, self.text, "Leave out a plus that adds nothing.")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.magnitude(operand, depth)
                return 1
            case ast.BinOp(left=left, op=sign, right=right) if isinstance(sign, SIGNS):
                a, b = self.magnitude(left, depth), self.magnitude(right, depth)
                return {ast.Mult: a * b, ast.FloorDiv: a, ast.Mod: b}.get(type(sign), a + b)
            case ast.BoolOp(values=values):
                return max(self.magnitude(value, depth) for value in values)
            case ast.Compare():
                self._comparison(node, depth)
                return 1
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
                return max(self._arguments(node, *FUNCTIONS[name], depth))
        raise error_at(node, self.text, _why_not(node))

    def _comparison(self, node: ast.Compare, depth: int) -> None:
        self.magnitude(node.left, depth)
        last = node.comparators[-1]
        for sign, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(sign, COMPARISONS):
                self.magnitude(right, depth)
            elif not isinstance(sign, MEMBERSHIPS):
                raise error_at(node, self.text, "This comparison cannot stand in a rule.")
            elif right is not last:
                raise error_at(right, self.text, "Nothing can be compared with a list.")
            else:
                self._collection(right, depth)

    def _collection(self, node: ast.expr, depth: int) -> None:
        match node:
            case ast.Tuple(elts=items) if len(items) <= MAX_ITEMS:
                for item in items:
                    self.magnitude(item, depth)
            case ast.Tuple():
                raise error_at(node, self.text, f"A list has {MAX_ITEMS} numbers at most.")
            case ast.Call(func=ast.Name(id="range")):
                self._arguments(node, 1, 3, depth)
            case _:
                wanted = "After in stands a list, such as (0, 3), or a range(a, b)."
                raise error_at(node, self.text, wanted, f"For one number write ==.\n{ALLOWED}")

    def _arguments(self, call: ast.Call, fewest: int, most: int, depth: int) -> list[int]:
        for keyword in call.keywords:
            raise error_at(keyword.value, self.text, "Arguments have no names in a rule.")
        if not fewest <= len(call.args) <= most:
            count = "one number" if most == 1 else f"{fewest} to {most} numbers"
            name = call.func.id  # type: ignore[attr-defined]
            raise error_at(call, self.text, f"{name} takes {count}, not {len(call.args)}.")
        return [self.magnitude(argument, depth) for argument in call.args]


def _why_not(node: ast.expr) -> str:
    match node:
        case ast.Tuple():
            return "A list may stand after in only, as in j in (0, 3)."
        case ast.Call(func=ast.Name(id="range")):
            return "A range may stand after in only, as in j in range(0, 4)."
        case ast.Call():
            return "Only abs, min, max and range can be called; to multiply, write *."
    return "This cannot stand in a rule."


def _unreadable(error: SyntaxError, text: str, shift: int) -> MaskRuleError:
    """Where Python's parser lost the thread. Its own words are for programmers."""
    start = (error.offset or 0) - 1 + shift
    if "never closed" in error.msg:
        return MaskRuleError("A parenthesis is not closed.", text, start, start + 1)
    if error.offset in (None, 0) or start >= len(text.rstrip()):
        return MaskRuleError("The rule ends too early.", text, len(text.rstrip()), len(text))
    end = max((error.end_offset or 0) - 1 + shift, start + 1)
    if "unmatched" in error.msg:
        return MaskRuleError("No parenthesis is open here.", text, start, end)
    missing = "Something is missing here, such as and, or, a comparison, * or a comma."
    return MaskRuleError(missing, text, start, end)
