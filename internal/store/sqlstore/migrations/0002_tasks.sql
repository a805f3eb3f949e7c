-- Tasks, and where they are. container_kind and container name the container
-- a task is in, rank its place there: null while active. Completed tasks are
-- in none.

CREATE TABLE task (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  short_id TEXT NOT NULL,
  state BIGINT NOT NULL,
  created BIGINT NOT NULL,
  completed BIGINT,
  worker TEXT,
  container_kind TEXT,
  container TEXT,
  rank BIGINT,
  destination TEXT NOT NULL,
  recipient TEXT,
  lon DOUBLE PRECISION NOT NULL,
  lat DOUBLE PRECISION NOT NULL,
  quantity DOUBLE PRECISION NOT NULL,
  quantity_a DOUBLE PRECISION NOT NULL,
  quantity_b DOUBLE PRECISION NOT NULL,
  quantity_c DOUBLE PRECISION NOT NULL,
  complete_after BIGINT,
  complete_before BIGINT,
  tracking TEXT NOT NULL,
  arrival BIGINT,
  completion BIGINT,
  eta BIGINT,
  delay BIGINT,
  history BYTEA NOT NULL,
  events BIGINT NOT NULL,
  pickup BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX task_id ON task (id);
CREATE UNIQUE INDEX task_short_id ON task (org, short_id);
CREATE UNIQUE INDEX task_tracking ON task (tracking);
CREATE INDEX task_state ON task (org, state, created, id);
CREATE INDEX task_queue ON task (org, container_kind, container, rank) WHERE container IS NOT NULL;
CREATE INDEX task_worker ON task (org, worker, created, id) WHERE worker IS NOT NULL;
CREATE INDEX task_completed ON task (org, completed) WHERE completed IS NOT NULL;

CREATE TABLE task_dependency (
  org TEXT NOT NULL,
  parent TEXT NOT NULL,
  task TEXT NOT NULL,
  PRIMARY KEY (org, parent, task)
);
CREATE INDEX task_dependency_task ON task_dependency (org, task);

-- A container is changed under its row: whoever changes it raises version.
CREATE TABLE container (
  org TEXT NOT NULL,
  kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  modified BIGINT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (org, kind, owner)
);

-- Why a task was assigned by itself, or was not: the latest decision.
CREATE TABLE explanation (
  org TEXT NOT NULL,
  task TEXT NOT NULL,
  doc BYTEA NOT NULL,
  PRIMARY KEY (org, task)
);

CREATE TABLE event (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  trigger_id BIGINT NOT NULL,
  task TEXT,
  task_sequence BIGINT,
  worker TEXT,
  created BIGINT NOT NULL,
  body BYTEA NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX event_created ON event (created);
