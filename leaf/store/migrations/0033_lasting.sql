-- Tables of files as Parquet that are in the store too, since making them takes longer than fetching them. Each Parquet file is a blob.
CREATE TABLE converted_tables (
    workspace_id TEXT NOT NULL,
    source_sha256 TEXT NOT NULL, -- the file's bytes
    kind TEXT NOT NULL, -- as what they were read
    number INTEGER NOT NULL, -- its place among the tables of the file, from 0
    version INTEGER NOT NULL, -- of the readers
    sha256 TEXT NOT NULL, -- of the Parquet
    size BIGINT NOT NULL,
    about JSON NOT NULL, -- what is known of the table, as beside its Parquet on a disk
    made_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, source_sha256, kind, number)
);

-- Blobs that are not as they should be: `missing` or `altered` where they were looked for, or `swept`, since nothing is made of them.
CREATE TABLE blob_states (
    workspace_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    state TEXT NOT NULL,
    since TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, sha256)
);

-- What rows that were deleted for good have left elsewhere: ids and hashes only.
CREATE TABLE removal_notes (
    id TEXT PRIMARY KEY,
    gone JSON NOT NULL,
    noted_at TIMESTAMPTZ NOT NULL
);

-- What one process of all does now and then.
CREATE TABLE duties (
    name TEXT PRIMARY KEY,
    due_at TIMESTAMPTZ NOT NULL,
    position TEXT NOT NULL -- where the next round begins
);
