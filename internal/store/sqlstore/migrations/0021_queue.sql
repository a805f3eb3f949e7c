-- An index that holds all that is read of the tasks of a container: their order,
-- and when they were created.
DROP INDEX task_queue;
CREATE INDEX task_queue ON task (org, container_kind, container, rank, id, state, created) WHERE container IS NOT NULL;
