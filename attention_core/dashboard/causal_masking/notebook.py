"""The notebook of the causal masking page: the mask, an edited future, a decoder, a picture."""

import base64
import zlib
from collections.abc import Sequence

from torch import Tensor

from attention_core.dashboard.causal_masking.token_edit import edit, moved
from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection, Words

MASK = Code("""
q, k, v = sample_qkv(2, n, 8, seed=seed, device=device, dtype=dtype)
mask = mask_tensor(causal, n, n, device)
masked, unmasked = attention_steps(q, k, v, mask[None]), attention_steps(q, k, v)
weights_chart(unmasked.weights[0], title="Weights without the mask") | weights_chart(
    masked.weights[0], title="Weights with the mask", mask=mask
)
""")
HIDDEN = Code("""
print(f"largest weight on a future key, unmasked  {future_weight(unmasked.weights):.4f}")
print(f"largest weight on a future key, masked    {future_weight(masked.weights):g}")
print(f"max abs diff to is_causal=True            {compare_with_is_causal(q, k, v):.2e}")
agreement = compare_with_torch(q, k, v, mask[None])
report(agreement, masked.overflow)
""")
FUTURE = Code("""
before = (q[0], k[0], v[0])
after = edit(before, position, content_seed, strength)
with_mask, without_mask = moved(before, after, mask), moved(before, after)
print("rows that moved with the mask:   ", sorted(with_mask.rows))
print("rows that moved without the mask:", sorted(without_mask.rows))
pd.DataFrame(
    {
        "largest change with the mask": with_mask.changes,
        "bit-identical with the mask": with_mask.identical,
        "largest change without the mask": without_mask.changes,
        "bit-identical without the mask": without_mask.identical,
    },
    index=pd.RangeIndex(n, name="output row i"),
)
""")
GENERATE = Code("""
generated = list(decode(q[0], k[0], v[0]))
outputs = torch.cat([step.output for step in generated])  # (n, d)
differences = (outputs - masked.output[0]).abs().amax(-1)
print(f"step {t}: {generated[t].weights.shape[-1]} of {n} keys are in the cache")
print(f"max abs diff of step {t} to row {t}  {differences[t]:.2e}")
print(f"the same, over all steps       {differences.max():.2e}")
weights_chart(generated[t].weights, title=f"Weights of step {t}", rows="step", row_labels=[str(t)])
""")
SAMPLE = Code("""
image = sample_image(48)
""")
OWN = Code("""
pixels = list(zlib.decompress(base64.b64decode(picture)))
image = torch.tensor(pixels).reshape(48, 48, 3).float() / 255
""")
PICTURE = Code("""
patches = to_patches(image.to(device, dtype), side)
columns = 48 // side
looking = patch_attention(patches, sharpness).weights[row * columns + column].cpu()
reach = mask_tensor(grid_neighbourhood(columns, 3), columns**2, columns**2)[row * columns + column]
outside = float(looking[~reach].double().sum())
print(f"patch ({row}, {column}) puts {100 * outside:.1f} % of its weight outside 3×3")
weights_chart(
    looking.reshape(columns, columns),
    title=f"Weights of patch ({row}, {column})",
    rows="patch row",
    columns="patch column",
)
""")


def causal_mask_section(words: Sequence[str], *, n: int, seed: int) -> NotebookSection:
    """The weights without and with the mask, and the proof that nothing of the future is left."""
    return NotebookSection(
        "The mask",
        words,
        (Choice("n", n, "tokens"), Choice("seed", seed, "of the random numbers")),
        (MASK, Words("**Is the future hidden, and is the rest right?**"), HIDDEN),
    )


def future_section(
    task: str,
    *,
    position: int,
    seed: int,
    strength: float,
    guess: str | None = None,
    verdict: str | None = None,
) -> NotebookSection:
    """Does an edited token move the outputs before it?"""
    return question_section(
        "Change the future",
        f"{task}\n\nPredict first: which outputs move **with the mask**?",
        (FUTURE,),
        prediction=guess,
        verdict=verdict,
        choices=(
            Choice("position", position, "of the token that is replaced"),
            Choice("content_seed", seed, "of its new content"),
            Choice("strength", strength, "of its new content"),
        ),
        uses=(edit, moved),
    )


def generation_section(words: str, t: int) -> NotebookSection:
    """Attention as a decoder runs it, and how far each step is from the full result."""
    return NotebookSection(
        "Generate", (words,), (Choice("t", t, "the step to look at"),), (GENERATE,)
    )


def image_section(
    words: str, *, image: Tensor | None, side: int, sharpness: float, row: int, column: int
) -> NotebookSection:
    """Attention between patches; image (48, 48, 3) in steps of 1/255, None for the sample."""
    own = () if image is None else (Choice("picture", _packed(image), "yours, 48 × 48 pixels"),)
    return NotebookSection(
        "No future in an image",
        (words,),
        (
            *own,
            Choice("side", side, "of a patch, in pixels"),
            Choice("sharpness", sharpness, "of the comparison"),
            Choice("row", row, "of the patch that asks"),
            Choice("column", column, "of the patch that asks"),
        ),
        (OWN if own else SAMPLE, PICTURE),
    )


def _packed(image: Tensor) -> str:
    pixels = (image.cpu() * 255).round().byte().flatten().tolist()
    return base64.b64encode(zlib.compress(bytes(pixels), 9)).decode()
