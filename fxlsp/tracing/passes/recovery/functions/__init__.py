"""Functions that the recovering pass calls in another way than with proxies.

In: calls of builtins, of autograd functions, and of functions of other packages. Out: what they return for the values,
as proxies, and a finding where torch.fx would have raised. A call that torch.fx records is left as it is.
"""
