"""What may be used: days and months, what is left of a budget, and the sentences for both. Nothing
here asks a model.

periods   when a day and a month begin, in a time zone      rules   figures -> meters -> sentences, pure
budgets   class Budgets: the same for a caller at this moment, from the store
"""
