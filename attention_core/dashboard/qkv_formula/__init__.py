"""The QKV formula, step by step."""
