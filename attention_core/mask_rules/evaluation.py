"""A mask rule evaluated for all cells at once, with what Python would do at each of them."""

import ast
import operator
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

_COMPARE: dict[type[ast.cmpop], Callable[[Tensor, Tensor], Tensor]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Value(NamedTuple):
    """A Python int or bool for each cell: its number, True as 1, and which of the two it is."""

    number: Tensor  # int64
    is_bool: Tensor  # bool


class Fault(NamedTuple):
    """The cells at which Python would stop, and the part of the rule that is to blame."""

    where: Tensor
    node: ast.expr
    problem: str
    advice: str


class Cells:
    """The positions that a mask is asked about, and what the parts of a rule give there.

    Everything broadcasts: what depends on i alone is computed n_q times only.

    `active` are the cells at which Python would come to a part of the rule: faults count there
    only. At the others any number will do.

    `sizes` are n_q and n_k: the positions may be some of those only.
    """

    def __init__(self, q_idx: Tensor, k_idx: Tensor, sizes: tuple[int, int]):
        self.device = q_idx.device
        self.yes = torch.tensor(True, device=self.device)
        n_q, n_k = (self._number(size) for size in sizes)
        self.names = {"i": q_idx, "j": k_idx, "n_q": n_q, "n_k": n_k}
        self.faults: list[Fault] = []  # in the order in which Python would meet them

    def value(self, node: ast.expr, active: Tensor) -> Value:
        """What this part gives at the active cells; where it cannot, that joins `faults`."""
        match node:
            case ast.Constant(value=int(number)):
                return self._int(self._number(number))
            case ast.Name(id=name):
                return self._int(self.names[name])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._int(-self.value(operand, active).number)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._bool(self.value(operand, active).number == 0)
            case ast.BinOp():
                return self._int(self._arithmetic(node, active))
            case ast.BoolOp():
                return self._and_or(node, active)
            case ast.Compare():
                return self._bool(self._comparison(node, active))
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._call(name, args, active)
        raise TypeError(f"no part of a legal rule: {ast.dump(node)}")

    def _arithmetic(self, node: ast.BinOp, active: Tensor) -> Tensor:
        a, b = self.value(node.left, active).number, self.value(node.right, active).number
        match node.op:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult():
                return a * b
            case ast.FloorDiv():
                return a.div(self._nonzero(b, active, node), rounding_mode="floor")
        return a.remainder(self._nonzero(b, active, node))

    def _and_or(self, node: ast.BoolOp, active: Tensor) -> Value:
        """The operand at which Python stops, not only whether it is true."""
        result = self.value(node.values[0], active)
        for operand in node.values[1:]:
            goes_on = (result.number != 0) == isinstance(node.op, ast.And)
            result = _where(goes_on, self.value(operand, active & goes_on), result)
        return result

    def _comparison(self, node: ast.Compare, active: Tensor) -> Tensor:
        left, holds = self.value(node.left, active).number, self.yes
        for sign, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(sign, (ast.In, ast.NotIn)):
                found = self._contains(right, left, active & holds)
                holds = holds & (found == isinstance(sign, ast.In))
            else:
                number = self.value(right, active & holds).number
                holds, left = holds & _COMPARE[type(sign)](left, number), number
        return holds

    def _contains(self, node: ast.expr, number: Tensor, active: Tensor) -> Tensor:
        if isinstance(node, ast.Tuple):
            found = ~self.yes
            for item in node.elts:
                found = found | (self.value(item, active).number == number)
            return found
        ends = [self.value(end, active).number for end in node.args]  # type: ignore[attr-defined]
        start, stop, *steps = [self._number(0), *ends] if len(ends) == 1 else ends
        up = (start <= number) & (number < stop)
        if not steps:
            return up
        step = self._nonzero(steps[0], active, node)
        down = (stop < number) & (number <= start)
        return torch.where(step > 0, up, down) & ((number - start).remainder(step) == 0)

    def _call(self, name: str, args: list[ast.expr], active: Tensor) -> Value:
        result = self.value(args[0], active)
        if name == "abs":
            return self._int(result.number.abs())
        before = operator.lt if name == "min" else operator.gt
        for argument in args[1:]:  # one after the other: of forty, no more than two take memory
            other = self.value(argument, active)
            # The first of equals stays: max(0 == 0, 1) is True, not 1.
            result = _where(before(other.number, result.number), other, result)
        return result

    def _nonzero(self, divisor: Tensor, active: Tensor, node: ast.expr) -> Tensor:
        """The divisor, with 1 for 0, which is noted as a fault."""
        zero = divisor == 0
        what = "A range has step 0" if isinstance(node, ast.Call) else "This divides by zero"
        cure = "Exclude such cells first, as in i != 0 and j % i == 0."
        self.faults.append(Fault(zero & active, node, what + " for i = {i}, j = {j}.", cure))
        return divisor.masked_fill(zero, 1)

    def _number(self, number: int) -> Tensor:
        return torch.tensor(number, device=self.device)

    def _int(self, number: Tensor) -> Value:
        return Value(number, ~self.yes)

    def _bool(self, holds: Tensor) -> Value:
        return Value(holds.long(), self.yes)


def _where(chosen: Tensor, a: Value, b: Value) -> Value:
    number = torch.where(chosen, a.number, b.number)
    return Value(number, torch.where(chosen, a.is_bool, b.is_bool))
