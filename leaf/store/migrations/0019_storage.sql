-- What is said in recordings, once it is known whole. The words are a blob of the workspace.

CREATE TABLE transcripts (
    workspace_id TEXT NOT NULL,
    source_sha256 TEXT NOT NULL, -- the recording's bytes
    sha256 TEXT NOT NULL, -- of its captions as WebVTT
    size BIGINT NOT NULL,
    version INTEGER NOT NULL, -- of how the captions are written
    cues BIGINT NOT NULL, -- 0 where nobody speaks
    seconds DOUBLE PRECISION NOT NULL, -- how long it is
    engine TEXT NOT NULL,
    made_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, source_sha256)
);

-- Packages that a chat has installed, so that they can be installed again where its folder is lost.
CREATE TABLE chat_packages (
    workspace_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    packages JSON NOT NULL, -- name -> version
    installed_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, chat_id)
);
