"""Attention as a soft look-up by content."""
