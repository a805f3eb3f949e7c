-- Attempts at accounts: their kind, and the number of attempts that an entry stands for.
ALTER TABLE audit ADD COLUMN attempt TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN requests BIGINT NOT NULL DEFAULT 1;
