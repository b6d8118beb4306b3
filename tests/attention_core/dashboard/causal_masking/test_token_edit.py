import torch

from attention_core.dashboard.causal_masking.token_edit import (
    Moved,
    change_chart,
    edit,
    moved,
    other_token,
)


def qkv(n: int = 7, d: int = 3) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    q, k, v = torch.randn(3, n, d, generator=torch.Generator().manual_seed(0))
    return q, k, v


def test_an_edit_copies_and_changes_one_row_of_each() -> None:
    before = qkv()
    kept = [x.clone() for x in before]
    after = edit(before, 5, seed=0, strength=2.0)
    for old, copy, new in zip(before, kept, after, strict=True):
        assert torch.equal(old, copy)
        assert (old != new).any(-1).tolist() == [False] * 5 + [True, False]
    assert not torch.equal(after[0][5], after[1][5])


def test_strength_is_a_factor() -> None:
    x = qkv()[0]
    single, triple = (other_token(x, 2, 11, strength)[2] for strength in (1.0, 3.0))
    torch.testing.assert_close(triple, 3 * single)
    assert not other_token(x, 2, 11, 0.0)[2].any()


def test_moved_is_the_difference_of_the_outputs() -> None:
    before, mask = qkv(), torch.ones(7, 7).tril().bool()
    after = edit(before, 5, seed=0, strength=1.0)
    outputs = [
        torch.where(mask, q @ k.mT / 3**0.5, -torch.inf).softmax(-1) @ v
        for q, k, v in (before, after)
    ]
    masked, unmasked = moved(before, after, mask), moved(before, after)
    expected = (outputs[1] - outputs[0]).abs().amax(-1)
    torch.testing.assert_close(torch.tensor(masked.changes), expected)
    assert masked.rows == {5, 6}
    assert unmasked.rows == set(range(7))


def test_the_chart_says_what_is_to_be_seen() -> None:
    masked, unmasked = Moved([0.0, 0.0, 2.0], [True, True, False]), Moved([1.0] * 3, [False] * 3)
    chart = change_chart(masked, unmasked, 2)
    assert chart.alt.endswith("2 are bit-identical with the mask and 0 without it.")
    assert chart.data["row"].tolist() == ["0", "1", "2 (edited)"] * 2
    assert chart.data["number"].tolist() == ["0", "0", "2.00", "1.00", "1.00", "1.00"]
    assert [layer["mark"]["type"] for layer in chart.spec["layer"]] == ["bar", "text"]
    bar, text = chart.spec["layer"]
    assert "color" in bar["encoding"] and "color" not in text["encoding"]
    assert "luminance(background)" in text["mark"]["color"]["expr"]  # dark on light, light on dark
    many = Moved([0.0] * 11, [True] * 11)
    assert len(change_chart(many, many, 0).spec["layer"]) == 1
