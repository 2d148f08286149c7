"""Parts of `bench.receipts` with files of their own: `series` over foreign tables, `directions` of
changes, a long `chat`."""
