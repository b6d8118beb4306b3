"""What a rule is worth for a target: right, right at one size only, or wrong at a named cell."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.dashboard.charts.chart import Chart
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.mask_workshop.targets import Target
from attention_core.dashboard.panels.wrong_cells import first_wrong_cell, wrong_cells
from attention_core.dashboard.questions.verdict import Verdict, judged
from attention_core.mask_rules import MaskRuleError, parse_mask_rule
from attention_core.masks import mask_tensor


@dataclass(frozen=True, eq=False)
class JudgedRule:
    """What a rule is worth, the result in short, and the learner's mask at the target's sizes."""

    verdict: Verdict
    result: str
    mask: Tensor


def judge(target: Target, rule: str) -> JudgedRule:
    """Hold a rule against the target, at its sizes and at others. Raises MaskRuleError."""
    written = parse_mask_rule(rule)
    mask, wanted = mask_tensor(written, *target.sizes), target.mask(target.sizes)
    if not torch.equal(mask, wanted):
        wrong = wrong_cells(mask, wanted)
        return JudgedRule(judged(False, _wrong(mask, wanted, wrong)), wrong, mask)
    here, there = (f"{n_q} × {n_k}" for n_q, n_k in (target.sizes, target.elsewhere))
    try:
        beyond = mask_tensor(written, *target.elsewhere)
    except MaskRuleError as error:
        problem = str(error).partition("\n")[0]
    else:
        wanted = target.mask(target.elsewhere)
        if torch.equal(beyond, wanted):
            said = f"The same mask at {here}, and at {there} as well."
            return JudgedRule(judged(True, said), said, mask)
        problem = wrong_cells(beyond, wanted)
    general = (
        "The picture is the beginning of a pattern that goes on: say what its cells have in "
        "common, with n_q and n_k where the sizes matter, and it will fit everywhere."
    )
    result = f"right at {here}, not at {there}"
    says = f"Right at {here}, but not at {there}. {problem} {general}"
    return JudgedRule(judged(False, says), result, mask)


def difference(mask: Tensor, wanted: Tensor) -> Chart:
    """Where a mask (n_q, n_k) allows too much and where too little; the first such cell framed."""
    return heatmap(
        mask.float() - wanted.float(),
        title="Wrong cells: 1 too much, −1 missing",
        alt_text=f"Your mask minus the target. {wrong_cells(mask, wanted)}",
        scale="signed",
        limit=1.0,
        chosen=first_wrong_cell(mask, wanted),
        colour_bar=False,
    )


def _wrong(mask: Tensor, wanted: Tensor, found: str) -> str:
    """The wrong cells, and the usual reason if it is known."""
    if torch.equal(mask, ~wanted):
        return f"{found} It is upside down: True means *may attend*. Put not ( ) round it."
    if mask.shape[0] == mask.shape[1] and torch.equal(mask, wanted.mT):
        return f"{found} Rows and columns are exchanged: i is the query's row, j the key's column."
    return found
