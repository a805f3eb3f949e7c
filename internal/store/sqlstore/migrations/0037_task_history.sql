-- The events of a task, for its history.
CREATE INDEX event_task ON event (org, task, created, task_sequence) WHERE task IS NOT NULL;

-- The version of an organization's teams, hubs and schedules, which grows with each change.
CREATE TABLE fleet_version (
  org TEXT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (org)
);
