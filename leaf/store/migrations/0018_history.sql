-- What was used, added up, so that neither the usage page nor a budget counts every step there ever was. `store/usage_days.py`
-- writes it, with each step and all of it when a start finds it empty or in another time zone.

CREATE TABLE usage_days (
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    day DATE NOT NULL, -- in the time zone of `usage_zone`
    model TEXT NOT NULL,
    steps BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    unpriced_tokens BIGINT NOT NULL,
    cost DECIMAL(38, 12) NOT NULL, -- exact, so that the order in which steps come does not matter
    answers BIGINT NOT NULL, -- with a step on this day by this model
    day_answers BIGINT NOT NULL, -- of them, those counted here and not with another model of the day
    model_answers BIGINT NOT NULL, -- those without a later day by this model
    last_answers BIGINT NOT NULL, -- those without any later day, counted here and not with another model of the day
    PRIMARY KEY (workspace_id, user_id, day, model)
);

CREATE TABLE usage_chats (
    workspace_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    day DATE NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    unpriced_tokens BIGINT NOT NULL,
    cost DECIMAL(38, 12) NOT NULL,
    last_answers BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, user_id, chat_id, day)
);

CREATE TABLE usage_zone (
    zone TEXT PRIMARY KEY -- one row, once the steps are added up
);
