"""The recovering pass: what torch.fx would record if it did not stop, and every reason for which it would.

``torch.fx.symbolic_trace`` ends at its first failure. Here the proxies know their values, so that each thing that fails
is noted at its expression and passed, and the rest of the model is mapped as if nothing had happened.
"""
