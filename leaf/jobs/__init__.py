"""Jobs: what takes longer than a page waits for, kept in the history, so that it goes on after a
restart.

    browser, command → bytes kept, item by item → job → worker thread → batches → files in the library

A job is a row with its items; see `leaf/store/jobs.py`. What an item has become is written in the
transaction that makes its file, so doing it again after a kill makes nothing twice.
"""
