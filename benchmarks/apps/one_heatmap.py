"""The least that Streamlit, Altair and PyTorch take to show one heatmap."""

import altair as alt
import pandas as pd
import streamlit as st
import torch

weights = torch.randn(5, 5).softmax(-1)
cells = [{"i": i, "j": j, "weight": float(weights[i, j])} for i in range(5) for j in range(5)]
chart = alt.Chart(pd.DataFrame(cells)).mark_rect().encode(x="j:O", y="i:O", color="weight:Q")
with st.container(key="qkv_weights_box"):
    st.altair_chart(chart, alt="Random attention weights of five queries on five keys")
