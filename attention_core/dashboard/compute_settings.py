"""Where and how a page computes: the learner's device and dtype."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ComputeSettings:
    """Where and how the page computes: canonical names, so that they can key a cache."""

    device: str
    dtype: str
