-- Background work. run_at is the time from which a job may be claimed or, while it is
-- claimed (held is 1), the time at which the claim ends. It is null for a job that was
-- given up.

CREATE TABLE job (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  payload BYTEA NOT NULL,
  run_at BIGINT,
  held BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  failures BIGINT NOT NULL,
  error TEXT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX job_turn ON job (org, run_at, id);

-- Batches of tasks. sent contains the items as they were sent, until all are done. done is
-- the number of items that are done.

CREATE TABLE batch (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sent BYTEA NOT NULL,
  received BIGINT NOT NULL,
  done BIGINT NOT NULL,
  created BIGINT NOT NULL,
  completed BIGINT,
  PRIMARY KEY (org, id)
);
CREATE INDEX batch_id ON batch (id);

-- The results of items, in the order of the batch. first is the number of the first item.

CREATE TABLE batch_result (
  org TEXT NOT NULL,
  batch TEXT NOT NULL,
  first BIGINT NOT NULL,
  results BYTEA NOT NULL,
  PRIMARY KEY (org, batch, first)
);
