"""What a person would ask of the data at hand: which columns are for what, the questions that follow
from it, their words, and those that follow an answer. Every question stands for a query of the rules;
who offers it has run that query.
"""
