"""What several test files share: a learner in a browser, pages taken away, tensors, a contract."""
