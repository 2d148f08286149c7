-- Results of queries and of code: which number each has in its chat, and which bytes its rows are. The bytes are blobs of the workspace.
-- A call outside of any chat keeps its results under `tool:USER`.

CREATE TABLE results (
    workspace_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    message_id TEXT NOT NULL, -- the answer that made it; empty outside of answers
    turn TEXT NOT NULL, -- the turn of the model in that answer
    sha256 TEXT NOT NULL, -- of its Parquet; empty where its rows were lost before it had a row here
    size BIGINT NOT NULL,
    version INTEGER NOT NULL, -- of what stands in about
    about JSON NOT NULL, -- what lists it and computes it again
    made_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, chat_id, number)
);
CREATE INDEX results_by_bytes ON results (workspace_id, sha256);

-- The highest number that a chat has given. A chat without a line here may have results that are files alone.
CREATE TABLE result_numbers (
    workspace_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    given INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, chat_id)
);
