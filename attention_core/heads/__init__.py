"""Whole heads: their weights block by block, three measures of each, weights computed elsewhere."""
