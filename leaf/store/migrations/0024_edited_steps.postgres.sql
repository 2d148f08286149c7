CREATE INDEX edited_steps_by_message ON edited_steps (message_id, made_at);
CREATE INDEX edited_steps_running ON edited_steps (user_id) WHERE state = 'running';
CREATE INDEX edited_steps_by_chat ON edited_steps (chat_id);
