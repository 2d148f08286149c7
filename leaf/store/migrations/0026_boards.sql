-- Boards: pages of pinned results. A pin holds what it shows, so that it can be shown to whoever may see its board.

CREATE TABLE boards (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- whose it is; nobody else changes it
    name TEXT NOT NULL,
    shared BOOLEAN NOT NULL, -- all members of the workspace may see it
    created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE board_pins (
    id TEXT PRIMARY KEY,
    board_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- whose board it is on
    chat_id TEXT NOT NULL,
    message_id TEXT NOT NULL, -- the answer; empty for a result of none
    result TEXT NOT NULL, -- its name in the chat
    sha256 TEXT NOT NULL, -- of its rows, by which it is known that they are still those that were pinned
    kind TEXT NOT NULL, -- table or chart
    title TEXT NOT NULL,
    place INTEGER NOT NULL, -- on the board, from 1
    content JSON NOT NULL, -- what is shown of it
    earlier JSON, -- what was shown before it was computed again and came out otherwise
    outcome JSON, -- what came of computing it again the last time
    pinned_at TIMESTAMPTZ NOT NULL,
    removed_at TIMESTAMPTZ -- it was taken off, which can be undone for a day
);
