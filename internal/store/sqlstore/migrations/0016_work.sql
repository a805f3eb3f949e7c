-- Leases of work look the same in every table: claim is the token of a lease,
-- claimed_until is when it ends. While there is one, the time at which the row
-- is due moves along with its end, so that nodes of the version before, which
-- know nothing else, leave the row alone. A claim of theirs has no
-- claimed_until.
ALTER TABLE job ADD COLUMN claim TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE worker_watch ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0;

-- Work that is free is found for one organization after the other, and leases
-- by their tokens.
CREATE INDEX job_due ON job (kind, org, run_at, id) WHERE claim = '' AND run_at IS NOT NULL;
CREATE INDEX job_claim ON job (claim) WHERE claim <> '';
CREATE INDEX message_due ON message (org, next_at, id) WHERE claim = '' AND next_at IS NOT NULL;
CREATE INDEX message_claim ON message (claim) WHERE claim <> '';
CREATE INDEX worker_watch_due ON worker_watch (org, next_at, worker) WHERE claim = '' AND next_at IS NOT NULL;
CREATE INDEX worker_watch_claim ON worker_watch (claim) WHERE claim <> '';
CREATE INDEX webhook_tally_claim ON webhook_tally (claim) WHERE claim <> '';
DROP INDEX job_turn;
DROP INDEX message_waiting;
DROP INDEX worker_watch_next;
