"""What can be done with the mask once it is written: one part at a time."""

from attention_core.dashboard.mask_workshop.alignment import show_alignment
from attention_core.dashboard.mask_workshop.bias import show_bias
from attention_core.dashboard.mask_workshop.challenges import show_challenges
from attention_core.dashboard.mask_workshop.conventions import show_conventions
from attention_core.dashboard.mask_workshop.gallery import show_gallery
from attention_core.dashboard.mask_workshop.masked_rows import show_masked_rows

PARTS = {
    "Gallery": show_gallery,
    "Conventions": show_conventions,
    "Dead rows": show_masked_rows,
    "Alignment": show_alignment,
    "Bias": show_bias,
    "Challenges": show_challenges,
}
