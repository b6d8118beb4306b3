"""One mask as five short programs that anybody can run: the calls of `torch_calls`, written out.

A rule has been accepted by `parse_mask_rule` before it stands in any program, so nothing but the
words of that small language does.
"""

import textwrap
from collections.abc import Collection

import torch

from attention_core.checks import require
from attention_core.conventions.calls import top_left_causal
from attention_core.conventions.comparison import (
    ADDED,
    BOOLEAN,
    CONVENTIONS,
    FLEX,
    IS_CAUSAL,
    MULTIHEAD,
    cannot_say,
)
from attention_core.mask_rules import parse_mask_rule
from attention_core.mask_rules.tensor_code import rule_on_tensors
from attention_core.masks import flip_cells, mask_tensor

Pairs = Collection[tuple[int, int]]

WIDTH = 88  # of a line, if the rule is shorter
_SDPA = "F.scaled_dot_product_attention"
_IMPORTS = {
    MULTIHEAD: "from torch import nn\n",
    FLEX: "from torch.nn.attention.flex_attention import create_block_mask, flex_attention\n",
}


def snippets(
    rule: str,
    n_q: int,
    n_k: int,
    d_k: int,
    d_v: int,
    *,
    seed: int = 0,
    exceptions: Pairs = (),
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> dict[str, str]:
    """For each convention that can say the mask, a program that prints the output (n_q, d_v).

    rule        as `parse_mask_rule` takes it
    exceptions  cells (i, j) where the mask is the opposite of what the rule says
    The programs draw q, k, v as `sample_qkv(1, n_q, d_k, n_k=n_k, d_v=d_v, seed=seed)` does.

    Raises MaskRuleError for a rule that is not legal at these sizes, ValueError for an exception
    that is not a cell of the mask, a size below 1 or a seed that is negative.
    """
    numbers = (n_q, n_k, d_k, d_v, seed)
    whole = all(type(number) is int for number in numbers) and min(numbers[:-1]) >= 1 and seed >= 0
    require(whole, f"sizes must be whole numbers, 1 or more, seed 0 or more: {numbers}")
    device = str(torch.device(device))
    mask = flip_cells(mask_tensor(parse_mask_rule(rule), n_q, n_k), exceptions)
    plain = " ".join(rule.split())  # on one line
    sizes = f"n_q, n_k, d_k, d_v = {n_q}, {n_k}, {d_k}, {d_v}"
    tensors = f"{sizes}\ngenerator = torch.Generator().manual_seed({seed})\n" + "".join(
        f"{name} = torch.randn({n}, {d}, generator=generator){_moved(dtype, device)}\n"
        for name, n, d in (("q", "n_q", "d_k"), ("k", "n_k", "d_k"), ("v", "n_k", "d_v"))
    )
    table = _table(plain, exceptions, device)
    top_left = top_left_causal(mask)
    triangle = "is_causal=True" if top_left else "attn_mask=causal_lower_right(n_q, n_k)"
    programs = {
        BOOLEAN: f"{table}\noutput = {_SDPA}(q, k, v, attn_mask=mask)\n",
        ADDED: f"{table}\nbias = torch.zeros_like(mask, dtype=q.dtype)\n"
        "bias = bias.masked_fill(~mask, -torch.inf)  # 0 = may attend\n"
        f"output = {_SDPA}(q, k, v, attn_mask=bias)\n",
        MULTIHEAD: f"{table}\n{_MULTIHEAD_CALL}",
        IS_CAUSAL: f"output = {_SDPA}(q, k, v, {triangle})\n",
        FLEX: _flex_call(plain, exceptions, table),
    }
    return {
        name: f"{_imports(name, top_left)}\n{tensors}\n{programs[name]}print(output)\n"
        for name in CONVENTIONS
        if not cannot_say(name, mask, d_k, d_v)
    }


def _moved(dtype: torch.dtype, device: str) -> str:
    where = [f'"{device}"'] * (device != "cpu") + [str(dtype)] * (dtype != torch.float32)
    return f".to({', '.join(where)})" if where else ""


def _imports(name: str, top_left: bool) -> str:
    lines = _IMPORTS.get(name, "import torch.nn.functional as F\n")
    if name == IS_CAUSAL and not top_left:
        lines += "from torch.nn.attention.bias import causal_lower_right\n"
    return f"import torch\n{lines}"


def _table(rule: str, exceptions: Pairs, device: str) -> str:
    """The rule as a function of two whole numbers, and the mask as the table of its answers."""
    place = "" if device == "cpu" else f', device="{device}"'
    rows = "[[may_attend(i, j) for j in range(n_k)] for i in range(n_q)]"
    line = f"mask = torch.tensor({rows}{place})\n"
    made = line if len(line) <= WIDTH else f"mask = torch.tensor(\n    {rows}{place}\n)\n"
    return f"\ndef may_attend(i, j):\n    return {rule}\n\n\n{made}{_painted(exceptions)}"


def _painted(exceptions: Pairs) -> str:
    if not exceptions:
        return ""
    cells = ", ".join(f"({i},\xa0{j})" for i, j in sorted(set(exceptions)))
    lines = [line.replace("\xa0", " ") for line in textwrap.wrap(cells, WIDTH - 4)]
    listed = "[" + lines[0] + "]" if len(lines) == 1 else "[\n    " + "\n    ".join(lines) + "\n]"
    return f"for i, j in {listed}:  # cells turned round by hand\n    mask[i, j] = ~mask[i, j]\n"


_MULTIHEAD_CALL = """\
attend = nn.MultiheadAttention(d_k, num_heads=1, bias=False).to(q)
with torch.no_grad():  # identity projections, so that q, k, v stay what they are
    attend.in_proj_weight.copy_(torch.eye(d_k).repeat(3, 1))
    attend.out_proj.weight.copy_(torch.eye(d_k))
    output, _ = attend(q, k, v, attn_mask=~mask, need_weights=False)
"""


def _flex_call(rule: str, exceptions: Pairs, table: str) -> str:
    spoken = None if exceptions else rule_on_tensors(rule)
    made = f"{table}\n" if spoken is None else ""
    answer = "mask[i, j]" if spoken is None else spoken
    return (
        f"{made}\ndef mask_mod(batch, head, i, j):  # tensors of positions\n"
        f"    return {answer}\n\n\n"
        "block_mask = create_block_mask(mask_mod, None, None, n_q, n_k, device=q.device)\n"
        "output = flex_attention(\n"
        "    q[None, None], k[None, None], v[None, None], block_mask=block_mask\n"
        ")[0, 0]\n"
    )
