"""Which part each tensor of a file plays: q, k, v and mask, or finished weights."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from attention_core.checks import allowed_pairs, require_qkv
from attention_core.dashboard.your_tensors.tensor_files.limits import (
    FINISHED,
    FLOATS,
    MASK,
    MAX_BYTES,
    MAX_NUMBERS,
    QKV,
    WHOLE,
    Entry,
    TensorFileError,
    quoted,
    refuse_unless,
)
from attention_core.dashboard.your_tensors.tensor_files.loaded import (
    Loaded,
    Projections,
    Shape,
    Weights,
    require_sizes,
)
from attention_core.heads.precomputed import require_weights


def load_parts(found: dict[str, Entry]) -> Loaded:
    """The entries of a file by name, loaded once their sizes are known. Raises TensorFileError."""
    finished = [name for name in FINISHED if name in found]
    some_qkv = [name for name in (*QKV, MASK) if name in found]
    if len(finished) == 1 and not some_qkv:
        return _weights(found[finished[0]])
    refuse_unless(
        set(QKV) <= set(some_qkv) and not finished,
        "The file must hold tensors named q, k and v, and a mask if you like, or a single one "
        f"named weights or attention: it holds {', '.join(map(quoted, sorted(found)))}.",
    )
    return _projections({name: found[name] for name in some_qkv})


def _weights(entry: Entry) -> Weights:
    _require_bounds([entry])
    require_sizes(_four(entry.shape))
    weights = entry.load()
    with _in_words():
        require_weights(weights)
    return Weights.of(weights)


def _projections(entries: dict[str, Entry]) -> Projections:
    _require_bounds(list(entries.values()))
    batch, heads, n_q, _ = _four(entries["q"].shape)
    require_sizes((batch, heads, n_q, entries["k"].shape[-2]))
    loaded = {name: entry.load() for name, entry in entries.items()}
    q, k, v = (loaded[name] for name in QKV)
    with _in_words(_shared_keys(q, k)):
        require_qkv(q, k, v)
    with _in_words():
        allowed = allowed_pairs(loaded[MASK], q, k) if MASK in loaded else None
    projections = Projections.of(q, k, v, allowed)
    require_sizes(projections.shape)
    return projections


def _require_bounds(entries: list[Entry]) -> None:
    """Dtypes, and the numbers of all tensors together, from what the file says of them."""
    for entry in entries:
        legal = {*FLOATS, *(WHOLE if entry.name.lower() == MASK else ())}
        refuse_unless(
            entry.dtype in legal,
            f"{quoted(entry.name)} must hold {', '.join(sorted(legal))}: it holds {entry.dtype}.",
        )
    numbers = sum(math.prod(entry.shape) for entry in entries)
    size = sum(math.prod(entry.shape) * {**FLOATS, **WHOLE}[entry.dtype] for entry in entries)
    refuse_unless(
        numbers <= MAX_NUMBERS and size <= MAX_BYTES,
        f"The file holds {numbers:,} numbers in {size / 1024**2:.0f} MB: the limit here is "
        f"{MAX_NUMBERS:,} and {MAX_BYTES // 1024**2} MB. Please save fewer heads or positions.",
    )


def _four(shape: tuple[int, ...]) -> Shape:
    batch, heads, n, last = (1, 1, *shape)[-4:]
    return batch, heads, n, last


def _shared_keys(q: Tensor, k: Tensor) -> str:
    """What to do about query heads that share keys (Ainslie et al. 2023, grouped queries)."""
    both = min(q.ndim, k.ndim) >= 3
    times = q.shape[-3] // k.shape[-3] if both and q.shape[-3] % k.shape[-3] == 0 else 1
    if times == 1:
        return ""
    return (
        f"; if {times} query heads share one key head, save k.repeat_interleave({times}, -3), and "
        "v as well"
    )


@contextmanager
def _in_words(hint: str = "") -> Iterator[None]:
    """The library's own messages say the rule and the values: they are good enough."""
    try:
        yield
    except ValueError as error:
        raise TensorFileError(f"{error}{hint}") from error
