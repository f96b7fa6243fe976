"""What the Makefile runs. ``environment``, ``interpreters`` and ``matrix`` need nothing but the standard library."""
