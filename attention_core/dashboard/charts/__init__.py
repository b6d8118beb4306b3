"""Charts as values: heatmaps, bars and lines, each with its alt text and its table."""
