-- Who did what, and when: rows are only added, and removed when they are old. Never a word of what somebody asked, read or wrote.

CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    happened_at TIMESTAMPTZ NOT NULL,
    workspace_id TEXT NOT NULL, -- empty for what concerns the whole installation
    user_id TEXT NOT NULL, -- who; empty for whoever runs Leaf, and for somebody who has no account
    action TEXT NOT NULL, -- a key of ACTIONS in store/audit.py
    subject TEXT NOT NULL, -- on which id; of a refused sign-in the address
    outcome TEXT NOT NULL -- done or refused
);
