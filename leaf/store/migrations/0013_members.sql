-- The archive or mail that a file came out of, empty for all others. Its folders stand in `name`, in front of what it is called
-- there: `2024.zip/sales/may.csv`. Names of files that are there have no slash: they stay as they are.

ALTER TABLE files ADD COLUMN parent_id TEXT DEFAULT '';
