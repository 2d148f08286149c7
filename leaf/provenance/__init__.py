"""Where the figures and words of an answer come from: what it rests on, how much of each file that
is, the receipts of its figures, and its citations as they are read."""
