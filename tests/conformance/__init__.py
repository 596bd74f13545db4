"""What every library that calls itself libascendcl.so must answer, as tables of calls (see language.py)."""
