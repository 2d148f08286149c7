-- Python that ran in a chat, so that its variables can be made anew; and what a user was asked before a step went on.

CREATE TABLE cells (
    key TEXT PRIMARY KEY, -- the answer and the step in it
    workspace_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    position INTEGER NOT NULL, -- within the answer
    code TEXT NOT NULL,
    files JSON NOT NULL, -- handles
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX cells_by_chat ON cells (chat_id);

CREATE TABLE consents (
    key TEXT PRIMARY KEY, -- the answer and the step in it
    workspace_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    question TEXT NOT NULL,
    decision TEXT NOT NULL, -- '', 'allowed' or 'refused'
    user_id TEXT NOT NULL, -- who decided
    created_at TIMESTAMPTZ NOT NULL,
    decided_at TIMESTAMPTZ
);
