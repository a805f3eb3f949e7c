-- The events of a task, for its history.
CREATE INDEX event_task ON event (org, task, created, task_sequence) WHERE task IS NOT NULL;
