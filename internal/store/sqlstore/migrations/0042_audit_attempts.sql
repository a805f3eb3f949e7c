-- Attempts at accounts of administrators: what they were, and for how many an entry stands.
ALTER TABLE audit ADD COLUMN attempt TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN requests BIGINT NOT NULL DEFAULT 1;
