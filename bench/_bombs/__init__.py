"""Files that ask for more than they are: made small, or long, so that a reader that trusts them
takes all memory or all time."""
