"""``fxlsp doctor``: whether fxlsp works here, what it would use, and what to do where it does not.

In: the installation. Out: a finding for each thing that is looked at, those first that everything else needs.
"""
