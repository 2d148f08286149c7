CREATE INDEX project_members_by_user ON project_members (user_id, workspace_id);
CREATE UNIQUE INDEX project_chats_by_chat ON project_chats (chat_id);
CREATE INDEX project_chats_by_project ON project_chats (project_id);
CREATE INDEX project_files_by_file ON project_files (file_id);
CREATE INDEX told_instructions_by_chat ON told_instructions (chat_id);
