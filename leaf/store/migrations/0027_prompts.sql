-- Questions that people keep to ask them again. One that is shared is read by everybody of its workspace.

CREATE TABLE prompts (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who saved it
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    shared BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
