CREATE INDEX prompts_by_workspace ON prompts (workspace_id, user_id);
