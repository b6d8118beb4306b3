"""A head comes back from its notebook to the last bit: from text, or from the learner's file."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save

from attention_core.dashboard.your_tensors.file_reader_code import head_in_file
from attention_core.dashboard.your_tensors.notebook import head_section
from attention_core.dashboard.your_tensors.numbers_as_text import packed, unpacked
from attention_core.dashboard.your_tensors.tensor_files.loaded import Loaded, Projections, Weights
from attention_core.dashboard.your_tensors.tensor_files.reading import read_tensors

B, H, N_Q, N_K, D, D_V = 2, 3, 5, 7, 11, 13
GENERATOR = torch.Generator().manual_seed(0)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=GENERATOR)


QKV = {"q": normal(B, H, N_Q, D), "k": normal(B, H, N_K, D), "v": normal(B, H, N_K, D_V)}
SHARED = {"q": normal(H, N_Q, D), "K": normal(N_K, D), "V": normal(1, 1, N_K, D_V)}
MASK = normal(B, 1, N_Q, N_K) > 0
FINISHED = normal(B, H, N_Q, N_K).softmax(-1)


def npz(tensors: dict[str, torch.Tensor]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{name: t.numpy() for name, t in tensors.items()})  # type: ignore
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


FILES = {
    "qkv.safetensors": save(QKV | {"mask": MASK}),
    "half.safetensors": save({name: t.bfloat16() for name, t in QKV.items()}),
    "qkv.npz": npz(QKV | {"mask": MASK.int()}),
    "shared.npz": npz(SHARED | {"mask": MASK[0, 0]}),
    "weights.npz": npz({"attention": FINISHED.half()}),
    "weights.safetensors": save({"weights": FINISHED[0]}),
    "weights.npy": npy(FINISHED[0, 0].numpy()),
    "big_endian.npy": npy(FINISHED.numpy().astype(">f8")),
    "by_columns.npy": npy(np.asfortranarray(FINISHED[1].double().numpy())),
}


def expected(tensors: Loaded, b: int, h: int) -> dict[str, torch.Tensor]:
    if isinstance(tensors, Weights):
        return {"weights": tensors.weights[b, h]}
    found = {name: getattr(tensors, name)[b, h] for name in "qkv"}
    return found if tensors.allowed is None else found | {"mask": tensors.allowed[b, h]}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_the_page_reads_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    tensors = read_tensors(FILES[name])
    batch, heads, _, _ = tensors.shape
    for b, h in ((0, 0), (batch - 1, heads - 1)):
        found, right = head_in_file(str(tmp_path / name), b, h), expected(tensors, b, h)
        assert found.keys() == right.keys()
        for key, tensor in right.items():
            assert found[key].dtype == tensor.dtype
            assert torch.equal(found[key], tensor)


def test_a_file_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="Put your file beside this notebook"):
        head_in_file(str(tmp_path / "mine.npz"), 0, 0)


def test_no_pickle_is_ever_read(tmp_path: Path) -> None:
    path = tmp_path / "objects.npy"
    np.save(path, np.array([object()]), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        head_in_file(str(path), 0, 0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_numbers_come_back_to_the_last_bit(dtype: torch.dtype) -> None:
    tensor = normal(N_K, 3 * N_Q).to(dtype).mT[::3]  # not in the order of its memory
    assert torch.equal(unpacked(packed(tensor), dtype, N_Q, N_K), tensor)


@pytest.mark.parametrize(
    ("n_q", "n_k", "d", "inside"),
    [(64, 64, 128, True), (65, 7, 3, False), (7, 65, 3, False), (7, 5, 129, False)],
)
def test_small_heads_are_inside_and_large_ones_stay_in_their_file(
    n_q: int, n_k: int, d: int, inside: bool
) -> None:
    tensors = Projections.of(normal(n_q, d), normal(n_k, d), normal(n_k, 3), None)
    section = head_section((), tensors, 0, 0, file="mine.npz", rule="")
    names = {choice.name for choice in section.choices}
    assert ("q_bytes" in names) == inside
    assert any("head_in_file" in getattr(cell, "text", "") for cell in section.cells) != inside


def test_only_the_chosen_head_is_inside() -> None:
    tensors = Projections.of(QKV["q"], QKV["k"], QKV["v"], MASK.expand(B, H, N_Q, N_K))
    section = head_section((), tensors, 1, 2, file="mine.npz", rule="")
    held = {choice.name: choice.value for choice in section.choices}
    assert torch.equal(unpacked(str(held["v_bytes"]), torch.float32, N_K, D_V), QKV["v"][1, 2])
    assert torch.equal(torch.tensor(held["file_mask"]).bool(), MASK[1, 0])
    finished = head_section((), Weights.of(FINISHED), 1, 2, file="mine.npz", rule="j <= i")
    held = {choice.name: choice.value for choice in finished.choices}
    assert "rule" not in held and held["stored"] == torch.float32
    back = unpacked(str(held["weights_bytes"]), torch.float32, N_Q, N_K)
    assert torch.equal(back, FINISHED[1, 2])
