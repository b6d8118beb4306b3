"""An empty app that imports what this one is built on."""

import streamlit as st
import torch

st.text(f"torch {torch.__version__}")
