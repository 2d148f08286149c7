-- What Leaf knows of Google Drive. Rows belong to one user in one workspace: nobody acts through another's connection.

CREATE TABLE drive_files (
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    drive_id TEXT NOT NULL,
    revision TEXT NOT NULL,
    file_id TEXT NOT NULL,
    item JSON NOT NULL, -- name, link and the like as they were
    checked_at TIMESTAMPTZ NOT NULL, -- when this was last known to be the newest revision
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, user_id, drive_id, revision)
);

CREATE TABLE drive_folders (
    chat_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    folder_id TEXT NOT NULL,
    ref TEXT NOT NULL,
    name TEXT NOT NULL,
    shared_drive TEXT NOT NULL,
    files BIGINT NOT NULL,
    incomplete TEXT NOT NULL,
    inside JSON NOT NULL, -- ids of the folders below it
    message_id TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (chat_id, user_id, folder_id)
);

CREATE TABLE drive_changes (
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    drive_id TEXT NOT NULL,
    what TEXT NOT NULL,
    name TEXT NOT NULL,
    revision TEXT NOT NULL,
    folder_id TEXT NOT NULL, -- its parent; empty where Drive did not say
    changed_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, user_id, drive_id)
);

CREATE TABLE drive_tokens (
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    shared_drive TEXT NOT NULL, -- empty for everything that is the user's
    token TEXT NOT NULL,
    checked_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (workspace_id, user_id, shared_drive)
);
