-- Files that Python wrote in a chat. The bytes are blobs of the workspace.

CREATE TABLE made_files (
    chat_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    name TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    message_id TEXT NOT NULL, -- the answer in which it was written first
    size BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (chat_id, sha256, name)
);
