"""Recorder of how modules are made and called, which runs inside the user's own program.

In: a program that constructs and calls ``nn.Module`` classes of a workspace. Out: a recording, one JSON file, of their
arguments. The program behaves as it does without the recorder: an error of the recorder never reaches it, and no
call is observed any more once the first ones are noted. Neither values of tensors nor secrets are recorded. Only the
standard library is imported, for the package is loaded by whatever interpreter runs the program.
"""
