import base64
import io

import numpy as np
import torch
from PIL import Image

from attention_core.dashboard.causal_masking.patch_chart import patch_chart
from attention_core.patches import sample_image


def test_the_picture_its_cells_and_where_it_looks() -> None:
    image = sample_image(12)
    weights = torch.tensor([[0.4, 0.1, 0.0], [0.0, 0.3, 0.2]])
    chart = patch_chart(image, weights, (1, 2), title="t", height=99)
    by_kind = dict(list(chart.data.groupby("kind")))
    assert by_kind["cell"][["i", "j"]].to_numpy().tolist() == [
        [i, j] for i in range(2) for j in range(3)
    ]
    attended = [[0, 0], [1, 1], [1, 2]]  # 0.2 is half of 0.4
    assert by_kind["attended"][["i", "j"]].to_numpy().tolist() == attended
    (chosen,) = by_kind["chosen"].itertuples()
    assert (chosen.top, chosen.bottom, chosen.left, chosen.right) == (0.5, 1.5, 1.5, 2.5)
    (pixels,) = by_kind["pixels"].itertuples()
    assert (pixels.top, pixels.bottom, pixels.left, pixels.right) == (-0.5, 1.5, -0.5, 2.5)
    drawn = Image.open(io.BytesIO(base64.b64decode(str(pixels.url).partition(",")[2])))
    shown = torch.from_numpy(np.array(drawn.resize((12, 12), Image.Resampling.NEAREST))) / 255
    assert torch.allclose(shown, image, atol=0.003)
    assert "row 1, column 2 is framed; 3 patches get" in chart.alt


def test_a_click_selects_a_cell() -> None:
    spec = patch_chart(sample_image(4), torch.ones(1, 1), (0, 0), title="t", height=9).spec
    (parameter,) = spec["params"]
    assert parameter["name"] == "cell" and parameter["select"]["fields"] == ["i", "j"]
