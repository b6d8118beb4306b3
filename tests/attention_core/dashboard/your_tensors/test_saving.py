"""The code to copy is run as it stands, on a tiny model with random weights, and its file read."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.your_tensors.computing import weights_of
from attention_core.dashboard.your_tensors.saving import SAVE_QKV, SAVE_WEIGHTS
from attention_core.dashboard.your_tensors.tensor_files.loaded import Projections, Weights
from attention_core.dashboard.your_tensors.tensor_files.reading import read_tensors

BATCH, N, HEADS, D_HEAD, LAYERS = 2, 7, 3, 5, 2


class SelfAttention(nn.Module):
    """With the names that BERT's has in the transformers library."""

    def __init__(self) -> None:
        super().__init__()
        self.num_attention_heads = HEADS
        width = HEADS * D_HEAD
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = (self.cut(layer(x)) for layer in (self.query, self.key, self.value))
        weights = (q @ k.mT / math.sqrt(D_HEAD)).softmax(-1)
        return (weights @ v).transpose(1, 2).flatten(2), weights

    def cut(self, x: Tensor) -> Tensor:
        return torch.stack(x.split(D_HEAD, dim=-1), dim=1)  # (batch, heads, n, d_head)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.Module()
        self.attention.self = SelfAttention()


class TinyModel(nn.Module):
    """Tokens in, attentions out: no more of a transformer than the code to copy needs."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, HEADS * D_HEAD)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, input_ids: Tensor, output_attentions: bool = False) -> SimpleNamespace:
        x, attentions = self.embedding(input_ids), []
        for layer in self.encoder.layer:
            x, weights = layer.attention.self(x)
            attentions.append(weights)
        return SimpleNamespace(attentions=tuple(attentions) if output_attentions else None)


@pytest.fixture
def model() -> TinyModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return TinyModel()


INPUTS = {"input_ids": torch.arange(BATCH * N).reshape(BATCH, N) % 11}


def test_saved_q_k_v_give_the_weights_of_the_model(model, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(SAVE_QKV, {"model": model, "inputs": INPUTS})
    loaded = read_tensors(Path("heads.safetensors").read_bytes())
    assert isinstance(loaded, Projections)
    assert loaded.shape == (BATCH, HEADS, N, N)
    right = model(**INPUTS, output_attentions=True).attentions[0]
    for b in range(BATCH):
        for h in range(HEADS):
            found = weights_of(loaded, b, h, None, ComputeSettings("cpu", "float32"))
            assert torch.allclose(found, right[b, h], rtol=0, atol=1e-6)
    hooked = model.encoder.layer[0].attention.self
    assert not any(layer._forward_hooks for layer in (hooked.query, hooked.key, hooked.value))


def test_saved_weights_are_those_of_all_layers(model, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(SAVE_WEIGHTS, {"model": model, "inputs": INPUTS})
    loaded = read_tensors(Path("weights.npz").read_bytes())
    assert isinstance(loaded, Weights)
    assert loaded.shape == (LAYERS, HEADS, N, N)
    for layer, weights in enumerate(model(**INPUTS, output_attentions=True).attentions):
        assert torch.equal(loaded.weights[layer], weights[0])
