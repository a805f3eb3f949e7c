-- The events of a task, for its history.
CREATE INDEX event_task ON event (org, task, created, task_sequence) WHERE task IS NOT NULL;

-- The version of an organization's teams, hubs and schedules, which grows with each change.
CREATE TABLE fleet_version (
  org TEXT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (org)
);

-- The orders that a courier received, and those that a client placed, newest first.
CREATE INDEX task_order_created ON task_order (org, created, id);
CREATE INDEX task_order_placed ON task_order (client, created, id);
DROP INDEX task_order_client;
