"""What each page's notebook holds: one recipe for each part of a page."""
