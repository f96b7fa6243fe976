"""The command ``fxlsp``. Results go to standard output, everything else to standard error."""
