"""``fxlsp doctor``: whether fxlsp works here, and what to do where it does not.

In: the installation. Out: a finding for each thing that is checked, first those that everything else depends on.
"""
