"""The Overview: the lesson's five tokens."""
