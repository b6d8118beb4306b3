"""The notebook of exercise 3: a local window, how far it sees, and a convolution beside it."""

from torch import Tensor

from attention_core.dashboard.export.notebook_question import question_section
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection

# The rule of the window would give the result away, so an open question is answered without it.
FIND_THE_MASK = Code("""
# A convolution with a kernel of three ones touches exactly the keys of this window.
touched = F.conv1d(torch.eye(6).unsqueeze(1), torch.ones(1, 1, 3), padding=1).squeeze(1).T
print(touched.int())
""")
MASK = Code("""
target = mask_tensor(local(3), 6, 6, device)
print(f"{int(target.sum())} of 36 cells are on")
if prediction is not None:
    wrong = (torch.tensor(prediction, device=device).bool() != target).nonzero().tolist()
    print(f"yours differs in {len(wrong)} cells, first (query, key): {wrong[:1]}")
q, k, v = (tensor[0] for tensor in sample_qkv(1, 6, 8, device=device, dtype=dtype))
steps = attention_steps(q, k, v, target)
print(f"largest weight outside the window: {steps.weights[~target].max().item():g}")
report(compare_with_torch(q, k, v, target), steps.overflow)
weights_chart(steps.weights, title="Weights in the window", mask=target)
""")
REACH = Code("""
window = mask_tensor(local(3), 12, 12, device)
kernel = toeplitz(torch.ones(3, device=device), 12) != 0
for name, connected in (("local attention", window), ("convolution", kernel)):
    farthest = int(reachable(connected, 3)[0].nonzero().max())
    print(f"{name}: after 3 layers, position 0 sees as far as position {farthest}")
""")
LAYERS = Code("""
seen = reachable(window, layers)
print(f"after this many layers, {int(seen.sum())} of {seen.numel()} pairs are connected")
weights_chart(
    seen.float(), title="What each position sees", rows="position", columns="input", mask=seen
)
""")
CONTENT = Code("""
near = mask_tensor(local(3), 8, 8, device)
kernel = torch.tensor([0.25, 0.5, 0.25], device=device, dtype=dtype)


def weights_after(seed: int, shift: int) -> tuple[torch.Tensor, torch.Tensor]:
    tensors = sample_qkv(1, 8, 8, seed=seed, device=device, dtype=dtype)
    q, k, v = (tensor[0].roll(shift, dims=0) for tensor in tensors)
    return toeplitz(kernel, 8), attention(q, k, v, near)[1]


changes = [(b - a).abs().max().item() for a, b in zip(weights_after(0, 0), weights_after(0, 1))]
print(f"moved by 1: the kernel's weights change by {changes[0]:.0f}, attention's {changes[1]:.2f}")
""")
MOVE = Code("""
moved_kernel, moved_weights = weights_after(seed, shift)
still_kernel, still_weights = weights_after(seed, 0)
print(f"the kernel's weights change by {(moved_kernel - still_kernel).abs().max().item():.3g}")
print(f"attention's weights change by {(moved_weights - still_weights).abs().max().item():.3g}")
weights_chart(moved_kernel, title="The convolution's matrix", mask=near) | weights_chart(
    moved_weights, title="Local attention's weights", mask=near
)
""")


def window_mask_section(
    title: str, task: str, guess: Tensor | None = None, verdict: str | None = None
) -> NotebookSection:
    """The mask (6, 6) that the learner built, beside the right one."""
    return question_section(
        title,
        task,
        (FIND_THE_MASK,) if verdict is None else (MASK,),
        prediction=None if guess is None else guess.int().tolist(),
        verdict=verdict,
    )


def reach_section(
    title: str,
    task: str,
    guess: int | None = None,
    verdict: str | None = None,
    layers: int | None = None,
) -> NotebookSection:
    """How far position 0 sees through layers of this window."""
    return question_section(
        title,
        task,
        (REACH,),
        prediction=guess,
        verdict=verdict,
        choices=() if verdict is None else (Choice("layers", layers, "that you tried"),),
        explored=(LAYERS,),
    )


def content_section(
    title: str,
    task: str,
    guess: str | None = None,
    verdict: str | None = None,
    seed: int | None = None,
    shift: int | None = None,
) -> NotebookSection:
    """Whose weights move with the content?"""
    tried = (
        Choice("seed", seed, "of the content"),
        Choice("shift", shift, "how far all tokens moved on"),
    )
    return question_section(
        title,
        task,
        (CONTENT,),
        prediction=guess,
        verdict=verdict,
        choices=() if verdict is None else tried,
        explored=(MOVE,),
    )
