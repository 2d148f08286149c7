-- The same bytes may have several names, each a file of its own; the bytes themselves are a blob and stay stored once.

CREATE TABLE files_by_name (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    given_name TEXT NOT NULL, -- under which it came; `name` has a number where another file had this one already
    media_type TEXT NOT NULL,
    kind TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    source TEXT NOT NULL,
    upload_context TEXT NOT NULL,
    outline JSON NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    deleted_at TIMESTAMPTZ
);
INSERT INTO files_by_name (id, workspace_id, user_id, name, given_name, media_type, kind, size, sha256, source, upload_context,
    outline, created_at, deleted_at)
SELECT id, workspace_id, user_id, name, name, media_type, kind, size, sha256, source, upload_context, outline, created_at, deleted_at
FROM files;
DROP TABLE files;
ALTER TABLE files_by_name RENAME TO files;
