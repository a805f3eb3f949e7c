-- An index with all columns that are read to list a container: the order of its tasks, and
-- when they were created.
DROP INDEX task_queue;
CREATE INDEX task_queue ON task (org, container_kind, container, rank, id, state, created) WHERE container IS NOT NULL;
