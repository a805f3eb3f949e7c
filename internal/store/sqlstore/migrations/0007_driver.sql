-- The passwords, sessions, actions and positions of workers.
ALTER TABLE worker_credential ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;

CREATE TABLE worker_session (
  hash TEXT NOT NULL PRIMARY KEY,
  org TEXT NOT NULL,
  worker TEXT NOT NULL,
  created BIGINT NOT NULL,
  used BIGINT NOT NULL
);
CREATE INDEX worker_session_worker ON worker_session (org, worker);

-- Actions that a worker's phone requested, by the id that it chose, so that an action is
-- performed once even if it is sent again. at is the time of the phone's clock, and
-- received that of the server's.
CREATE TABLE worker_action (
  org TEXT NOT NULL,
  worker TEXT NOT NULL,
  id TEXT NOT NULL,
  task TEXT NOT NULL,
  verb TEXT NOT NULL,
  at BIGINT NOT NULL,
  received BIGINT NOT NULL,
  PRIMARY KEY (org, worker, id)
);

CREATE TABLE position (
  org TEXT NOT NULL,
  worker TEXT NOT NULL,
  at BIGINT NOT NULL,
  lon DOUBLE PRECISION NOT NULL,
  lat DOUBLE PRECISION NOT NULL,
  accuracy DOUBLE PRECISION,
  speed DOUBLE PRECISION,
  heading DOUBLE PRECISION,
  PRIMARY KEY (org, worker, at)
);
CREATE INDEX position_at ON position (at);
