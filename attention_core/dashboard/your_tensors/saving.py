"""How to save heads of a Hugging Face model: two pieces of code to copy, which a test runs."""

import streamlit as st

SAVE_QKV = """\
import torch
from safetensors.torch import save_file

# `model` and `inputs` are yours. The names are those of BERT: print(model) shows yours.
attention = model.encoder.layer[0].attention.self
heads, found, hooks = attention.num_attention_heads, {}, []


def keep(name):
    def hook(module, inputs, output):  # output (batch, n, heads * d_head)
        batch, n, _ = output.shape
        found[name] = output.reshape(batch, n, heads, -1).transpose(1, 2).contiguous()

    return hook


for name, projection in {"q": attention.query, "k": attention.key, "v": attention.value}.items():
    hooks.append(projection.register_forward_hook(keep(name)))
with torch.no_grad():
    model(**inputs)
for hook in hooks:
    hook.remove()
save_file(found, "heads.safetensors")  # q, k, v: (batch, heads, n, d_head)
"""

SAVE_WEIGHTS = """\
import numpy as np
import torch

# Load the model with attn_implementation="eager": the others return no weights.
with torch.no_grad():
    attentions = model(**inputs, output_attentions=True).attentions
first_text = [layer[0] for layer in attentions]  # (heads, n, n) for each layer
weights = torch.stack(first_text).float().numpy()  # (layers, heads, n, n)
np.savez_compressed("weights.npz", weights=weights)
"""


def show_saving() -> None:
    """Both ways behind a fold."""
    with st.expander("How to save heads of your own model", icon=":material/save:"):
        st.markdown(
            "**q, k and v**, by *forward hooks*: functions that see what a layer returns. The "
            "projections of one layer return all heads side by side, so they are cut apart."
        )
        st.code(SAVE_QKV, language="python", wrap_lines=True)
        st.markdown(
            'A mask can be saved beside them: `found["mask"]`, True where a query may attend, '
            "(n_q, n_k) or with batch and heads before. Some models (Llama, Qwen) turn q and k "
            "by their positions *after* the projections, which changes the weights. GPT-2 keeps q, "
            "k and v in one layer (`c_attn`). Save the **finished weights** of those instead, here "
            "of all layers at once:"
        )
        st.code(SAVE_WEIGHTS, language="python", wrap_lines=True)
