-- Links by which anyone reads a snapshot of a chat or a board, and chats that members join by their address.

CREATE TABLE shared_links (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who made it
    chat_id TEXT NOT NULL, -- what it shows; empty where that is a board
    board_id TEXT NOT NULL, -- what it shows; empty where that is a chat
    token_hash TEXT NOT NULL, -- SHA-256 of what the address ends with, which is kept nowhere
    sha256 TEXT NOT NULL, -- of the snapshot
    created_at TIMESTAMPTZ NOT NULL,
    taken_at TIMESTAMPTZ NOT NULL, -- when the snapshot was made
    expires_at TIMESTAMPTZ, -- NULL: never
    opened INTEGER NOT NULL, -- how many times
    opened_at TIMESTAMPTZ -- the last time
);

-- Each chat of which something stands in a snapshot: a link opens while its maker takes part in all of them.
CREATE TABLE shared_link_chats (
    link_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who made the link
    chat_id TEXT NOT NULL
);

CREATE TABLE open_chats (
    chat_id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who opened it to members
    created_at TIMESTAMPTZ NOT NULL
);
