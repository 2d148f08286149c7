"""Answering without a model: a question is read by rules, against the columns and values that the files have.

tables.py    words, tables and columns: what may be named
grammar.py   which questions are understood, and as what
answers.py   what was understood as SQL, results of tools as Markdown
"""
