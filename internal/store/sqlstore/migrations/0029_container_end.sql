-- The highest rank that was given at the end of the list of a worker or a team. A task
-- is added there without reading the list: on PostgreSQL, reading it would conflict with
-- everything that is written next to it in the index, also by other organizations.
ALTER TABLE container ADD COLUMN last BIGINT;
UPDATE container SET last = (
  SELECT MAX(task.rank) FROM task WHERE task.org = container.org AND task.container_kind = container.kind
    AND task.container = container.owner AND task.container IS NOT NULL AND task.rank < 4611686018427387904
) WHERE kind <> 'ORGANIZATION';
