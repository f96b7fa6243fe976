"""Proxies with values, and what Python's operations on them return.

In: an operation of Python on a traced value, with the frame that runs it. Out: what eager mode returns, after a finding
where a plain ``torch.fx`` proxy would refuse. Operations that a plain proxy supports remain torch.fx's own.
"""
