"""Attention as retrieval: a look-up by content that may answer with a blend.

Source: the lesson, "Attention as retrieval". Tokens are the rows of sharpness * I; the keys and the
values are the tokens of a sequence, and the query is a token or a blend of several.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.attention import AttentionSteps, attention_steps
from attention_core.checks import require

TIE_ROUNDINGS = 4  # that many eps of float32 may part equal entries; half precisions part more
FARTHEST_COEFFICIENT = 2.0**20
HALVINGS = 60  # after that many, neighbouring floats are reached


@dataclass(frozen=True, eq=False)
class Retrieval:
    """What one query found in a sequence of n tokens from a vocabulary of d.

    weights   (n,)  one for each position of the sequence
    output    (d,)  one entry for each token of the vocabulary
    token           the token with the largest entry, None if several share it
    tied            all tokens that share the largest entry; none of them if the steps overflowed
    """

    steps: AttentionSteps
    weights: Tensor
    output: Tensor
    token: int | None
    tied: tuple[int, ...]


def vocabulary(
    size: int,
    sharpness: float = 5.0,
    *,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """sharpness * I, (size, size): row t is token t.

    A token has the dot product sharpness ** 2 with itself, and 0 with any other.

    Sharpness 0 makes all tokens alike.

    Raises ValueError unless size is 1 or more and sharpness finite and 0 or more.
    """
    require(size >= 1, f"a vocabulary needs one token or more: size {size}")
    require(0 <= sharpness < float("inf"), f"sharpness must be finite, 0 or more: {sharpness}")
    return sharpness * torch.eye(size, device=device, dtype=dtype)


def blend(tokens: Tensor, coefficients: Mapping[int, float]) -> Tensor:
    """sum over t of coefficients[t] * tokens[t], (1, d): a query made of the rows of tokens (m, d).

    Without coefficients it is the zero query, which asks for nothing in particular.

    Raises ValueError if tokens is not a matrix or there is no row t.
    """
    require(tokens.ndim == 2, f"tokens must be a matrix (m, d): {tuple(tokens.shape)}")
    require(tokens.is_floating_point(), f"tokens must be floating point numbers: {tokens.dtype}")
    _require_token_ids(coefficients, len(tokens))
    row = [coefficients.get(token, 0.0) for token in range(len(tokens))]
    return tokens.new_tensor([row]) @ tokens


def retrieve(
    query: Tensor, vocab: Tensor, sequence: Sequence[int], *, scale: float | None = None
) -> Retrieval:
    """attention(query, k, v) with k = v = vocab[sequence], and the token it retrieves.

    query is (1, d), vocab (d, d) as `vocabulary` makes it, sequence n token ids. Entry t of the
    output is sharpness times the weight on token t, summed over all its positions; the largest
    entry is the token retrieved. Entries that only rounding tells apart (`tie_tolerance`) are
    tied, and then nothing is retrieved.

    Raises ValueError for other shapes, an empty sequence or an id outside the vocabulary.
    """
    require(
        vocab.ndim == 2 and vocab.shape[0] == vocab.shape[1],
        f"vocab must be square, one output entry per token: {tuple(vocab.shape)}",
    )
    require(
        query.shape == (1, len(vocab)),
        f"query must be one row as wide as vocab, (1, {len(vocab)}): {tuple(query.shape)}",
    )
    require(len(sequence) >= 1, "a sequence needs one token or more: it is empty")
    _require_token_ids(sequence, len(vocab))

    tokens = vocab[list(sequence)]  # (n, d)
    steps = attention_steps(query, tokens, tokens, scale=scale)
    output = steps.output[0]  # (d,)
    tied = () if steps.overflow else _largest_entries(output)
    token = tied[0] if len(tied) == 1 else None
    return Retrieval(steps, steps.weights[0], output, token, tied)


def coefficient_for_share(
    vocab: Tensor, sequence: Sequence[int], first: int, second: int, share: float
) -> float:
    """The a for which the query a * first + 1 * second puts share of all weight on first.

    The weight on first, summed over its positions, grows with a: bisection over `retrieve` finds
    the a, as closely as the dtype of vocab can tell.

    Raises ValueError if no a does: share must lie between 0 and 1, first must stand somewhere but
    not everywhere in the sequence, and the tokens must be sharp enough to tell apart.
    """
    require(0 < share < 1, f"share must lie between 0 and 1, both excluded: {share}")
    require(first != second, f"first and second must be different tokens: {first} and {second}")
    positions = [position for position, token in enumerate(sequence) if token == first]
    require(
        0 < len(positions) < len(sequence),
        f"first must stand somewhere, but not everywhere: {first} in {list(sequence)}",
    )

    def share_at(coefficient: float) -> float:
        query = blend(vocab, {first: coefficient, second: 1.0})
        return float(retrieve(query, vocab, sequence).weights[positions].sum())

    reach = 1.0
    while not share_at(-reach) <= share <= share_at(reach):
        reach *= 2
        require(
            reach <= FARTHEST_COEFFICIENT,
            f"tokens must be sharp enough to tell apart, no coefficient gives a share of {share}",
        )
    low, high = -reach, reach
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if share_at(middle) < share else (low, middle)
    return high


def tie_tolerance(dtype: torch.dtype) -> float:
    """How far apart, relative to their size, equal numbers may be after rounding.

    Sums are done in float32 at least, so half precisions round equal numbers equally.
    """
    return TIE_ROUNDINGS * min(torch.finfo(dtype).eps, torch.finfo(torch.float32).eps)


def _largest_entries(output: Tensor) -> tuple[int, ...]:
    largest = output.max()
    rounding = tie_tolerance(output.dtype) * largest.abs()
    return tuple(map(int, (largest - output <= rounding).nonzero()))


def _require_token_ids(ids: Iterable[int], size: int) -> None:
    """Refuse what is not a row number 0 .. size - 1: -1 would quietly mean the last row, True a
    mask, and 1.5 row 1."""
    unknown = [token for token in ids if type(token) is not int or not 0 <= token < size]
    require(not unknown, f"token ids must lie in 0..{size - 1}: {unknown}")
