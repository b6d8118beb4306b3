"""The notebook of the page for one's own tensors: one head, with its numbers or from its file."""

from collections.abc import Sequence

from torch import Tensor

from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection
from attention_core.dashboard.your_tensors.file_reader_code import head_in_file
from attention_core.dashboard.your_tensors.numbers_as_text import packed, unpacked
from attention_core.dashboard.your_tensors.tensor_files.loaded import Loaded, Projections
from attention_core.heads.blockwise import compare_blockwise, weights_blockwise
from attention_core.heads.measures import measure_head
from attention_core.heads.precomputed import row_sums

USES = (
    *(head_in_file, unpacked, row_sums, measure_head),
    *(weights_blockwise, compare_blockwise),
)
LARGEST, LARGEST_D = 64, 128  # a head up to this size goes into the notebook itself
UNPACK_QKV = Code("""
q = unpacked(q_bytes, stored, n_q, d_k).to(device, dtype)
k = unpacked(k_bytes, stored, n_k, d_k).to(device, dtype)
v = unpacked(v_bytes, stored, n_k, d_v).to(device, dtype)
mask = None if file_mask is None else torch.tensor(file_mask, device=device).bool()
""")
UNPACK_WEIGHTS = Code("""
weights = unpacked(weights_bytes, stored, n_q, n_k)
""")
READ_QKV = Code("""
head = head_in_file(file, b, h)
q, k, v = (head[name].to(device, dtype) for name in ("q", "k", "v"))
mask = head["mask"].to(device) if "mask" in head else None
""")
READ_WEIGHTS = Code("""
weights = head_in_file(file, b, h)["weights"]
""")
COMPUTE = Code("""
if rule:
    by_rule = mask_tensor(parse_mask_rule(rule), len(q), len(k), device)
    mask = by_rule if mask is None else mask & by_rule
weights = weights_blockwise(q, k, v, mask)
print("output.shape:", (len(q), v.shape[-1]))
report(*compare_blockwise(q, k, v, mask))
""")
SUMS = Code("""
mask = None  # a mask belongs before the softmax, and these weights are finished
sums = row_sums(weights)
print(f"rows that sum to about 1  {sums.rows - sums.wrong - sums.fully_masked} of {sums.rows}")
print(f"rows that sum to 0        {sums.fully_masked}")
print(f"row sum farthest from 1   {sums.worst_sum:.5g}, of query {sums.worst[0]}")
""")
MEASURES = Code("""
measures = measure_head(weights)
print(f"mean entropy in nats        {measures.entropy:.3g}")
print(f"mean distance in positions  {measures.distance:.3g}")
print(f"keys for 90 % of the weight {measures.keys:.3g}")
""")


def head_section(
    words: Sequence[str], tensors: Loaded, b: int, h: int, *, file: str, rule: str
) -> NotebookSection:
    """Head h of batch element b. A small one comes with its numbers, a large one from `file`, the
    learner's own, which must then be there; its name and the rule enter as data."""
    _, _, n_q, n_k = tensors.shape
    finished = not isinstance(tensors, Projections)
    small = max(n_q, n_k) <= LARGEST and _widest(tensors) <= LARGEST_D
    choices = [
        Choice("file", file, "where this head is from"),
        Choice("b", b, "the batch element"),
        Choice("h", h, "the head"),
        *([] if finished else [Choice("rule", rule, "joins the mask of the file; '' for none")]),
        *(_numbers(tensors, b, h) if small else []),
    ]
    if finished:
        cells = (UNPACK_WEIGHTS if small else READ_WEIGHTS, SUMS, MEASURES)
    else:
        cells = (UNPACK_QKV if small else READ_QKV, COMPUTE, MEASURES)
    where = (
        "The numbers of this head stand below, packed: their bytes in base64."
        if small
        else "This head is too large to be written down here, so it is read from your file."
    )
    return NotebookSection("One head", (*words, where), choices, cells, USES)


def _widest(tensors: Loaded) -> int:
    """The larger of d_k and d_v; finished weights have neither."""
    if not isinstance(tensors, Projections):
        return 0
    return max(tensors.q.shape[-1], tensors.v.shape[-1])


def _numbers(tensors: Loaded, b: int, h: int) -> list[Choice]:
    """The numbers of one head, as the file holds them."""
    _, _, n_q, n_k = tensors.shape
    sizes = [Choice("n_q", n_q, "queries"), Choice("n_k", n_k, "keys")]
    if not isinstance(tensors, Projections):
        weights = tensors.weights[b, h]
        return [*sizes, _dtype(weights), Choice("weights_bytes", packed(weights), "(n_q, n_k)")]
    q, k, v = tensors.q[b, h], tensors.k[b, h], tensors.v[b, h]
    mask = None if tensors.allowed is None else tensors.allowed[b, h].int().tolist()
    return [
        *sizes,
        Choice("d_k", q.shape[-1], "of each query and key"),
        Choice("d_v", v.shape[-1], "of each value"),
        _dtype(q),
        Choice("q_bytes", packed(q), "(n_q, d_k)"),
        Choice("k_bytes", packed(k), "(n_k, d_k)"),
        Choice("v_bytes", packed(v), "(n_k, d_v)"),
        Choice("file_mask", mask, "1 = query i (row) may attend to key j; None: to all"),
    ]


def _dtype(tensor: Tensor) -> Choice:
    return Choice("stored", tensor.dtype, "the dtype in the file")
