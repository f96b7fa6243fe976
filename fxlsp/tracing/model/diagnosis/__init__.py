"""What an exception or a text says is wrong: messages, codes, places, and whose mistake it is.

In: exceptions with their tracebacks, and the text of classes. Out: problems, and whether a failure is the model's own,
torch.fx's, or one of arguments that were guessed. Nothing is run to find out.
"""
