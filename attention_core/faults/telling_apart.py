"""Which implementations of attention nothing tells apart, for given inputs."""

from collections.abc import Iterable

from torch import Tensor

from attention_core.agreement import tolerance_for
from attention_core.faults import Implementation


def indistinguishable(
    implementation: Implementation,
    others: Iterable[Implementation],
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Implementation, ...]:
    """Those of `others` that give the same weights and output here, or stop with the same error.

    The same within what rounding explains for the dtype (`tolerance_for`); NaN equals NaN. So
    nothing that is seen from outside, with these very inputs, tells them apart.
    """
    inputs = (q, k, v, mask, padding)
    seen = _outcome(implementation, *inputs)
    tolerances = rounding(q, k, v)
    return tuple(other for other in others if _same(seen, _outcome(other, *inputs), tolerances))


def rounding(q: Tensor, k: Tensor, v: Tensor) -> tuple[float, float]:
    """The differences of weights, and of outputs, that rounding explains: see `tolerance_for`."""
    scale = q.shape[-1] ** -0.5
    q64, k64 = q.cpu().double(), k.cpu().double()  # not every device has float64
    score = (q64 @ k64.mT).abs().max().item() * scale
    terms = (q64.abs() @ k64.abs().mT).max().item() * scale
    value = max(k.abs().max().item(), v.abs().max().item())  # some hand out the keys
    of_weights = tolerance_for(q.dtype, largest_score=score, largest_terms=terms)
    return of_weights, of_weights * max(1.0, value)


def _outcome(
    implementation: Implementation,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    padding: Tensor | None,
) -> tuple[Tensor, Tensor] | str:
    try:
        output, weights = implementation(q, k, v, mask, padding)
    except RuntimeError as error:
        return str(error)
    return weights, output


def _same(
    one: tuple[Tensor, Tensor] | str,
    other: tuple[Tensor, Tensor] | str,
    tolerances: tuple[float, float],
) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return all(
        a.shape == b.shape and bool(a.isclose(b, rtol=0, atol=tolerance, equal_nan=True).all())
        for a, b, tolerance in zip(one, other, tolerances, strict=True)
    )
