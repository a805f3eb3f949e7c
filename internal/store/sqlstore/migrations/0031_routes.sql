-- API keys by id, to find keys of other organizations and to save when keys were used.
CREATE INDEX api_key_id ON api_key (id);

-- Lists of text messages by recipient, by state and by time.
CREATE INDEX message_to ON message (org, recipient, id);
CREATE INDEX message_state ON message (org, state, id);
CREATE INDEX message_time ON message (org, created, id);

-- Text messages from phones, with a row for each organization that received one.
CREATE TABLE message_received (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  at BIGINT NOT NULL,
  phone TEXT NOT NULL,
  recipient TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX message_received_at ON message_received (at);
CREATE INDEX message_received_phone ON message_received (org, phone, id);

-- Columns for prefix search, in lower case. They are null in rows that are older than this
-- migration until a background step fills them in.
ALTER TABLE destination ADD COLUMN street TEXT;
CREATE INDEX destination_street ON destination (org, street, id) WHERE street <> '';
CREATE INDEX destination_unfilled ON destination (created) WHERE street IS NULL;
ALTER TABLE worker ADD COLUMN name TEXT;
CREATE INDEX worker_name ON worker (org, name, id);
CREATE INDEX worker_unfilled ON worker (created) WHERE name IS NULL;
CREATE INDEX task_recipient ON task (org, recipient, created, id) WHERE recipient IS NOT NULL;
CREATE INDEX task_destination ON task (org, destination, created, id);

-- The results of completed tasks, for analytics, and an index that contains all of them.
ALTER TABLE task ADD COLUMN success BIGINT;
ALTER TABLE task ADD COLUMN failure TEXT;
ALTER TABLE task ADD COLUMN distance DOUBLE PRECISION;
ALTER TABLE task ADD COLUMN started BIGINT;
ALTER TABLE task ADD COLUMN arrived BIGINT;
ALTER TABLE task ADD COLUMN rating BIGINT;
CREATE INDEX task_result ON task (org, completed, worker, success, failure, distance, started, arrived, rating, complete_after, complete_before)
  WHERE completed IS NOT NULL;
CREATE INDEX task_unfilled ON task (completed) WHERE completed IS NOT NULL AND success IS NULL;
