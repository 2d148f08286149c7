-- The tool call that made it: one that is carried out again, since it was interrupted, makes it once. Empty outside of answers, and for
-- what was made before there was this column.

ALTER TABLE results ADD COLUMN call TEXT DEFAULT '';
ALTER TABLE made_files ADD COLUMN call TEXT DEFAULT '';
