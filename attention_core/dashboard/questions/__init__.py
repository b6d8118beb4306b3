"""How the lesson asks: a guess first, then a verdict computed from live tensors."""
