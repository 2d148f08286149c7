-- Documents with their versions. Nothing was kept in the earlier table of this name. The text of a version is a blob and a file.

DROP TABLE documents;

CREATE TABLE documents (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- for whom it was made
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    document_type TEXT NOT NULL,
    file_name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    version INTEGER NOT NULL, -- the newest
    file_id TEXT NOT NULL, -- of the newest version
    handle TEXT NOT NULL, -- in its chat, the same for every version
    message_id TEXT NOT NULL, -- the answer that made it; empty outside of answers
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    deleted_at TIMESTAMPTZ
);

CREATE TABLE document_versions (
    document_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    file_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size BIGINT NOT NULL, -- bytes
    note TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who changed it, or was answered
    message_id TEXT NOT NULL, -- the answer that changed it; empty for a change by hand
    key TEXT NOT NULL, -- of the tool call; empty for a change by hand
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (document_id, number)
);
