-- Indexes for what is asked all the time. DuckDB needs none of them: it reads a column of all rows in milliseconds, and would
-- write a row anew whenever an indexed column of it changes.

CREATE INDEX chats_by_activity ON chats (workspace_id, updated_at DESC, id DESC);
CREATE INDEX chat_participants_by_user ON chat_participants (user_id, chat_id);
CREATE INDEX messages_unfinished ON messages (created_at, id) WHERE status IN ('pending', 'streaming');
CREATE INDEX messages_answers ON messages (created_at DESC, id DESC) WHERE role = 'assistant';
CREATE INDEX messages_ended_early ON messages (status, created_at DESC, id DESC) WHERE role = 'assistant' AND status <> 'completed';
CREATE INDEX files_by_bytes ON files (workspace_id, sha256);
CREATE INDEX files_by_time ON files (workspace_id, created_at DESC, id DESC);
CREATE INDEX files_by_parent ON files (parent_id);
CREATE INDEX chat_files_by_file ON chat_files (file_id);
CREATE INDEX documents_by_chat ON documents (chat_id);
CREATE INDEX documents_by_file ON documents (file_id);
CREATE INDEX documents_by_workspace ON documents (workspace_id, updated_at DESC);
CREATE INDEX document_versions_by_key ON document_versions (key) WHERE key <> '';
CREATE INDEX cells_by_message ON cells (message_id);
CREATE INDEX consents_by_chat ON consents (chat_id);
CREATE INDEX made_files_by_bytes ON made_files (workspace_id, sha256);
CREATE INDEX derived_pictures_by_bytes ON derived_pictures (workspace_id, sha256);
CREATE INDEX logins_by_user ON logins (user_id, created_at);
CREATE INDEX usage_days_by_day ON usage_days (workspace_id, day);
CREATE INDEX usage_chats_by_day ON usage_chats (workspace_id, day);

-- Words are looked for anywhere in a text. The extension pg_trgm, which comes with PostgreSQL and which the owner of a database
-- may create, has an index for that. Where it cannot be had, texts are read one by one.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE 'Without pg_trgm, the search in long histories is slower.';
END $$;

DO $$
DECLARE
    place TEXT;
BEGIN
    SELECT n.nspname INTO place FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
    IF place IS NOT NULL THEN
        SET LOCAL maintenance_work_mem = '256MB'; -- with the default of 64 MB it takes several times as long
        EXECUTE format('CREATE INDEX messages_by_words ON messages USING gin (words %I.gin_trgm_ops)', place);
        EXECUTE format('CREATE INDEX chats_by_title ON chats USING gin (lower(title) %I.gin_trgm_ops)', place);
    END IF;
END $$;
