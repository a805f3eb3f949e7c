-- Whether a task was sent with a service time of zero. A task that was sent without one also
-- shows zero, but its estimates use the usual service time.
ALTER TABLE task ADD COLUMN no_service BIGINT NOT NULL DEFAULT 0;
