CREATE INDEX audit_by_workspace ON audit (workspace_id, happened_at DESC, id DESC);
CREATE INDEX audit_by_time ON audit (happened_at);

-- For what goes with a chat that is deleted for good.
CREATE INDEX document_versions_by_file ON document_versions (file_id);
CREATE INDEX file_contexts_by_chat ON file_contexts (chat_id);
