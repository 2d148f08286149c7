CREATE INDEX usage_chats_by_chat ON usage_chats (workspace_id, chat_id);
