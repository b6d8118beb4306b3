"""The bug lab: thirteen specimens, the conditions they are seen under, and their diagnosis."""
