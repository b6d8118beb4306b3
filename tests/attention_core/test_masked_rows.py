"""The four ways to treat a dead row: values by hand, gradients, and what must not be touched."""

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from attention_core.attention import attention
from attention_core.masked_rows import WAYS, finite_stand_in, masked_row_answers

I2 = torch.eye(2)
V = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
DEAD_ROW_1 = torch.tensor([[True, False], [False, False]])
MASK = torch.ones(5, 7).tril(-2).bool()  # queries 0 and 1 are dead


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def qkv(lead=()) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return normal(*lead, 5, 3), normal(*lead, 7, 3, seed=1), normal(*lead, 7, 2, seed=2)


def answers(q, k, v, mask):
    found = {answer.name: answer for answer in masked_row_answers(q, k, v, mask)}
    assert list(found) == ["NaN", "zero", "uniform", "patched"]
    return found


def nan_where(tensor):
    return tensor.isnan().nonzero().tolist()


def test_one_dead_row_by_hand():
    found = answers(I2, I2, V, DEAD_ROW_1)
    for answer in found.values():  # the live row is the same for all
        assert answer.weights[0].tolist() == [1, 0] and answer.output[0].tolist() == [1, 2]
    assert found["NaN"].weights[1].isnan().all() and found["NaN"].output[1].isnan().all()
    for name in ("zero", "patched"):
        assert found[name].weights[1].tolist() == [0, 0] == found[name].output[1].tolist()
    assert found["uniform"].weights[1].tolist() == [0.5, 0.5]
    assert found["uniform"].output[1].tolist() == [2, 3]  # the mean of values it may not see


def test_gradients_of_the_live_row_by_hand():
    """The loss is 1 + 2. Row 0 has one key, so its weight is 1 whatever q and k are."""
    found = answers(I2, I2, V, DEAD_ROW_1)
    for name in ("zero", "uniform"):
        answer = found[name]
        assert answer.spoiled == ()
        assert not answer.dq.any() and not answer.dk.any()
        assert answer.dv.tolist() == [[1, 1], [0, 0]]
    plain, patched = found["NaN"], found["patched"]
    assert plain.spoiled == ("dq", "dk", "dv") and patched.spoiled == ("dq", "dk")
    assert nan_where(plain.dq) == [[1, 0], [1, 1]] == nan_where(patched.dq)  # the dead query's
    assert plain.dk.isnan().all() and plain.dv.isnan().all()  # and every key and value
    assert patched.dk.isnan().all() and patched.dv.tolist() == [[1, 1], [0, 0]]


def test_finite_gradients_are_those_of_pytorch():
    q, k, v = (x.requires_grad_() for x in qkv())
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=MASK)
    expected = torch.autograd.grad(fused[2:].sum(), (q, k, v))
    found = answers(q, k, v, MASK)
    for name in ("zero", "uniform"):
        for gradient, right in zip(
            (found[name].dq, found[name].dk, found[name].dv), expected, strict=True
        ):
            assert_close(gradient, right)
    assert_close(found["zero"].output, fused.detach())
    assert_close(found["uniform"].output[:2], v.detach().mean(0).expand(2, 2))


@pytest.mark.parametrize("name", ["zero", "uniform"])
def test_the_ways_that_can_be_trained_have_the_gradients_of_finite_differences(name):
    inputs = [x.requires_grad_() for x in qkv()]
    assert torch.autograd.gradcheck(lambda q, k, v: WAYS[name](q, k, v, MASK)[0], inputs)


def test_without_a_dead_row_all_agree():
    q, k, v = qkv()
    mask = torch.ones(5, 7).tril().bool()
    expected = attention(q, k, v, mask)
    for answer in masked_row_answers(q, k, v, mask):
        assert_close(answer.output, expected[0])
        assert_close(answer.weights, expected[1])
        assert answer.spoiled == ()


def test_a_forbidden_value_moves_the_uniform_answer_only():
    q, k, v = qkv()
    changed = v.clone()
    changed[6] += 100  # no query may attend to key 6
    before, after = answers(q, k, v, MASK), answers(q, k, changed, MASK)
    assert torch.equal(before["zero"].output, after["zero"].output)
    moved = (before["uniform"].output != after["uniform"].output).any(-1)
    assert moved.tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_every_dtype_holds_its_fill(dtype):
    q, k, v = (x.to(dtype) for x in qkv())
    found = answers(q, k, v, MASK)
    fill = torch.tensor(finite_stand_in(dtype), dtype=dtype)
    assert fill.isfinite() and fill <= -65504
    assert finite_stand_in(dtype) == (-65504.0 if dtype == torch.float16 else -1e9)
    assert_close(found["uniform"].weights[:2], torch.full((2, 7), 1 / 7, dtype=dtype))
    assert (found["uniform"].weights[2:][~MASK[2:]] == 0).all()
    assert found["zero"].spoiled == found["uniform"].spoiled == ()
    assert all(answer.dq.dtype == dtype for answer in found.values())


def test_heads_have_dead_rows_of_their_own():
    q, k, v = qkv(lead=(2,))
    mask = torch.stack([torch.ones(5, 7).tril(0), torch.ones(5, 7).tril(-1)]).bool()
    found = answers(q, k, v, mask)
    assert nan_where(found["NaN"].dq) == [[1, 0, 0], [1, 0, 1], [1, 0, 2]]
    assert not found["NaN"].dk[0].isnan().any() and found["NaN"].dk[1].isnan().all()
    assert found["zero"].output[1, 0].tolist() == [0, 0]


def test_inputs_are_left_alone():
    tensors = qkv()
    copies = [x.clone() for x in tensors]
    masked_row_answers(*tensors, MASK)
    for tensor, copy in zip(tensors, copies, strict=True):
        assert torch.equal(tensor, copy) and not tensor.requires_grad and tensor.grad is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda q, k, v, m: (q.masked_fill(q == q[0, 0], float("nan")), k, v, m), "q must hold"),
        (lambda q, k, v, m: (q, k[:5], v, m), "must agree in n_k"),
        (lambda q, k, v, m: (q, k, v, m.mT), "mask must broadcast"),
        (lambda q, k, v, m: (q, k, v, m * 2.0), "bias, not a mask"),
    ],
)
def test_what_attention_refuses(change, words):
    with pytest.raises(ValueError, match=words):
        masked_row_answers(*change(*qkv(), MASK))
