"""Answering without a model: a question is read by rules, against the columns that the files have.

words.py     a question as words; how near a word is to a name
profiles.py  tables and columns, from what describe_table says
reading.py   which columns, values, figures and periods a question names
plan.py      a reading -> SQL, a chart, and the words that say how the question was understood
answers.py   results of tools -> Markdown
"""
