-- Tasks. container_kind and container name the container of a task, and rank is its
-- position there, which is null while the task is active. Completed tasks are in no
-- container.

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
-- Completed tasks by the class of the time that they were open; see openClass.
CREATE INDEX task_open ON task (org, (CASE
  WHEN completed - created < 60000 THEN 0
  WHEN completed - created < 240000 THEN 1
  WHEN completed - created < 960000 THEN 2
  WHEN completed - created < 3840000 THEN 3
  WHEN completed - created < 15360000 THEN 4
  WHEN completed - created < 61440000 THEN 5
  WHEN completed - created < 245760000 THEN 6
  WHEN completed - created < 983040000 THEN 7
  WHEN completed - created < 3932160000 THEN 8
  WHEN completed - created < 15728640000 THEN 9
  WHEN completed - created < 62914560000 THEN 10
  ELSE 11 END), created, id, completed) WHERE completed IS NOT NULL;

-- When deleted tasks were created, for pages of lists that begin after such a task.
CREATE TABLE deleted_task (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);

CREATE TABLE task_dependency (
  org TEXT NOT NULL,
  parent TEXT NOT NULL,
  task TEXT NOT NULL,
  PRIMARY KEY (org, parent, task)
);
CREATE INDEX task_dependency_task ON task_dependency (org, task);

-- A transaction that changes a container locks its row and increments version.
CREATE TABLE container (
  org TEXT NOT NULL,
  kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  modified BIGINT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (org, kind, owner)
);

-- The latest decision of automatic assignment about each task, with its explanation.
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
