"""What can be taken away of a page: a notebook, its weights and its charts as files."""
