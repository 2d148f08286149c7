-- Steps of answers that a person ran again with code of their own, beside the step as it was. Their rows are results of the chat.

CREATE TABLE edited_steps (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    message_id TEXT NOT NULL, -- the answer
    call_id TEXT NOT NULL, -- its step
    user_id TEXT NOT NULL, -- who edited it
    tool TEXT NOT NULL,
    given JSON NOT NULL, -- the input of the tool, the edited code in it
    state TEXT NOT NULL, -- running, done, failed or stopped
    output JSON, -- as of a step of an answer
    error TEXT NOT NULL,
    progress TEXT NOT NULL, -- while it runs, how far it is
    stop BOOLEAN NOT NULL, -- somebody wants it stopped
    made_at TIMESTAMPTZ NOT NULL,
    beat_at TIMESTAMPTZ NOT NULL -- while it runs, by the database's clock; older than some seconds: its process is gone
);
