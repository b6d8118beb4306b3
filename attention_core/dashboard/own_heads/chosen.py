"""The head that the learner looks at: which one of which tensors, under which mask."""

from dataclasses import dataclass

from torch import Tensor

from attention_core.dashboard.frame import Setting
from attention_core.dashboard.own_heads.computing import mask_of, weights_of
from attention_core.dashboard.tensor_files.loaded import Loaded, Projections


@dataclass(frozen=True, eq=False)
class Chosen:
    """The head that is looked at, and the mask of the learner's rule, None for none."""

    tensors: Loaded
    b: int
    h: int
    rule: Tensor | None
    setting: Setting

    @property
    def mask(self) -> Tensor | None:
        """Which pairs are allowed, (n_q, n_k); None for all, and for finished weights."""
        if not isinstance(self.tensors, Projections):
            return None
        return mask_of(self.tensors, self.b, self.h, self.rule, self.setting)

    def weights(self, rows: slice) -> Tensor:
        """The weights of some queries, (rows, n_k)."""
        return weights_of(self.tensors, self.b, self.h, self.rule, self.setting, rows)
