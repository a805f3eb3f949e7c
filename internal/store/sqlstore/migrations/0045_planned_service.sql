-- The service time in milliseconds with which the latest dispatch planned the task. It is
-- used for estimates of tasks that have no service time.
ALTER TABLE task ADD COLUMN planned_service BIGINT;
