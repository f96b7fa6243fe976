"""A language server that shows what torch.fx records of a PyTorch model."""

__version__ = "0.1.0"
