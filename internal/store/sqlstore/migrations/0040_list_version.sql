-- The log of lists keeps the latest version of each list: a newer one replaces it.
ALTER TABLE list_entry ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
CREATE INDEX list_entry_owner ON list_entry (org, kind, owner);
