-- The service time in milliseconds with which the latest dispatch planned the task. It is
-- used for estimates of tasks without a service time of their own.
ALTER TABLE task ADD COLUMN planned_service BIGINT;
