"""VS Code as code-server in Chromium, for ``make test-editors`` and for pictures."""
