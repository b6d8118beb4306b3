"""Masks from rules that a learner types: `j <= i and i - j < 3`, never run as Python."""

from attention_core.mask_rules.rule import parse_mask_rule, rule_matrix
from attention_core.mask_rules.tensor_code import rule_on_tensors
from attention_core.mask_rules.text import MaskRuleError

__all__ = ["MaskRuleError", "parse_mask_rule", "rule_matrix", "rule_on_tensors"]
