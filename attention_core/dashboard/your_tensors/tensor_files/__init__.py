"""Tensor files of unknown origin: .npy, .npz and .safetensors, checked before memory is spent."""
