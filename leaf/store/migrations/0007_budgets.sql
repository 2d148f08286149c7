-- What each step of an answer used, as soon as it has: a run counts while it goes on. Rows are only added.

CREATE TABLE usage_steps (
    message_id TEXT NOT NULL,
    step TEXT NOT NULL, -- a replayed step is the same row
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who asked
    chat_id TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost DOUBLE PRECISION, -- null where the price is not known
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (message_id, step)
);
CREATE INDEX usage_steps_by_time ON usage_steps (workspace_id, created_at);

INSERT INTO usage_steps (message_id, step, workspace_id, user_id, chat_id, model, input_tokens, cached_tokens, output_tokens, cost,
    created_at)
SELECT message_id, 'answer', workspace_id, user_id, chat_id, model, input_tokens, cached_tokens, output_tokens,
    CASE WHEN cost > 0 THEN cost END, created_at
FROM usage;
DROP TABLE usage;

-- What owners allow. A null is not set here: then what is set for every member holds, then the installation's settings.

CREATE TABLE budgets (
    workspace_id TEXT NOT NULL,
    subject TEXT NOT NULL, -- 'workspace', 'members' for each of them, or the id of one user
    day_usd DOUBLE PRECISION,
    day_tokens BIGINT,
    month_usd DOUBLE PRECISION,
    month_tokens BIGINT,
    set_by TEXT NOT NULL,
    set_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, subject)
);
