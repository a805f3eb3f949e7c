-- Images that workers sent. place names the storage of the bytes. task is null until the
-- upload is attached to a task.
CREATE TABLE upload (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  worker TEXT NOT NULL,
  digest TEXT NOT NULL,
  place TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size BIGINT NOT NULL,
  created BIGINT NOT NULL,
  state BIGINT NOT NULL,
  task TEXT,
  PRIMARY KEY (org, id)
);
CREATE INDEX upload_id ON upload (id);
CREATE INDEX upload_unused ON upload (org, worker, created) WHERE task IS NULL;
CREATE INDEX upload_stale ON upload (created) WHERE task IS NULL;

CREATE TABLE upload_bytes (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (org, id)
);
