-- Expired sessions are purged.
CREATE INDEX worker_session_used ON worker_session (used);
