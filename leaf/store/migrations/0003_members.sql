-- Who signed in as whom, which sign-ins still hold, and who was invited where.

CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE TABLE logins (
    id TEXT PRIMARY KEY, -- a hash; no token and no cookie is kept
    user_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL, -- the one that was open last
    created_at TIMESTAMPTZ NOT NULL,
    ended_at TIMESTAMPTZ
);

CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    email TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who invited
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (workspace_id, email)
);
