"""Tables of plain texts, laid out for the eye: `tables` finds them, drawn with pipes (`drawn`) or in
columns that blanks part (`columns`), and says what it left outside."""
