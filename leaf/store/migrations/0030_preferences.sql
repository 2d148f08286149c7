-- What a person chose for themselves, in whichever workspace they are.

CREATE TABLE preferences (
    user_id TEXT PRIMARY KEY,
    language TEXT NOT NULL, -- of the page; empty: as the browser says
    updated_at TIMESTAMPTZ NOT NULL
);
