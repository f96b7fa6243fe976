"""VS Code itself, as code-server in headless Chromium: for ``make test-editors`` and the pictures of the readme."""
