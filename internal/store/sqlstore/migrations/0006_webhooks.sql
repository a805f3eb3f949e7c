-- The event log. Numbers (seq) are assigned to committed events in order, so that no event
-- appears later with a smaller number than one that was already read.
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

-- The columns of a webhook that every attempt writes. They are apart from those that every
-- change of a record reads, so that the two do not conflict. claim is the token of the
-- process that may send to the webhook until a time. No other process may record attempts.
CREATE TABLE webhook_tally (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  succeeded BIGINT NOT NULL,
  streak BIGINT NOT NULL,
  claim TEXT NOT NULL,
  claimed_until BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);

-- The notifications of webhooks. The last attempt is in the same row, because most
-- notifications have only one. Earlier attempts are in table attempt.
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

-- The thresholds of webhooks that were met, once for each task and webhook.
CREATE TABLE firing (
  org TEXT NOT NULL,
  webhook TEXT NOT NULL,
  task TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (org, webhook, task)
);
