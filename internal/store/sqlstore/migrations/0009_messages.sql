-- The kinds and states of text messages. Existing rows are unchanged. next_at is the time at
-- which a message is to be sent or, while a process sends it, the time at which the claim
-- ends. claim is the token of that process. No other process may record the outcome.
ALTER TABLE message ADD COLUMN kind TEXT NOT NULL DEFAULT 'invitation';
ALTER TABLE message ADD COLUMN task TEXT;
ALTER TABLE message ADD COLUMN sender TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN state TEXT NOT NULL DEFAULT 'sent';
ALTER TABLE message ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN gateway TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN gateway_id TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN unsure BIGINT NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN claim TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN next_at BIGINT;
ALTER TABLE message ADD COLUMN expires BIGINT;
ALTER TABLE message ADD COLUMN sent_at BIGINT;
CREATE INDEX message_id ON message (id);
CREATE INDEX message_waiting ON message (org, next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX message_sent ON message (org, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX message_sent_to ON message (recipient, sent_at) WHERE sent_at IS NOT NULL;

-- A recipient gets one message of each kind about a task.
CREATE UNIQUE INDEX message_once ON message (org, task, kind, recipient) WHERE task IS NOT NULL;

-- The settings of organizations for text messages. eta and delay are the thresholds at which
-- recipients are notified; null if they are not.
CREATE TABLE message_setting (
  org TEXT NOT NULL PRIMARY KEY,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  eta BIGINT,
  delay BIGINT
);

-- Phone numbers that have opted out of the text messages of an organization. muted means
-- that the opt-out has also changed the recipient's own setting.
CREATE TABLE message_optout (
  org TEXT NOT NULL,
  phone TEXT NOT NULL,
  at BIGINT NOT NULL,
  muted BIGINT NOT NULL,
  PRIMARY KEY (org, phone)
);

-- Replies that were processed, by the id that the gateway assigned.
CREATE TABLE message_reply (
  gateway TEXT NOT NULL,
  id TEXT NOT NULL,
  received BIGINT NOT NULL,
  PRIMARY KEY (gateway, id)
);
CREATE INDEX message_reply_received ON message_reply (received);
