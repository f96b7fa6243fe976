"""What is shown while the user types: which line is being typed, and which problems and hints wait for its end."""
