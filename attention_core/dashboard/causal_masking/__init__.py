"""The causal mask: hide the future, generate, and images that need no mask."""
