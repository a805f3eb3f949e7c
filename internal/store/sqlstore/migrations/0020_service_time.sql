-- Whether a service time of zero was sent for a task. A task for which none was sent
-- shows zero as well, but is expected to take the usual time.
ALTER TABLE task ADD COLUMN no_service BIGINT NOT NULL DEFAULT 0;
