-- When an automatic decision was made, so that its explanation can be purged. It is not
-- known of decisions before this version.
ALTER TABLE explanation ADD COLUMN at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX explanation_at ON explanation (at);
