"""What a query found, in words and as a table: told from the numbers, so true for every query."""

from collections.abc import Mapping

import pandas as pd
from torch import Tensor

from attention_core.dashboard.charts.bars import short_number
from attention_core.dashboard.charts.chart import to_array
from attention_core.dashboard.words import Tokens, listed
from attention_core.retrieval import Retrieval, tie_tolerance

EQUAL = "equal"


def verdict(found: Retrieval, tokens: Tokens, asked: Mapping[int, float]) -> str:
    """The retrieved token, or nothing, and why. Plain text: it names the learner's words."""
    if found.steps.overflow:
        return f"Nothing: {found.steps.overflow} left the range of the dtype (overflow)."
    if not found.output.any():
        return "Nothing: the tokens are zero vectors, so the output is zero as well."
    entry = short_number(found.output.max().item())
    alike = _alike(found.weights)
    equal = _equal(found.weights)
    if found.token is None:
        if alike and set(found.tied) == set(tokens.sequence):
            return (
                f"Nothing: all {len(tokens.sequence)} weights are {equal}, "
                "and no entry of the output stands out."
            )
        names = listed([tokens.quoted(token) for token in found.tied])
        return f"Nothing: a tie between the tokens {names}. Each has the entry {entry}."
    return (
        f"Token {tokens.quoted(found.token)}: its entry {entry} is the largest of the output."
        + _reason(found, found.token, tokens, asked, alike)
    )


def _reason(
    found: Retrieval, token: int, tokens: Tokens, asked: Mapping[int, float], alike: bool
) -> str:
    """What the learner may not have expected about the token that came back."""
    if len(set(tokens.sequence)) == 1:
        return " No other token is in the sequence: it comes back whatever you ask."
    if alike:
        return (
            f" All weights are {_equal(found.weights)}: "
            "it comes back because it stands in the most positions."
        )
    if found.weights[tokens.sequence.index(token)] < found.weights.max():
        return " Another token has more weight per position, but this one stands in more of them."
    if token not in asked:
        return " You did not ask for it, but no key has more weight."
    if asked[token] <= 0:
        return " Its coefficient is not above 0, but no key has more weight."
    return ""


def headline(found: Retrieval, tokens: Tokens) -> str:
    """What the weights show, in one sentence for those who cannot see them."""
    largest = found.weights.max()
    size = short_number(largest.item())
    if len(found.weights) == 1:
        return f"The only key has the weight {size}."
    if _alike(found.weights):
        about = "about the weight" if _equal(found.weights) != EQUAL else "the weight"
        return f"Each of the {len(found.weights)} keys has {about} {size}."
    at = [tokens.position(j) for j in _positions(found.weights == largest)]
    return f"The largest weight is {size}, on key{'s' * (len(at) > 1)} {listed(at)}."


def reasons(found: Retrieval, tokens: Tokens) -> pd.DataFrame:
    """Position, token, dot, score and weight of every key: n rows. Weights are printed in full."""
    steps = found.steps
    return pd.DataFrame(
        {
            "position": range(len(tokens.sequence)),
            "token": [tokens.token(token) for token in tokens.sequence],
            "dot": to_array(steps.dots[0]),
            "score": to_array(steps.scores[0]),
            "weight": [f"{weight:.8g}" for weight in to_array(found.weights)],
        }
    )


def as_code(sharpness: float, tokens: Tokens, asked: Mapping[int, float]) -> str:
    """The lines that compute the same without this app: numbers only, no words."""
    d = len(tokens.names)
    terms = [f"{coefficient:g} * tokens[{token}]" for token, coefficient in asked.items()]
    return (
        "import torch\nfrom attention_core import attention\n\n"
        f"tokens = torch.eye({d}) * {sharpness:g}\n"
        f"keys = values = tokens[{list(tokens.sequence)}]\n"
        f"query = ({' + '.join(terms) or '0 * tokens[0]'})[None]\n"
        "output, weights = attention(query, keys, values)\n"
    )


def _alike(weights: Tensor) -> bool:
    rounding = tie_tolerance(weights.dtype) * weights.max()
    return bool(weights.max() - weights.min() <= rounding)


def _equal(weights: Tensor) -> str:
    """How weights that are alike are called: the table may show the last digit."""
    return EQUAL if bool((weights == weights[0]).all()) else "equal to within rounding"


def _positions(where: Tensor) -> list[int]:
    return [int(position) for position in where.nonzero()]
