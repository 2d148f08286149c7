-- Projects: chats and files that belong together, with instructions for the model. Who is in one sees it and its chats.

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who made it
    title TEXT NOT NULL,
    instructions TEXT NOT NULL, -- empty for none
    created_at TIMESTAMPTZ NOT NULL,
    used_at TIMESTAMPTZ NOT NULL -- when something was asked in it last
);

CREATE TABLE project_members (
    project_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL, -- who is in it longest is its host
    PRIMARY KEY (project_id, user_id)
);

CREATE TABLE project_chats (
    chat_id TEXT NOT NULL, -- in one project at most
    project_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    people JSON NOT NULL, -- who took part in the chat when it came, and stays there when it leaves
    created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE project_files (
    project_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    file_id TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (project_id, file_id)
);

CREATE TABLE told_instructions (
    message_id TEXT PRIMARY KEY, -- the question with which the model was told
    chat_id TEXT NOT NULL,
    digest TEXT NOT NULL, -- of what it was told
    created_at TIMESTAMPTZ NOT NULL
);
