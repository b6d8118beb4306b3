"""Parts of a page that several rooms show: formula, source, agreement, refusals."""
