"""What the tests of the maths share: the tensors of the lesson, one thread, and no deadlines."""

import pytest
import torch
from hypothesis import settings

torch.set_num_threads(1)  # tensors this small: handing them to a second thread takes longer
settings.register_profile("no deadline", deadline=None)  # no test depends on wall-clock speed
settings.load_profile("no deadline")


@pytest.fixture
def lesson():
    """q, k, v as the lesson makes them."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return tuple(torch.randn(2, 5, 8) for _ in range(3))
