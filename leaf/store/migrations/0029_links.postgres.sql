CREATE INDEX shared_links_by_token ON shared_links (token_hash);
CREATE INDEX shared_links_by_workspace ON shared_links (workspace_id);
CREATE INDEX shared_link_chats_by_link ON shared_link_chats (link_id);
CREATE INDEX shared_link_chats_by_chat ON shared_link_chats (chat_id);
