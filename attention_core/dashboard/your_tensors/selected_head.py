"""The head that the learner looks at: which one of which tensors, under which mask."""

from dataclasses import dataclass

from torch import Tensor

from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.your_tensors.computing import mask_of, weights_of
from attention_core.dashboard.your_tensors.tensor_files.loaded import Loaded, Projections


@dataclass(frozen=True, eq=False)
class SelectedHead:
    """The head that is looked at, and the mask of the learner's rule, None for none."""

    tensors: Loaded
    b: int
    h: int
    rule: Tensor | None
    settings: ComputeSettings

    @property
    def mask(self) -> Tensor | None:
        """Which pairs are allowed, (n_q, n_k); None for all, and for finished weights."""
        if not isinstance(self.tensors, Projections):
            return None
        return mask_of(self.tensors, self.b, self.h, self.rule, self.settings)

    def weights(self, rows: slice) -> Tensor:
        """The weights of some queries, (rows, n_k)."""
        return weights_of(self.tensors, self.b, self.h, self.rule, self.settings, rows)
