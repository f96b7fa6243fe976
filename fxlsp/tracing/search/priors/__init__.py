"""First guesses, before anything has failed: by names, annotations, defaults, layers, and first uses of inputs."""
