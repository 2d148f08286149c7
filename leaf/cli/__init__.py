"""The command line. main.py calls the commands; each other file has one family of them, what they
print and how they exit.

common.py, viewer.py and writer.py are what the families share.
"""
