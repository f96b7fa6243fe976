"""A language server that shows what torch.fx makes of a PyTorch model while it is edited."""

__version__ = "0.1.0"
