-- Which process writes which answer, where several share one history.

CREATE TABLE processes (
    id TEXT PRIMARY KEY, -- of one start
    version TEXT NOT NULL, -- of the order of the steps that it can run
    draining BOOLEAN NOT NULL, -- it ends, and takes nothing up any more
    started_at TIMESTAMPTZ NOT NULL,
    beat_at TIMESTAMPTZ NOT NULL -- by the database's clock; older than some seconds: it is gone
);

CREATE TABLE run_leases (
    message_id TEXT PRIMARY KEY, -- an answer that is being written
    process_id TEXT NOT NULL, -- by whom; empty: by nobody, whoever takes it first has it
    token BIGINT NOT NULL, -- raised whenever somebody else takes it: what holds an older one writes nothing
    version TEXT NOT NULL, -- of the order of the steps with which it was begun
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who asked
    chat_id TEXT NOT NULL,
    stop BOOLEAN NOT NULL, -- somebody wants it stopped
    taken_at TIMESTAMPTZ NOT NULL
);
