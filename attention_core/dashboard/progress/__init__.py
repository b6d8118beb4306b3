"""What the learner predicted and what came of it, kept in the learner's own browser."""
