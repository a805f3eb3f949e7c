-- The first estimated arrival after a worker started the task, to compare with the arrival.
ALTER TABLE task ADD COLUMN promised BIGINT;
DROP INDEX task_result;
CREATE INDEX task_result ON task (org, completed, worker, success, failure, distance, started, arrived, rating, complete_after, complete_before, promised)
  WHERE completed IS NOT NULL;
