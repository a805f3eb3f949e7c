-- The events of a task, from which its state at a time is rebuilt. The history of tasks uses
-- the same index.
CREATE INDEX IF NOT EXISTS event_task ON event (org, task, created, task_sequence) WHERE task IS NOT NULL;

-- Tasks that were deleted since a time.
CREATE INDEX event_deleted ON event (org, created) WHERE trigger_id = 8;
