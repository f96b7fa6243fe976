"""Verdicts of torch.export and torch.compile: what is asked, when, and which answers apply to the present text."""
