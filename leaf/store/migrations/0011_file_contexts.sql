-- What people wrote about files, for those who may see it: who wrote it, who takes part in the chat in which it was written,
-- and everybody of the workspace once it is shared. `files.upload_context` is not read any more: it held questions of private
-- chats, which stand in their chats, and of several people together, which nobody can tell apart.

CREATE TABLE file_contexts (
    file_id TEXT NOT NULL,
    user_id TEXT NOT NULL, -- who wrote it
    chat_id TEXT NOT NULL, -- in which it was written; empty outside of chats
    words TEXT NOT NULL,
    shared BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (file_id, user_id, chat_id)
);

INSERT INTO file_contexts (file_id, user_id, chat_id, words, shared, created_at)
SELECT f.id, f.user_id, '', f.upload_context, f.source = 'sample', f.created_at FROM files f
WHERE f.upload_context <> ''
    AND (f.source = 'sample' AND f.upload_context = 'Sample data'
        OR f.source <> 'sample'
            AND (position(chr(10) IN f.upload_context) = 0
                OR (SELECT count(*) FROM workspace_members m WHERE m.workspace_id = f.workspace_id) = 1)
            AND NOT EXISTS (SELECT 1 FROM messages x JOIN chats c ON c.id = x.chat_id
                WHERE c.workspace_id = f.workspace_id AND x.role = 'user' AND x.words = lower(f.upload_context)));
