CREATE INDEX boards_by_workspace ON boards (workspace_id);
CREATE INDEX board_pins_by_board ON board_pins (board_id, place);
CREATE INDEX board_pins_by_chat ON board_pins (chat_id);
