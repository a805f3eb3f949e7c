-- The event log: seq is given to committed events in order, so that a reader
-- who has seen one number never misses a smaller one.
ALTER TABLE event ADD COLUMN seq BIGINT;
CREATE UNIQUE INDEX event_seq ON event (org, seq) WHERE seq IS NOT NULL;
CREATE INDEX event_unsequenced ON event (created) WHERE seq IS NULL;

CREATE TABLE event_head (
  org TEXT NOT NULL PRIMARY KEY,
  seq BIGINT NOT NULL
);

CREATE TABLE webhook (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  trigger_id BIGINT NOT NULL,
  threshold DOUBLE PRECISION,
  connection_events BIGINT NOT NULL,
  created BIGINT NOT NULL,
  modified BIGINT NOT NULL,
  enabled BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX webhook_id ON webhook (id);

-- What every attempt writes. It stands apart from what every change of a
-- record reads, so that neither makes the other begin again. claim is a token
-- of the process that sends to the webhook until a time; no other process may
-- record an attempt.
CREATE TABLE webhook_tally (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  succeeded BIGINT NOT NULL,
  streak BIGINT NOT NULL,
  claim TEXT NOT NULL,
  claimed_until BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);

-- The notifications of a webhook. The last attempt is here, those before it are in
-- attempt: most have one.
CREATE TABLE notification (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  webhook TEXT NOT NULL,
  event TEXT NOT NULL,
  trigger_id BIGINT NOT NULL,
  task TEXT,
  sequence BIGINT NOT NULL,
  due BIGINT NOT NULL,
  next_at BIGINT,
  attempts BIGINT NOT NULL,
  state BIGINT NOT NULL,
  attempted_at BIGINT NOT NULL,
  took BIGINT NOT NULL,
  status BIGINT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX notification_id ON notification (id);
CREATE INDEX notification_waiting ON notification (webhook, next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX notification_webhook ON notification (org, webhook, due, id);
CREATE INDEX notification_event ON notification (org, event);

CREATE TABLE attempt (
  org TEXT NOT NULL,
  notification TEXT NOT NULL,
  number BIGINT NOT NULL,
  at BIGINT NOT NULL,
  took BIGINT NOT NULL,
  status BIGINT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (org, notification, number)
);

-- That a threshold was met once for a task and a webhook.
CREATE TABLE firing (
  org TEXT NOT NULL,
  webhook TEXT NOT NULL,
  task TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (org, webhook, task)
);
