"""``fxlsp doctor``: whether fxlsp works here, what it would use, and what to do where it does not."""
