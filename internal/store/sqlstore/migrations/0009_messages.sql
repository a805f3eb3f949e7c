-- What text messages are, and what became of them. What was there before stays
-- as it is. A message that is to be sent has a time for it in next_at; while a
-- process sends it, that is when the claim ends, and claim is a token of the
-- process: no other one may record the outcome.
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

-- A recipient is notified of one thing about a task once.
CREATE UNIQUE INDEX message_once ON message (org, task, kind, recipient) WHERE task IS NOT NULL;

-- What an organization has set for its text messages. The thresholds are those
-- at which recipients are notified: null if none are.
CREATE TABLE message_setting (
  org TEXT NOT NULL PRIMARY KEY,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  eta BIGINT,
  delay BIGINT
);

-- Numbers that want no text messages of an organization. muted says that the
-- recipient's own setting was changed for it.
CREATE TABLE message_optout (
  org TEXT NOT NULL,
  phone TEXT NOT NULL,
  at BIGINT NOT NULL,
  muted BIGINT NOT NULL,
  PRIMARY KEY (org, phone)
);

-- Replies that were taken in, by the id their gateway gave them.
CREATE TABLE message_reply (
  gateway TEXT NOT NULL,
  id TEXT NOT NULL,
  received BIGINT NOT NULL,
  PRIMARY KEY (gateway, id)
);
CREATE INDEX message_reply_received ON message_reply (received);
