-- Whose permission it is. Empty: anybody's in the chat.

ALTER TABLE consents ADD COLUMN of_user TEXT DEFAULT '';
