-- The highest rank at the end of the list of a worker or a team. It allows adding a task there
-- without reading the list, because on PostgreSQL reading conflicts with all writes to the
-- same page of the index, even by other organizations.
ALTER TABLE container ADD COLUMN last BIGINT;
UPDATE container SET last = (
  SELECT MAX(task.rank) FROM task WHERE task.org = container.org AND task.container_kind = container.kind
    AND task.container = container.owner AND task.container IS NOT NULL AND task.rank < 4611686018427387904
) WHERE kind <> 'ORGANIZATION';
