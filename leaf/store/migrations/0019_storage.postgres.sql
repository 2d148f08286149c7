-- Blobs of those who have no other place for them that lasts. Whether they stand here LEAF_STORAGE_URL says.

CREATE TABLE blobs (
    workspace_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size BIGINT NOT NULL,
    written_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, sha256)
);

CREATE TABLE blob_pieces (
    workspace_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    number INTEGER NOT NULL, -- from 0
    bytes BYTEA NOT NULL,
    PRIMARY KEY (workspace_id, sha256, number)
);
