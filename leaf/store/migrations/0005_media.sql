-- Pictures made from files, and where a model server keeps copies of them. The bytes are blobs of the workspace.

CREATE TABLE derived_pictures (
    workspace_id TEXT NOT NULL,
    source_sha256 TEXT NOT NULL, -- the file's bytes
    page INTEGER NOT NULL,
    recipe TEXT NOT NULL, -- how it was made; another recipe never takes the place of what was sent
    sha256 TEXT NOT NULL, -- the picture's bytes
    media_type TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, source_sha256, page, recipe)
);

CREATE TABLE model_files (
    workspace_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    file_id TEXT NOT NULL, -- empty: the server did not take it, so it goes inline
    expires_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, sha256, endpoint)
);
