"""The parts of the mask workshop: the mask in hand, and what can be done with it."""
