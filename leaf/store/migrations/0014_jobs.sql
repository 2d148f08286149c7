-- Files on their way into the library, so that a restart goes on with them: what was asked for, and what became of each file.

CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL, -- files, drive or transcript
    state TEXT NOT NULL, -- arriving, working, done, stopped or failed
    total BIGINT NOT NULL, -- files as far as is known; 0 before that
    asked JSON NOT NULL, -- what was asked for
    outcome JSON NOT NULL, -- what came of it beside the files
    problem TEXT NOT NULL,
    holder TEXT NOT NULL, -- the process that works on it
    beat_at TIMESTAMPTZ NOT NULL, -- when it last did
    created_at TIMESTAMPTZ NOT NULL,
    ended_at TIMESTAMPTZ
);
CREATE INDEX jobs_by_workspace ON jobs (workspace_id);

CREATE TABLE job_items (
    job_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    given JSON NOT NULL, -- how its content is found
    state TEXT NOT NULL, -- waiting, added, known, unreadable or failed
    file_id TEXT NOT NULL,
    problem TEXT NOT NULL,
    PRIMARY KEY (job_id, position)
);
