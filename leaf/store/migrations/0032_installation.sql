-- What holds for everybody who uses this history, whichever process serves them.

CREATE TABLE installation (
    name TEXT PRIMARY KEY, -- as default_model
    value TEXT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
