"""The pages, each a script that reads in the order in which it is seen. shell.py in `leaf/ui` runs
them, behind the gate."""
