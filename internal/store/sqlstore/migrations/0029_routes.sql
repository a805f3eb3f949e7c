-- API keys by id, for those of other organizations and for when keys were used.
CREATE INDEX api_key_id ON api_key (id);

-- Lists of text messages by recipient, by state and by time.
CREATE INDEX message_to ON message (org, recipient, id);
CREATE INDEX message_state ON message (org, state, id);
CREATE INDEX message_time ON message (org, created, id);

-- Text messages from phones, for each organization that they are for.
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
