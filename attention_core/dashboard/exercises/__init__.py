"""Three exercises, each a prediction, an exploration, a check and an explanation."""
