"""The maths, the pages, and the pages in a real browser."""
