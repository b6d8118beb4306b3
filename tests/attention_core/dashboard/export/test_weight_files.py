"""Weights as files: not a digit is lost, and rows stay rows."""

import csv
import io

import numpy as np
import pytest
import torch

from attention_core.dashboard.export.weight_files import Matrix, as_csv, as_npy

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def weights(dtype):
    scores = torch.randn(3, 5, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    return (3 * scores).softmax(-1).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_csv_comes_back_bit_for_bit(dtype):
    values = weights(dtype)
    head, *rows = csv.reader(io.StringIO(as_csv(Matrix(values))))
    assert head == ["query \\ key", *(f"key {j}" for j in range(5))]
    assert [row[0] for row in rows] == ["query 0", "query 1", "query 2"]
    back = torch.tensor([[float(x) for x in row[1:]] for row in rows], dtype=torch.float64)
    assert torch.equal(back.to(dtype), values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_npy_comes_back_bit_for_bit(dtype):
    values = weights(dtype)
    back = np.load(io.BytesIO(as_npy(Matrix(values))), allow_pickle=False)
    assert back.dtype == {torch.bfloat16: "float32"}.get(dtype, str(dtype).partition(".")[2])
    assert torch.equal(torch.from_numpy(back).to(dtype), values)


def test_labels_are_data():
    labels = ['a,b "c"', "=1+1\nx", "שלום", "d", "e"]
    text = as_csv(Matrix(weights(torch.float32)[:1], ["query"], labels))
    head, row = csv.reader(io.StringIO(text))
    assert head[1:] == labels
    assert row[0] == "query"
    assert len(row) == 6


def test_one_label_for_every_query():
    with pytest.raises(ValueError, match="zip"):
        as_csv(Matrix(weights(torch.float32), ["only one"]))
