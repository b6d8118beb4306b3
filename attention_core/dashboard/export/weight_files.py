"""Attention weights as files: rows are queries, columns are keys, and not a digit is lost."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Matrix:
    """Weights or a mask (n_q, n_k) to be saved, with a label for each query and each key."""

    values: Tensor
    queries: Sequence[str] | None = None
    keys: Sequence[str] | None = None


def as_csv(matrix: Matrix) -> str:
    """A line for each query, with as many digits as bring back the same number."""
    n_q, n_k = matrix.values.shape
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["query \\ key", *(matrix.keys or [f"key {j}" for j in range(n_k)])])
    queries = matrix.queries or [f"query {i}" for i in range(n_q)]
    for label, row in zip(queries, matrix.values.detach().cpu().double().tolist(), strict=True):
        writer.writerow([label, *map(repr, row)])
    return file.getvalue()


def as_npy(matrix: Matrix) -> bytes:
    """The matrix in its own dtype; bfloat16, which NumPy has not, as float32, its superset."""
    values = matrix.values.detach().cpu()
    wide = values.float() if values.dtype == torch.bfloat16 else values
    file = io.BytesIO()
    np.save(file, wide.numpy(), allow_pickle=False)
    return file.getvalue()
