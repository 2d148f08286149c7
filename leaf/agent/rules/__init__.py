"""Answering without a model: a question is read by rules, against the columns and values that the
files have."""
