"""What contains user code, and what fxlsp uses of systems and of torch that no interface states.

In: a process that is about to run user code. Out: the same process, restricted, and what other processes learn of its
end. Nothing here knows what a model is.
"""
