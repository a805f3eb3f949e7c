-- When an automatic decision was made, so that its explanation can be purged. For decisions
-- that are older than this migration, it is not known.
ALTER TABLE explanation ADD COLUMN at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX explanation_at ON explanation (at);
